/**
 * Received messages, and figures about them.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { blob, type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type { InboundRecipient } from './json-values.ts'
import type { InboundKind, InboundState, PendingKind } from './words.ts'

export const inboundMessages = sqliteTable('inbound_messages', {
  id: text('id').primaryKey(),
  receivedAt: integer('received_at').notNull(),
  state: text('state').$type<InboundState>().notNull(),
  /** Empty for the null reverse path. */
  reversePath: text('reverse_path').notNull(),
  recipients: jsonColumn('recipients').$type<InboundRecipient[]>().notNull(),
  clientAddress: text('client_address').notNull(),
  /** The name that the client gave in EHLO or HELO. */
  clientName: text('client_name').notNull(),
  /** Version and cipher; null for a session in clear. */
  tls: text('tls'),
  sizeBytes: integer('size_bytes').notNull(),
  /**
   * Null once a report has been processed or retention has cleared the octets; empty when `chunks`
   * has them.
   */
  raw: blob('raw', { mode: 'buffer' }),
  /** The number of chunks that the message has. */
  rawChunks: integer('raw_chunks').notNull().default(0),
  /** How often a reader thread ended while it parsed this message. */
  attempts: integer('attempts').notNull().default(0),
  kind: text('kind').$type<InboundKind>(),
  sender: text('sender'),
  subject: text('subject'),
  /** The findings, for display. */
  summary: jsonColumn('summary').$type<Record<string, unknown>>(),
  error: text('error'),
  processedAt: integer('processed_at'),
  /** The message is parsed alone, because it may have ended a reader thread or the process. */
  isSuspect: bool('is_suspect').notNull().default(false),
  /** How often the process ended while the message was parsed alone. */
  interruptions: integer('interruptions').notNull().default(0),
  /** When the server began to parse the message alone. */
  begunAt: integer('begun_at'),
  /** When an interrupted message is parsed again. */
  dueAt: integer('due_at').notNull().default(0),
  /** Why mail to a mailbox was ignored, or counted as over a sender limit. */
  remark: text('remark'),
  /** `mail`: a mailbox is among the recipients. It has no meaning once the message is processed. */
  pendingKind: text('pending_kind').$type<PendingKind>().notNull().default('reports'),
  /**
   * The line in which the message waits to be read: the project of its first mailbox, empty for
   * reports.
   */
  line: text('line').notNull().default(''),
  /** The server itself (`postmaster`, `abuse`) is among the recipients. */
  isForServer: bool('is_for_server').notNull().default(false),
})

/** One row: true while a process parses mail, and still true if the process crashed meanwhile. */
export const inboundReading = sqliteTable('inbound_reading', {
  id: integer('id').primaryKey(),
  isUnderWay: bool('is_under_way').notNull(),
})

/** Triggers maintain these figures. */
export const inboundUsage = sqliteTable('inbound_usage', {
  /** A project's id, `server`, or `reports`. */
  owner: text('owner').primaryKey(),
  bytes: integer('bytes').notNull(),
})

/** The mail of the last hour that counts towards the limits of senders. */
export const receivedRecently = sqliteTable('received_recently', {
  projectId: text('project_id').notNull(),
  /** An authenticated address, or the client's network. */
  sender: text('sender').notNull(),
  mailbox: text('mailbox').notNull(),
  at: integer('at').notNull(),
})

export const snsNotifications = sqliteTable('sns_notifications', {
  id: text('id').primaryKey(),
  receivedAt: integer('received_at').notNull(),
})

export type InboundMessage = InferSelectModel<typeof inboundMessages>
