/**
 * The graph that a request gives for a workflow: parses it, replaces its short ids by UUIDs, and
 * compares it with the stored graph.
 *
 * Short ids of steps in a graph, such as `welcome`, may stand in place of UUIDs. The short id of a
 * TRIGGER stands for the TRIGGER of the workflow; any other stands for a UUID that is computed from
 * workflow, type and name. So a graph that is sent again with the same names changes the same
 * steps, and a name with another type is another step.
 *
 * The comparison treats the change as a series of single edits:
 *
 *   a step was spliced out    every way through it leads on to the step that followed it
 *   a step was inserted       a way leads through it to the step that it led to before
 *   a transition was removed  its way leads elsewhere, or nowhere
 */
import { createHash } from 'node:crypto'
import { type FieldError, invalid, type UnknownName } from '../../../../base/errors.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import type { WorkflowStep, WorkflowTransition } from '../../../../store/schema/workflows.ts'
import type { Base } from '../../../ground/base.ts'
import { isObject, MAX_CONFIG_ERRORS } from '../graph/config-fields.ts'
import { type ReportUnknown, readConfig } from '../graph/parse-config.ts'
import { checkTemplates } from '../graph/step-templates.ts'
import { type Edge, firstSlot, type GraphStep, reachableFrom, slotKey } from '../graph/structure.ts'
import { canSplice } from './edit-step.ts'
import { requireConfigRoom, requireSendEmail, type StepRow } from './step-rows.ts'

type GivenStep = {
  id: string
  type: StepType
  name: string
  /** Undefined: the position stays as it is. */
  position?: { x: number; y: number } | undefined
  config: unknown
  /** Undefined: the template that the config names, as older clients do. */
  templateId?: string | null | undefined
}

/**
 * A transition without an id is the stored transition with the same steps, branch and outcome, if
 * there is one.
 */
type GivenTransition = Edge & { id?: string | undefined; priority: number }

export type GivenGraph = { steps: readonly GivenStep[]; transitions: readonly GivenTransition[] }

type ParsedStep = Omit<StepRow, 'position'> & Pick<GivenStep, 'position'>
export type ParsedGraph = { steps: ParsedStep[]; transitions: readonly GivenTransition[] }

/** The stored configs of steps, by the ids of the steps. */
type StoredConfigs = ReadonlyMap<string, StepRow['config']>

/** UUIDs by the names that a graph has given. */
export type StepIds = Readonly<Record<string, string>>

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

type GraphPlace = { workflowId: string; triggerId: string | undefined }

type EditedGraph = { steps: readonly GraphStep[]; edges: readonly Edge[] }

/** @throws AppError VALIDATION_ERROR for an id that occurs twice */
export function requireDistinct({ steps, transitions }: GivenGraph): void {
  const errors = [...findRepeated(steps, 'steps'), ...findRepeated(transitions, 'transitions')]
  if (errors.length > 0) throw invalid(errors.slice(0, MAX_CONFIG_ERRORS))
}

/**
 * Parses the configs and templates of the steps.
 * @throws AppError VALIDATION_ERROR; BAD_REQUEST for template syntax
 */
export async function parseGraph(
  deps: Pick<Base, 'outbound'>,
  { steps, transitions }: GivenGraph,
  { stored, report }: { stored: StoredConfigs; report: ReportUnknown | undefined },
): Promise<ParsedGraph> {
  const errors = [...findRepeated(steps, 'steps'), ...findRepeated(transitions, 'transitions')]
  const unknown: UnknownName[] = []
  const parsed = steps.map(({ templateId, ...step }, index): ParsedStep => {
    const read =
      errors.length < MAX_CONFIG_ERRORS
        ? readConfig({ ...step, path: `steps.${index}.config` }, errors)
        : { config: {}, templateId: undefined, unknown: [] }
    const { config, templateId: inConfig = null } = read
    unknown.push(...read.unknown)
    return { ...step, config, templateId: templateId === undefined ? inConfig : templateId }
  })
  if (errors.length > 0) throw invalid(errors.slice(0, MAX_CONFIG_ERRORS))
  requireConfigRoom(
    parsed.map(({ config }) => config),
    'steps',
  )
  report?.(unknown)
  for (const [index, { id, type, config, templateId }] of parsed.entries()) {
    if (templateId !== null) requireSendEmail(type, `steps.${index}.templateId`)
    const place = { path: `steps.${index}.config`, before: stored.get(id) }
    await checkTemplates(deps, { type, config }, place)
  }
  return { steps: parsed, transitions }
}

