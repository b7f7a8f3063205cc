/** Reads and writes the trigram index of addresses, `contact_search`, a table of SQLite's FTS5. */
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'

/** The number of entries that are read to estimate how common a trigram is. */
export const TRIGRAM_SAMPLE = 500
/**
 * The number of hits that are read at each end of the index to estimate how common the search text
 * is.
 */
const HITS_AT_ENDS = 1_000

/**
 * Counts hits and backlog exactly, up to `limit` of each. If the text is far more common, returns
 * `limit` + 1 without counting: the first `HITS_AT_ENDS` hits, and the last ones, then lie within few
 * numbers.
 */
export const countHits = statement<{ hits: number }>(
  () => sql`with ends as materialized (select
      (select max(number) from contacts) as newest,
      (select max(number) from (select rowid as number from contact_search
        where contact_search match ${parameter('match')} order by rowid limit ${HITS_AT_ENDS})) as old,
      (select min(number) from (select rowid as number from contact_search
        where contact_search match ${parameter('match')} order by rowid desc limit ${HITS_AT_ENDS})) as young)
    select case
      when ${HITS_AT_ENDS} * newest / max(old, newest - young) > 2 * ${parameter('limit')}
        then ${parameter('limit')} + 1
      else (select count(*) from (select 1 from contact_search
          where contact_search match ${parameter('match')} limit ${parameter('limit')} + 1)) +
        (select count(*) from (select 1 from contact_search_backlog limit ${parameter('limit')} + 1))
      end as hits from ends`,
)

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

/**
 * Selects the numbers of all hits and of the whole backlog: in one statement, because between two
 * statements a contact may move from the backlog to the index.
 */
export function selectHitNumbers(match: string): SQL {
  return sql`select rowid as number from contact_search
      where contact_search match ${match}
        and rowid not in (select number from contact_search_backlog)
    union all select number from contact_search_backlog`
}

/** Whether a row of the index matches and the backlog does not hold its contact. */
export function isKnownHit(match: string): SQL {
  return sql`contact_search match ${match}
    and contact_search.rowid not in (select number from contact_search_backlog)`
}

/**
 * Selects a row for each trigram: the number of its entries, at most `TRIGRAM_SAMPLE`, and the contact
 * number of the last of these.
 */
export function selectSamples(trigrams: readonly string[]): SQL {
  const samples = trigrams.map(
    (trigram) => sql`select count(*), max(number) from (select rowid as number from contact_search
      where contact_search match ${quote(trigram)} limit ${TRIGRAM_SAMPLE})`,
  )
  return sql.join(samples, sql` union all `)
}

/** Returns the FTS5 query for rows that have every trigram. */
export function matchAll(trigrams: readonly string[]): string {
  return trigrams.map(quote).join(' AND ')
}

/** Quotes a trigram for an FTS5 query, so that none of its characters is an operator. */
function quote(trigram: string): string {
  return `"${trigram.replaceAll('"', '""')}"`
}
