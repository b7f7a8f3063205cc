/**
 * Sending domains with their keys and the state of their DNS records.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type { RecordFinding } from './json-values.ts'
import type { DomainStatus } from './words.ts'

export const domains = sqliteTable('domains', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  domain: text('domain').notNull(),
  isVerified: bool('is_verified').notNull().default(false),
  isTrusted: bool('is_trusted').notNull().default(false),
  status: text('status').$type<DomainStatus>().notNull().default('Pending'),
  rsaSelector: text('rsa_selector').notNull(),
  rsaPrivateKey: text('rsa_private_key').notNull(),
  rsaPublicKey: text('rsa_public_key').notNull(),
  ed25519Selector: text('ed25519_selector').notNull(),
  ed25519PrivateKey: text('ed25519_private_key').notNull(),
  ed25519PublicKey: text('ed25519_public_key').notNull(),
  isEd25519Found: bool('is_ed25519_found').notNull().default(false),
  isReturnPathFound: bool('is_return_path_found').notNull().default(false),
  /** The domain's MX is this server, which accepts mail for its mailboxes. */
  isMxFound: bool('is_mx_found').notNull().default(false),
  findings: jsonColumn('findings').$type<RecordFinding[]>(),
  checkedAt: integer('checked_at'),
  failedChecks: integer('failed_checks').notNull().default(0),
  failingSince: integer('failing_since'),
  /** When the members were last told that the domain lost its verification. */
  lossToldAt: integer('loss_told_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export type Domain = InferSelectModel<typeof domains>
