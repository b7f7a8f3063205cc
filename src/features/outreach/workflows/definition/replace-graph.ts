/**
 * Replaces the whole graph of a workflow in one transaction. Steps and transitions that are the
 * same keep their rows; those that are missing are removed; ids are those of the client, or UUIDs
 * in place of its short ids (`given-graph.ts`).
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError, notFound } from '../../../../base/errors.ts'
import type { WorkflowDetail } from '../../../../records/workflow.ts'
import { inArray } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import {
  type Workflow,
  type WorkflowStep,
  type WorkflowTransition,
  workflowSteps,
  workflowTransitions,
} from '../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { templateNotFound } from '../../../mail/templates/templates.ts'
import { type Edge, requireStructure, slotKey } from '../graph/structure.ts'
import { loadWorkflow } from '../workflow.ts'
import { refuseActive, refuseActiveAt } from './active.ts'
import { deleteGraphSteps } from './delete-steps.ts'
import { type EditDeps, editWorkflow, type GraphEdit, saveVersion } from './edit.ts'
import { loadDefinition, loadTemplatesOf, type WorkflowDefinition } from './find.ts'
import {
  type GivenGraph,
  type ParsedGraph,
  parseGraph,
  protectedSteps,
  requireDistinct,
  resolveNames,
  type StepIds,
} from './given-graph.ts'
import { requireCampaigns, requireSteps } from './require-references.ts'
import { restoreSecrets } from './restore-secrets.ts'
import {
  configToStore,
  type EdgeRow,
  insertEdges,
  insertSteps,
  requireConfigRoom,
  type StepRow,
  updateEdges,
  updateSteps,
} from './step-rows.ts'
import { loadDetail, type Viewer } from './view.ts'

const FIRST_POSITION = { x: 100, y: 100 }

/**
 * @throws AppError WORKFLOW_NOT_FOUND; RESOURCE_NOT_FOUND (an id of another workflow, a transition
 *   between other steps); TEMPLATE_NOT_FOUND; VALIDATION_ERROR; BAD_REQUEST (template syntax,
 *   structure); CONFLICT where single edits would be refused for active executions, and with status
 *   412 for another version
 */
export async function replaceGraph(
  deps: EditDeps & Pick<Base, 'outbound'>,
  { graph: given, ...edit }: GraphEdit & { graph: GivenGraph },
): Promise<{ workflow: WorkflowDetail; ids: StepIds }> {
  requireDistinct(given)
  const { id: workflowId } = await loadWorkflow(deps.store.read, edit)
  const { steps } = await loadDefinition(deps.store.read, workflowId)
  const triggerId = steps.find(({ type }) => type === 'TRIGGER')?.id
  const { graph, ids } = resolveNames(given, { workflowId, triggerId })
  const old = new Map(steps.map(({ id, config }) => [id, config]))
  const edited = graph.steps.map(({ id, type, config }, index) => {
    return { type, config, before: old.get(id), path: `steps.${index}.config` }
  })
  requireSteps(edited, given.steps, graph.steps)
  const parsed = await parseGraph(deps, graph, { stored: old, report: edit.report })
  const workflow = await replace(deps, edit, parsed)
  return { workflow, ids }
}

function replace(deps: EditDeps, edit: GraphEdit, parsed: ParsedGraph): Promise<WorkflowDetail> {
  return editWorkflow(deps, edit, async (tx, workflow) => {
    const before = await loadDefinition(tx, workflow.id)
    const known = await findKnown(tx, workflow, parsed)
    requireEnds(parsed)
    const { seesSecrets } = edit
    const next = await complete(tx, workflow, { before, known, parsed, seesSecrets })
    requireStructure(next.steps, next.edges)
    await refuseConflicts(tx, workflow, { before, next })
    const at = deps.now()
    const isChanged = await apply(tx, workflow, { before, known, next, at })
    return loadDetail(tx, isChanged ? await saveVersion(tx, workflow, { at }) : workflow, edit)
  })
}

/** The rows of this workflow that have the given ids, including steps that were removed. */
type KnownGraph = { steps: Map<string, WorkflowStep>; transitions: Map<string, WorkflowTransition> }

/** @throws AppError RESOURCE_NOT_FOUND for an id of another workflow */
async function findKnown(
  tx: Tx,
  { id: workflowId }: Workflow,
  { steps, transitions }: ParsedGraph,
): Promise<KnownGraph> {
  const stepIds = steps.map(({ id }) => id)
  const edgeIds = transitions.flatMap(({ id }) => id ?? [])
  const knownSteps = await tx.select().from(workflowSteps).where(inArray(workflowSteps.id, stepIds))
  const knownEdges = await tx
    .select()
    .from(workflowTransitions)
    .where(inArray(workflowTransitions.id, edgeIds))
  const isForeign = (row: { workflowId: string }) => row.workflowId !== workflowId
  const foreign = knownSteps.find(isForeign)
  if (foreign !== undefined) throw otherWorkflow('workflow step', foreign.id)
  const foreignEdge = knownEdges.find(isForeign)
  if (foreignEdge !== undefined) throw otherWorkflow('workflow transition', foreignEdge.id)
  return {
    steps: new Map(knownSteps.map((row) => [row.id, row])),
    transitions: new Map(knownEdges.map((row) => [row.id, row])),
  }
}

/** @throws AppError RESOURCE_NOT_FOUND for a transition between steps that the graph lacks */
function requireEnds({ steps, transitions }: ParsedGraph): void {
  const ids = new Set(steps.map(({ id }) => id))
  const ends = transitions.flatMap(({ fromStepId, toStepId }) => [fromStepId, toStepId])
  const missing = ends.find((id) => !ids.has(id))
  if (missing !== undefined) {
    throw notFound('workflow step', missing, 'A transition names a step that the graph lacks.')
  }
}

