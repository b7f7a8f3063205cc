/**
 * Starts executions for the members of a segment, or for the contacts that match a filter, in a job.
 *
 * The job starts the contacts that existed when it began. One transaction starts a batch of them and stores the
 * progress, so after a crash no contact is started twice. The job fails for good once the workflow is disabled or gone.
 */
import { AppError, notFound } from '../../../../base/errors.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { JobCount } from '../../../../work/jobs/job-row.ts'
import { loadProgress } from '../../../../work/jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../../../work/jobs/run.ts'
import { findJobStatus, type JobStatus } from '../../../../work/jobs/status.ts'
import { type SweepPace, sweepPages } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { compileCondition } from '../../../ground/conditions/compile.ts'
import { type Condition, parseCondition } from '../../../ground/conditions/condition.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'
import type { ShownJob } from '../../../ground/manifest/shown-job.ts'
import {
  findExisting,
  findNewestNumber,
  walkExisting,
} from '../../../people/contacts/bulk/existing.ts'
import { countContacts } from '../../../people/contacts/list/count.ts'
import type { NumberedContact } from '../../../people/contacts/list/row.ts'
import type { ContactScope } from '../../../people/contacts/list/scope.ts'
import { checkData } from '../../../people/contacts/write/data.ts'
import { contactScopeOf } from '../../../people/segments/contact-scope.ts'
import { loadSegment } from '../../../people/segments/segments.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import type { WorkflowKey } from '../workflow.ts'
import { isProjectEnabled, loadStartable } from './find.ts'
import type { StartableWorkflow } from './insert.ts'
import { startExecution } from './start.ts'

export const BULK_START_KIND = 'start-executions'

/**
 * The contacts to start: a contact is started if it belongs to the segment or matches the filter
 * when the job reaches it.
 */
type Selection<Filter> = { segmentId: string } | { filter: Filter }

/** The payload of the job, which the status of the job shows. */
export type BulkStartPayload = Selection<Condition> & {
  projectId: string
  workflowId: string
  context: Record<string, unknown> | null
  /** The time of the firing, if a SCHEDULE starts the contacts; epoch ms. */
  firedAt?: number
}

type BulkStart = WorkflowKey & {
  selection: Selection<unknown>
  context: Record<string, unknown> | null
  userId?: string | null
}

type Deps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

type Tally = {
  startedCount: number
  /** The contacts that the rules of re-entry held back. */
  heldBackCount: number
  /** The contacts that had too many starts within an hour. */
  tooManyStartsCount: number
  /** The contacts that were deleted meanwhile. */
  failureCount: number
}

type BulkStartResult = Tally & { totalRequested: number }

type RunDeps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }

/**
 * `after`: the number of the last contact that was processed. `last`: the number of the newest
 * contact when the job began.
 */
type Progress = { startedAt: number; after: number; last: number; total: number; tally: Tally }

type StartBatch = { payload: BulkStartPayload; state: Progress; batch: readonly NumberedContact[] }

const NONE_STARTED: Tally = {
  ...{ startedCount: 0, heldBackCount: 0, tooManyStartsCount: 0, failureCount: 0 },
}

const PACE: SweepPace = { first: 10, max: 200, batchMs: 4, rest: { times: 2 } }

/**
 * Enqueues the job, and returns its id. `filter` is the unparsed condition of the request.
 * @throws AppError VALIDATION_ERROR (the filter; the context breaks a limit of contact data),
 *   WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND (the segment); BAD_REQUEST: the workflow is disabled or has
 *   no TRIGGER step, or the filter refers to an unknown segment; CONFLICT when the project has too many
 *   unfinished jobs of this kind
 */
export async function startMany(
  deps: Deps,
  { selection: given, context, userId, ...key }: BulkStart,
): Promise<string> {
  const { store, now, jobNotifier } = deps
  const { projectId, id: workflowId } = key
  checkData(context, 'context')
  const selection = await parseSelection(deps, projectId, given)
  return store.write(async (tx) => {
    await loadStartable(tx, key)
    if ('segmentId' in selection) await loadSegment(tx, { projectId, id: selection.segmentId })
    const payload: BulkStartPayload = { projectId, workflowId, ...selection, context }
    tx.afterCommit(() => jobNotifier.notify())
    const job = { prefix: 'bulk-start', kind: BULK_START_KIND, payload, projectId, userId }
    return enqueueForProject(tx, { ...job, now: now() })
  })
}

