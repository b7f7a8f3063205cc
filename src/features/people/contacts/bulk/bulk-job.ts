/**
 * Starts, runs and shows the job that subscribes, unsubscribes or deletes many contacts. People who left
 * are subscribed only if the request has `resubscribe`. One transaction changes a batch of contacts,
 * appends their events and stores the counts. After a crash, the job continues after the last batch, so
 * it changes and counts each contact once.
 *
 * A job by query covers the contacts that existed when it started and that match when the walk
 * reaches them. The walk follows their numbers, which a change of `subscribed` does not affect.
 */
import { AppError } from '../../../../base/errors.ts'
import { addressDigest, listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { loadProgress } from '../../../../work/jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../../../work/jobs/run.ts'
import { findJobStatus, type JobStatus } from '../../../../work/jobs/status.ts'
import { type SweepPace, sweepPages } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { compileCondition } from '../../../ground/conditions/compile.ts'
import { type Condition, parseCondition } from '../../../ground/conditions/condition.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'
import { clearWishOfContact, isOwnWish } from '../../wishes/wishes.ts'
import { countContacts } from '../list/count.ts'
import type { ContactScope } from '../list/scope.ts'
import { deleteContacts, deleteLongHistory } from '../write/delete.ts'
import { setSubscribed } from '../write/set-subscribed.ts'
import { findExisting, findNewestNumber, walkExisting } from './existing.ts'
import {
  type AppliedBatch,
  addBatch,
  type BulkOperation,
  type BulkProgress,
  type BulkResult,
  countOfBulk,
  percentOfBulk,
  startOfBulk,
  toBulkResult,
} from './result.ts'

type BulkFilter<RawCondition = Condition> = {
  subscribed?: boolean | undefined
  /** Selects contacts whose address contains this text. */
  search?: string | undefined
  condition?: RawCondition | undefined
}

/**
 * The contacts that a bulk job changes: those of the given ids, or those that match a filter and
 * exist when the job starts.
 */
export type BulkSelection<RawCondition = Condition> =
  | { mode: 'ids'; contactIds: readonly string[] }
  | { mode: 'query'; filter: BulkFilter<RawCondition>; excludeIds: readonly string[] }

/** The payload of the job; its status shows it. */
type BulkPayload = BulkSelection & {
  operation: BulkOperation
  projectId: string
  /**
   * Whether the operation `subscribe` also subscribes people who left; absent in jobs that an
   * earlier version stored.
   */
  resubscribe?: boolean
}

type StartDeps = Pick<Base, 'store' | 'now' | 'jobNotifier'>

type Deps = Pick<Base, 'store' | 'now'>
/** `number`: the value of `after` once the contact is processed. */
type BulkCandidate = { number: number; id: string; address: string | null }

const PACE: SweepPace = { first: 10, max: 100, batchMs: 4, rest: { times: 2 } }

/** The unsubscribed contacts among `ids` whose owners left. */
const selectLeft = statement<{ id: string }>(
  () => sql`select id from contacts where id in ${listOf(parameter('ids'))} and subscribed = 0
    and exists (select 1 from wishes
      where digest = ${addressDigest(sql`contacts.project_id`, sql`contacts.email`)}
        and ${isOwnWish})`,
)

/**
 * Checks the selection and enqueues the job. Returns the id of the job. `selection.condition` is
 * the condition of the request, not parsed yet.
 * @throws AppError VALIDATION_ERROR for an invalid condition; BAD_REQUEST for a condition that
 *   refers to an unknown segment; CONFLICT when the project has too many unfinished jobs of this
 *   kind
 */
export async function startBulk(
  deps: StartDeps,
  input: {
    projectId: string
    operation: BulkOperation
    selection: BulkSelection<unknown>
    resubscribe?: boolean
    userId?: string | null
  },
): Promise<string> {
  const { projectId, userId, operation, resubscribe } = input
  const selection = await checkSelection(deps, projectId, input.selection)
  const { store, now, jobNotifier } = deps
  return store.write((tx) => {
    tx.afterCommit(() => jobNotifier.notify())
    const asked = resubscribe === undefined ? {} : { resubscribe }
    const payload: BulkPayload = { operation, projectId, ...asked, ...selection }
    const prefix = `bulk-${operation}`
    const job = { prefix, kind: 'bulk', payload, projectId, userId, now: now() }
    return enqueueForProject(tx, job)
  })
}

/** Finds the status of a bulk job or of a field's deletion. @throws AppError RESOURCE_NOT_FOUND */
export function findBulkStatus(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, jobId }: { projectId: string; jobId: string },
): Promise<JobStatus> {
  return findJobStatus(deps, { projectId, id: jobId, kinds: ['bulk', 'delete-field'] })
}

