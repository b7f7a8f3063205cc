/**
 * Adds to the graph of a workflow: a step at the end or into a transition, and single transitions, which it also deletes.
 */
import { AppError } from '../../../../base/errors.ts'
import type { StepRecord, TransitionRecord } from '../../../../records/workflow.ts'
import { eq } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import { type Workflow, workflowTransitions } from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { parseConfig } from '../graph/parse-config.ts'
import type { StepConfigs } from '../graph/step-config.ts'
import { checkTemplates } from '../graph/step-templates.ts'
import {
  type Edge,
  firstSlot,
  freeSlot,
  reachableFrom,
  requireNewEdge,
} from '../graph/structure.ts'
import { loadWorkflow } from '../workflow.ts'
import { refuseActiveAt } from './active.ts'
import { type EditDeps, editWorkflow, type GraphEdit, saveVersion } from './edit.ts'
import { loadDefinition, requireStep, requireTransition, type WorkflowDefinition } from './find.ts'
import { requireCampaigns, requireSteps, stepOf } from './require-references.ts'
import { restoreSecrets } from './restore-secrets.ts'
import {
  configToStore,
  insertEdges,
  insertSteps,
  newEdge,
  requireConfigRoom,
  requireRoom,
  requireTemplate,
  type StepRow,
} from './step-rows.ts'
import { toTransitionRecord, viewStep } from './view.ts'

type NewStep = {
  type: StepType
  name: string
  /** Undefined: the step is placed near the steps that it is joined to. */
  position?: { x: number; y: number } | undefined
  config: unknown
  /** Undefined: the template that the config names, as older clients do. */
  templateId?: string | null | undefined
}

type Deps = EditDeps & Pick<Base, 'outbound'>

/** A step without a given position is placed this far below the step before it. */
const BELOW = 75
/** A step that is added below the last step leaves room for a step between them. */
const BELOW_LAST = 2 * BELOW

type NewTransition = Edge & { priority: number }

/**
 * Adds a step at the end of the graph. With `autoConnect`, the newest step that nothing follows leads to the new one, on its first branch or
 * outcome.
 * @throws AppError WORKFLOW_NOT_FOUND; VALIDATION_ERROR; BAD_REQUEST (template syntax, a second
 *   TRIGGER, a full workflow); TEMPLATE_NOT_FOUND; CONFLICT with status 412 for another version
 */
export async function addStep(
  deps: Deps,
  { step, autoConnect, ...edit }: GraphEdit & { step: NewStep; autoConnect: boolean },
): Promise<StepRecord> {
  const row = await parseStep(deps, step, edit)
  return editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    const at = deps.now()
    const leaf = autoConnect ? findLeaf(definition) : undefined
    const position = step.position ?? placeBelow(definition, leaf?.id)
    await insert(tx, workflow, { definition, row: { ...row, position }, at })
    if (leaf !== undefined) {
      requireRoom(definition, 'transition')
      const edge = newEdge({ ...leaf.slot, fromStepId: leaf.id, toStepId: row.id })
      await insertEdges(tx, workflow.id, { rows: [edge], at })
    }
    await saveVersion(tx, workflow, { at })
    return viewStep(tx, { workflowId: workflow.id, stepId: row.id }, edit)
  })
}

/**
 * Inserts a step into a transition: the transition leads to the new step, and the new step on its first branch or
 * outcome to the step that the transition led to.
 * @throws AppError as `addStep`; BAD_REQUEST for a TRIGGER or an EXIT; RESOURCE_NOT_FOUND (transition)
 */
export async function insertStep(
  deps: Deps,
  {
    step,
    transitionId,
    ...edit
  }: GraphEdit & {
    transitionId: string
    step: NewStep
  },
): Promise<StepRecord> {
  const row = await parseStep(deps, step, edit)
  const slot = firstSlot(row)
  return editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    const transition = requireTransition(definition, transitionId)
    if (slot === undefined || row.type === 'TRIGGER') {
      throw new AppError('BAD_REQUEST', `A step of type ${row.type} cannot stand between others.`)
    }
    requireRoom(definition, 'transition')
    const at = deps.now()
    const position = step.position ?? placeBetween(definition, transition)
    await insert(tx, workflow, { definition, row: { ...row, position }, at })
    await tx
      .update(workflowTransitions)
      .set({ toStepId: row.id, updatedAt: at })
      .where(eq(workflowTransitions.id, transition.id))
    const onward = newEdge({ ...slot, fromStepId: row.id, toStepId: transition.toStepId })
    await insertEdges(tx, workflow.id, { rows: [onward], at })
    await saveVersion(tx, workflow, { at })
    return viewStep(tx, { workflowId: workflow.id, stepId: row.id }, edit)
  })
}