type NextGraph = { steps: StepRow[]; edges: EdgeRow[] }

/** Fills in what the request leaves out: positions, masked secrets and the ids of transitions. */
async function complete(
  tx: Tx,
  workflow: Workflow,
  {
    before,
    known,
    parsed,
    seesSecrets,
  }: Viewer & { before: WorkflowDefinition; known: KnownGraph; parsed: ParsedGraph },
): Promise<NextGraph> {
  const templates = await loadTemplatesOf(tx, workflow.projectId, parsed.steps)
  const steps = parsed.steps.map((step, index): StepRow => {
    const row = known.steps.get(step.id)
    if (row !== undefined && row.type !== step.type) {
      throw new AppError('BAD_REQUEST', 'The type of a step cannot change.', {
        details: { resource: 'workflow step', id: step.id },
      })
    }
    const { templateId } = step
    if (templateId !== null && templateId !== row?.templateId && !templates.has(templateId)) {
      throw templateNotFound(templateId)
    }
    const position = step.position ?? row?.position ?? FIRST_POSITION
    const path = `steps.${index}.config`
    const config = restoreSecrets(step, { stored: row, path, seesSecrets })
    return { ...step, position, config: configToStore(workflow, { ...step, config }) }
  })
  const edited = steps.map((step, index) => {
    return { step, before: known.steps.get(step.id), path: `steps.${index}.config` }
  })
  await requireCampaigns(tx, workflow.projectId, edited)
  requireConfigRoom(
    steps.map(({ config }) => config),
    'steps',
  )
  const wayOf = (edge: Edge) => `${edge.fromStepId} ${edge.toStepId} ${slotKey(edge)}`
  const given = new Set(parsed.transitions.flatMap(({ id }) => id ?? []))
  const same = new Map(
    before.transitions.filter(({ id }) => !given.has(id)).map((edge) => [wayOf(edge), edge.id]),
  )
  const edges = parsed.transitions.map((edge): EdgeRow => {
    const id = edge.id ?? same.get(wayOf(edge)) ?? newId()
    return { ...edge, id }
  })
  return { steps, edges }
}

/** @throws AppError CONFLICT */
async function refuseConflicts(
  tx: Tx,
  workflow: Workflow,
  { before, next }: { before: WorkflowDefinition; next: NextGraph },
): Promise<void> {
  if (!workflow.isEnabled) return
  const old = new Map(before.steps.map((step) => [step.id, step]))
  const isOtherWork = next.steps.some(({ id, config, templateId }) => {
    const step = old.get(id)
    if (step === undefined) return false
    return templateId !== step.templateId || !isDeepStrictEqual(config, step.config)
  })
  if (isOtherWork) await refuseActive(tx, workflow, 'the config or template of a step')
  const edges = before.transitions
  await refuseActiveAt(tx, workflow, protectedSteps({ steps: before.steps, edges }, next))
}

type Replacement = { before: WorkflowDefinition; known: KnownGraph; next: NextGraph; at: number }

/** Returns whether anything changed. */
async function apply(
  tx: Tx,
  workflow: Workflow,
  { before, known, next, at }: Replacement,
): Promise<boolean> {
  const kept = new Set(next.steps.map(({ id }) => id))
  const removed = before.steps.map(({ id }) => id).filter((id) => !kept.has(id))
  const keptEdges = new Set(next.edges.map(({ id }) => id))
  const dropped = before.transitions.map(({ id }) => id).filter((id) => !keptEdges.has(id))
  const old = new Map(before.transitions.map((edge) => [edge.id, edge]))
  const newSteps = next.steps.filter(({ id }) => !known.steps.has(id))
  const newEdges = next.edges.filter(({ id }) => !old.has(id))
  const otherSteps = next.steps.filter((step) => isOtherStep(known.steps.get(step.id), step))
  const otherEdges = next.edges.filter((edge) => isOtherEdge(old.get(edge.id), edge))

  // Removing a step deletes the transitions that lead to it, so kept transitions are led to other
  // steps first.
  await insertSteps(tx, workflow, { rows: newSteps, at })
  await updateSteps(tx, { rows: otherSteps, at })
  await updateEdges(tx, { rows: otherEdges, at })
  if (dropped.length > 0) {
    await tx.delete(workflowTransitions).where(inArray(workflowTransitions.id, dropped))
  }
  await deleteGraphSteps(tx, workflow, { stepIds: removed, at })
  await insertEdges(tx, workflow.id, { rows: newEdges, at })
  const changes = [newSteps, otherSteps, newEdges, otherEdges, dropped, removed]
  return changes.some(({ length }) => length > 0)
}

function isOtherStep(row: WorkflowStep | undefined, step: StepRow): boolean {
  if (row === undefined) return false
  const { name, position, config, templateId, removedAt } = row
  const { name: newName, position: newPosition, config: newConfig, templateId: newTemplate } = step
  return !isDeepStrictEqual(
    [name, position, config, templateId, removedAt],
    [newName, newPosition, newConfig, newTemplate, null],
  )
}

function isOtherEdge(row: WorkflowTransition | undefined, edge: EdgeRow): boolean {
  if (row === undefined) return false
  const { fromStepId, toStepId, condition, waitOutcome, priority } = edge
  const columns = { fromStepId, toStepId, condition, waitOutcome, priority }
  return !isDeepStrictEqual({ ...row, ...columns }, row)
}

/**
 * The error for an id of another workflow. It is the same as for an unknown id, so that it does not
 * tell that the id exists.
 */
function otherWorkflow(resource: string, id: string): AppError {
  return notFound(resource, id, 'The id belongs to no step or transition of this workflow.')
}
