/**
 * Outgoing webhooks: endpoints of projects, events on their way to them, and the secrets that sign.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type { WebhookStatus } from './words.ts'

export const webhookEndpoints = sqliteTable('webhook_endpoints', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  url: text('url').notNull(),
  /** Names of events and patterns, as given. */
  events: jsonColumn('events').$type<string[]>().notNull(),
  description: text('description'),
  isEnabled: bool('enabled').notNull().default(true),
  /** Why the service disabled the endpoint; null if a request did. */
  disabledReason: text('disabled_reason'),
  /** Sealed. The previous one signs, too, until `previousUntil`. */
  secret: text('secret').notNull(),
  previousSecret: text('previous_secret'),
  previousUntil: integer('previous_until'),
  /**
   * Events up to this one make no deliveries: the newest when the endpoint was created or enabled.
   */
  afterSeq: integer('after_seq').notNull(),
  /** The first failure since the last success. */
  failingSince: integer('failing_since'),
  lastSuccessAt: integer('last_success_at'),
  /**
   * Waiting deliveries up to this number have failed, because the endpoint was disabled then; 0
   * once their rows say so.
   */
  failedThrough: integer('failed_through').notNull().default(0),
  /** A deleted endpoint is hidden; its row follows its deliveries. */
  deletedAt: integer('deleted_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const webhookDeliveries = sqliteTable('webhook_deliveries', {
  /** The order of events; not part of the API. */
  number: integer('number').primaryKey({ autoIncrement: true }),
  id: text('id').notNull(),
  endpointId: text('endpoint_id').notNull(),
  /** Null for a test. */
  eventSeq: integer('event_seq'),
  eventId: text('event_id').notNull(),
  eventName: text('event_name').notNull(),
  status: text('status').$type<WebhookStatus>().notNull(),
  /** 0: due at once, which holds until the first attempt ends; null at the end. */
  dueAt: integer('due_at'),
  attempts: integer('attempts').notNull().default(0),
  statusCode: integer('status_code'),
  error: text('error'),
  /** The beginning of the response of a failed attempt. */
  response: text('response'),
  durationMs: integer('duration_ms'),
  lastAttemptAt: integer('last_attempt_at'),
  completedAt: integer('completed_at'),
  createdAt: integer('created_at').notNull(),
})

export const webhookSigningSecrets = sqliteTable('webhook_signing_secrets', {
  projectId: text('project_id').primaryKey(),
  secret: text('secret').notNull(),
  previousSecret: text('previous_secret'),
  previousUntil: integer('previous_until'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export type WebhookEndpoint = InferSelectModel<typeof webhookEndpoints>

export type WebhookDelivery = InferSelectModel<typeof webhookDeliveries>
