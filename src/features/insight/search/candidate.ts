/** What a search may return, and how well it matches. */
import type { SearchResult } from '../../../records/search.ts'
import type { Base } from '../../ground/base.ts'

/**
 * How well a record matches: by its exact id, by its whole address or name, by the beginning of it, or
 * by a part of it. A lower number stands first.
 */
export const RANK = { id: 0, exact: 1, beginning: 2, part: 3 } as const

export type Candidate = { rank: number; result: SearchResult }

export type SearchDeps = Pick<Base, 'store'>

export type SearchedText = {
  projectId: string
  /** Not blank, without spaces around it. */
  text: string
}

/** Ranks a name by the searched text; both are in lower case and NFC. */
export function rankOf(name: string, text: string): number {
  if (name === text) return RANK.exact
  return name.startsWith(text) ? RANK.beginning : RANK.part
}
