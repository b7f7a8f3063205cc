import { AppError } from '../../../base/errors.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { segmentMembers, segments } from '../../../store/schema/segments.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { enqueueJob } from '../../../work/jobs/enqueue.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import { type Pace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import type { Reference } from '../../ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../ground/references/registry.ts'
import type { SegmentKey } from './segments.ts'
import { isSegment, loadSegment } from './segments.ts'

/** A transaction takes about 10 ms. */
const BATCH = 500
const PACE: Pace = { rows: BATCH, rest: 'none' }

const deleteMemberBatch = statement(
  () => sql`delete from segment_members
    where segment_id = ${parameter('segmentId')} and contact_id in (
      select contact_id from segment_members
      where segment_id = ${parameter('segmentId')} limit ${sql.raw(String(BATCH))})`,
)

/**
 * Deletes a segment without events. A job deletes its member rows later.
 * @throws AppError RESOURCE_NOT_FOUND; CONFLICT while another segment's condition refers to the
 *   segment (`details.segments`), or an unfinished campaign or the schedule of a workflow does
 *   (`details.campaigns`, `details.workflows`)
 */
export async function deleteSegment(
  deps: Pick<Base, 'store' | 'jobNotifier' | 'now' | 'duties'>,
  key: SegmentKey,
): Promise<void> {
  const { store, jobNotifier, now } = deps
  await store.write(async (tx) => {
    await loadSegment(tx, key)
    await refuseUsed(deps, tx, key)
    await tx.delete(segments).where(isSegment(key))
    if (!(await hasMembers(tx, key.id))) return
    const { projectId, id: segmentId } = key
    await enqueueJob(tx, { kind: 'clear-segment', projectId, payload: { segmentId }, now: now() })
    tx.afterCommit(jobNotifier.notify)
  })
}

/** Runs the job. A second run continues where the first ended. */
export async function deleteMemberships(
  deps: Pick<Base, 'store'>,
  job: Pick<RunningJob, 'payload' | 'signal'>,
): Promise<void> {
  const segmentId = readPayload(job.payload)
  const rules = { pace: PACE, heavyFor: undefined, job, until: 'short' as const }
  await sweep(deps, rules, (tx) => tx.execute(deleteMemberBatch, { segmentId }))
}

async function hasMembers(tx: Tx, segmentId: string): Promise<boolean> {
  const isItsOwn = eq(segmentMembers.segmentId, segmentId)
  const found = await tx.select().from(segmentMembers).where(isItsOwn).limit(1)
  return found.length > 0
}

function readPayload(payload: unknown): string {
  const hasSegmentId = typeof payload === 'object' && payload !== null && 'segmentId' in payload
  if (hasSegmentId && typeof payload.segmentId === 'string') return payload.segmentId
  throw new TypeError('The job names no segment.')
}

async function refuseUsed(
  deps: Pick<Base, 'duties'>,
  tx: Tx,
  { projectId, id }: SegmentKey,
): Promise<void> {
  const references = await findReferences(deps, tx, {
    projectId,
    referent: { kind: 'segment', id },
  })
  if (!isUsed(references)) return
  const segments = references.segments.toSorted(byName)
  const campaigns = references.campaigns.toSorted(byName)
  const workflows = references.workflows.toSorted(byName)
  const users = [
    segments.length > 0 ? `the condition of ${namesOf(segments)}` : [],
    campaigns.length > 0 ? `the audience of ${namesOf(campaigns)}` : [],
    workflows.length > 0 ? `the schedule of ${namesOf(workflows)}` : [],
  ].flat()
  throw new AppError('CONFLICT', `The segment is in use by ${users.join(' and ')}.`, {
    details: { segments, campaigns, workflows },
  })
}

function namesOf(references: readonly Reference[]): string {
  return references.map(({ name }) => `"${name}"`).join(', ')
}

function byName(one: Reference, other: Reference): number {
  if (one.name === other.name) return one.id < other.id ? -1 : 1
  return one.name < other.name ? -1 : 1
}
