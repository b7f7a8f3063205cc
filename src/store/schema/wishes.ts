/**
 * What people decided about mail, by the digests of their addresses.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { blob, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import type { WishKind } from './words.ts'

/** Random keys of this instance. */
export const instanceKeys = sqliteTable('instance_keys', {
  name: text('name').primaryKey(),
  sealed: text('sealed').notNull(),
  createdAt: integer('created_at').notNull(),
})

/** People who left. Rows outlive contacts, emails and a reset, and go with their project. */
export const wishes = sqliteTable('wishes', {
  digest: blob('digest', { mode: 'buffer' }).primaryKey(),
  /** Null if the contact and the email were deleted and only the link was left. */
  projectId: text('project_id'),
  kind: text('kind').$type<WishKind>().notNull(),
  at: integer('at').notNull(),
})

/** Deleted contacts and emails that links in older mail name, and former addresses of contacts. */
export const erasedRecipients = sqliteTable('erased_recipients', {
  number: integer('number').primaryKey(),
  id: text('id').notNull(),
  digest: blob('digest', { mode: 'buffer' }).notNull(),
  projectId: text('project_id').notNull(),
  /**
   * The contact that has the address now, if it came back; until then, the contact that had it
   * before.
   */
  contactId: text('contact_id'),
  at: integer('at').notNull(),
})

/** Wishes that earlier versions recorded; the start of the program moves them to `wishes`. */
export const unkeyedWishes = sqliteTable(
  'unkeyed_wishes',
  {
    projectId: text('project_id').notNull(),
    address: text('email').notNull(),
    kind: text('kind').$type<WishKind>().notNull(),
    at: integer('at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.address] })],
)
