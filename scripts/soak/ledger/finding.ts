/** What the ledger consists of, and the times at which something may happen twice. */
import type { DisruptionRecord } from '../history/history.ts'

/** `id`: of the email, event, contact, … that it is about, by which its story is found. */
export type Finding = { id: string; text: string }

/** One line of the ledger: what was compared, how often, and what did not match. */
export type LedgerRow = { name: string; count: number; note?: string; findings: Finding[] }

/**
 * So long after a receiver's answer the server may not have it on disk: some milliseconds, but seconds on
 * a machine that is overloaded. A kill within this time excuses a repetition.
 */
const UNRECORDED_MS = 10_000
/** A kill is recorded just before the signal is sent. */
const EARLY_MS = 100

/**
 * Whether the server or the connection was disrupted between `at`, when something was handed over, and
 * the time at which its answer must be on disk. A graceful restart excuses nothing.
 */
export function isDisrupted(
  disruptions: readonly DisruptionRecord[],
  { at, repliedAt, domain }: { at: number; repliedAt: number; domain?: string },
): boolean {
  return disruptions.some((disruption) => {
    const isHere = disruption.domain === undefined || disruption.domain === domain
    if (!isHere || !EXCUSING.has(disruption.kind)) return false
    return disruption.from < repliedAt + UNRECORDED_MS && disruption.to > at - EARLY_MS
  })
}

/** A frozen receiver answers when its client has gone. */
const EXCUSING: ReadonlySet<string> = new Set([
  'kill',
  'sinks-frozen',
  'sink-down',
  'sink-reset',
  'webhooks-down',
])
