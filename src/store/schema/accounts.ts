/** Users, projects, and the memberships of users in projects. */
import { type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool } from './columns.ts'
import type { DisabledReason, Role, TrackingMode } from './words.ts'

export const users = sqliteTable('users', {
  id: text('id').primaryKey(),
  address: text('email').notNull(),
  passwordHash: text('password_hash'),
  isSandbox: bool('is_sandbox').notNull().default(false),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const projects = sqliteTable('projects', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  publicKey: text('public_key').notNull(),
  secretDigest: text('secret_digest').notNull(),
  secretHint: text('secret_hint').notNull(),
  areKeysSandbox: bool('are_keys_sandbox').notNull().default(false),
  isDisabled: bool('is_disabled').notNull().default(false),
  disabledReason: text('disabled_reason').$type<DisabledReason>(),
  tracking: text('tracking').$type<TrackingMode>().notNull().default('ENABLED'),
  language: text('language').notNull().default('en'),
  contactCount: integer('contact_count').notNull().default(0),
  subscribedCount: integer('subscribed_count').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const memberships = sqliteTable(
  'memberships',
  {
    userId: text('user_id').notNull(),
    projectId: text('project_id').notNull(),
    role: text('role').$type<Role>().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.projectId] })],
)

export type Project = InferSelectModel<typeof projects>
