/**
 * Deletes a key from the data of all contacts of a project: up to 5,000 contacts while the caller
 * waits, more in a job that resumes after a crash. The job visits each contact once. A contact that
 * is created while it runs keeps the key, as does a contact that receives the key again after the
 * visit.
 */
import { AppError, invalidField } from '../../../../base/errors.ts'
import {
  indexedBy,
  jsonPath,
  jsonType,
  jsonWithout,
  listOf,
  unindexed,
} from '../../../../store/dialect.ts'
import { max, sql } from '../../../../store/drizzle.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type BatchPace, createBatchPace } from '../../../../work/jobs/pace.ts'
import { loadProgress, saveProgress } from '../../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import type { Base } from '../../../ground/base.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'
import { isUsed, kindOfUser } from '../../../ground/references/registry.ts'
import { countContactsWithKey, dataKeyOf } from './list.ts'
import { findFieldReferences } from './usage.ts'

/** `jobId`: the job that deletes the key, if the deletion is not done yet. */
type FieldDeletion = { deletedFrom: number; jobId?: string }

type FieldKey = { projectId: string; key: string }
/** `last`: the highest number of a contact at the start. */
type FieldDeletionProgress = { after: number; last: number; deletedFrom: number }
type Deps = Pick<Base, 'store' | 'now'>

/** Contacts that change while the caller waits: 0.1 s. */
const MAX_AT_ONCE = 5_000
const MAX_BATCH_SIZE = 500

const holders = (subscribed: 0 | 1) => sql`
  select number from contacts ${indexedBy('contacts_order')}
  where project_id = ${parameter('projectId')} and subscribed = ${sql.raw(String(subscribed))}
    and number > ${parameter('after')} and number <= ${parameter('last')}
    and ${jsonType(sql`data`, parameter('path'))} is not null`

/** Both index ranges are ordered by number, so SQLite merges them and stops after one page. */
export const selectHolders = statement<{ number: number }>(
  () => sql`${holders(0)} union all ${holders(1)} order by number limit ${parameter('size')}`,
)

/** Finds each contact by its number, not by the index of the project. */
export const removeKey = statement(
  () => sql`
    update contacts
    set data = nullif(${jsonWithout(sql`data`, parameter('path'))}, '{}'), updated_at = ${parameter('at')}
    where number in ${listOf(parameter('numbers'))}
      and ${unindexed(sql`project_id`)} = ${parameter('projectId')}
      and ${jsonType(sql`data`, parameter('path'))} is not null`,
)

/**
 * Deletes a field, or enqueues the job that does.
 * @throws AppError VALIDATION_ERROR for a field that is not `data.<key>`; BAD_REQUEST while a
 *   definition refers to the field; CONFLICT when the project has too many unfinished jobs of this kind
 */
export async function deleteField(
  deps: Pick<Base, 'store' | 'now' | 'jobNotifier' | 'duties'>,
  { projectId, field }: { projectId: string; field: string },
): Promise<FieldDeletion> {
  const key = dataKeyOf(field)
  if (key === undefined) {
    throw invalidField('field', 'custom', 'Only fields of the data can be deleted: data.<key>')
  }
  const fieldKey = { projectId, key }
  await refuseUsed(deps, fieldKey)
  const deletedFrom = await countContactsWithKey(deps.store.read, fieldKey)
  if (deletedFrom > MAX_AT_ONCE) return enqueueDeletion(deps, { ...fieldKey, deletedFrom })
  const end = await removeFromAll(deps, fieldKey)
  return { deletedFrom: end.deletedFrom }
}

/** Runs the job. */
export async function runFieldDeletion(deps: Deps, job: RunningJob): Promise<FieldDeletion> {
  const { deletedFrom: total, ...fieldKey } = job.payload as FieldKey & { deletedFrom: number }
  const saved = await loadProgress<FieldDeletionProgress>(deps.store.read, job.id)
  const end = await removeFromAll(deps, fieldKey, {
    from: saved,
    signal: job.signal,
    onBatch: (tx, state) => {
      const percent = Math.min(99, (100 * state.deletedFrom) / total)
      return saveProgress(tx, job, { state, percent, at: deps.now() })
    },
  })
  return { deletedFrom: end.deletedFrom }
}

async function refuseUsed(
  deps: Pick<Base, 'store' | 'duties'>,
  { projectId, key }: FieldKey,
): Promise<void> {
  const references = await findFieldReferences(deps, { projectId, name: { key } })
  if (!isUsed(references)) return
  const { segments, campaigns, workflows } = references
  throw new AppError('BAD_REQUEST', `The field is used by a ${kindOfUser(references)}.`, {
    suggestion: 'Change or delete what refers to the field, then delete the field.',
    details: { usedInSegments: segments, usedInCampaigns: campaigns, usedInWorkflows: workflows },
  })
}

async function enqueueDeletion(
  { store, now, jobNotifier }: Pick<Base, 'store' | 'now' | 'jobNotifier'>,
  { deletedFrom, ...fieldKey }: FieldKey & { deletedFrom: number },
): Promise<FieldDeletion> {
  const jobId = await store.write((tx) => {
    tx.afterCommit(() => jobNotifier.notify())
    return enqueueForProject(tx, {
      prefix: 'delete-field',
      kind: 'delete-field',
      payload: { ...fieldKey, deletedFrom },
      projectId: fieldKey.projectId,
      now: now(),
    })
  })
  return { deletedFrom, jobId }
}

type DeletionOptions = {
  from?: FieldDeletionProgress | undefined
  signal?: AbortSignal
  /** Called within the transaction of each batch. */
  onBatch?(tx: Tx, state: FieldDeletionProgress): Promise<void>
}

async function removeFromAll(
  deps: Deps,
  fieldKey: FieldKey,
  { from, signal, onBatch }: DeletionOptions = {},
): Promise<FieldDeletionProgress> {
  const pace = createBatchPace({ first: 50, max: MAX_BATCH_SIZE })
  let state = from ?? { after: 0, last: await findLast(deps), deletedFrom: 0 }
  for (;;) {
    signal?.throwIfAborted()
    const numbers = await listHolders(deps, { ...fieldKey, ...state, size: pace.size() })
    if (numbers.length === 0) return state
    const before = state
    const removeBatch = () =>
      deps.store.write(async (tx) => {
        const deleted = await removeFrom(deps, tx, { ...fieldKey, numbers, pace })
        const after = numbers.at(-1) ?? before.after
        const next = { ...before, after, deletedFrom: before.deletedFrom + deleted }
        await onBatch?.(tx, next)
        return next
      })
    state = await pace.batch(removeBatch, signal)
  }
}

async function findLast({ store }: Pick<Base, 'store'>): Promise<number> {
  const row = await store.read
    .select({ last: max(contacts.number) })
    .from(contacts)
    .get()
  return row?.last ?? 0
}

type PageQuery = FieldKey & FieldDeletionProgress & { size: number }

async function listHolders(
  { store }: Pick<Base, 'store'>,
  { projectId, key, after, last, size }: PageQuery,
): Promise<number[]> {
  const values = { projectId, path: jsonPath(key), after, last, size }
  return (await store.scan.list(selectHolders, values)).map(({ number }) => number)
}

async function removeFrom(
  { now }: Pick<Base, 'now'>,
  tx: Tx,
  { projectId, key, numbers, pace }: FieldKey & { numbers: readonly number[]; pace: BatchPace },
): Promise<number> {
  const values = { projectId, path: jsonPath(key), numbers: JSON.stringify(numbers), at: now() }
  return pace.measure(numbers.length, () => tx.execute(removeKey, values))
}
