/** Workflows and executions for tests, written straight into the tables. */
import type { Core } from '../../../../src/core/core.ts'
import { newId } from '../../../../src/store/ids.ts'
import type { StepType } from '../../../../src/store/schema/words.ts'
import {
  type Workflow,
  type WorkflowExecution,
  type WorkflowStep,
  type WorkflowStepExecution,
  type WorkflowTransition,
  workflowExecutions,
  workflowStepExecutions,
  workflowSteps,
  workflows,
  workflowTransitions,
} from '../../../../src/store/schema/workflows.ts'

type Deps = Pick<Core, 'store' | 'now'>

export type NewStep = Partial<WorkflowStep> & { type: StepType }
export type NewTransition = Partial<Omit<WorkflowTransition, 'fromStepId' | 'toStepId'>> & {
  /** Names of steps. */
  from: string
  to: string
}
export type NewWorkflow = Partial<Workflow> & {
  projectId: string
  /** Their names are their types unless given; a TRIGGER alone if absent. */
  steps?: readonly NewStep[]
  /** Absent: each step leads to the next one. */
  transitions?: readonly NewTransition[]
}

/** Ids of steps by their names. */
export type AddedWorkflow = { id: string; steps: Record<string, string> }

/** The workflow is enabled, and MANUAL, unless the fields say otherwise. */
export async function addWorkflow(
  { store, now }: Deps,
  { steps = [{ type: 'TRIGGER' }], transitions, ...fields }: NewWorkflow,
): Promise<AddedWorkflow> {
  const at = now()
  const times = { createdAt: at, updatedAt: at }
  const { projectId } = fields
  const workflow = {
    ...{ id: newId(), name: 'Welcome', isEnabled: true, triggerType: 'MANUAL' as const },
    ...times,
    ...fields,
  }
  const rows = steps.map((step) => ({
    ...{ id: newId(), projectId, name: step.type, position: { x: 0, y: 0 }, config: {} },
    ...times,
    ...step,
    workflowId: workflow.id,
  }))
  const ids = Object.fromEntries(rows.map(({ name, id }) => [name, id]))
  const links = transitions ?? chain(rows.map(({ name }) => name))
  await store.write(async (tx) => {
    await tx.insert(workflows).values(workflow)
    for (const row of rows) await tx.insert(workflowSteps).values(row)
    for (const { from, to, ...link } of links) {
      const ends = { fromStepId: ids[from] ?? '', toStepId: ids[to] ?? '' }
      await tx
        .insert(workflowTransitions)
        .values({ id: newId(), ...times, ...link, ...ends, workflowId: workflow.id })
    }
  })
  return { id: workflow.id, steps: ids }
}

export type NewExecution = Partial<WorkflowExecution> & {
  projectId: string
  workflowId: string
  contactId: string
  /** In their order. */
  steps?: readonly (Partial<WorkflowStepExecution> & { stepId: string })[]
}

/** An execution that is RUNNING, unless the fields say otherwise, with the rows of its steps. */
export async function addExecution(
  { store, now }: Deps,
  { steps = [], ...fields }: NewExecution,
): Promise<{ id: string; number: number }> {
  const at = now()
  return store.write(async (tx) => {
    const [row] = await tx
      .insert(workflowExecutions)
      .values({
        ...{ id: newId(), status: 'RUNNING', startedAt: at, updatedAt: at },
        ...fields,
      })
      .returning()
    if (row === undefined) throw new TypeError('no execution was made')
    for (const [ordinal, step] of steps.entries()) {
      await tx.insert(workflowStepExecutions).values({
        ...{ executionNumber: row.number, ordinal, id: newId(), status: 'COMPLETED' },
        ...{ startedAt: at, completedAt: step.status === 'WAITING' ? null : at },
        ...step,
      })
    }
    return { id: row.id, number: row.number }
  })
}

function chain(names: readonly string[]): NewTransition[] {
  return names.slice(1).map((to, index) => ({ from: names[index] ?? '', to }))
}