/** Returns the selection with each id once and the condition parsed. @throws AppError as `startBulk` */
export async function checkSelection(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  selection: BulkSelection<unknown>,
): Promise<BulkSelection> {
  if (selection.mode === 'ids')
    return { ...selection, contactIds: [...new Set(selection.contactIds)] }
  const { condition: given, ...filter } = selection.filter
  if (given === undefined) return { ...selection, filter }
  const condition = parseCondition(given, 'filter.condition')
  await compileCondition(deps, { projectId, condition })
  return { ...selection, filter: { ...filter, condition } }
}

export async function runBulk(deps: Deps, job: RunningJob): Promise<BulkResult> {
  const payload = job.payload as BulkPayload
  const { projectId } = payload
  const from =
    (await loadProgress<BulkProgress>(deps.store.read, job.id)) ?? (await begin(deps, payload))
  const { tally } = await sweepPages<BulkCandidate, BulkProgress>(
    deps,
    { pace: PACE, heavyFor: undefined },
    {
      from,
      pages: candidatesOf(deps, payload, from),
      progress: { job, now: deps.now, percentOf: percentOfBulk, countOf: countOfBulk },
      prepare: async (batch) => {
        if (payload.operation !== 'delete') return
        await deleteLongHistory(deps, { projectId, ids: batch.map(({ id }) => id) })
      },
      change: (tx, batch, state) => applyBatch(deps, tx, { payload, state, batch }),
    },
  )
  return toBulkResult(payload.operation, tally)
}

async function begin(deps: Deps, payload: BulkPayload): Promise<BulkProgress> {
  const startedAt = deps.now()
  if (payload.mode === 'ids') {
    const total = payload.contactIds.length
    return startOfBulk({ startedAt, last: total, total })
  }
  const last = await findNewestNumber(deps)
  const total = await countContacts(deps, await toScope(deps, payload, startedAt))
  return startOfBulk({ startedAt, last, total })
}

/** Yields the contacts that are not processed yet, page by page. */
async function* candidatesOf(
  deps: Deps,
  payload: BulkPayload,
  { startedAt, after, last }: BulkProgress,
): AsyncGenerator<BulkCandidate[]> {
  if (payload.mode === 'ids') {
    const all = payload.contactIds.map((id, index) => ({ number: index + 1, id, address: null }))
    yield all.slice(after)
    return
  }
  const excluded = new Set(payload.excludeIds)
  const scope = await toScope(deps, payload, startedAt)
  for await (const page of walkExisting(deps, scope, { after, last })) {
    yield page.filter(({ id }) => !excluded.has(id))
  }
}

async function toScope(
  { store }: Deps,
  { projectId, filter }: BulkPayload & { mode: 'query' },
  startedAt: number,
): Promise<ContactScope> {
  const { condition, ...scope } = filter
  if (condition === undefined) return { projectId, ...scope }
  const deps = { store, now: () => startedAt }
  try {
    return {
      projectId,
      ...scope,
      condition: await compileCondition(deps, { projectId, condition }),
    }
  } catch (error) {
    // The condition refers to a segment that has been deleted since the request.
    if (error instanceof AppError && error.code === 'BAD_REQUEST') {
      throw new FinalFailure(error.message, { cause: error })
    }
    throw error
  }
}

type BulkBatch = { payload: BulkPayload; state: BulkProgress; batch: readonly BulkCandidate[] }

async function applyBatch(
  { now }: Deps,
  tx: Tx,
  { payload, state, batch }: BulkBatch,
): Promise<BulkProgress> {
  const { projectId } = payload
  const ids = batch.map(({ id }) => id)
  const known = await findExisting(tx, { projectId, ids })
  const applied = await applyOperation(tx, payload, {
    ids: ids.filter((id) => known.has(id)),
    at: now(),
  })
  const missing = batch.filter(({ id }) => !known.has(id))
  const unchanged = known.size - applied.changed
  const tally = addBatch(state.tally, { ...applied, unchanged, missing })
  return { ...state, after: batch.at(-1)?.number ?? state.after, tally }
}

async function applyOperation(
  tx: Tx,
  { projectId, operation, resubscribe }: BulkPayload,
  { ids, at }: { ids: readonly string[]; at: number },
): Promise<AppliedBatch> {
  if (operation === 'delete') {
    return { changed: await deleteContacts(tx, projectId, { ids, at }), kept: 0 }
  }
  const subscribed = operation === 'subscribe'
  const change = { subscribed, at, emailId: null, reason: 'manual' } as const
  const left = subscribed ? await tx.list(selectLeft, { ids: JSON.stringify(ids) }) : []
  const kept = new Set(resubscribe === true ? [] : left.map(({ id }) => id))
  if (resubscribe === true) for (const { id } of left) await clearWishOfContact(tx, id)
  let changed = 0
  for (const id of ids) {
    if (!kept.has(id) && (await setSubscribed(tx, id, change))) changed += 1
  }
  return { changed, kept: kept.size }
}
