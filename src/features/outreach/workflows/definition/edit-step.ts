/**
 * Changes a step of a workflow, or removes it from the graph: either with all steps that follow, or
 * the step alone (`splice`).
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../../base/errors.ts'
import type { StepRecord } from '../../../../records/workflow.ts'
import { eq } from '../../../../store/drizzle.ts'
import {
  type WorkflowStep,
  workflowSteps,
  workflowTransitions,
} from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type ParsedConfig, parseConfig } from '../graph/parse-config.ts'
import { checkTemplates } from '../graph/step-templates.ts'
import { reachableFrom, requireFittingEdges } from '../graph/structure.ts'
import { loadWorkflow } from '../workflow.ts'
import { refuseActive, refuseActiveAt } from './active.ts'
import { deleteGraphSteps } from './delete-steps.ts'
import { type EditDeps, editWorkflow, type GraphEdit, saveVersion } from './edit.ts'
import { loadDefinition, requireStep, type WorkflowDefinition } from './find.ts'
import { requireCampaigns, requireSteps } from './require-references.ts'
import { restoreSecrets } from './restore-secrets.ts'
import { configToStore, requireConfigRoom, requireTemplate } from './step-rows.ts'
import { viewStep } from './view.ts'

/** The fields of a step that a request changes; an undefined field stays as it is. */
type StepChanges = {
  name?: string | undefined
  position?: { x: number; y: number } | undefined
  config?: unknown
  /** Null detaches the template. Undefined: the template that the config names, if it names one. */
  templateId?: string | null | undefined
}

/**
 * The types of steps that cannot be spliced out: no step comes before a TRIGGER, and from the other
 * two types several ways lead on.
 */
const NOT_SPLICED: readonly string[] = ['TRIGGER', 'CONDITION', 'WAIT_FOR_EVENT']

/**
 * Changes the fields that are present; the type of a step cannot change.
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (step); VALIDATION_ERROR; BAD_REQUEST
 *   (template syntax, transitions that would not fit); TEMPLATE_NOT_FOUND; CONFLICT while active
 *   executions forbid another config or template, and with status 412 for another version
 */
export async function updateStep(
  deps: EditDeps & Pick<Base, 'outbound'>,
  { stepId, changes, ...edit }: GraphEdit & { stepId: string; changes: StepChanges },
): Promise<StepRecord> {
  const parsed = await parseChanges(deps, { stepId, changes, ...edit })
  return editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    const step = requireStep(definition, stepId)
    const next = changed(step, changes, parsed)
    const { seesSecrets } = edit
    next.config = restoreSecrets(next, { stored: step, path: 'config', seesSecrets })
    next.config = configToStore(workflow, next)
    if (isDeepStrictEqual(next, step))
      return viewStep(tx, { workflowId: workflow.id, stepId }, edit)
    const isSameWork =
      isDeepStrictEqual(next.config, step.config) && next.templateId === step.templateId
    if (!isSameWork) {
      await refuseActive(tx, workflow, 'the config or template of a step')
      if (next.templateId !== step.templateId) await requireTemplate(tx, workflow.projectId, next)
      const edited = { step: next, before: step, path: 'config' }
      await requireCampaigns(tx, workflow.projectId, [edited])
      requireFittingEdges(next, definition.transitions)
      const steps = definition.steps.map((one) => (one.id === stepId ? next : one))
      requireConfigRoom(
        steps.map(({ config }) => config),
        'config',
      )
    }
    const at = deps.now()
    const { name, position, config, templateId } = next
    await tx
      .update(workflowSteps)
      .set({ name, position, config, templateId, updatedAt: at })
      .where(eq(workflowSteps.id, stepId))
    await saveVersion(tx, workflow, { at })
    return viewStep(tx, { workflowId: workflow.id, stepId }, edit)
  })
}

/**
 * Removes a step with all steps that follow. With `splice`, only the step itself is removed: the
 * steps before it then lead to the step after it.
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (step); BAD_REQUEST for a step of a type
 *   that cannot be removed so; CONFLICT while the workflow is enabled and executions stand at what
 *   would be removed, and with status 412 for another version
 */
export async function deleteStep(
  deps: EditDeps,
  { stepId, splice, ...edit }: GraphEdit & { stepId: string; splice: boolean },
): Promise<void> {
  await editWorkflow(deps, edit, async (tx, workflow) => {
    const definition = await loadDefinition(tx, workflow.id)
    const step = requireStep(definition, stepId)
    requireRemovable(step, splice)
    const removed = splice ? [stepId] : [...reachableFrom([stepId], definition.transitions)]
    await refuseActiveAt(tx, workflow, removed)
    const at = deps.now()
    if (splice) await bypass(tx, definition, { stepId, at })
    await deleteGraphSteps(tx, workflow, { stepIds: removed, at })
    await saveVersion(tx, workflow, { at })
  })
}

export function canSplice({ type }: Pick<WorkflowStep, 'type'>): boolean {
  return !NOT_SPLICED.includes(type)
}

function requireRemovable(step: WorkflowStep, splice: boolean): void {
  if (step.type === 'TRIGGER') throw new AppError('BAD_REQUEST', 'A TRIGGER cannot be removed.')
  if (!splice || canSplice(step)) return
  throw new AppError('BAD_REQUEST', `A ${step.type} has several ways on, so none can replace it.`, {
    suggestion: 'Remove the step without splice, which removes all that follows too.',
  })
}

async function bypass(
  tx: Tx,
  { transitions }: WorkflowDefinition,
  { stepId, at }: { stepId: string; at: number },
): Promise<void> {
  const after = transitions.find(({ fromStepId }) => fromStepId === stepId)
  if (after === undefined) return
  await tx
    .update(workflowTransitions)
    .set({ toStepId: after.toStepId, updatedAt: at })
    .where(eq(workflowTransitions.toStepId, stepId))
}

/** Parses the config by the type of the step; returns undefined if the changes have none. */
async function parseChanges(
  deps: EditDeps & Pick<Base, 'outbound'>,
  { stepId, changes, report, ...key }: GraphEdit & { stepId: string; changes: StepChanges },
): Promise<ParsedConfig | undefined> {
  const { read } = deps.store
  const workflow = await loadWorkflow(read, key)
  const definition = await loadDefinition(read, workflow.id)
  const { type, config: before } = requireStep(definition, stepId)
  if (changes.config === undefined) return undefined
  const edited = { type, config: changes.config, before, path: 'config' }
  requireSteps([edited], definition.steps)
  const parsed = parseConfig({ type, config: changes.config })
  report?.(parsed.unknown)
  await checkTemplates(deps, { type, config: parsed.config }, { path: 'config', before })
  return parsed
}

function changed(
  step: WorkflowStep,
  { name = step.name, position = step.position, templateId }: StepChanges,
  parsed: ParsedConfig | undefined,
): WorkflowStep {
  const config = parsed?.config ?? step.config
  const given = templateId === undefined ? parsed?.templateId : templateId
  return {
    ...step,
    name,
    position,
    config,
    templateId: given === undefined ? step.templateId : given,
  }
}
