/**
 * The rules of the structure of a workflow.
 *
 *   TRIGGER           one, and nothing leads to it
 *   EXIT              nothing leaves it
 *   CONDITION         one transition for each branch
 *   WAIT_FOR_EVENT    one for each outcome, TIMEOUT only with a timeout; or a single one without an
 *                     outcome, which serves both
 *   all others        one transition
 *
 * There are no loops. Every function is linear in the size of the graph.
 */
import { AppError } from '../../../../base/errors.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import type { WorkflowTransition } from '../../../../store/schema/workflows.ts'
import { branchesOf } from './condition-config.ts'
import type { ConditionConfig, WaitConfig } from './step-config.ts'

export type GraphStep = { id: string; type: StepType; config: unknown }

export type Edge = Pick<WorkflowTransition, 'fromStepId' | 'toStepId' | 'condition' | 'waitOutcome'>

/**
 * The place of a transition at the step that it leaves: each step has one transition in each place.
 */
type TransitionSlot = Pick<Edge, 'condition' | 'waitOutcome'>

const PLAIN: TransitionSlot = { condition: null, waitOutcome: null }

/** The graph must have all steps that the transitions name. @throws AppError BAD_REQUEST */
export function requireStructure(steps: readonly GraphStep[], edges: readonly Edge[]): void {
  const byId = new Map(steps.map((step) => [step.id, step]))
  if (steps.filter(({ type }) => type === 'TRIGGER').length !== 1) {
    throw new AppError('BAD_REQUEST', 'A workflow has exactly one TRIGGER.')
  }
  for (const edge of edges) requireEdge(byId, edge)
  for (const leaving of Map.groupBy(edges, ({ fromStepId }) => fromStepId).values()) {
    const fault = faultOfSlots(leaving)
    if (fault !== undefined) throw badEdge(fault.text, fault.edge)
  }
  if (hasLoop(steps, edges)) throw wouldLoop(undefined)
}

/** Checks that the graph may have one more transition. @throws AppError BAD_REQUEST */
export function requireNewEdge(
  steps: ReadonlyMap<string, GraphStep>,
  edges: readonly (Edge & { id?: string })[],
  edge: Edge,
): void {
  requireEdge(steps, edge)
  const leaving = edges.filter(({ fromStepId }) => fromStepId === edge.fromStepId)
  const fault = faultOfSlots([...leaving, edge])
  if (fault !== undefined) {
    const same = leaving.find((each) => slotKey(each) === slotKey(edge))
    const isThere = same?.toStepId === edge.toStepId
    throw badEdge(fault.text, edge, { isThere, transitionId: (same ?? leaving[0])?.id })
  }
  if (reachableFrom([edge.toStepId], edges).has(edge.fromStepId)) throw wouldLoop(edge)
}

/** Checks that the transitions of a step fit its config. @throws AppError BAD_REQUEST */
export function requireFittingEdges(step: GraphStep, edges: readonly Edge[]): void {
  for (const edge of edges) {
    const fault = edge.fromStepId === step.id ? faultOfSlot(step, edge) : undefined
    if (fault !== undefined) throw badEdge(fault, edge)
  }
}

/** Returns the first place that is free for a transition of the step; undefined if none is free. */
export function freeSlot(step: GraphStep, edges: readonly Edge[]): TransitionSlot | undefined {
  const taken = edges.filter(({ fromStepId }) => fromStepId === step.id)
  if (taken.some((edge) => slotKey(edge) === slotKey(PLAIN))) return undefined
  const keys = new Set(taken.map(slotKey))
  return slotsOf(step).find((slot) => !keys.has(slotKey(slot)))
}

/**
 * Returns the place of the transition by which an inserted step goes on; undefined for a step that
 * nothing may follow.
 */
export function firstSlot(step: GraphStep): TransitionSlot | undefined {
  return slotsOf(step)[0]
}

/** Returns the ids of the steps that can be reached from `starts`, including `starts`. */
export function reachableFrom(starts: Iterable<string>, edges: readonly Edge[]): Set<string> {
  const next = Map.groupBy(edges, ({ fromStepId }) => fromStepId)
  const reached = new Set(starts)
  // The loop also visits the ids that it adds.
  for (const id of reached) for (const { toStepId } of next.get(id) ?? []) reached.add(toStepId)
  return reached
}

/**
 * Whether the graph has a loop. Steps without predecessors are removed one after another: if steps
 * remain, they contain a loop (Kahn).
 */
export function hasLoop(steps: readonly Pick<GraphStep, 'id'>[], edges: readonly Edge[]): boolean {
  const next = Map.groupBy(edges, ({ fromStepId }) => fromStepId)
  const waitsFor = new Map<string, number>(steps.map(({ id }) => [id, 0]))
  for (const { toStepId } of edges) waitsFor.set(toStepId, (waitsFor.get(toStepId) ?? 0) + 1)
  const free = [...waitsFor.keys()].filter((id) => waitsFor.get(id) === 0)
  // The loop also visits the ids that it adds.
  for (const id of free) {
    for (const { toStepId } of next.get(id) ?? []) {
      const left = (waitsFor.get(toStepId) ?? 0) - 1
      waitsFor.set(toStepId, left)
      if (left === 0) free.push(toStepId)
    }
  }
  return free.length < waitsFor.size
}