function findRepeated(rows: readonly { id?: string | undefined }[], list: string): FieldError[] {
  const taken = new Set<string>()
  return rows.flatMap(({ id }, index) => {
    if (id === undefined || !taken.has(id)) {
      if (id !== undefined) taken.add(id)
      return []
    }
    return [{ field: `${list}.${index}.id`, code: 'custom', message: 'Occurs twice' }]
  })
}

/** Returns the graph with UUIDs, and the UUID of each name. The ids of the steps must be distinct. */
export function resolveNames(
  { steps, transitions }: GivenGraph,
  place: GraphPlace,
): { graph: GivenGraph; ids: StepIds } {
  const named = steps.filter(({ id }) => !UUID.test(id))
  const ids = new Map(named.map((step) => [step.id, idOf(step, place)]))
  const resolve = (id: string) => ids.get(id) ?? id
  return {
    ids: Object.fromEntries(ids),
    graph: {
      steps: steps.map((step) => ({
        ...step,
        id: resolve(step.id),
        config: withResolved(step.config, resolve),
      })),
      transitions: transitions.map((edge) => ({
        ...edge,
        fromStepId: resolve(edge.fromStepId),
        toStepId: resolve(edge.toStepId),
      })),
    },
  }
}

function idOf({ id, type }: GivenStep, { workflowId, triggerId }: GraphPlace): string {
  if (type === 'TRIGGER' && triggerId !== undefined) return triggerId
  return nameUuid(workflowId, type, id)
}

/** Computes the UUID that a short id stands for, a UUIDv8 (RFC 9562 section 5.8). */
function nameUuid(workflowId: string, type: StepType, name: string): string {
  const bytes = createHash('sha256').update(`${workflowId} ${type} ${name}`).digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Replaces the id of the step that a wait or a condition names. */
function withResolved(config: unknown, resolve: (id: string) => string): unknown {
  if (!isObject(config) || typeof config.stepId !== 'string') return config
  return { ...config, stepId: resolve(config.stepId) }
}

/**
 * Returns the steps of the old graph at which no execution may stand: the steps for which a single
 * edit would be refused.
 */
export function protectedSteps(
  before: { steps: readonly WorkflowStep[]; edges: readonly WorkflowTransition[] },
  after: EditedGraph,
): Set<string> {
  const [old, next] = [walker(before), walker(after)]
  const isRemoved = (id: string) => !next.steps.has(id)
  const isNew = (id: string) => !old.steps.has(id)
  const spliced = new Set<string>()
  const cut = new Set<string>()
  for (const edge of before.edges.filter(({ fromStepId }) => !isRemoved(fromStepId))) {
    const passed: string[] = []
    let end: string | undefined = edge.toStepId
    while (end !== undefined && isRemoved(end) && canSplice(old.steps.get(end) as GraphStep)) {
      passed.push(end)
      end = old.after(end)
    }
    const isOut = end === undefined || (!isRemoved(end) && end === next.endOf(edge, isNew))
    if (isOut) for (const id of passed) spliced.add(id)
    else cut.add(edge.toStepId)
  }
  const lost = reachableFrom(cut, before.edges)
  for (const id of old.steps.keys()) {
    if (!isRemoved(id) || lost.has(id)) continue
    const isAlone = spliced.has(id) || canSplice(old.steps.get(id) as GraphStep)
    for (const each of isAlone ? [id] : reachableFrom([id], before.edges)) lost.add(each)
  }
  return lost
}

function walker({ steps, edges }: EditedGraph) {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const nextIds = new Map(
    edges.map((edge) => [`${edge.fromStepId} ${slotKey(edge)}`, edge.toStepId]),
  )
  /** Returns the step that follows a step on its first branch or outcome. */
  const after = (id: string): string | undefined => {
    const step = byId.get(id)
    const slot = step === undefined ? undefined : firstSlot(step)
    return slot === undefined ? undefined : nextIds.get(`${id} ${slotKey(slot)}`)
  }
  return {
    steps: byId,
    after,
    /**
     * Follows a transition of another graph through the steps for which `isPassed` is true, and
     * returns the step where the way ends.
     */
    endOf(edge: Edge, isPassed: (id: string) => boolean): string | undefined {
      let id = nextIds.get(`${edge.fromStepId} ${slotKey(edge)}`)
      while (id !== undefined && isPassed(id)) id = after(id)
      return id
    },
  }
}
