/**
 * The search over all kinds of records of a project: by exact id (also of Message-IDs and requests), by
 * the beginning of an address, by a part of a name. Each way reads a bounded number of rows by an index.
 */
import type { SearchResult } from '../../../records/search.ts'
import { searchAddresses } from './by-address.ts'
import { searchIds } from './by-id.ts'
import { searchNames } from './by-name.ts'
import { searchRequests } from './by-request-id.ts'
import type { SearchDeps, SearchedText } from './candidate.ts'
import { chooseResults } from './choose-results.ts'
import { searchEmails } from './emails.ts'

const WAYS = [searchIds, searchEmails, searchRequests, searchAddresses, searchNames]

/** Returns at most `MAX_SEARCH_RESULTS` records of the project, the best matches first. */
export async function searchProject(
  deps: SearchDeps,
  searched: SearchedText,
): Promise<SearchResult[]> {
  // No address, name or id has a NUL or a lone surrogate, and a text of SQLite ends at a NUL.
  if (searched.text.includes('\0') || !searched.text.isWellFormed()) return []
  const found = await Promise.all(WAYS.map((search) => search(deps, searched)))
  return chooseResults(found.flat())
}
