/**
 * Finds executions, and the workflows that may start some. Those of another project count as
 * unknown.
 */
import { AppError, notFound } from '../../../../base/errors.ts'
import type { Statements } from '../../../../store/database.ts'
import { and, eq, getTableColumns, isNull, type SQL } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import {
  type Workflow,
  workflowExecutions,
  workflowSteps,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'
import type { StartableWorkflow } from './insert.ts'
import type { FoundExecution } from './view.ts'

export type ExecutionKey = WorkflowKey & { executionId: string }

/** A transaction or a reader. */
type Queries = Pick<Statements, 'find' | 'list'>

const selectTrigger = statement((db) =>
  db
    .select({ id: workflowSteps.id })
    .from(workflowSteps)
    .where(
      and(
        eq(workflowSteps.workflowId, parameter('workflowId')),
        eq(workflowSteps.type, 'TRIGGER'),
        isNull(workflowSteps.removedAt),
      ),
    )
    .limit(1),
)

const selectProject = statement((db) =>
  db
    .select({ isDisabled: projects.isDisabled })
    .from(projects)
    .where(eq(projects.id, parameter('projectId'))),
)

const selectExecution = selectExecutionWhere(
  and(
    eq(workflowExecutions.id, parameter('executionId')),
    eq(workflowExecutions.workflowId, parameter('id')),
  ),
)

const selectByNumber = selectExecutionWhere(eq(workflowExecutions.number, parameter('number')))

/** @throws AppError WORKFLOW_NOT_FOUND, RESOURCE_NOT_FOUND */
export async function loadExecution(
  queries: Queries,
  { executionId, ...key }: ExecutionKey,
): Promise<{ workflow: Workflow; execution: FoundExecution }> {
  const workflow = await loadWorkflow(queries, key)
  const execution = await queries.find(selectExecution, { id: key.id, executionId })
  if (execution !== undefined) return { workflow, execution }
  throw notFound('execution', executionId, 'No execution of this workflow has that id.')
}

export function findExecution(
  queries: Queries,
  number: number,
): Promise<FoundExecution | undefined> {
  return queries.find(selectByNumber, { number })
}

/** @throws AppError WORKFLOW_NOT_FOUND, BAD_REQUEST (disabled, no TRIGGER step) */
export async function loadStartable(
  queries: Queries,
  key: WorkflowKey,
): Promise<StartableWorkflow> {
  const workflow = await loadWorkflow(queries, key)
  if (!workflow.isEnabled) throw new AppError('BAD_REQUEST', 'The workflow is disabled.')
  const trigger = await queries.find(selectTrigger, { workflowId: key.id })
  if (trigger === undefined) {
    throw new AppError('BAD_REQUEST', 'The workflow has no TRIGGER step.')
  }
  return { ...workflow, triggerStepId: trigger.id }
}

/** Whether the project exists and is enabled. */
export async function isProjectEnabled(queries: Queries, projectId: string): Promise<boolean> {
  const project = await queries.find(selectProject, { projectId })
  return project !== undefined && !project.isDisabled
}

function selectExecutionWhere(condition: SQL | undefined) {
  return statement((db) =>
    db
      .select({
        ...getTableColumns(workflowExecutions),
        address: contacts.address,
        stepName: workflowSteps.name,
        stepType: workflowSteps.type,
      })
      .from(workflowExecutions)
      .innerJoin(contacts, eq(contacts.id, workflowExecutions.contactId))
      .leftJoin(workflowSteps, eq(workflowSteps.id, workflowExecutions.currentStepId))
      .where(condition),
  )
}
