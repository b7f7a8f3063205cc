/**
 * The handler 'billing'. It gives back the use of emails that failed or were suppressed, and hands the
 * events to metering, in one transaction with its cursor: a server that was killed gives nothing back
 * twice and meters nothing twice.
 */
import type { CountedEvent } from '../../../store/schema/analytics.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { LazyHandler } from '../event-handlers.ts'
import { giveBack } from './give-back.ts'

/**
 * Plans what is charged for the events, which come in order and once each. The rules of closures for
 * `store.write` apply.
 */
export type Meter = (tx: Tx, events: readonly CountedEvent[]) => Promise<void>

/** The events that metering reads. */
export const METERED: readonly string[] = ['email.sent', 'email.received']

/** `meter`: absent on a server without Stripe. */
export function usageHandler(meter?: Meter): LazyHandler {
  return {
    name: 'billing',
    handle: async (tx, events) => {
      await giveBack(tx, events)
      await meter?.(tx, events)
    },
  }
}
