/** A check of several things, such as addresses or domains: what was found of each, as one outcome. */
import type { CheckStatus, Outcome } from './outcome.ts'

/** The outcome of one thing. A skipped part says why in the evidence and counts as nothing found. */
export type Part = Outcome

const ORDER: readonly CheckStatus[] = ['failed', 'warning', 'ok', 'skipped']
const MAX_FIXES = 20

/**
 * The worst status of all parts, with the evidence and the fixes of those that have it or are nearly
 * as bad. `summary`: the evidence when nothing is wrong.
 */
export function combine(parts: readonly Part[], summary: string): Outcome {
  const status = ORDER.find((one) => parts.some((part) => part.status === one)) ?? 'skipped'
  const bad = ORDER.slice(0, 2).flatMap((one) => parts.filter((part) => part.status === one))
  if (bad.length === 0) return { status, evidence: summary }
  const fixes = [...new Set(bad.flatMap(({ fix }) => fix ?? []))]
  const more = fixes.length - MAX_FIXES
  return {
    status,
    evidence: bad.map(({ evidence }) => evidence).join('; '),
    fix: [...fixes.slice(0, MAX_FIXES), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'),
    ...followsOf(bad),
  }
}

/** The outcome follows from another check only if all that is bad in it does. */
function followsOf(bad: readonly Part[]): Pick<Outcome, 'follows'> {
  if (bad.some(({ follows }) => follows === undefined)) return {}
  return { follows: [...new Set(bad.flatMap(({ follows }) => follows ?? []))] }
}
