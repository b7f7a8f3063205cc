/**
 * Deletes the rows of deleted workflows in short transactions between which other writes run. What is
 * left after a crash is found in the database.
 */
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import { type Pace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'

export const ERASE_KIND = 'erase-workflows'

/** Steps that one transaction deletes while a request waits, with their transitions: about 10 ms. */
const WHILE_WAITING: Pace = { rows: 500, rest: 'none' }
const PACE: Pace = { first: 200, max: 2_000, batchMs: 4, rest: { times: 2 } }

export const listDeleted = statement<{ id: string }>(
  () => sql`select id from workflows
    where project_id = ${parameter('projectId')} and deleted_at is not null`,
)

/** With their transitions. */
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

/** As many as have rows up to the limit, those of their steps counted; at least one. */
const deleteExecutions = statement(
  () => sql`delete from workflow_executions where number in (
    select number from (
      select number, sum(steps_done + 2) over (order by number) - steps_done - 2 as "rowsBefore"
      from (select number, steps_done from workflow_executions
        where workflow_id in ${listOf(parameter('ids'))} limit ${parameter('limit')}))
    where "rowsBefore" < ${parameter('limit')})`,
)

/** Each takes the ids of workflows and a limit. */
export const ERASED_PARTS = [deleteSteps, deleteFigures, deleteExecutions]

const deleteRow = statement(
  () => sql`delete from workflows where id = ${parameter('id')} and deleted_at is not null`,
)

/** Deletes the steps and transitions of deleted workflows. */
export async function eraseSteps(
  deps: Pick<Base, 'store'>,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<void> {
  const rules = { pace: WHILE_WAITING, heavyFor: projectId, until: 'short' as const }
  const workflows = JSON.stringify(ids)
  await sweep(deps, rules, (tx, limit) => tx.execute(deleteSteps, { ids: workflows, limit }))
}

/** Runs the job: deletes what is left of all deleted workflows of the project. */
export async function eraseWorkflows(
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