/** @throws AppError VALIDATION_ERROR; BAD_REQUEST for template syntax */
async function parseStep(
  deps: Deps,
  { type, name, ...given }: NewStep,
  { report, ...key }: GraphEdit,
): Promise<Omit<StepRow, 'position'> & { config: StepConfigs[StepType] }> {
  if (stepOf(type, given.config) !== undefined) {
    const { id } = await loadWorkflow(deps.store.read, key)
    const { steps } = await loadDefinition(deps.store.read, id)
    requireSteps([{ type, config: given.config, path: 'config' }], steps)
  }
  const parsed = parseConfig({ type, config: given.config })
  const { config, templateId: inConfig = null } = parsed
  report?.(parsed.unknown)
  restoreSecrets({ type, config }, { stored: undefined, path: 'config' })
  await checkTemplates(deps, { type, config }, { path: 'config' })
  const { templateId = inConfig } = given
  return { id: newId(), type, name, config, templateId }
}

async function insert(
  tx: Tx,
  workflow: Workflow,
  { definition, row, at }: { definition: WorkflowDefinition; row: StepRow; at: number },
): Promise<void> {
  if (row.type === 'TRIGGER' && definition.steps.some(({ type }) => type === 'TRIGGER')) {
    throw new AppError('BAD_REQUEST', 'The workflow has a TRIGGER already.')
  }
  requireRoom(definition, 'step')
  requireConfigRoom(
    [...definition.steps, row].map(({ config }) => config),
    'config',
  )
  await requireTemplate(tx, workflow.projectId, row)
  await requireCampaigns(tx, workflow.projectId, [{ step: row, path: 'config' }])
  const config = configToStore(workflow, row)
  await insertSteps(tx, workflow, { rows: [{ ...row, config }], at })
}

/** Finds the newest step that has no transitions and may have one, with the free place for it. */
function findLeaf({ steps, transitions }: WorkflowDefinition) {
  const followed = new Set(transitions.map(({ fromStepId }) => fromStepId))
  for (const step of steps.toReversed()) {
    const slot = followed.has(step.id) ? undefined : freeSlot(step, [])
    if (slot !== undefined) return { id: step.id, slot }
  }
  return undefined
}

/** Returns the place below the step that leads to the new one; else below all others. */
function placeBelow({ steps }: WorkflowDefinition, stepId: string | undefined) {
  const lowest = steps.toSorted((one, other) => other.position.y - one.position.y)[0]
  const above = (steps.find(({ id }) => id === stepId) ?? lowest)?.position
  return above === undefined ? { x: 0, y: 0 } : { x: above.x, y: above.y + BELOW_LAST }
}

function placeBetween({ steps }: WorkflowDefinition, { fromStepId, toStepId }: Edge) {
  const placeOf = (id: string) => steps.find((step) => step.id === id)?.position ?? { x: 0, y: 0 }
  const [from, to] = [placeOf(fromStepId), placeOf(toStepId)]
  return { x: (from.x + to.x) / 2, y: Math.max((from.y + to.y) / 2, from.y + BELOW) }
}

/**
 * Adds a transition.
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (steps); BAD_REQUEST for a breach of the
 *   structure; CONFLICT with status 412 for another version
 */
export async function addTransition(
  deps: EditDeps,
  { transition, ...edit }: GraphEdit & { transition: NewTransition },
): Promise<TransitionRecord> {
  return editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    requireStep(definition, transition.fromStepId)
    requireStep(definition, transition.toStepId)
    requireRoom(definition, 'transition')
    const steps = new Map(definition.steps.map((step) => [step.id, step]))
    requireNewEdge(steps, definition.transitions, transition)
    const [id, at] = [newId(), deps.now()]
    await insertEdges(tx, workflow.id, { rows: [{ ...transition, id }], at })
    await saveVersion(tx, workflow, { at })
    const row = { ...transition, id, workflowId: workflow.id, createdAt: at, updatedAt: at }
    return toTransitionRecord(row)
  })
}

/**
 * Deletes a transition.
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (transition); CONFLICT while the workflow is
 *   enabled and executions stand after the transition, and with status 412 for another version
 */
export async function deleteTransition(
  deps: EditDeps,
  { transitionId, ...edit }: GraphEdit & { transitionId: string },
): Promise<void> {
  await editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    const { id, toStepId } = requireTransition(definition, transitionId)
    await refuseActiveAt(tx, workflow, reachableFrom([toStepId], definition.transitions))
    await tx.delete(workflowTransitions).where(eq(workflowTransitions.id, id))
    await saveVersion(tx, workflow, { at: deps.now() })
  })
}
