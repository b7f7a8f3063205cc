/** Writes steps and transitions, within the limits of a workflow. */
import { AppError, invalidField } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import {
  type Workflow,
  type WorkflowStep,
  type WorkflowTransition,
  workflowSteps,
  workflowTransitions,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { storedEventName } from '../../../ground/conditions/field.ts'
import { loadTemplate } from '../../../mail/templates/templates.ts'
import { configBytes } from '../graph/parse-config.ts'
import type { TriggerConfig } from '../graph/step-config.ts'
import type { Edge } from '../graph/structure.ts'
import { MAX_CONFIGS_BYTES, MAX_STEPS, MAX_TRANSITIONS } from '../limits.ts'
import type { WorkflowDefinition } from './find.ts'
import { triggerStepConfig } from './trigger.ts'

export type StepRow = Pick<
  WorkflowStep,
  'id' | 'type' | 'name' | 'position' | 'config' | 'templateId'
>

export type EdgeRow = Pick<WorkflowTransition, 'id' | 'priority'> & Edge

const insertStepRow = statement((db) =>
  db.insert(workflowSteps).values({
    id: parameter('id'),
    workflowId: parameter('workflowId'),
    projectId: parameter('projectId'),
    type: parameter('type'),
    name: parameter('name'),
    position: parameter('position'),
    config: parameter('config'),
    templateId: parameter('templateId'),
    createdAt: parameter('at'),
    updatedAt: parameter('at'),
  }),
)

const insertEdgeRow = statement((db) =>
  db.insert(workflowTransitions).values({
    id: parameter('id'),
    workflowId: parameter('workflowId'),
    fromStepId: parameter('fromStepId'),
    toStepId: parameter('toStepId'),
    condition: parameter('condition'),
    waitOutcome: parameter('waitOutcome'),
    priority: parameter('priority'),
    createdAt: parameter('at'),
    updatedAt: parameter('at'),
  }),
)

/** Updates the row of a step, and brings back a step that was removed. */
const updateStepRow = statement((db) =>
  db
    .update(workflowSteps)
    .set({
      name: parameter('name'),
      position: parameter('position'),
      config: parameter('config'),
      templateId: parameter('templateId'),
      removedAt: null,
      updatedAt: parameter('at'),
    })
    .where(eq(workflowSteps.id, parameter('id'))),
)

const updateEdgeRow = statement((db) =>
  db
    .update(workflowTransitions)
    .set({
      fromStepId: parameter('fromStepId'),
      toStepId: parameter('toStepId'),
      condition: parameter('condition'),
      waitOutcome: parameter('waitOutcome'),
      priority: parameter('priority'),
      updatedAt: parameter('at'),
    })
    .where(eq(workflowTransitions.id, parameter('id'))),
)

export async function insertSteps(
  tx: Tx,
  { id: workflowId, projectId }: Pick<Workflow, 'id' | 'projectId'>,
  { rows, at }: { rows: readonly StepRow[]; at: number },
): Promise<void> {
  const values = rows.map((row) => ({ ...row, workflowId, projectId, at }))
  await tx.executeEach(insertStepRow, values)
}

export async function insertEdges(
  tx: Tx,
  workflowId: string,
  { rows, at }: { rows: readonly EdgeRow[]; at: number },
): Promise<void> {
  await tx.executeEach(
    insertEdgeRow,
    rows.map((row) => ({ ...row, workflowId, at })),
  )
}

export async function updateSteps(
  tx: Tx,
  { rows, at }: { rows: readonly StepRow[]; at: number },
): Promise<void> {
  await tx.executeEach(
    updateStepRow,
    rows.map((row) => ({ ...row, at })),
  )
}

export async function updateEdges(
  tx: Tx,
  { rows, at }: { rows: readonly EdgeRow[]; at: number },
): Promise<void> {
  await tx.executeEach(
    updateEdgeRow,
    rows.map((row) => ({ ...row, at })),
  )
}

export function newEdge(edge: Edge): EdgeRow {
  return { ...edge, id: newId(), priority: 0 }
}

/** @throws AppError BAD_REQUEST when the workflow has no room for one more step or transition */
export function requireRoom(
  { steps, transitions }: WorkflowDefinition,
  what: 'step' | 'transition',
): void {
  const isFull = what === 'step' ? steps.length >= MAX_STEPS : transitions.length >= MAX_TRANSITIONS
  if (!isFull) return
  const max = what === 'step' ? MAX_STEPS : MAX_TRANSITIONS
  throw new AppError('BAD_REQUEST', `A workflow has at most ${max} ${what}s.`)
}

/** @throws AppError VALIDATION_ERROR if the configs of all steps are too large together */
export function requireConfigRoom(configs: readonly unknown[], field: string): void {
  const bytes = configs.reduce((sum: number, config) => sum + configBytes(config), 0)
  if (bytes <= MAX_CONFIGS_BYTES) return
  const message = `The configs of the workflow would be larger than ${MAX_CONFIGS_BYTES} bytes of JSON`
  throw invalidField(field, 'too_big', message)
}

/** @throws AppError TEMPLATE_NOT_FOUND; VALIDATION_ERROR for a step of another type */
export async function requireTemplate(
  tx: Pick<Tx, 'select'>,
  projectId: string,
  { type, templateId }: Pick<StepRow, 'type' | 'templateId'>,
): Promise<void> {
  if (templateId === null) return
  requireSendEmail(type, 'templateId')
  await loadTemplate(tx, { projectId, id: templateId })
}

/** @throws AppError VALIDATION_ERROR */
export function requireSendEmail(type: StepRow['type'], field: string): void {
  if (type === 'SEND_EMAIL') return
  throw invalidField(field, 'custom', 'Only a SEND_EMAIL has a template')
}

/**
 * Returns the config to store. The config of a TRIGGER is made from the trigger of the workflow.
 * @throws AppError BAD_REQUEST for a TRIGGER that names another event
 */
export function configToStore(
  workflow: Workflow,
  { type, config }: Pick<StepRow, 'type' | 'config'>,
): StepRow['config'] {
  if (type !== 'TRIGGER') return config
  const { eventName } = config as TriggerConfig
  if (eventName === undefined || storedEventName(eventName) === workflow.triggerEvent) {
    return triggerStepConfig(workflow)
  }
  throw new AppError('BAD_REQUEST', "The TRIGGER's event is that of the workflow.", {
    suggestion: 'Change it with PATCH /workflows/:id: {"triggerConfig": {"eventName": …}}.',
  })
}
