/** A workflow in the database, with steps by names of the test's choice, and executions of it. */

import { storedEventName } from '../../../../../src/features/ground/conditions/field.ts'
import { and, asc, eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import type { StepType, WaitOutcome } from '../../../../../src/store/schema/words.ts'
import {
  type Workflow,
  workflowExecutions,
  workflowStepExecutions,
  workflowSteps,
  workflows,
  workflowTransitions,
} from '../../../../../src/store/schema/workflows.ts'
import type { TestCore } from '../../../../core.ts'

export type StepSpec = { type: StepType; config?: object; templateId?: string | null }
/** From, to, and the branch or outcome. */
export type TransitionSpec = readonly [string, string, { branch?: string; wait?: WaitOutcome }?]

export type BuiltWorkflow = { id: string; projectId: string; stepIds: Record<string, string> }

export async function buildWorkflow(
  { store, now }: Pick<TestCore, 'store' | 'now'>,
  {
    projectId,
    event = 'signup',
    steps,
    transitions,
    ...changes
  }: {
    projectId: string
    event?: string
    steps: Record<string, StepSpec>
    transitions: readonly TransitionSpec[]
  } & Partial<Workflow>,
): Promise<BuiltWorkflow> {
  const id = newId()
  const at = now()
  const all: Record<string, StepSpec> = { trigger: { type: 'TRIGGER' }, ...steps }
  const stepIds = Object.fromEntries(Object.keys(all).map((key) => [key, newId()]))
  await store.write(async (tx) => {
    await tx.insert(workflows).values({
      id,
      projectId,
      name: 'Onboarding',
      isEnabled: true,
      triggerConfig: { eventName: event },
      triggerEvent: storedEventName(event),
      createdAt: at,
      updatedAt: at,
      ...changes,
    })
    for (const [key, { type, config = {}, templateId = null }] of Object.entries(all)) {
      await tx.insert(workflowSteps).values({
        id: stepIds[key] ?? '',
        workflowId: id,
        projectId,
        type,
        name: key,
        position: { x: 0, y: 0 },
        config: named(config, stepIds),
        templateId,
        createdAt: at,
        updatedAt: at,
      })
    }
    for (const [from, to, { branch, wait } = {}] of transitions) {
      await tx.insert(workflowTransitions).values({
        id: newId(),
        workflowId: id,
        fromStepId: stepIds[from] ?? '',
        toStepId: stepIds[to] ?? '',
        condition: branch === undefined ? null : { branch },
        waitOutcome: wait ?? null,
        createdAt: at,
        updatedAt: at,
      })
    }
  })
  return { id, projectId, stepIds }
}

/** `stepId` in a config names a step of the test. */
function named(config: object, stepIds: Record<string, string>): Record<string, unknown> {
  if (!('stepId' in config)) return { ...config }
  return { ...config, stepId: stepIds[String(config.stepId)] }
}

export function listExecutions({ store }: Pick<TestCore, 'store'>, workflowId: string) {
  return store.read
    .select()
    .from(workflowExecutions)
    .where(eq(workflowExecutions.workflowId, workflowId))
    .orderBy(asc(workflowExecutions.number))
}

/** The steps of an execution in order, with the names of the test. */
export async function listSteps({ store }: Pick<TestCore, 'store'>, executionNumber: number) {
  const rows = await store.read
    .select({ row: workflowStepExecutions, name: workflowSteps.name })
    .from(workflowStepExecutions)
    .innerJoin(workflowSteps, and(eq(workflowSteps.id, workflowStepExecutions.stepId)))
    .where(eq(workflowStepExecutions.executionNumber, executionNumber))
    .orderBy(asc(workflowStepExecutions.ordinal))
  return rows.map(({ row, name }) => ({ ...row, name }))
}

/** What an execution did: `name status` of each step. */
export async function pathOf(core: Pick<TestCore, 'store'>, executionNumber: number) {
  const steps = await listSteps(core, executionNumber)
  return steps.map(({ name, status }) => `${name} ${status}`)
}

export function listEmails({ store }: Pick<TestCore, 'store'>, projectId: string) {
  return store.read.select().from(emails).where(eq(emails.projectId, projectId))
}
