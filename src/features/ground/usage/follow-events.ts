/**
 * The handler 'billing'. It gives back the use of emails that failed or were suppressed, and hands the
 * events to metering, in one transaction with its cursor: a server that was killed gives nothing back
 * twice and meters nothing twice.
 */
import type { CountedEvent } from '../../../store/schema/analytics.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { LazyHandler } from '../event-handlers.ts'
import { categoryOf } from './categories.ts'
import { type MonthChange, takeOff } from './counters.ts'
import { monthOf } from './month.ts'

/**
 * Plans the charges for events. Each event comes once, in order. The rules of closures for
 * `store.write` apply.
 */
type Meter = (tx: Tx, events: readonly CountedEvent[]) => Promise<void>

/** The events that metering reads. */
export const METERED: readonly string[] = ['email.sent', 'email.received']

/** The events after which an email no longer counts. */
const ENDS: readonly string[] = ['email.failed', 'email.suppressed']

/** The `detail` of an event that ended an email in the moment of its acceptance. */
const AT_ACCEPTANCE = 'acceptance'

/** Makes the handler. `meter`: absent on a server without Stripe. */
export function usageHandler(meter?: Meter): LazyHandler {
  return {
    name: 'billing',
    names: new Set(meter === undefined ? ENDS : [...ENDS, ...METERED]),
    handle: async (tx, events) => {
      await giveBack(tx, events)
      await meter?.(tx, events)
    },
  }
}

/**
 * Takes emails that failed or were suppressed off the use of the month in which they were accepted.
 * An email that is tried again counts again (`count.ts`), and can fail again. An email that ended
 * when it was accepted was never counted; its event says so.
 */
async function giveBack(tx: Tx, events: readonly CountedEvent[]): Promise<void> {
  const sums = new Map<string, MonthChange>()
  for (const event of events) {
    const { name, projectId, acceptedAt, sourceType, isPlatform } = event
    if (!ENDS.includes(name) || event.detail === AT_ACCEPTANCE) continue
    // The email was deleted before its event was read, so its month is unknown.
    if (acceptedAt === null || sourceType === null || isPlatform) continue
    const startsAt = monthOf(acceptedAt)
    const category = categoryOf(sourceType)
    const key = `${projectId} ${startsAt} ${category}`
    const count = (sums.get(key)?.count ?? 0) + 1
    sums.set(key, { projectId, startsAt, category, count })
  }
  for (const change of sums.values()) await takeOff(tx, change)
}
