/**
 * The follower 'billing'. It gives back the use of emails that failed or were suppressed, and hands the
 * events to metering, in one transaction with its cursor: a server that was killed gives nothing back
 * twice and meters nothing twice.
 */
import type { CountedEvent } from '../../../store/schema/analytics.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { countedRows } from '../events/counted-events.ts'
import { type Follower, startFollower } from '../events/follow.ts'
import { ENDS, giveBack } from './give-back.ts'

/**
 * Plans what is charged for the events, which come in order and once each. The rules of closures for
 * `store.write` apply.
 */
export type Meter = (tx: Tx, events: readonly CountedEvent[]) => Promise<void>

type UsageParts = {
  /** Absent on a server without Stripe. */
  meter?: Meter | undefined
  /** For tests: ms. */
  clock?: () => number
}

const BATCH = 500
const LINGER_MS = 250

/** The events that metering reads. */
export const METERED: readonly string[] = ['email.sent', 'email.received']

const ROWS = countedRows(ENDS)
const ROWS_WITH_METERED = countedRows([...ENDS, ...METERED])

export function startUsage(
  deps: Pick<Base, 'store' | 'log' | 'now'>,
  { meter, clock }: UsageParts = {},
): Follower {
  return startFollower(deps, {
    rows: meter === undefined ? ROWS : ROWS_WITH_METERED,
    ...{ name: 'billing', batch: BATCH, lingerMs: LINGER_MS },
    ...(clock && { clock }),
    handle: async (tx, events) => {
      await giveBack(tx, events)
      await meter?.(tx, events)
    },
  })
}
