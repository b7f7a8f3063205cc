/**
 * How contacts are found by a part of their address. Every way looks at the address itself, so that
 * what it finds is exactly right; they differ in which rows they look at.
 *
 *   few      three characters or more, in a large project: the trigram index names some contacts of
 *            all projects, and its backlog those that it does not know yet
 *   scan     the index would name too many, or has too long a backlog, or the project is small: the
 *            project's addresses one by one
 *   newest   one or two characters in a large project, on lists: only its 20,000 newest contacts
 *   none     nothing is searched for
 */
import { type SQL, sql } from '../../store/drizzle.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { type ContactScope, halvesOf, searchedPart } from './scope.ts'

/** `candidates`: a query of the numbers to look at. */
export type Source = { kind: 'none' | 'scan' } | { kind: 'few' | 'newest'; candidates: SQL }

type Deps = Pick<Core, 'store'>

/** In smaller projects every address is looked at: 10 ms. */
const SMALL_PROJECT = 100_000
/** Looking at more rows would take longer than a page may. */
const MAX_CANDIDATES = 10_000
const NEWEST = 20_000
/** Of a long part, so many trigrams are considered, and the rarest of them asked for. */
const MAX_TRIGRAMS = 24
const ASKED_TRIGRAMS = 4
/** How many entries of a trigram show how often it comes. */
const SAMPLE = 500

const nothing: Source = { kind: 'few', candidates: sql`select 0 as number where false` }

const countProject = statement<{ contacts: number }>(
  () => sql`select contact_count as contacts from projects where id = ${parameter('projectId')}`,
)

/** In one statement: what leaves the backlog enters the index in the same moment. */
export const listCandidates = statement<{ number: number }>(
  () => sql`select number from (select rowid as number from contact_search
      where contact_search match ${parameter('match')} limit ${MAX_CANDIDATES + 1})
    union all select number from (select number from contact_search_backlog
      limit ${MAX_CANDIDATES + 1})
    limit ${MAX_CANDIDATES + 1}`,
)

/** `isExact`: short parts are searched for in all contacts, too, however many there are. */
export async function findSource(
  deps: Deps,
  scope: ContactScope,
  { isExact = false }: { isExact?: boolean } = {},
): Promise<Source> {
  const part = searchedPart(scope)
  if (part === '') return { kind: 'none' }
  // No address has them, and SQLite's texts end at the first.
  if (/[\x00-\x1f\x7f]/.test(part) || !part.isWellFormed()) return nothing
  const size = await deps.store.read.find(countProject, { projectId: scope.projectId })
  if ((size?.contacts ?? 0) <= SMALL_PROJECT) return { kind: 'scan' }
  const trigrams = trigramsOf(part)
  if (trigrams.length > 0) return askIndex(deps, trigrams)
  return isExact ? { kind: 'scan' } : { kind: 'newest', candidates: newestOf(scope) }
}

export function newestOf(scope: ContactScope): SQL {
  const halves = halvesOf(scope).map(
    (subscribed) => sql`select number from contacts indexed by contacts_order
      where project_id = ${scope.projectId} and subscribed = ${subscribed}`,
  )
  return sql`${sql.join(halves, sql` union all `)} order by 1 desc limit ${NEWEST}`
}

export function candidatesOf(numbers: readonly number[]): SQL {
  const distinct = [...new Set(numbers)].sort((one, other) => one - other)
  return sql`select value as number from json_each(${JSON.stringify(distinct)})`
}

async function askIndex(deps: Deps, trigrams: readonly string[]): Promise<Source> {
  const match = (await findRarest(deps, trigrams)).map(quote).join(' AND ')
  const rows = await deps.store.scan.list(listCandidates, { match })
  if (rows.length > MAX_CANDIDATES) return { kind: 'scan' }
  return { kind: 'few', candidates: candidatesOf(rows.map(({ number }) => number)) }
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

/** For each trigram in turn: how many of its first entries there are, and the number of the last. */
export function selectSamples(trigrams: readonly string[]): SQL {
  const samples = trigrams.map(
    (trigram) => sql`select count(*), max(number) from (select rowid as number from contact_search
      where contact_search match ${quote(trigram)} limit ${SAMPLE})`,
  )
  return sql.join(samples, sql` union all `)
}

/** A string of FTS5's query language: nothing in it is an operator. */
function quote(trigram: string): string {
  return `"${trigram.replaceAll('"', '""')}"`
}
