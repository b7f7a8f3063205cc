/**
 * Deletes all events of a name: a few while the caller waits, many in a job that resumes after a
 * crash. Events that are recorded after the call stay.
 */
import { AppError } from '../../../base/errors.ts'
import type { EventDeletion } from '../../../records/event.ts'
import { indexedBy } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { loadProgress, saveProgress } from '../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import { findJobStatus, type JobStatus } from '../../../work/jobs/status.ts'
import { type SweepPace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../base.ts'
import { enqueueForProject } from '../enqueue-for-project.ts'
import type { ShownJob } from '../manifest/shown-job.ts'
import { isUsed, kindOfUser } from '../references/registry.ts'
import { isReservedEvent } from './reserved.ts'
import { countEvents, type EventKey, findEventReferences } from './usage.ts'

/** `last`: the newest `seq` when the deletion was requested. */
type DeletionPayload = EventKey & { last: number; total: number }
type EventDeletionProgress = { deletedCount: number }
type Deps = Pick<Base, 'store' | 'now'>

const KIND = 'delete-events'
/** The most events that are deleted while the caller waits: about 10 ms. */
const MAX_AT_ONCE = 500
const PACE: SweepPace = { first: 100, max: 1_000, batchMs: 4, rest: { times: 2 } }

const findNewestSeq = statement<{ last: number | null }>(
  () => sql`select max(seq) as last from events`,
)

export const deleteEventBatch = statement(
  () => sql`delete from events where seq in (
    select seq from events ${indexedBy('events_named')}
    where project_id = ${parameter('projectId')} and name = ${parameter('name')}
      and seq <= ${parameter('last')}
    order by created_at limit ${parameter('limit')})`,
)

/**
 * Deletes the events, or enqueues the job that does.
 * @throws AppError BAD_REQUEST for a reserved name, and while a definition uses the name;
 *   CONFLICT when the project has too many unfinished jobs of this kind
 */
export async function deleteEvents(
  deps: Deps & Pick<Base, 'jobNotifier' | 'duties'>,
  { userId, ...key }: EventKey & { userId?: string | null },
): Promise<EventDeletion> {
  await refuseUsed(deps, key)
  const total = await countEvents(deps, key)
  if (total <= MAX_AT_ONCE) {
    const values = { ...key, last: Number.MAX_SAFE_INTEGER, limit: MAX_AT_ONCE }
    const write = (tx: Tx) => tx.execute(deleteEventBatch, values)
    return { deletedCount: await deps.store.write(write, { heavyFor: key.projectId }) }
  }
  const jobId = await deps.store.write((tx) => enqueueDeletion(deps, tx, { ...key, userId, total }))
  return { deletedCount: total, jobId }
}

export const SHOWN_EVENT_DELETION: ShownJob = {
  hasFacts: true,
  labelOf: ({ name }) => `Delete the events ${name}`,
  pathOf: (id) => `/events/jobs/${id}`,
  partialResult: (state) => (state as EventDeletionProgress | undefined) ?? { deletedCount: 0 },
}

/** Runs the job. */
export async function runEventDeletion(
  deps: Deps,
  job: RunningJob,
): Promise<EventDeletionProgress> {
  const work = job.payload as DeletionPayload
  const from = await loadProgress<EventDeletionProgress>(deps.store.read, job.id)
  const before = from?.deletedCount ?? 0
  const rules = { pace: PACE, heavyFor: undefined, job, until: 'short' as const }
  const all = await sweep(deps, rules, async (tx, limit, done) => {
    const deleted = await tx.execute(deleteEventBatch, { ...work, limit })
    const state = { deletedCount: before + done + deleted }
    const percent = Math.min(99, (100 * state.deletedCount) / work.total)
    const count = { done: state.deletedCount, total: work.total }
    await saveProgress(tx, job, { state, percent, count, at: deps.now() })
    return deleted
  })
  return { deletedCount: before + all }
}

/** Returns the progress of the job. @throws AppError RESOURCE_NOT_FOUND */
export async function findDeletionStatus(
  deps: Deps,
  { projectId, jobId }: { projectId: string; jobId: string },
): Promise<JobStatus> {
  const status = await findJobStatus(deps, { projectId, id: jobId, kinds: [KIND] })
  const { name, total } = status.data as DeletionPayload
  return { ...status, data: { name, total } }
}

async function refuseUsed(deps: Pick<Base, 'store' | 'duties'>, key: EventKey): Promise<void> {
  if (isReservedEvent(key.name)) {
    throw new AppError('BAD_REQUEST', 'Events that the service emits cannot be deleted.')
  }
  const references = await findEventReferences(deps, key)
  if (!isUsed(references)) return
  const { segments, campaigns, workflows } = references
  throw new AppError('BAD_REQUEST', `The event is used by a ${kindOfUser(references)}.`, {
    suggestion: 'Change or delete what refers to the event, then delete its events.',
    details: { usedInSegments: segments, usedInCampaigns: campaigns, usedInWorkflows: workflows },
  })
}

async function enqueueDeletion(
  { now, jobNotifier }: Pick<Base, 'now' | 'jobNotifier'>,
  tx: Tx,
  { userId, ...asked }: Omit<DeletionPayload, 'last'> & { userId: string | null | undefined },
): Promise<string> {
  const last = (await tx.find(findNewestSeq))?.last ?? 0
  tx.afterCommit(() => jobNotifier.notify())
  const { projectId } = asked
  const payload: DeletionPayload = { ...asked, last }
  const job = { prefix: KIND, kind: KIND, payload, projectId, userId, now: now() }
  return enqueueForProject(tx, job)
}
