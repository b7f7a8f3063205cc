import { isDeepStrictEqual } from 'node:util'
import type { StepRecord } from '../../../../records/workflow.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type WorkflowStep, workflowSteps } from '../../../../store/schema/workflows.ts'
import type { Base } from '../../../ground/base.ts'
import { type ParsedConfig, parseConfig } from '../graph/parse-config.ts'
import { checkTemplates } from '../graph/step-templates.ts'
import { requireFittingEdges } from '../graph/structure.ts'
import { loadWorkflow } from '../load-workflow.ts'
import { refuseActive } from './active.ts'
import { type Edit, type EditDeps, editWorkflow, saveVersion } from './edit.ts'
import { loadDefinition, requireStep } from './find.ts'
import { requireCampaigns } from './require-campaigns.ts'
import { requireSteps } from './require-steps.ts'
import { restoreSecrets } from './restore-secrets.ts'
import { configToStore, requireConfigRoom, requireTemplate } from './step-rows.ts'
import { viewStep } from './view.ts'

/** Undefined means absent. */
export type StepChanges = {
  name?: string | undefined
  position?: { x: number; y: number } | undefined
  config?: unknown
  /** Null detaches the template; undefined: the one in the config, if it has one. */
  templateId?: string | null | undefined
}

/**
 * Changes the fields that are present; the type of a step cannot change.
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (step); VALIDATION_ERROR; BAD_REQUEST
 *   (template syntax, transitions that would not fit); TEMPLATE_NOT_FOUND; CONFLICT while active
 *   executions forbid another config or template, and with status 412 for another version
 */
export async function updateStep(
  deps: EditDeps & Pick<Base, 'outbound'>,
  { stepId, changes, ...edit }: Edit & { stepId: string; changes: StepChanges },
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

/** Parses the config by the type of the step; undefined without one. */
async function parseChanges(
  deps: EditDeps & Pick<Base, 'outbound'>,
  { stepId, changes, report, ...key }: Edit & { stepId: string; changes: StepChanges },
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
