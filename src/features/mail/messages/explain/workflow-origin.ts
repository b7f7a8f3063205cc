/** Finds which step of which workflow sent an email. */
import { listOf } from '../../../../store/dialect.ts'
import { and, eq, isNull, sql } from '../../../../store/drizzle.ts'
import { type Email, emails } from '../../../../store/schema/messages.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
  workflowSteps,
  workflows,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { quote } from './quote.ts'

/**
 * The step is null when the row of the step's execution is gone; a step that was removed keeps its name.
 */
export type WorkflowOrigin = {
  id: string
  name: string
  executionId: string
  stepId: string | null
  stepName: string | null
}

/**
 * The statement finds a step execution among those of its execution. These are few, because an
 * execution passes each step of a graph once.
 */
export const listOrigins = statement((db) =>
  db
    .select({
      emailId: emails.id,
      id: workflows.id,
      name: workflows.name,
      executionId: workflowExecutions.id,
      stepId: workflowStepExecutions.stepId,
      stepName: workflowSteps.name,
    })
    .from(emails)
    .innerJoin(workflowExecutions, eq(workflowExecutions.id, emails.workflowExecutionId))
    .innerJoin(
      workflows,
      and(eq(workflows.id, workflowExecutions.workflowId), isNull(workflows.deletedAt)),
    )
    .leftJoin(
      workflowStepExecutions,
      and(
        eq(workflowStepExecutions.executionNumber, workflowExecutions.number),
        eq(workflowStepExecutions.id, emails.workflowStepExecutionId),
      ),
    )
    .leftJoin(workflowSteps, eq(workflowSteps.id, workflowStepExecutions.stepId))
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

/**
 * Returns the origins by the email's id; emails of no workflow, or of a deleted one, are left out.
 */
export async function findWorkflowOrigins(
  reader: Pick<Tx, 'list'>,
  given: readonly Pick<Email, 'id' | 'workflowExecutionId'>[],
): Promise<Map<string, WorkflowOrigin>> {
  const ids = given.flatMap(({ id, workflowExecutionId }) =>
    workflowExecutionId === null ? [] : [id],
  )
  if (ids.length === 0) return new Map()
  const rows = await reader.list(listOrigins, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ emailId, ...origin }) => [emailId, origin]))
}

/** `the step "Welcome mail" of the workflow "Onboarding"` */
export function describeOrigin({ name, stepName }: WorkflowOrigin): string {
  const workflow = `the workflow "${quote(name)}"`
  return stepName === null ? workflow : `the step "${quote(stepName)}" of ${workflow}`
}
