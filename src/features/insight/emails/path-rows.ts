/** The rows of a path of emails (`email-path.ts`), in its order, from a position on. */
import { rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { EmailPath, PathKey } from './email-path.ts'

export type Position = { at: number; number: number; contactId: string }

/** Rows that one statement of a page looks at. */
export const STRETCH = 5_000

export type LaneRange = { lane: SQL; after: Position | undefined }

export const KEYS = sql`id, created_at as at, ${rowNumber('emails')} as number,
  contact_id as "contactId"`

/** The columns that filters ask for. */
export const FILTERED = sql`project_id, status, source_type, recipient, recipient_domain,
  contact_id, campaign_id, template_id, created_at`

/** Returns a select of the rows of a stretch that match, one more than wanted at most. */
export function selectStretch(path: EmailPath, stretch: LaneRange & { wanted: number }): SQL {
  const rows = sql`select ${KEYS}, ${FILTERED}
    ${rowsOf(path, stretch)} order by ${ORDERS[path.key]} limit ${STRETCH}`
  const matching = path.filter === undefined ? sql`` : sql` where ${path.filter}`
  return sql`select id, at, number, "contactId" from (${rows})${matching}
    limit ${stretch.wanted + 1}`
}

export function rowsOf({ key }: EmailPath, { lane, after }: LaneRange): SQL {
  return sql`from emails ${lane}${after === undefined ? sql`` : isAfter(key, after)}`
}

export const ORDERS: Record<PathKey, SQL> = {
  created: sql`created_at desc, emails.${rowNumber()} desc`,
  number: sql`emails.${rowNumber()} desc`,
  contact: sql`contact_id desc`,
}

/** The condition on the instant alone lets SQLite search the index. */
function isAfter(key: PathKey, { at, number, contactId }: Position): SQL {
  const row = rowNumber('emails')
  if (key === 'contact') return sql` and contact_id < ${contactId}`
  if (key === 'number') return sql` and ${row} < ${number}`
  return sql` and created_at <= ${at} and (created_at, ${row}) < (${at}, ${number})`
}
