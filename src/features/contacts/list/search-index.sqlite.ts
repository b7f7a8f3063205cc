/** Writes to the trigram index of addresses, a table of SQLite's FTS5. */
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'

/** Pages of the index: 2 ms, and enough to keep up with what the batches add. */
const MERGE_PAGES = 16

export const forgetGone = statement(
  () => sql`delete from contact_search where rowid in
    (select number from contact_search_backlog where number <= ${parameter('last')})`,
)

export const enter = statement(
  () => sql`insert into contact_search (rowid, email)
    select contacts.number, contacts.email from contact_search_backlog
      cross join contacts on contacts.number = contact_search_backlog.number
      where contact_search_backlog.number <= ${parameter('last')}`,
)

export const mergePieces = statement(
  () => sql`insert into contact_search (contact_search, rank) values ('merge', ${MERGE_PAGES})`,
)
