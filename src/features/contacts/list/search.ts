/**
 * How contacts are found by a part of their address. Every way looks at the address itself, so that
 * what it finds is exactly right; they differ in which rows they look at.
 *
 *   hits     three characters or more, in a large project: the trigram index names some contacts of
 *            all projects, and its backlog those that it does not know as they are
 *   scan     the index would name too many, or has too long a backlog, or the project is small: the
 *            project's addresses one by one
 *   newest   one or two characters in a large project, on lists: only its 20,000 newest contacts
 *   nobody   what no address has
 *   none     nothing is searched for
 */
import { indexedBy } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { type ContactScope, halvesOf, normalizedSearch } from './scope.ts'
import { countHits, matchAll, SAMPLE, selectHitNumbers, selectSamples } from './search.sqlite.ts'

/** `candidates`: a query of the numbers to look at. */
export type Source =
  | { kind: 'none' | 'scan' }
  | { kind: 'newest' | 'nobody'; candidates: SQL }
  | Hits

/** `match` asks the index for them, and there are `count`. */
export type Hits = { kind: 'hits'; candidates: SQL; match: string; count: number }

type Deps = Pick<Base, 'store'>

/** In smaller projects every address is looked at: 10 ms. */
const SMALL_PROJECT = 100_000
/**
 * Of a project's contacts. To look at more hits takes as long as to look at all addresses, 0.1 s a
 * million; and of what comes as often, a page is found among a few of the next contacts.
 */
const MAX_HITS_SHARE = 1 / 15
const NEWEST = 20_000
/** Of a long part, so many trigrams are considered, and the rarest of them asked for. */
const MAX_TRIGRAMS = 24
const ASKED_TRIGRAMS = 4

const nobody: Source = { kind: 'nobody', candidates: sql`select 0 as number where false` }

const countProject = statement<{ contacts: number }>(
  () => sql`select contact_count as contacts from projects where id = ${parameter('projectId')}`,
)

/** `isExact`: short parts are searched for in all contacts, too, however many there are. */
export async function findSource(
  deps: Deps,
  scope: ContactScope,
  { isExact = false }: { isExact?: boolean } = {},
): Promise<Source> {
  const part = normalizedSearch(scope)
  if (part === '') return { kind: 'none' }
  // No address has them, and SQLite's texts end at the first.
  if (/[\x00-\x1f\x7f]/.test(part) || !part.isWellFormed()) return nobody
  const size = await deps.store.read.find(countProject, { projectId: scope.projectId })
  const contacts = size?.contacts ?? 0
  if (contacts <= SMALL_PROJECT) return { kind: 'scan' }
  const trigrams = trigramsOf(part)
  if (trigrams.length > 0) return askIndex(deps, trigrams, Math.floor(contacts * MAX_HITS_SHARE))
  return isExact ? { kind: 'scan' } : { kind: 'newest', candidates: newestOf(scope) }
}

export function newestOf(scope: ContactScope): SQL {
  const halves = halvesOf(scope).map(
    (subscribed) => sql`select number from contacts ${indexedBy('contacts_order')}
      where project_id = ${scope.projectId} and subscribed = ${subscribed}`,
  )
  return sql`${sql.join(halves, sql` union all `)} order by 1 desc limit ${NEWEST}`
}

export function hitsOf(match: string, count: number): Hits {
  return { kind: 'hits', candidates: selectHitNumbers(match), match, count }
}

async function askIndex(deps: Deps, trigrams: readonly string[], most: number): Promise<Source> {
  const match = matchAll(await findRarest(deps, trigrams))
  const { hits = 0 } = (await deps.store.scan.find(countHits, { match, most })) ?? {}
  return hits > most ? { kind: 'scan' } : hitsOf(match, hits)
}

/** None of what is shorter. */
function trigramsOf(part: string): string[] {
  const letters = Array.from(part)
  const all = letters.slice(2).map((letter, at) => `${letters[at]}${letters[at + 1]}${letter}`)
  const step = Math.ceil(all.length / MAX_TRIGRAMS)
  return [...new Set(all.filter((_, at) => at % step === 0))]
}

/** Only these are asked for: to read along all that a common one has takes 20 ms a million. */
async function findRarest({ store }: Deps, trigrams: readonly string[]): Promise<string[]> {
  if (trigrams.length <= 1) return [...trigrams]
  const samples = await store.scan.values<[number, number | null]>(selectSamples(trigrams))
  const ranked = samples.map(([count, last], at) => ({
    trigram: trigrams[at] ?? '',
    share: count < SAMPLE || last === null ? count / Number.MAX_SAFE_INTEGER : count / last,
  }))
  ranked.sort((one, other) => one.share - other.share)
  return ranked.slice(0, ASKED_TRIGRAMS).map(({ trigram }) => trigram)
}
