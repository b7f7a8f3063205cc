/** What the ledger consists of, and the times at which something may happen twice. */
import { type DisruptionRecord, LATE_STOP } from '../history/history.ts'

/** `id`: of the email, event, contact, … that it is about, by which its story is found. */
export type Finding = { id: string; text: string }

/** One line of the ledger: what was compared, how often, and what did not match. */
export type LedgerRow = { name: string; count: number; note?: string; findings: Finding[] }

/** A kill is recorded just before the signal is sent. */
const EARLY_MS = 100

/**
 * Whether the server or the connection was disrupted between two times: when something was handed over,
 * and when it was handed over again. How soon an answer is on disk depends on the machine, so no time is
 * too long. A graceful restart excuses nothing.
 */
export function isDisrupted(
  disruptions: readonly DisruptionRecord[],
  { from, to, domain }: { from: number; to: number; domain?: string },
): boolean {
  return disruptions.some((disruption) => {
    const isHere = disruption.domain === undefined || disruption.domain === domain
    if (!isHere || !EXCUSING.has(disruption.kind)) return false
    return disruption.from < to && disruption.to > from - EARLY_MS
  })
}

/** A frozen receiver answers when its client has gone. */
const EXCUSING: ReadonlySet<string> = new Set([
  'kill',
  LATE_STOP,
  'sinks-frozen',
  'sink-down',
  'sink-reset',
  'webhooks-down',
])
