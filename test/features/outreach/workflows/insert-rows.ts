/** Inserts rows of workflows, without the checks of the API. */
import { newId } from '../../../../src/store/ids.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
  workflowSteps,
  workflows,
} from '../../../../src/store/schema/workflows.ts'
import type { TestCore } from '../../../core.ts'

type Workflow = typeof workflows.$inferInsert
type Step = typeof workflowSteps.$inferInsert
type Execution = typeof workflowExecutions.$inferInsert
type StepExecution = typeof workflowStepExecutions.$inferInsert

export async function insertWorkflow(
  { store, now }: TestCore,
  change: Pick<Workflow, 'projectId'> & Partial<Workflow>,
): Promise<string> {
  const at = now()
  const row = { id: newId(), name: 'Onboarding', isEnabled: true, createdAt: at, updatedAt: at }
  const workflow = { ...row, ...change }
  await store.write(async (tx) => void (await tx.insert(workflows).values(workflow)))
  return workflow.id
}

export async function insertStep(
  { store, now }: TestCore,
  change: Pick<Step, 'projectId' | 'workflowId' | 'type'> & Partial<Step>,
): Promise<string> {
  const at = now()
  const row = { id: newId(), name: change.type, position: { x: 0, y: 0 }, config: {} }
  const step = { ...row, createdAt: at, updatedAt: at, ...change }
  await store.write(async (tx) => void (await tx.insert(workflowSteps).values(step)))
  return step.id
}

/** Returns the number and the id. */
export async function insertExecution(
  { store, now }: TestCore,
  change: Pick<Execution, 'projectId' | 'workflowId' | 'contactId'> & Partial<Execution>,
): Promise<{ number: number; id: string }> {
  const at = now()
  const row = { id: newId(), status: 'RUNNING' as const, startedAt: at, updatedAt: at, ...change }
  return store.write(async (tx) => {
    const [inserted] = await tx
      .insert(workflowExecutions)
      .values(row)
      .returning({ number: workflowExecutions.number })
    if (inserted === undefined) throw new Error('the execution was not written')
    return { number: inserted.number, id: row.id }
  })
}

export async function insertStepExecution(
  { store, now }: TestCore,
  change: Pick<StepExecution, 'executionNumber' | 'stepId'> & Partial<StepExecution>,
): Promise<string> {
  const row = { id: newId(), ordinal: 0, status: 'COMPLETED' as const, startedAt: now(), ...change }
  await store.write(async (tx) => void (await tx.insert(workflowStepExecutions).values(row)))
  return row.id
}
