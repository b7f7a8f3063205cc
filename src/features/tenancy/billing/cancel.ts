/**
 * Cancels a subscription at Stripe by a job, which is repeated until Stripe answers. The job knows
 * all that it needs, because the project may be gone. It waits until the mail of the project is
 * charged: the follower has read its last events, its batches have ended, and Stripe has had an
 * hour to add them up. So the last invoice has all usage. The cursor of the follower is stored up
 * to a second after it has read (`work/follower.ts`), so a job that runs at once usually looks
 * again after `RECHECK_MS`.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { jobs } from '../../../store/schema/jobs.ts'
import { statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { enqueueJob } from '../../../work/jobs/enqueue.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import type { Base } from '../../ground/base.ts'
import { findChargedSince, findOpenOfProject, SETTLE_AFTER_MS } from './metering/batches.ts'
import { requireStripe, type WithStripe } from './require-stripe.ts'
import type { StripeClient } from './stripe.ts'
import { isFault } from './stripe-fault.ts'

export const CANCELLATION_KIND = 'cancel-subscription'

/**
 * `billsUse`: whether Stripe makes a last invoice. `seq`: the number of the newest event when the
 * cancellation was requested.
 */
type Payload = { projectId: string; subscription: string; billsUse: boolean; seq: number }

type Deps = WithStripe & Pick<Base, 'store' | 'now' | 'log'>

/** The most attempts; at most an hour lies between two, so they go on for more than a year. */
const MAX_ATTEMPTS = 10_000
const RECHECK_MS = 10 * MINUTE_MS

const findNewestEvent = statement<{ seq: number | null }>(
  () => sql`select max(seq) as seq from events`,
)

const findPlace = statement<{ seq: number; newest: number | null }>(
  () => sql`select seq, (select max(seq) from events) as newest
    from event_followers where name = 'billing'`,
)

/**
 * Enqueues the job in the transaction that ends the subscription. Enqueues nothing while the
 * subscription is waiting to be cancelled.
 */
export async function enqueueCancellation(
  { now, jobNotifier }: Pick<Base, 'now' | 'jobNotifier'>,
  tx: Tx,
  { projectId, subscription, billsUse }: Omit<Payload, 'seq'>,
): Promise<void> {
  const seq = (await tx.find(findNewestEvent))?.seq ?? 0
  const at = now()
  await enqueue(tx, { projectId, subscription, billsUse, seq }, { now: at, runAt: at })
  tx.afterCommit(() => jobNotifier.notify())
}

async function enqueue(
  tx: Tx,
  payload: Payload,
  times: { now: number; runAt: number },
): Promise<void> {
  const uniqueKey = `${CANCELLATION_KIND} ${payload.subscription}`
  const job = { kind: CANCELLATION_KIND, payload, maxAttempts: MAX_ATTEMPTS, uniqueKey }
  await enqueueJob(tx, { ...job, ...times })
}

/** Runs the job, and deletes its row in the end, because the row names the project. */
export async function runCancellation(deps: Deps, job: RunningJob): Promise<void> {
  const payload = job.payload as Payload
  const isEarly = payload.billsUse && !(await isCharged(deps, payload))
  if (!isEarly) await cancel(requireStripe(deps), payload, job.signal)
  await deps.store.write(async (tx) => {
    await tx.delete(jobs).where(eq(jobs.id, job.id))
    const at = deps.now()
    if (isEarly) await enqueue(tx, payload, { now: at, runAt: at + RECHECK_MS })
  })
  if (isEarly) return
  const { projectId: project, subscription } = payload
  deps.log.info({ project, subscription }, 'a subscription was cancelled')
}

async function isCharged({ store, now }: Deps, { projectId, seq }: Payload): Promise<boolean> {
  const place = await store.read.find(findPlace)
  const isRead = place !== undefined && (place.seq >= seq || place.seq >= (place.newest ?? 0))
  if (!isRead || (await store.read.find(findOpenOfProject, { projectId })) !== undefined)
    return false
  const after = now() - SETTLE_AFTER_MS
  return (await store.read.find(findChargedSince, { projectId, after })) === undefined
}

/**
 * Cancels the subscription. One that has ended or does not exist counts as cancelled.
 * @throws StripeFault
 */
async function cancel(
  stripe: StripeClient,
  { subscription, billsUse }: Payload,
  signal: AbortSignal,
): Promise<void> {
  try {
    await stripe.call(
      (api) => api.subscriptions.cancel(subscription, { invoice_now: billsUse, prorate: false }),
      signal,
    )
  } catch (error) {
    if (!isFault(error, 'missing')) throw error
  }
}
