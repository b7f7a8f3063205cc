/** Reads a workflow of a project. Another project's counts as unknown, and so does a deleted one. */
import { AppError } from '../../../base/errors.ts'
import type { Statements } from '../../../store/database.ts'
import { and, eq, isNull } from '../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'

export type WorkflowKey = { projectId: string; id: string }

const isNotDeleted = isNull(workflows.deletedAt)

const selectWorkflow = statement((db) =>
  db
    .select()
    .from(workflows)
    .where(
      and(
        eq(workflows.id, parameter('id')),
        eq(workflows.projectId, parameter('projectId')),
        isNotDeleted,
      ),
    ),
)

/** `queries`: a transaction or a reader. @throws AppError WORKFLOW_NOT_FOUND */
export async function loadWorkflow(
  queries: Pick<Statements, 'find'>,
  key: WorkflowKey,
): Promise<Workflow> {
  const workflow = await findWorkflow(queries, key)
  if (workflow === undefined) throw workflowNotFound(key.id)
  return workflow
}

export async function findWorkflow(
  queries: Pick<Statements, 'find'>,
  { projectId, id }: WorkflowKey,
): Promise<Workflow | undefined> {
  return queries.find(selectWorkflow, { projectId, id })
}

export function workflowNotFound(id: string): AppError {
  return new AppError('WORKFLOW_NOT_FOUND', 'No workflow of this project has that id.', {
    details: { resource: 'workflow', id },
  })
}
