/** The result of verifying a list of addresses, summed up page by page. */
import type { Verification } from '../../../../records/verification.ts'
import type { ShownJob } from '../../../ground/manifest/shown-job.ts'

/** `unknown`: well formed, but the name servers of its domain gave no answer. */
type ListedState = 'valid' | 'invalid' | 'unknown'

export type VerifiedAddress = Omit<Verification, 'valid' | 'hasWebsite'> & {
  state: ListedState
  /** Why the address is invalid; null if it is not invalid. */
  cause: 'malformed' | 'domain-missing' | 'no-mx' | null
  /** Null for an address that was given as such. */
  contactId: string | null
}

type ListSummary = {
  /** The number of addresses; each is valid, invalid or unknown. */
  total: number
  valid: number
  invalid: number
  unknown: number
  /** Invalid because malformed, because the domain does not exist, or because it has no MX record. */
  malformed: number
  domainMissing: number
  noMx: number
  disposable: number
  alias: number
  personal: number
  typo: number
  plusAddressed: number
  /** Ids that are not contacts of the project; not part of `total`. */
  notFound: number
}

export type ListResult = ListSummary & {
  /**
   * Every address of a list of up to `MAX_RESULTS`. In longer lists: the first `MAX_RESULTS` addresses
   * that are invalid, unknown, mistyped or disposable. In the order of the list.
   */
  results: VerifiedAddress[]
  /** In a longer list: the number of such addresses beyond the first `MAX_RESULTS`. */
  resultsOmitted: number
}

export const MAX_RESULTS = 1_000

export const EMPTY_RESULT: ListResult = {
  total: 0,
  valid: 0,
  invalid: 0,
  unknown: 0,
  malformed: 0,
  domainMissing: 0,
  noMx: 0,
  disposable: 0,
  alias: 0,
  personal: 0,
  typo: 0,
  plusAddressed: 0,
  notFound: 0,
  results: [],
  resultsOmitted: 0,
}

export const SHOWN_LIST_JOB: ShownJob = {
  hasFacts: false,
  labelOf: () => 'Verify addresses',
  pathOf: (id) => `/contacts/verify/${id}`,
  partialResult: (state) => (state as { result: ListResult } | undefined)?.result ?? EMPTY_RESULT,
}

/** Returns `result` with these addresses added; `result` itself stays unchanged. */
export function addResults(result: ListResult, batch: readonly VerifiedAddress[]): ListResult {
  const count = (matches: (one: VerifiedAddress) => boolean) => batch.filter(matches).length
  const total = result.total + batch.length
  const isLong = total > MAX_RESULTS
  const all = [...result.results, ...batch]
  const kept = isLong ? all.filter(isNoteworthy) : all
  return {
    total,
    valid: result.valid + count(({ state }) => state === 'valid'),
    invalid: result.invalid + count(({ state }) => state === 'invalid'),
    unknown: result.unknown + count(({ state }) => state === 'unknown'),
    malformed: result.malformed + count(({ cause }) => cause === 'malformed'),
    domainMissing: result.domainMissing + count(({ cause }) => cause === 'domain-missing'),
    noMx: result.noMx + count(({ cause }) => cause === 'no-mx'),
    disposable: result.disposable + count(({ isDisposable }) => isDisposable),
    alias: result.alias + count(({ isAlias }) => isAlias),
    personal: result.personal + count(({ isPersonalEmail }) => isPersonalEmail),
    typo: result.typo + count(({ isTypo }) => isTypo),
    plusAddressed: result.plusAddressed + count(({ isPlusAddressed }) => isPlusAddressed),
    notFound: result.notFound,
    results: kept.slice(0, MAX_RESULTS),
    resultsOmitted: result.resultsOmitted + Math.max(0, kept.length - MAX_RESULTS),
  }
}

function isNoteworthy({ state, isTypo, isDisposable }: VerifiedAddress): boolean {
  return state !== 'valid' || isTypo || isDisposable
}
