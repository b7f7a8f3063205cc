/**
 * Deletes workflows. A workflow counts as deleted once a transaction has marked it: from then on
 * none of its executions starts or is retried. A job deletes their rows in short transactions,
 * between which other writes run; after a crash it finds the rest in the database.
 */
import { AppError, invalidField } from '../../../../base/errors.ts'
import { MAX_IDS_PER_REQUEST } from '../../../../records/limits.ts'
import { listOf } from '../../../../store/dialect.ts'
import { and, eq, inArray, isNull, sql } from '../../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Queries, Tx } from '../../../../store/write/transaction.ts'
import { enqueueJob } from '../../../../work/jobs/enqueue.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { loadWorkflow, type WorkflowKey, workflowNotFound } from '../workflow.ts'
import { hasActive } from './active.ts'

type DeletionDeps = Pick<Base, 'store' | 'now' | 'jobNotifier'> & {
  workflowNotifier: WorkflowNotifier
}

type BulkUpdate = {
  projectId: string
  ids: readonly string[]
  delete?: boolean | undefined
}

export const ERASE_KIND = 'erase-workflows'

/**
 * While a request waits, one transaction deletes at most this many steps with their transitions, in
 * about 10 ms.
 */
const WHILE_WAITING: SweepPace = { rows: 500, rest: 'none' }

const PACE: SweepPace = { first: 200, max: 2_000, batchMs: 4, rest: { times: 2 } }

export const listDeleted = statement<{ id: string }>(
  () => sql`select id from workflows
    where project_id = ${parameter('projectId')} and deleted_at is not null`,
)

/** Deletes steps; the database deletes their transitions with them. */
const deleteSteps = statement(
  () => sql`delete from workflow_steps where id in (
    select id from workflow_steps where workflow_id in ${listOf(parameter('ids'))}
    limit ${parameter('limit')})`,
)

const deleteFigures = statement(
  () => sql`delete from workflow_figures where (workflow_id, subject, figure) in (
    select workflow_id, subject, figure from workflow_figures
    where workflow_id in ${listOf(parameter('ids'))} limit ${parameter('limit')})`,
)

/**
 * Deletes executions until the deleted rows, those of steps included, reach the limit, but at least
 * one execution.
 */
const deleteExecutions = statement(
  () => sql`delete from workflow_executions where number in (
    select number from (
      select number, sum(steps_done + 2) over (order by number) - steps_done - 2 as "rowsBefore"
      from (select number, steps_done from workflow_executions
        where workflow_id in ${listOf(parameter('ids'))} limit ${parameter('limit')}))
    where "rowsBefore" < ${parameter('limit')})`,
)

/** Each statement takes the ids of workflows and a limit. */
export const ERASED_PARTS = [deleteSteps, deleteFigures, deleteExecutions]

const deleteRow = statement(
  () => sql`delete from workflows where id = ${parameter('id')} and deleted_at is not null`,
)

/** Deletes a workflow. @throws AppError WORKFLOW_NOT_FOUND; CONFLICT while executions are active */
export async function deleteWorkflow(deps: DeletionDeps, key: WorkflowKey): Promise<void> {
  const find = async (tx: Tx) => [await loadWorkflow(tx, key)]
  await deleteAll(deps, { projectId: key.projectId, find })
}

/**
 * Deletes all of the given workflows or none. Deletion is the only bulk change that exists.
 * @throws AppError VALIDATION_ERROR; WORKFLOW_NOT_FOUND when the project lacks one of them;
 *   CONFLICT while executions of one are active
 */
export async function bulkUpdateWorkflows(
  deps: DeletionDeps,
  { projectId, ids, delete: isDelete = false }: BulkUpdate,
): Promise<{ deleted: number } | { updated: 0 }> {
  if (ids.length === 0) throw invalidField('ids', 'too_small', 'At least one id is needed')
  if (ids.length > MAX_IDS_PER_REQUEST) {
    throw invalidField('ids', 'too_big', `At most ${MAX_IDS_PER_REQUEST} ids`)
  }
  const find = (queries: Queries) => findAll(queries, { projectId, ids: [...new Set(ids)] })
  if (isDelete) return { deleted: await deleteAll(deps, { projectId, find }) }
  await find(deps.store.read)
  return { updated: 0 }
}

/** Runs the job: deletes the remaining rows of all deleted workflows of the project. */
export async function deleteWorkflowRows(
  deps: Pick<Base, 'store'>,
  job: Pick<RunningJob, 'projectId' | 'signal'>,
): Promise<void> {
  const { store } = deps
  const { projectId } = job
  const rules = { pace: PACE, heavyFor: projectId ?? '', job, until: 'none' as const }
  for (const { id } of await store.read.list(listDeleted, { projectId })) {
    const ids = JSON.stringify([id])
    for (const part of ERASED_PARTS) {
      await sweep(deps, rules, (tx, limit) => tx.execute(part, { ids, limit }))
    }
    await store.write((tx) => tx.execute(deleteRow, { id }))
  }
}

/**
 * Deletes all of the workflows or none, and returns how many. The ids of their steps can be used
 * again.
 * @throws AppError CONFLICT while executions are active; errors of `find`
 */
async function deleteAll(
  deps: DeletionDeps,
  { projectId, find }: { projectId: string; find(tx: Tx): Promise<Workflow[]> },
): Promise<number> {
  const mark = async (tx: Tx) => {
    const found = await find(tx)
    for (const workflow of found) await refuseActive(tx, workflow)
    const ids = found.map(({ id }) => id)
    await markDeleted(deps, tx, { projectId, ids })
    return ids
  }
  const ids = await deps.store.write(mark, { heavyFor: projectId })
  await deleteStepRows(deps, { projectId, ids })
  return ids.length
}

async function markDeleted(
  { now, jobNotifier, workflowNotifier }: DeletionDeps,
  tx: Tx,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<void> {
  const at = now()
  await tx
    .update(workflows)
    .set({ deletedAt: at, isEnabled: false, nextFireAt: null })
    .where(inArray(workflows.id, [...ids]))
  await enqueueJob(tx, { kind: ERASE_KIND, projectId, payload: {}, now: at })
  tx.afterCommit(() => {
    workflowNotifier.notify({ kind: 'schedule' })
    jobNotifier.notify()
  })
}

async function refuseActive(tx: Tx, workflow: Workflow): Promise<void> {
  if (!(await hasActive(tx, workflow))) return
  throw new AppError('CONFLICT', `The workflow "${workflow.name}" has active executions.`, {
    details: { resource: 'workflow', id: workflow.id },
    suggestion: 'Cancel them with POST /workflows/:id/executions/cancel-all.',
  })
}

async function findAll(
  queries: Queries,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<Workflow[]> {
  const rows = await queries
    .select()
    .from(workflows)
    .where(
      and(
        eq(workflows.projectId, projectId),
        inArray(workflows.id, [...ids]),
        isNull(workflows.deletedAt),
      ),
    )
  const known = new Set(rows.map(({ id }) => id))
  const missing = ids.find((id) => !known.has(id))
  if (missing !== undefined) throw workflowNotFound(missing)
  return rows
}

/** Deletes the steps and transitions of deleted workflows. */
async function deleteStepRows(
  deps: Pick<Base, 'store'>,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<void> {
  const rules = { pace: WHILE_WAITING, heavyFor: projectId, until: 'short' as const }
  const workflows = JSON.stringify(ids)
  await sweep(deps, rules, (tx, limit) => tx.execute(deleteSteps, { ids: workflows, limit }))
}
