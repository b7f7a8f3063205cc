/**
 * Segments and their members.
 * Made by `npm run schema` from `migrations/sqlite`, `annotations.ts` and `docs.ts`: change those.
 */
import { type InferSelectModel, integer, primaryKey, sqliteTable, text } from '../drizzle.ts'
import { bool, jsonColumn } from './columns.ts'
import type { FilterChange } from './json-values.ts'
import type { SegmentType } from './words.ts'

export const segments = sqliteTable('segments', {
  id: text('id').primaryKey(),
  projectId: text('project_id').notNull(),
  name: text('name').notNull(),
  description: text('description'),
  type: text('type').$type<SegmentType>().notNull().default('DYNAMIC'),
  condition: jsonColumn('condition'),
  hasMembershipEvents: bool('track_membership').notNull().default(false),
  memberCount: integer('member_count').notNull().default(0),
  countedAt: integer('counted_at'),
  /**
   * The rules of filters of the last computation or count
   * (features/ground/conditions/changed-filters.ts).
   */
  filterRules: integer('filter_rules').notNull().default(1),
  /** What new rules of filters changed; null if nothing. */
  filterChange: jsonColumn('filter_change').$type<FilterChange>(),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  /** The last row of `caused_changes`, and the last event, that the last computation has seen. */
  seenChange: integer('seen_change').notNull().default(0),
  seenEvent: integer('seen_event').notNull().default(0),
})

export const segmentMembers = sqliteTable(
  'segment_members',
  {
    segmentId: text('segment_id').notNull(),
    contactId: text('contact_id').notNull(),
    enteredAt: integer('entered_at').notNull(),
    /** Null while the contact is a member. */
    exitedAt: integer('exited_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.segmentId, table.contactId] })],
)

/** Contacts that an execution of a workflow changed, and the depth of the events that follow. */
export const causedChanges = sqliteTable('caused_changes', {
  number: integer('number').primaryKey({ autoIncrement: true }),
  contactId: text('contact_id').notNull(),
  depth: integer('depth').notNull(),
})

export type Segment = InferSelectModel<typeof segments>
