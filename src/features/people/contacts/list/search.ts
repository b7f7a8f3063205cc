/**
 * Decides which rows a search for a part of an address reads. Every query compares the address
 * itself, so all sources give the same contacts; only `newest` covers fewer.
 *
 *   none     without a search
 *   nothing  no address can contain the text
 *   scan     all addresses of the project: it is small, or the index has too many hits or too long a
 *            backlog
 *   hits     three characters or more in a large project: the hits of the trigram index, among the
 *            contacts of all projects, and the contacts in its backlog
 *   newest   one or two characters in a large project, in lists: its 20,000 newest contacts
 */
import { indexedBy } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { type ContactScope, normalizedSearch, subscribedValues } from './scope.ts'
import {
  countHits,
  matchAll,
  selectHitNumbers,
  selectSamples,
  TRIGRAM_SAMPLE,
} from './search.sqlite.ts'

/** `candidates`: a query of the numbers of the contacts to read. */
export type ContactSource =
  | { kind: 'none' | 'scan' }
  | { kind: 'newest' | 'nothing'; candidates: SQL }
  | SearchHits

/** `match`: the FTS5 query of the index; `count`: its hits. */
export type SearchHits = { kind: 'hits'; candidates: SQL; match: string; count: number }

type Deps = Pick<Base, 'store'>

/** Up to this number of contacts a project is small: a search scans every address, in 10 ms. */
const SMALL_PROJECT = 100_000
/**
 * The largest share of a project's contacts that may be hits of the index. Reading more hits takes
 * as long as scanning all addresses (0.1 s per million), and a list fills its page from the next
 * contacts when the text is so common.
 */
const MAX_HITS_SHARE = 1 / 15
const NEWEST_SEARCHED = 20_000
/** The maximum number of trigrams of a text whose frequency is estimated. */
const MAX_TRIGRAMS = 24
/** The number of trigrams, the rarest ones, that the query of the index contains. */
const MATCHED_TRIGRAMS = 4

const NO_ADDRESS_MATCHES: ContactSource = {
  kind: 'nothing',
  candidates: sql`select 0 as number where false`,
}

const countProject = statement<{ contacts: number }>(
  () => sql`select contact_count as contacts from projects where id = ${parameter('projectId')}`,
)

/**
 * Decides where the search of a scope reads. `isExact`: a search for one or two characters covers
 * all contacts, even of a large project.
 */
export async function findSource(
  deps: Deps,
  scope: ContactScope,
  { isExact = false }: { isExact?: boolean } = {},
): Promise<ContactSource> {
  const part = normalizedSearch(scope)
  if (part === '') return { kind: 'none' }
  // No address contains control characters or lone surrogates, and a SQLite text ends at the first
  // NUL.
  if (/[\x00-\x1f\x7f]/.test(part) || !part.isWellFormed()) return NO_ADDRESS_MATCHES
  const size = await deps.store.read.find(countProject, { projectId: scope.projectId })
  const contacts = size?.contacts ?? 0
  if (contacts <= SMALL_PROJECT) return { kind: 'scan' }
  const trigrams = trigramsOf(part)
  if (trigrams.length > 0) return searchIndex(deps, trigrams, Math.floor(contacts * MAX_HITS_SHARE))
  return isExact ? { kind: 'scan' } : { kind: 'newest', candidates: newestOf(scope) }
}

export function newestOf(scope: ContactScope): SQL {
  const halves = subscribedValues(scope).map(
    (subscribed) => sql`select number from contacts ${indexedBy('contacts_order')}
      where project_id = ${scope.projectId} and subscribed = ${subscribed}`,
  )
  return sql`${sql.join(halves, sql` union all `)} order by 1 desc limit ${NEWEST_SEARCHED}`
}

export function hitsOf(match: string, count: number): SearchHits {
  return { kind: 'hits', candidates: selectHitNumbers(match), match, count }
}

async function searchIndex(
  deps: Deps,
  trigrams: readonly string[],
  limit: number,
): Promise<ContactSource> {
  const match = matchAll(await findRarest(deps, trigrams))
  const { hits = 0 } = (await deps.store.scan.find(countHits, { match, limit })) ?? {}
  return hits > limit ? { kind: 'scan' } : hitsOf(match, hits)
}

/** Returns no trigrams for a text of fewer than three characters. */
function trigramsOf(part: string): string[] {
  const letters = Array.from(part)
  const all = letters.slice(2).map((letter, at) => `${letters[at]}${letters[at + 1]}${letter}`)
  const step = Math.ceil(all.length / MAX_TRIGRAMS)
  return [...new Set(all.filter((_, at) => at % step === 0))]
}

/**
 * Returns the rarest of the trigrams: reading the entries of a common one takes 20 ms per million.
 */
async function findRarest({ store }: Deps, trigrams: readonly string[]): Promise<string[]> {
  if (trigrams.length <= 1) return [...trigrams]
  const samples = await store.scan.values<[number, number | null]>(selectSamples(trigrams))
  const ranked = samples.map(([count, last], at) => ({
    trigram: trigrams[at] ?? '',
    share: count < TRIGRAM_SAMPLE || last === null ? count / Number.MAX_SAFE_INTEGER : count / last,
  }))
  ranked.sort((one, other) => one.share - other.share)
  return ranked.slice(0, MATCHED_TRIGRAMS).map(({ trigram }) => trigram)
}
