/** Starts executions: one at the request of the project, or many for the contacts of events. */
import { AppError } from '../../../../base/errors.ts'
import type { ExecutionRecord } from '../../../../records/execution.ts'
import { eachOf, jsonItem } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { loadContactIn } from '../../../people/contacts/read/find-contact.ts'
import { checkData } from '../../../people/contacts/write/data.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import type { WorkflowKey } from '../workflow.ts'
import { loadExecution, loadStartable } from './find.ts'
import { insertExecutions, type StartDeps, type WantedExecution } from './insert.ts'
import { MAX_STARTS_PER_HOUR, type StartOutcome, startExecution } from './start.ts'
import { toExecutionRecord } from './view.ts'

type NewExecution = WorkflowKey & {
  contactId: string
  context: Record<string, unknown> | null
}

type Deps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }

/**
 * The outcome of a start whose event has already started an execution, which holds this start back.
 */
const HELD_BACK: StartOutcome = { kind: 'held back', status: 'RUNNING' }

/**
 * Lists the positions of the pairs that have had an execution. `pairs`: a contact and a workflow
 * each.
 */
const listKnown = statement<{ position: number }>(
  () => sql`select row.key as position from ${eachOf(parameter('pairs'))} as row
    where exists (select 1 from workflow_executions
      where contact_id = ${jsonItem(sql`row.value`, 0)}
        and workflow_id = ${jsonItem(sql`row.value`, 1)})`,
)

/**
 * Starts an execution for one contact.
 * @throws AppError VALIDATION_ERROR (the context breaks a limit of contact data), WORKFLOW_NOT_FOUND,
 *   BAD_REQUEST (disabled, no TRIGGER step), CONTACT_NOT_FOUND; CONFLICT when the rules of re-entry or
 *   the limit of starts stand in the way
 */
export async function startOne(
  deps: Deps,
  { contactId, context, ...key }: NewExecution,
): Promise<ExecutionRecord> {
  checkData(context, 'context')
  // A refusal is counted in the transaction, so it is thrown only afterwards: an error would undo
  // the count.
  const { outcome, view } = await deps.store.write(async (tx) => {
    const workflow = await loadStartable(tx, key)
    await loadContactIn(tx, { projectId: key.projectId, id: contactId })
    const start = { contactId, context, source: null, depth: 0, at: deps.now() }
    const outcome = await startExecution(deps, tx, { workflow, start })
    if (outcome.kind !== 'started') return { outcome, view: undefined }
    const found = await loadExecution(tx, { ...key, executionId: outcome.id })
    return { outcome, view: toExecutionRecord(found.execution, found.workflow) }
  })
  if (view === undefined) throw refusalOf(outcome)
  return view
}

function refusalOf(outcome: StartOutcome): AppError {
  if (outcome.kind !== 'held back') {
    const text = `The contact has been started ${MAX_STARTS_PER_HOUR} times in this workflow within an hour, which is the limit.`
    return new AppError('CONFLICT', text, { details: { limit: MAX_STARTS_PER_HOUR } })
  }
  const { status } = outcome
  const isRunning = status === 'RUNNING' || status === 'WAITING'
  const text = isRunning
    ? 'The contact has an active execution of this workflow.'
    : 'The contact has had an execution of this workflow, which does not allow re-entry.'
  return new AppError('CONFLICT', text, { details: { status } })
}

/**
 * Starts executions of many contacts in their order. Contacts that never had an execution of the
 * workflow pass the rules, and their rows are written together; the others start one by one
 * (`start.ts`). The contacts must exist and belong to the projects of the workflows.
 */
export async function startExecutions(
  deps: StartDeps,
  tx: Tx,
  wanted: readonly WantedExecution[],
): Promise<StartOutcome[]> {
  if (wanted.length === 0) return []
  const pairs = wanted.map(({ workflow, start }) => [start.contactId, workflow.id])
  const known = await tx.list(listKnown, { pairs: JSON.stringify(pairs) })
  const isKnown = new Set(known.map(({ position }) => position))
  const begun = new Set<string>()
  const outcomes: StartOutcome[] = []
  let fresh: WantedExecution[] = []
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
