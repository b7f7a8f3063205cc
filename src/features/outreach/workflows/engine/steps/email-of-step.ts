/** The email that an execution sent at a step; undefined before, and if the walk did not pass there. */
import { sql } from '../../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import type { Walker } from '../walk.ts'

const findEmail = statement<{ id: string }>(
  () => sql`select emails.id from workflow_step_executions as step
    join workflow_executions as execution on execution.number = step.execution_number
    join emails on emails.workflow_execution_id = execution.id
      and emails.workflow_step_execution_id = step.id
    where step.execution_number = ${parameter('executionNumber')}
      and step.step_id = ${parameter('stepId')}`,
)

export async function findEmailOfStep(
  tx: Tx,
  { number, emailIds }: Walker,
  stepId: string,
): Promise<string | undefined> {
  const own = emailIds.get(stepId)
  return own ?? (await tx.find(findEmail, { executionNumber: number, stepId }))?.id
}
