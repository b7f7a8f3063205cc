/**
 * Chooses what a search returns. The kinds take turns, so that many contacts do not hide the one
 * campaign that matches; what was chosen stands in the order of its rank.
 */
import { MAX_SEARCH_RESULTS } from '../../../records/limits.ts'
import type { SearchResult } from '../../../records/search.ts'
import type { Candidate } from './candidate.ts'

/**
 * Returns at most `MAX_SEARCH_RESULTS` results, the best rank first. A record that several searches
 * found counts once, by its best rank. Results of one rank keep the order of the candidates.
 */
export function chooseResults(candidates: readonly Candidate[]): SearchResult[] {
  const ranked = candidates.toSorted((one, other) => one.rank - other.rank)
  const once = new Map<string, Candidate>()
  for (const candidate of ranked) {
    const { kind, id } = candidate.result
    const name = `${kind} ${id}`
    if (!once.has(name)) once.set(name, candidate)
  }
  const kinds = Map.groupBy(once.values(), ({ result }) => result.kind)
  const inTurns = [...kinds.values()].flatMap((some) =>
    some.map((candidate, turn) => ({ ...candidate, turn })),
  )
  return inTurns
    .toSorted((one, other) => one.turn - other.turn || one.rank - other.rank)
    .slice(0, MAX_SEARCH_RESULTS)
    .toSorted((one, other) => one.rank - other.rank || one.turn - other.turn)
    .map(({ result }) => result)
}