/** Returns a key that is equal for two transitions of a step in the same place. */
export function slotKey({ condition, waitOutcome }: TransitionSlot): string {
  return JSON.stringify([condition?.branch ?? null, waitOutcome])
}

function slotsOf({ type, config }: GraphStep): TransitionSlot[] {
  switch (type) {
    case 'EXIT':
      return []
    case 'CONDITION':
      return branchesOf(config as ConditionConfig).map((branch) => ({
        condition: { branch },
        waitOutcome: null,
      }))
    case 'WAIT_FOR_EVENT': {
      const event: TransitionSlot = { condition: null, waitOutcome: 'EVENT' }
      const hasTimeout = (config as WaitConfig).timeout !== undefined
      return hasTimeout ? [event, { condition: null, waitOutcome: 'TIMEOUT' }] : [event]
    }
    default:
      return [PLAIN]
  }
}

function requireEdge(steps: ReadonlyMap<string, GraphStep>, edge: Edge): void {
  const [from, to] = [steps.get(edge.fromStepId), steps.get(edge.toStepId)]
  if (from === undefined || to === undefined) throw new TypeError('The steps of an edge exist.')
  const fault = faultOfEnds(from, to) ?? faultOfSlot(from, edge)
  if (fault !== undefined) throw badEdge(fault, edge)
}

function faultOfEnds(from: GraphStep, to: GraphStep): string | undefined {
  if (from.id === to.id) return 'A step cannot lead to itself.'
  if (from.type === 'EXIT') return 'Nothing can follow an EXIT.'
  return to.type === 'TRIGGER' ? 'Nothing can lead to the TRIGGER.' : undefined
}

function faultOfSlot(from: GraphStep, { condition, waitOutcome }: Edge): string | undefined {
  if (condition !== null && from.type !== 'CONDITION') return 'Only a CONDITION has branches.'
  if (waitOutcome !== null && from.type !== 'WAIT_FOR_EVENT') {
    return 'Only a WAIT_FOR_EVENT has outcomes.'
  }
  if (from.type === 'CONDITION') {
    const branches = branchesOf(from.config as ConditionConfig)
    if (condition === null) return `A transition of a CONDITION needs one of ${listed(branches)}.`
    if (!branches.includes(condition.branch)) {
      return `The CONDITION has no branch "${condition.branch}", but ${listed(branches)}.`
    }
  }
  const hasTimeout = from.type === 'WAIT_FOR_EVENT' && hasTimeoutOf(from)
  return waitOutcome === 'TIMEOUT' && !hasTimeout ? 'The step has no timeout.' : undefined
}

function hasTimeoutOf({ config }: GraphStep): boolean {
  return (config as WaitConfig).timeout !== undefined
}

function listed(branches: readonly string[]): string {
  return `the branches ${branches.map((branch) => `"${branch}"`).join(', ')}`
}

/**
 * Finds two transitions that take the same place, or a transition that must be the only one.
 * `leaving`: all transitions of one step.
 */
function faultOfSlots(leaving: readonly Edge[]): { text: string; edge: Edge } | undefined {
  const taken = new Set<string>()
  for (const edge of leaving) {
    const key = slotKey(edge)
    if (taken.has(key)) return { text: `The step has ${describeSlot(edge)} already.`, edge }
    taken.add(key)
  }
  if (leaving.length < 2) return undefined
  const plain = leaving.find((edge) => slotKey(edge) === slotKey(PLAIN))
  if (plain === undefined) return undefined
  const text = 'A transition without an outcome serves both, so it is the only one of its step.'
  return { text, edge: plain }
}

function describeSlot({ condition, waitOutcome }: TransitionSlot): string {
  if (condition !== null) return `a transition for the branch "${condition.branch}"`
  return waitOutcome === null ? 'a transition' : `a transition for the outcome ${waitOutcome}`
}

function wouldLoop(edge: Edge | undefined): AppError {
  return badEdge('The transitions would form a loop.', edge)
}

/**
 * `taken`: the transition that is already in the place of the new one; `isThere`: whether it leads
 * to the same step.
 */
function badEdge(
  text: string,
  edge: Edge | undefined,
  taken?: { isThere: boolean; transitionId: string | undefined },
): AppError {
  const { fromStepId, toStepId } = edge ?? {}
  const { isThere, transitionId } = taken ?? {}
  return new AppError('BAD_REQUEST', text, {
    ...(edge && { details: { fromStepId, toStepId, ...(transitionId && { transitionId }) } }),
    ...(taken && { suggestion: isThere === true ? IS_THERE : removing(transitionId) }),
  })
}

const CONNECTS = 'Adding a step connects it, unless `autoConnect` is false.'
const IS_THERE = `${CONNECTS} The transition leads to this very step, so nothing is left to do.`

function removing(transitionId = ':transitionId'): string {
  return `${CONNECTS} To lead elsewhere, remove the transition first: DELETE /workflows/:id/transitions/${transitionId}.`
}
