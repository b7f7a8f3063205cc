/** Sends one batch to Stripe. */
import { isDeepStrictEqual } from 'node:util'
import { DAY_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { MeteringBatch } from '../../../../store/schema/billing.ts'
import type { Base } from '../../../ground/base.ts'
import type { Meter, StripeClient } from '../stripe.ts'
import { isFault, type StripeFault } from '../stripe-fault.ts'
import { beginTry, forgetTry, MAX_AGE_MS, noteError, setCharged } from './batches.ts'
import { dropBatch } from './drop.ts'

export type MeteringDeps = Pick<Base, 'store' | 'counters' | 'now' | 'log'> & {
  stripe: StripeClient
}

/** `ended`: the batch is charged or dropped. `unanswered`: the batch waits for another try. */
type Sent = 'ended' | 'unanswered'

/**
 * Sends a batch. The first try is on disk before it is made, so that after a kill no batch that
 * Stripe may know looks untried.
 * @throws StripeFault when no batch can be sent
 */
export async function sendBatch(
  deps: MeteringDeps,
  id: string,
  signal: AbortSignal,
): Promise<Sent> {
  const meter = await deps.stripe.meter({ signal })
  const values = { id, meter: meter.id, at: deps.now() }
  const batch = await deps.store.write((tx) => tx.find(beginTry, values))
  if (batch === undefined) return 'ended'
  try {
    await createEvent(deps, { batch, meter, signal })
  } catch (error) {
    if (isFault(error, 'refused')) return await refuse(deps, { batch, meter, signal }, error)
    if (isFault(error, 'misconfigured', 'missing')) return await undo(deps, batch, error)
    if (!isFault(error, 'duplicate')) return await keep(deps, batch, error)
  }
  await deps.store.write((tx) => tx.execute(setCharged, { id, at: deps.now() }))
  deps.counters.add('pillarbox_metering_batches_total', { outcome: 'charged' })
  return 'ended'
}

async function createEvent(
  { stripe }: MeteringDeps,
  { batch, meter, signal }: { batch: MeteringBatch; meter: Meter; signal: AbortSignal },
): Promise<void> {
  await stripe.call(
    (api) =>
      api.billing.meterEvents.create({
        event_name: stripe.meterEvent,
        identifier: batch.id,
        timestamp: Math.floor(batch.occurredAt / 1000),
        payload: {
          [meter.customerKey]: batch.customer,
          [meter.valueKey]: String(batch.credits),
        },
      }),
    signal,
  )
}

/**
 * Takes back a try that Stripe did not look at, and ends the run, because Stripe would not look at
 * other batches either.
 */
async function undo(deps: MeteringDeps, batch: MeteringBatch, fault: StripeFault): Promise<never> {
  await forget(deps, batch)
  throw fault
}

/**
 * Takes back a refused try if it was the first one. After an earlier try Stripe may have counted
 * the batch.
 */
async function forget(
  { store, now }: MeteringDeps,
  { id, firstTriedAt, lastTriedAt }: MeteringBatch,
): Promise<void> {
  const isFirst = firstTriedAt === lastTriedAt
  if (isFirst) await store.write((tx) => tx.execute(forgetTry, { id, at: now() }))
}

/**
 * Drops a refused batch, but only if the refusal is about the batch. A missing meter or a wrong
 * clock drops nothing.
 */
async function refuse(
  deps: MeteringDeps,
  { batch, meter, signal }: { batch: MeteringBatch; meter: Meter; signal: AbortSignal },
  fault: StripeFault,
): Promise<Sent> {
  if (isOfClock(deps, batch, fault)) return undo(deps, batch, fault)
  const isOfBatch = await isStillThere(deps, meter, signal)
  if (!isOfBatch) {
    await forget(deps, batch)
    return keep(deps, batch, fault)
  }
  await dropBatch(deps, { id: batch.id, error: describeMeterFault(fault) })
  return 'ended'
}

/** Whether the meter still exists; false also while Stripe does not answer. */
async function isStillThere(
  { stripe }: MeteringDeps,
  meter: Meter,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return isDeepStrictEqual(await stripe.meter({ isFresh: true, signal }), meter)
  } catch (error) {
    if (isFault(error)) return false
    throw error
  }
}

/**
 * Whether Stripe refused the time of the batch because the clock of this server is wrong: by this
 * clock the batch is recent and of the past.
 */
function isOfClock(
  { now }: MeteringDeps,
  { occurredAt }: MeteringBatch,
  fault: StripeFault,
): boolean {
  const isRecent = now() - occurredAt < MAX_AGE_MS - DAY_MS
  return isRecent && /timestamp/i.test(`${fault.stripeCode} ${describeMeterFault(fault)}`)
}

async function keep(
  { store, now }: MeteringDeps,
  { id }: MeteringBatch,
  error: unknown,
): Promise<Sent> {
  await store.write((tx) =>
    tx.execute(noteError, { id, error: describeMeterFault(error), at: now() }),
  )
  return 'unanswered'
}

export function describeMeterFault(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return describeError(cause ?? error)
}
