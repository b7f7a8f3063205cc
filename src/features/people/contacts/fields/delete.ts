/**
 * Deletes a key from the data of all contacts of a project: up to 5,000 contacts while the caller
 * waits, more in a job that resumes after a crash. The job visits each contact once. A contact that
 * is created while it runs keeps the key, as does a contact that receives the key again after the
 * visit.
 */
import { AppError, invalidField } from '../../../../base/errors.ts'
import type { FieldDeletion } from '../../../../records/contact-field.ts'
import {
  indexedBy,
  jsonPath,
  jsonType,
  jsonWithout,
  listOf,
  unindexed,
} from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { loadProgress } from '../../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import { type JobProgress, type SweepPace, sweepRows } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'
import type { ShownJob } from '../../../ground/manifest/shown-job.ts'
import { isUsed, kindOfUser } from '../../../ground/references/registry.ts'
import { findNewestNumber } from '../bulk/existing.ts'
import { countContactsWithKey, dataKeyOf } from './fields.ts'
import { findFieldReferences } from './usage.ts'

type FieldKey = { projectId: string; key: string }
/** `last`: the highest number of a contact at the start. */
type FieldDeletionProgress = { after: number; last: number; deletedFrom: number }
type Deps = Pick<Base, 'store' | 'now'>

/** At most this many contacts are changed while the caller waits: 0.1 s. */
const MAX_AT_ONCE = 5_000
const PACE: SweepPace = { first: 50, max: 500, batchMs: 4, rest: { times: 2 } }

const holders = (subscribed: 0 | 1) => sql`
  select number from contacts ${indexedBy('contacts_order')}
  where project_id = ${parameter('projectId')} and subscribed = ${sql.raw(String(subscribed))}
    and number > ${parameter('after')} and number <= ${parameter('last')}
    and ${jsonType(sql`data`, parameter('path'))} is not null`

/**
 * The index ranges of unsubscribed and of subscribed contacts are both ordered by number, so SQLite
 * merges the two and stops after one page.
 */
export const selectHolders = statement<{ number: number }>(
  () => sql`${holders(0)} union all ${holders(1)} order by number limit ${parameter('size')}`,
)

/** Finds each contact by its number, not by the index of the project. */
export const deleteKey = statement(
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
  { projectId, field, userId }: { projectId: string; field: string; userId?: string | null },
): Promise<FieldDeletion> {
  const key = dataKeyOf(field)
  if (key === undefined) {
    throw invalidField('field', 'custom', 'Only fields of the data can be deleted: data.<key>')
  }
  const fieldKey = { projectId, key }
  await refuseUsed(deps, fieldKey)
  const deletedFrom = await countContactsWithKey(deps.store.read, fieldKey)
  if (deletedFrom > MAX_AT_ONCE) return enqueueDeletion(deps, { ...fieldKey, deletedFrom, userId })
  const end = await deleteFromAll(deps, fieldKey)
  return { deletedFrom: end.deletedFrom }
}

export const SHOWN_FIELD_DELETION: ShownJob = {
  hasFacts: true,
  labelOf: ({ key }) => `Delete the field data.${key}`,
  pathOf: (id) => `/contacts/bulk/${id}`,
  partialResult: (state) => {
    const { deletedFrom = 0 } = (state as FieldDeletionProgress | undefined) ?? {}
    return { deletedFrom }
  },
}

/** Runs the job that deletes a field. */
export async function runFieldDeletion(deps: Deps, job: RunningJob): Promise<FieldDeletion> {
  const { deletedFrom: total, ...fieldKey } = job.payload as FieldKey & { deletedFrom: number }
  const from = await loadProgress<FieldDeletionProgress>(deps.store.read, job.id)
  const percentOf = ({ deletedFrom }: FieldDeletionProgress) =>
    Math.min(99, (100 * deletedFrom) / total)
  const countOf = ({ deletedFrom: done }: FieldDeletionProgress) => ({ done, total })
  const end = await deleteFromAll(deps, fieldKey, {
    from,
    progress: { job, now: deps.now, percentOf, countOf },
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
  {
    deletedFrom,
    userId,
    ...fieldKey
  }: FieldKey & { deletedFrom: number; userId: string | null | undefined },
): Promise<FieldDeletion> {
  const jobId = await store.write((tx) => {
    tx.afterCommit(() => jobNotifier.notify())
    return enqueueForProject(tx, {
      prefix: 'delete-field',
      kind: 'delete-field',
      payload: { ...fieldKey, deletedFrom },
      projectId: fieldKey.projectId,
      userId,
      now: now(),
    })
  })
  return { deletedFrom, jobId }
}

type DeletionOptions = {
  from?: FieldDeletionProgress | undefined
  progress?: JobProgress<FieldDeletionProgress>
}

async function deleteFromAll(
  deps: Deps,
  { projectId, key }: FieldKey,
  { from, progress }: DeletionOptions = {},
): Promise<FieldDeletionProgress> {
  const path = jsonPath(key)
  const start = from ?? { after: 0, last: await findNewestNumber(deps), deletedFrom: 0 }
  return sweepRows<number, FieldDeletionProgress>(
    deps,
    { pace: PACE, heavyFor: undefined },
    {
      from: start,
      progress,
      find: async (size, { after, last }) => {
        const values = { projectId, path, after, last, size }
        return (await deps.store.scan.list(selectHolders, values)).map(({ number }) => number)
      },
      change: async (tx, numbers, state) => {
        const values = { projectId, path, numbers: JSON.stringify(numbers), at: deps.now() }
        const deletedFrom = state.deletedFrom + (await tx.execute(deleteKey, values))
        return { ...state, after: numbers.at(-1) ?? state.after, deletedFrom }
      },
    },
  )
}
