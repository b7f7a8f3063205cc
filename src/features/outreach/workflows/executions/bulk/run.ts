/**
 * The job that starts executions for the members of a segment, or for the contacts that match a
 * filter: those that existed when the job began. One transaction starts a batch of them and stores
 * the progress, so after a crash nobody is started twice. The job fails for good once the workflow is
 * disabled or gone.
 */
import { AppError } from '../../../../../base/errors.ts'
import { listOf, unindexed } from '../../../../../store/dialect.ts'
import { max, sql } from '../../../../../store/drizzle.ts'
import { contacts } from '../../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import { type BatchPace, createBatchPace } from '../../../../../work/jobs/pace.ts'
import { loadProgress, saveProgress } from '../../../../../work/jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../../../../work/jobs/run.ts'
import type { Base } from '../../../../ground/base.ts'
import { compileCondition } from '../../../../ground/conditions/compile.ts'
import { countContacts } from '../../../../people/contacts/list/count.ts'
import type { NumberedContact } from '../../../../people/contacts/list/row.ts'
import type { ContactScope } from '../../../../people/contacts/list/scope.ts'
import { walkPages } from '../../../../people/contacts/list/walk.ts'
import { contactScopeOf } from '../../../../people/segments/contact-scope.ts'
import { loadSegment } from '../../../../people/segments/get.ts'
import type { WorkflowNotifier } from '../../notifier.ts'
import { getStartable, isProjectEnabled } from '../find.ts'
import type { StartableWorkflow } from '../insert.ts'
import { startExecution } from '../start.ts'
import type { BulkStartPayload } from './start.ts'

type Tally = {
  startedCount: number
  /** Contacts that the rules of re-entry hold back. */
  heldBackCount: number
  /** Contacts over the limit of starts. */
  tooManyStartsCount: number
  /** Contacts that were deleted meanwhile. */
  failureCount: number
}

export type BulkStartResult = Tally & { totalRequested: number }

type Deps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }
/** `after`: the number of the last processed contact. `last`: the newest when the job began. */
type Progress = { startedAt: number; after: number; last: number; total: number; tally: Tally }
type Batch = {
  job: RunningJob
  payload: BulkStartPayload
  state: Progress
  batch: readonly NumberedContact[]
  pace: BatchPace
}

const MAX_BATCH_SIZE = 200

/** Finds each contact by its id, not by the index of the project. */
const selectExisting = statement<{ id: string }>(
  () => sql`select id from contacts where ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    and id in ${listOf(parameter('ids'))}`,
)

export async function runBulkStart(deps: Deps, job: RunningJob): Promise<BulkStartResult> {
  const payload = job.payload as BulkStartPayload
  const pace = createBatchPace({ first: 10, max: MAX_BATCH_SIZE })
  let state =
    (await loadProgress<Progress>(deps.store.read, job.id)) ?? (await begin(deps, payload))
  const scope = await scopeOf(deps, payload, state.startedAt)
  for await (const { contacts: page, upTo } of walkPages(deps, scope, { after: state.after })) {
    job.signal.throwIfAborted()
    const { last } = state
    const meant = page.filter(({ number }) => number <= last)
    for (let done = 0; done < meant.length; ) {
      job.signal.throwIfAborted()
      const batch = meant.slice(done, done + pace.size())
      done += batch.length
      const before = state
      const apply = () => startBatch(deps, { job, payload, state: before, batch, pace })
      state = await pace.batch(apply, job.signal)
    }
    if ((upTo ?? last) >= last) break
  }
  return { totalRequested: sumOf(state.tally), ...state.tally }
}

async function begin(deps: Deps, payload: BulkStartPayload): Promise<Progress> {
  const startedAt = deps.now()
  const tally = { startedCount: 0, heldBackCount: 0, tooManyStartsCount: 0, failureCount: 0 }
  const row = await deps.store.read
    .select({ last: max(contacts.number) })
    .from(contacts)
    .get()
  const total = await countContacts(deps, await scopeOf(deps, payload, startedAt))
  return { startedAt, after: 0, last: row?.last ?? 0, total, tally }
}

/** Spans of time in the condition end when the job began. */
async function scopeOf(
  { store }: Deps,
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
  deps: Deps,
  { job, payload, state, batch, pace }: Batch,
): Promise<Progress> {
  const { projectId, context } = payload
  return deps.store.write((tx) =>
    pace.measure(batch.length, async () => {
      const at = deps.now()
      const workflow = await getStillStartable(tx, payload)
      const ids = JSON.stringify(batch.map(({ id }) => id))
      const known = new Set((await tx.list(selectExisting, { projectId, ids })).map(({ id }) => id))
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
      const next = { ...state, after: batch.at(-1)?.number ?? state.after, tally }
      await saveProgress(tx, job, { state: next, percent: percentOf(next), at })
      return next
    }),
  )
}

async function getStillStartable(
  tx: Tx,
  { projectId, workflowId: id }: BulkStartPayload,
): Promise<StartableWorkflow> {
  if (!(await isProjectEnabled(tx, projectId))) throw new FinalFailure('The project is disabled.')
  return refusedForGood(() => getStartable(tx, { projectId, id }))
}

/** What is gone does not come back: another attempt would end in the same way. */
async function refusedForGood<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    throw new FinalFailure(error.message, { cause: error })
  }
}

function sumOf(tally: Tally): number {
  return Object.values(tally).reduce((sum, count) => sum + count, 0)
}

function percentOf({ total, tally }: Progress): number {
  return total === 0 ? 99 : Math.min(99, (100 * sumOf(tally)) / total)
}
