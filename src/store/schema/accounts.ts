/**
 * Users with their sessions and tokens, projects, and the memberships of users in projects.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool } from './columns.ts'
import type {
  AccountMethod,
  DisabledReason,
  OnTemplateFault,
  Role,
  TokenPurpose,
  TrackingMode,
} from './words.ts'

export const users = sqliteTable('users', {
  id: text('id').primaryKey(),
  address: text('email').notNull(),
  passwordHash: text('password_hash'),
  isSandbox: bool('is_sandbox').notNull().default(false),
  method: text('method').$type<AccountMethod>().notNull().default('PASSWORD'),
  isOperator: bool('is_operator').notNull().default(false),
  /** When the address was proven; null until then. Read with `users/proof.ts` only. */
  verifiedAt: integer('verified_at'),
  /**
   * The project of the invitation that made the account, if the invitation was not mailed; null
   * once the address is proven.
   */
  onlyProjectId: text('only_project_id'),
  /** `xx` or `xx-XX` */
  language: text('language').notNull().default('en'),
  /** A name of the IANA time zone database. */
  timezone: text('timezone').notNull().default('UTC'),
  /** Sealed; not in use until it is confirmed. */
  totpSecret: text('totp_secret'),
  totpConfirmedAt: integer('totp_confirmed_at'),
  /** The time step of the last accepted code (RFC 6238). */
  totpStep: integer('totp_step').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    userId: text('user_id').notNull(),
    digest: text('digest').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.digest] })],
)

/** The accounts of users at other providers. */
export const identities = sqliteTable(
  'identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: text('user_id').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] })],
)

export const sessions = sqliteTable('sessions', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  ip: text('ip'),
  userAgent: text('user_agent'),
  createdAt: integer('created_at').notNull(),
  /** When the cookie was last issued. */
  issuedAt: integer('issued_at').notNull(),
  /** When the session was last used, to the minute. */
  lastUsedAt: integer('last_used_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

/** Single-use tokens of mailed links. Used ones stay until they expire. */
export const accountTokens = sqliteTable('account_tokens', {
  digest: text('digest').primaryKey(),
  userId: text('user_id').notNull(),
  purpose: text('purpose').$type<TokenPurpose>().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  usedAt: integer('used_at'),
})

/** The link by which the first user is made in a browser: one row at most. */
export const setupLinks = sqliteTable('setup_links', {
  digest: text('digest').primaryKey(),
  expiresAt: integer('expires_at').notNull(),
})

export const projects = sqliteTable('projects', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  publicKey: text('public_key').notNull(),
  secretDigest: text('secret_digest').notNull(),
  secretHint: text('secret_hint').notNull(),
  areKeysSandbox: bool('are_keys_sandbox').notNull().default(false),
  /**
   * Also true during a reset of the project, which sets no reason, and once the project is deleted:
   * then the reason is null.
   */
  isDisabled: bool('is_disabled').notNull().default(false),
  disabledReason: text('disabled_reason').$type<DisabledReason>(),
  disabledAt: integer('disabled_at'),
  /** Set while the project is being reset. */
  resetSince: integer('reset_since'),
  /** Set while the rows of a deleted project are being deleted. */
  deletedAt: integer('deleted_at'),
  /** When the last finished reset began, and when it ended. */
  lastResetSince: integer('last_reset_since'),
  lastResetAt: integer('last_reset_at'),
  /** Analytics counts the events behind this `seq`: a reset erased the earlier ones. */
  countedAfter: integer('counted_after').notNull().default(0),
  tracking: text('tracking').$type<TrackingMode>().notNull().default('ENABLED'),
  language: text('language').notNull().default('en'),
  /** One line, for the footer of marketing mail. */
  postalAddress: text('postal_address'),
  /** Whether subject and text of submitted mail are templates, unless a message says otherwise. */
  submissionTemplates: bool('submission_templates').notNull().default(true),
  /** Whether mail with a faulty template is sent or refused, if the request does not say. */
  onTemplateFault: text('on_template_fault').$type<OnTemplateFault>().notNull().default('send'),
  /** Whether the public key may unsubscribe contacts, change their data and learn their ids. */
  publicKeyMayUpdate: bool('public_key_may_update').notNull().default(false),
  contactCount: integer('contact_count').notNull().default(0),
  subscribedCount: integer('subscribed_count').notNull().default(0),
  /** The figures of the project's reputation count from here. */
  reputationSince: integer('reputation_since').notNull().default(0),
  /** When the public key was last used, to the minute. */
  publicLastUsedAt: integer('public_last_used_at'),
  secretLastUsedAt: integer('secret_last_used_at'),
  uploadBytes: integer('upload_bytes').notNull().default(0),
  /** The customer and the subscription at Stripe. */
  customer: text('customer'),
  subscription: text('subscription'),
  /** `usd`; null until the project subscribes. */
  currency: text('currency'),
  /** When the subscription began at Stripe. Mail that was sent before is not charged. */
  subscribedAt: integer('subscribed_at'),
  /** Emails in a month (UTC); null: no limit. */
  limitTransactional: integer('limit_transactional'),
  limitCampaigns: integer('limit_campaigns'),
  limitWorkflows: integer('limit_workflows'),
  limitInbound: integer('limit_inbound'),
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

/** `digest`: the digest of the token in the link; null until the mail is written. */
export const invitations = sqliteTable('invitations', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  address: text('email').notNull(),
  role: text('role').$type<Role>().notNull(),
  digest: text('digest'),
  /** The id of the user who invites. */
  invitedBy: text('invited_by').notNull(),
  /** Whether the link was mailed, so that whoever has it can read the address's mail. */
  isMailed: bool('is_mailed').notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  acceptedAt: integer('accepted_at'),
  revokedAt: integer('revoked_at'),
})

export type User = InferSelectModel<typeof users>

export type LoginSession = InferSelectModel<typeof sessions>

export type Project = InferSelectModel<typeof projects>

export type Invitation = InferSelectModel<typeof invitations>
