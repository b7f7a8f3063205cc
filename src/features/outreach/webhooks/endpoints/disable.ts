/**
 * Stops an endpoint that is disabled or deleted: from then on no delivery is made and none is sent.
 * The waiting deliveries up to the number `failed_through` count as failed at once. A job writes
 * that into their rows, a batch at a time, and then sets `failed_through` to 0. For a deleted
 * endpoint, the job deletes the rows and then the endpoint.
 */
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { enqueueJob } from '../../../../work/jobs/enqueue.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'

import type { Base } from '../../../ground/base.ts'

export const CLEAR_KIND = 'clear-webhook-endpoint'
export const ENDPOINT_DISABLED = 'the endpoint was disabled'
const PACE: SweepPace = { first: 200, max: 2_000, batchMs: 4, rest: { times: 2 } }

type StopDeps = Pick<Base, 'now' | 'jobNotifier' | 'webhookNotifier'>
type StoppedEndpoint = { id: string; projectId: string }

const setDisabled = statement(
  () => sql`update webhook_endpoints set enabled = 0, disabled_reason = ${parameter('reason')},
      failed_through = coalesce((select max(number) from webhook_deliveries), 0),
      updated_at = ${parameter('at')}
    where id = ${parameter('id')} and enabled = 1`,
)

const setDeleted = statement(
  () => sql`update webhook_endpoints set enabled = 0, deleted_at = ${parameter('at')}
    where id = ${parameter('id')} and deleted_at is null`,
)

const findCleared = statement<{ failedThrough: number; deletedAt: number | null }>(
  () => sql`select failed_through as "failedThrough", deleted_at as "deletedAt"
    from webhook_endpoints where id = ${parameter('id')}`,
)

/**
 * Writes that all rows are cleared. A cleared row never waits again, so no number needs to be kept.
 */
const setCleared = statement(
  () => sql`update webhook_endpoints set failed_through = 0 where id = ${parameter('id')}`,
)

export const failBatch = statement(
  () => sql`update webhook_deliveries set status = 'FAILED', due_at = null,
      error = coalesce(error || '; ', '') || ${ENDPOINT_DISABLED}, completed_at = ${parameter('at')}
    where number in (select number from webhook_deliveries
      where endpoint_id = ${parameter('id')} and due_at is not null
        and number <= ${parameter('failedThrough')}
      limit ${parameter('limit')})`,
)

export const deleteDeliveryBatch = statement(
  () => sql`delete from webhook_deliveries where number in (
    select number from webhook_deliveries where endpoint_id = ${parameter('id')}
    limit ${parameter('limit')})`,
)

const deleteEndpoint = statement(
  () => sql`delete from webhook_endpoints where id = ${parameter('id')}`,
)

/**
 * `reason`: why the server disables the endpoint; null if a request does. Returns whether the
 * endpoint was enabled.
 */
export async function disableEndpoint(
  deps: StopDeps,
  tx: Tx,
  endpoint: StoppedEndpoint & { reason: string | null },
): Promise<boolean> {
  const { id, reason } = endpoint
  const isChanged = (await tx.execute(setDisabled, { id, reason, at: deps.now() })) === 1
  if (isChanged) await enqueueClearing(deps, tx, endpoint)
  return isChanged
}

export async function markDeleted(
  deps: StopDeps,
  tx: Tx,
  endpoint: StoppedEndpoint,
): Promise<void> {
  await tx.execute(setDeleted, { id: endpoint.id, at: deps.now() })
  await enqueueClearing(deps, tx, endpoint)
}

/** Enqueues the job that clears the endpoint. A second job does no harm. */
export async function enqueueClearing(
  { now, jobNotifier, webhookNotifier }: StopDeps,
  tx: Tx,
  { id, projectId }: StoppedEndpoint,
): Promise<void> {
  await enqueueJob(tx, { kind: CLEAR_KIND, projectId, payload: { endpointId: id }, now: now() })
  tx.afterCommit(() => {
    webhookNotifier.notify({ kind: 'changed', endpointId: id, projectId })
    jobNotifier.notify()
  })
}

/** Runs the job. A second run continues where the first ended. */
export async function clearEndpoint(
  deps: Pick<Base, 'store' | 'now'>,
  job: RunningJob,
): Promise<void> {
  const { endpointId: id } = job.payload as { endpointId: string }
  const rules = { pace: PACE, heavyFor: job.projectId ?? id, job, until: 'short' as const }
  await sweep(deps, rules, async (tx, limit) => {
    const endpoint = await tx.find(findCleared, { id })
    if (endpoint === undefined) return 0
    const { failedThrough, deletedAt } = endpoint
    const changed =
      deletedAt === null
        ? await tx.execute(failBatch, { id, failedThrough, limit, at: deps.now() })
        : await tx.execute(deleteDeliveryBatch, { id, limit })
    if (changed < limit) {
      await tx.execute(deletedAt === null ? setCleared : deleteEndpoint, { id })
    }
    return changed
  })
}