/** @throws AppError RESOURCE_NOT_FOUND */
export async function findBulkStart(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, id: workflowId, jobId }: WorkflowKey & { jobId: string },
): Promise<JobStatus> {
  const status = await findJobStatus(deps, { projectId, id: jobId, kinds: [BULK_START_KIND] })
  const payload = status.data as BulkStartPayload
  if (payload.workflowId === workflowId) return status
  throw notFound('job', jobId, 'There is no such job.')
}

async function parseSelection(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  selection: Selection<unknown>,
): Promise<Selection<Condition>> {
  if ('segmentId' in selection) return selection
  const filter = parseCondition(selection.filter, 'filter')
  await compileCondition(deps, { projectId, condition: filter })
  return { filter }
}

export const SHOWN_BULK_START: ShownJob = {
  hasFacts: true,
  labelOf: () => 'Start executions of a workflow',
  pathOf: (id, { workflowId }) => `/workflows/${workflowId}/executions/bulk/${id}`,
  partialResult: (state) => toBulkStartResult((state as Progress | undefined)?.tally),
}

export async function runBulkStart(deps: RunDeps, job: RunningJob): Promise<BulkStartResult> {
  const payload = job.payload as BulkStartPayload
  const from =
    (await loadProgress<Progress>(deps.store.read, job.id)) ?? (await begin(deps, payload))
  const scope = await scopeOf(deps, payload, from.startedAt)
  const { tally } = await sweepPages<NumberedContact, Progress>(
    deps,
    { pace: PACE, heavyFor: undefined },
    {
      from,
      pages: walkExisting(deps, scope, from),
      progress: { job, now: deps.now, percentOf, countOf },
      change: (tx, batch, state) => startBatch(deps, tx, { payload, state, batch }),
    },
  )
  return toBulkStartResult(tally)
}

async function begin(deps: RunDeps, payload: BulkStartPayload): Promise<Progress> {
  const startedAt = deps.now()
  const last = await findNewestNumber(deps)
  const total = await countContacts(deps, await scopeOf(deps, payload, startedAt))
  return { startedAt, after: 0, last, total, tally: NONE_STARTED }
}

/**
 * Returns the scope of the contacts. Spans of time in the condition end at the instant at which the
 * job began.
 */
async function scopeOf(
  { store }: RunDeps,
  payload: BulkStartPayload,
  startedAt: number,
): Promise<ContactScope> {
  const { projectId } = payload
  const deps = { store, now: () => startedAt }
  return refusedForGood(async () => {
    if ('filter' in payload) {
      const condition = await compileCondition(deps, { projectId, condition: payload.filter })
      return { projectId, condition }
    }
    const segment = await loadSegment(store.read, { projectId, id: payload.segmentId })
    return contactScopeOf(deps, segment)
  })
}

async function startBatch(
  deps: RunDeps,
  tx: Tx,
  { payload, state, batch }: StartBatch,
): Promise<Progress> {
  const { projectId, context } = payload
  const at = deps.now()
  const workflow = await loadStillStartable(tx, payload)
  const known = await findExisting(tx, { projectId, ids: batch.map(({ id }) => id) })
  const tally = { ...state.tally }
  for (const { id: contactId } of batch) {
    const start = { contactId, context, source: null, depth: 0, at }
    const kind = known.has(contactId)
      ? (await startExecution(deps, tx, { workflow, start })).kind
      : 'deleted'
    if (kind === 'started') tally.startedCount += 1
    else if (kind === 'held back') tally.heldBackCount += 1
    else if (kind === 'too many') tally.tooManyStartsCount += 1
    else tally.failureCount += 1
  }
  return { ...state, after: batch.at(-1)?.number ?? state.after, tally }
}

async function loadStillStartable(
  tx: Tx,
  { projectId, workflowId: id }: BulkStartPayload,
): Promise<StartableWorkflow> {
  if (!(await isProjectEnabled(tx, projectId))) throw new FinalFailure('The project is disabled.')
  return refusedForGood(() => loadStartable(tx, { projectId, id }))
}

/**
 * Runs `act`, and turns a refusal into a final failure of the job, because another attempt would be
 * refused too.
 */
async function refusedForGood<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    throw new FinalFailure(error.message, { cause: error })
  }
}

function toBulkStartResult(tally = NONE_STARTED): BulkStartResult {
  return { totalRequested: sumOf(tally), ...tally }
}

function sumOf(tally: Tally): number {
  return Object.values(tally).reduce((sum, count) => sum + count, 0)
}

function countOf({ total, tally }: Progress): JobCount {
  return { done: sumOf(tally), total }
}

function percentOf({ total, tally }: Progress): number {
  return total === 0 ? 99 : Math.min(99, (100 * sumOf(tally)) / total)
}
