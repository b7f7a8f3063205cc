/** Reads a workflow of a project. Another project's counts as unknown. */
import { AppError } from '../../errors.ts'
import type { Statements } from '../../store/database.ts'
import { and, eq } from '../../store/drizzle.ts'
import { type Workflow, workflows } from '../../store/schema/workflows.ts'
import { parameter, statement } from '../../store/statement.ts'

export type WorkflowKey = { projectId: string; id: string }

const selectWorkflow = statement((db) =>
  db
    .select()
    .from(workflows)
    .where(and(eq(workflows.id, parameter('id')), eq(workflows.projectId, parameter('projectId')))),
)

/** `queries`: a transaction or a reader. @throws AppError WORKFLOW_NOT_FOUND */
export async function loadWorkflow(
  queries: Pick<Statements, 'find'>,
  { projectId, id }: WorkflowKey,
): Promise<Workflow> {
  const workflow = await queries.find(selectWorkflow, { projectId, id })
  if (workflow === undefined) throw workflowNotFound(id)
  return workflow
}

export function workflowNotFound(id: string): AppError {
  return new AppError('WORKFLOW_NOT_FOUND', 'No workflow of this project has that id.', {
    details: { resource: 'workflow', id },
  })
}
