/** Starts an execution for one contact, at the request of the project. */
import { AppError } from '../../../../base/errors.ts'
import type { ExecutionRecord } from '../../../../records/execution.ts'
import type { Base } from '../../../ground/base.ts'
import { loadContactIn } from '../../../people/contacts/read/find-contact.ts'
import { checkData } from '../../../people/contacts/write/data.ts'
import type { WorkflowKey } from '../load-workflow.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { getExecution, getStartable } from './find.ts'
import { MAX_STARTS_PER_HOUR, type StartOutcome, startExecution } from './start.ts'
import { toExecutionRecord } from './view.ts'

type NewExecution = WorkflowKey & {
  contactId: string
  context: Record<string, unknown> | null
}

type Deps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }

/**
 * @throws AppError VALIDATION_ERROR (the context breaks a limit of contact data), WORKFLOW_NOT_FOUND,
 *   BAD_REQUEST (disabled, no TRIGGER step), CONTACT_NOT_FOUND; CONFLICT when the rules of re-entry or
 *   the limit of starts stand in the way
 */
export async function startOne(
  deps: Deps,
  { contactId, context, ...key }: NewExecution,
): Promise<ExecutionRecord> {
  checkData(context, 'context')
  // A refusal is counted, therefore it is no error of the transaction.
  const { outcome, view } = await deps.store.write(async (tx) => {
    const workflow = await getStartable(tx, key)
    await loadContactIn(tx, { projectId: key.projectId, id: contactId })
    const start = { contactId, context, source: null, depth: 0, at: deps.now() }
    const outcome = await startExecution(deps, tx, { workflow, start })
    if (outcome.kind !== 'started') return { outcome, view: undefined }
    const found = await getExecution(tx, { ...key, executionId: outcome.id })
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
