/** Writes to the trigram index of addresses, a table of SQLite's FTS5. */
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'

/** Pages of the index that a step merges: 2 ms, enough to keep up with the batches. */
const MERGE_PAGES = 16

export const deleteEntries = statement(
  () => sql`delete from contact_search where rowid in
    (select number from contact_search_backlog where number <= ${parameter('last')})`,
)

export const insertEntries = statement(
  () => sql`insert into contact_search (rowid, email)
    select contacts.number, contacts.email from contact_search_backlog
      cross join contacts on contacts.number = contact_search_backlog.number
      where contact_search_backlog.number <= ${parameter('last')}`,
)

export const mergeSegments = statement(
  () => sql`insert into contact_search (contact_search, rank) values ('merge', ${MERGE_PAGES})`,
)
