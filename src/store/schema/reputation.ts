/**
 * Counts of a project's mail, from which its reputation is judged.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { integer, primaryKey, sqliteTable, text } from '../drizzle.ts'

/**
 * Counts by the hour; `startsAt` is later than the hour's start if the project was enabled within
 * it.
 */
export const reputationHours = sqliteTable(
  'reputation_hours',
  {
    projectId: text('project_id').notNull(),
    startsAt: integer('starts_at').notNull(),
    emails: integer('emails').notNull().default(0),
    bounces: integer('bounces').notNull().default(0),
    complaints: integer('complaints').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.startsAt] })],
)

/** Counts since the project's `reputationSince`. */
export const reputationTotals = sqliteTable('reputation_totals', {
  projectId: text('project_id').primaryKey(),
  emails: integer('emails').notNull().default(0),
  bounces: integer('bounces').notNull().default(0),
  complaints: integer('complaints').notNull().default(0),
})

/** The emails that a new project was allowed to send, by the hour. */
export const newProjectHours = sqliteTable(
  'new_project_hours',
  {
    projectId: text('project_id').notNull(),
    startsAt: integer('starts_at').notNull(),
    emails: integer('emails').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.startsAt] })],
)
