/**
 * Starts executions of many contacts in their order. Those whose contact has never had an execution of the workflow
 * need no rule, and are written together; the others start one by one (`start.ts`).
 */
import { eachOf, jsonItem } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { insertExecutions, type StartDeps, type Wanted } from './insert.ts'
import { type StartOutcome, startExecution } from './start.ts'

/** Another contact has had the event: its execution stands in the way. */
const HELD_BACK: StartOutcome = { kind: 'held back', status: 'RUNNING' }

/** `pairs`: of a contact and a workflow. The rows are the positions of those with an execution. */
const listKnown = statement<{ position: number }>(
  () => sql`select row.key as position from ${eachOf(parameter('pairs'))} as row
    where exists (select 1 from workflow_executions
      where contact_id = ${jsonItem(sql`row.value`, 0)}
        and workflow_id = ${jsonItem(sql`row.value`, 1)})`,
)

/** The contacts must exist and belong to the projects of the workflows. */
export async function startExecutions(
  deps: StartDeps,
  tx: Tx,
  wanted: readonly Wanted[],
): Promise<StartOutcome[]> {
  if (wanted.length === 0) return []
  const pairs = wanted.map(({ workflow, start }) => [start.contactId, workflow.id])
  const known = await tx.list(listKnown, { pairs: JSON.stringify(pairs) })
  const isKnown = new Set(known.map(({ position }) => position))
  const begun = new Set<string>()
  const outcomes: StartOutcome[] = []
  let fresh: Wanted[] = []
  const startFresh = async () => {
    const ids = await insertExecutions(deps, tx, fresh)
    for (const id of ids) outcomes.push(id === undefined ? HELD_BACK : { kind: 'started', id })
    fresh = []
  }
  for (const [index, each] of wanted.entries()) {
    const key = `${each.start.contactId} ${each.workflow.id}`
    const isFresh = !isKnown.has(index) && !begun.has(key) && each.start.depth === 0
    begun.add(key)
    if (isFresh) {
      fresh.push(each)
      continue
    }
    await startFresh()
    outcomes.push(await startExecution(deps, tx, each))
  }
  await startFresh()
  return outcomes
}
