/**
 * The follower 'billing'. It gives back the use of emails that failed or were suppressed, and hands the
 * events to metering, in one transaction with its cursor: a server that was killed gives nothing back
 * twice and meters nothing twice.
 */
import { asc, gt } from '../../store/drizzle.ts'
import { type CountedEvent, countedEvents } from '../../store/schema/analytics.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { EVENTS, type FollowedRows, type Follower, startFollower } from '../events/follow.ts'
import { giveBack } from './give-back.ts'

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

const rows: FollowedRows<CountedEvent> = {
  newest: EVENTS.newest,
  listAfter: statement((db) =>
    db
      .select()
      .from(countedEvents)
      .where(gt(countedEvents.seq, parameter('seq')))
      .orderBy(asc(countedEvents.seq))
      .limit(parameter('limit')),
  ),
}

export function startUsage(
  deps: Pick<Base, 'store' | 'log' | 'now'>,
  { meter, clock }: UsageParts = {},
): Follower {
  return startFollower(deps, {
    ...{ rows, name: 'billing', batch: BATCH, lingerMs: LINGER_MS },
    ...(clock && { clock }),
    handle: async (tx, events) => {
      await giveBack(tx, events)
      await meter?.(tx, events)
    },
  })
}
