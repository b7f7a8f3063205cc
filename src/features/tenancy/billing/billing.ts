/**
 * Counts the use of projects, and reports it to Stripe. Usage is counted even without Stripe. Events of Stripe
 * and ended batches are deleted once they are no longer needed.
 *
 * Batches are sent each minute, one at a time, the projects in turns. While Stripe does not
 * answer, one request a minute that changes nothing finds out whether it answers again, so that an
 * outage leaves one batch without an answer and all others untried.
 */
import { DAY_MS, MINUTE_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { indexedBy, rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { startLoop } from '../../../work/loop.ts'
import { oldRows, type Retention } from '../../../work/retention.ts'
import type { Base } from '../../ground/base.ts'
import type { LazyHandler } from '../../ground/event-handlers.ts'
import type { AreaLoop } from '../../ground/manifest/area.ts'
import { usageHandler } from '../../ground/usage/follow-events.ts'
import { findAnyOpen, listDueBatches, listTooOld, setSettling } from './metering/batches.ts'
import { meter } from './metering/collect.ts'
import { dropBatch } from './metering/drop.ts'
import { type MeteringDeps, sendBatch } from './metering/send.ts'
import { settle } from './metering/settle.ts'
import type { StripeClient } from './stripe.ts'
import { isFault } from './stripe-fault.ts'

/** The number of batches that one search returns at most. */
const PAGE = 20
/** The number of batches that may fail before a run ends. */
const MAX_FAULTS = 3
/**
 * The longest run. Then the next run puts batches aside and settles them, even if there are more to
 * send.
 */
const RUN_MS = 5 * MINUTE_MS
const TOO_OLD = 'Stripe takes no events that are older than 35 days'

type Metering = {
  /**
   * Sends what is due. Resolves when nothing is due, Stripe does not answer, or the run takes long.
   */
  run(signal: AbortSignal): Promise<void>
}

type Parts = Base & { stripe: StripeClient | null }

/**
 * How long events and ended batches are kept. Stripe repeats events for days, and takes no meter
 * event that is older than 35 days.
 */
const KEPT_MS = 40 * DAY_MS

const BEFORE = parameter('before')
const LIMIT = parameter('limit')

/**
 * Deletes old ended batches, except those of a customer and minute with a batch that is not settled
 * yet: the summary of the minute is compared with all of its batches. A customer has a batch in each minute in
 * which mail was sent.
 */
export const deleteEnded = statement(
  () => sql`delete from metering_batches where ${rowNumber()} in (
    select ${rowNumber('ended')}
    from metering_batches as ended ${indexedBy('metering_batches_ended')}
    where state in ('charged', 'dropped') and occurred_at < ${BEFORE} and not exists (
      select 1 from metering_batches as open ${indexedBy('metering_batches_window')}
      where open.customer = ended.customer and open.state not in ('charged', 'dropped')
        and open.occurred_at > ended.occurred_at - ${MINUTE_MS}
        and open.occurred_at < ended.occurred_at + ${MINUTE_MS})
    limit ${LIMIT})`,
)

export const BILLING: Retention = {
  name: 'delete-expired-billing',
  schedule: '0 5 * * *',
  keptMs: KEPT_MS,
  deletions: [
    oldRows({
      ...{ table: 'stripe_events', key: 'id', column: 'created_at' },
      index: 'stripe_events_oldest',
    }),
    { statement: deleteEnded, index: 'metering_batches_ended' },
  ],
  pace: { first: 100, max: 2_000, batchMs: 4, rest: { times: 2 } },
}

export function billingHandler(parts: Parts): LazyHandler {
  if (parts.stripe === null) return usageHandler()
  return usageHandler((tx, events) => meter(parts, tx, events))
}

export function startBilling({ stripe, ...parts }: Parts): AreaLoop | null {
  return stripe === null ? null : startMetering({ ...parts, stripe })
}

function startMetering(deps: MeteringDeps): { stop(): Promise<void> } {
  const { run } = createMetering(deps)
  return startLoop({ run: ({ signal }) => run(signal), maxWaitMs: MINUTE_MS })
}

export function createMetering(deps: MeteringDeps): Metering {
  /** Whether Stripe answered last. False at the start, when nothing is known of Stripe. */
  let isAnswering = false

  /**
   * Sends a request that changes nothing, to find out whether Stripe answers.
   * @throws StripeFault
   */
  async function probe(signal: AbortSignal): Promise<void> {
    isAnswering = false
    const { id } = await deps.stripe.meter({ signal })
    await deps.stripe.call((api) => api.billing.meters.retrieve(id), signal)
    isAnswering = true
  }

  async function sendDue(signal: AbortSignal): Promise<void> {
    const until = deps.now() + RUN_MS
    for (let faults = 0; faults < MAX_FAULTS && deps.now() < until; ) {
      const due = await deps.store.scan.list(listDueBatches, { at: deps.now(), limit: PAGE })
      if (due.length === 0) return
      for (const { id } of due) {
        if (signal.aborted || faults >= MAX_FAULTS) return
        if ((await sendBatch(deps, id, signal)) === 'ended') continue
        faults += 1
        if (!signal.aborted) await probe(signal)
      }
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    try {
      if ((await deps.store.read.find(findAnyOpen)) === undefined) return
      await putAside(deps)
      if (!isAnswering) await probe(signal)
      if (!(await settle(deps, signal))) await probe(signal)
      await sendDue(signal)
    } catch (error) {
      isAnswering = false
      if (!signal.aborted) logFailure(deps, error)
    }
  }

  return { run }
}

/** Does the work that needs no answer of Stripe: batches begin to settle, and too old ones are dropped. */
async function putAside(deps: MeteringDeps): Promise<void> {
  const at = deps.now()
  await deps.store.write((tx) => tx.execute(setSettling, { at }))
  for (;;) {
    const old = await deps.store.scan.list(listTooOld, { at, limit: PAGE })
    if (old.length === 0) return
    for (const { id } of old) await dropBatch(deps, { id, error: TOO_OLD })
  }
}

function logFailure({ log }: MeteringDeps, error: unknown): void {
  const isOutage = isFault(error, 'unanswered')
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const facts = { error: describeError(cause) }
  if (isOutage) log.warn(facts, 'Stripe does not answer; emails will be charged later')
  else log.error(facts, 'emails cannot be charged at the moment')
}
