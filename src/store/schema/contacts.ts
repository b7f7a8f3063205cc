/**
 * Contacts, the fields of their data, and the contacts that the search index does not cover yet.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type { ContactData } from './json-values.ts'
import type { ValueKind } from './words.ts'

export const contacts = sqliteTable('contacts', {
  /** The order of lists and walks; not part of the API. */
  number: integer('number').primaryKey({ autoIncrement: true }),
  id: text('id').notNull(),
  projectId: text('project_id').notNull(),
  address: text('email').notNull(),
  subscribed: bool('subscribed').notNull(),
  data: jsonColumn('data').$type<ContactData>(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

export const contactFields = sqliteTable(
  'contact_fields',
  {
    projectId: text('project_id').notNull(),
    key: text('key').notNull(),
    kind: text('kind').$type<ValueKind>().notNull(),
    contacts: integer('contacts').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.key, table.kind] })],
)

export const contactSearchBacklog = sqliteTable('contact_search_backlog', {
  number: integer('number').primaryKey(),
})

/** Without `number`. */
export type Contact = Omit<InferSelectModel<typeof contacts>, 'number'>
