/**
 * Requests to the API, questions to the running server, and the mail that sandbox mode stores.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { blob, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { jsonColumn } from './columns.ts'

/** Questions of commands to the running server. */
export const serverQuestions = sqliteTable('server_questions', {
  id: text('id').primaryKey(),
  question: jsonColumn('question').notNull(),
  /** Null until the server answers. */
  answer: jsonColumn('answer'),
  askedAt: integer('asked_at').notNull(),
})

export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    projectId: text('project_id').notNull(),
    key: text('key').notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    statusCode: integer('status_code'),
    /** The `data` of the first response. */
    responseData: jsonColumn('answer').$type<Record<string, unknown>>(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.key] })],
)

export const apiRequests = sqliteTable('api_requests', {
  id: text('id').notNull(),
  method: text('method').notNull(),
  path: text('path').notNull(),
  statusCode: integer('status_code').notNull(),
  durationMs: integer('duration_ms').notNull(),
  projectId: text('project_id'),
  userId: text('user_id'),
  caller: text('caller').$type<'secret' | 'public' | 'session'>(),
  authType: text('auth_type').$type<'apiKey' | 'jwt'>(),
  ip: text('ip'),
  userAgent: text('user_agent'),
  errorCode: text('error_code'),
  errorMessage: text('error_message'),
  requestSizeBytes: integer('request_size_bytes'),
  responseSizeBytes: integer('response_size_bytes'),
  createdAt: integer('created_at').notNull(),
})

export const sandboxMessages = sqliteTable('sandbox_messages', {
  id: integer('id').primaryKey(),
  receivedAt: integer('received_at').notNull(),
  /** The From field as displayed. */
  sender: text('sender').notNull(),
  recipient: text('recipient').notNull(),
  subject: text('subject').notNull(),
  raw: blob('raw', { mode: 'buffer' }).notNull(),
})
