/**
 * Compares a graph with the one that replaces it, as a series of single edits would see it.
 *
 *   a step was spliced out    every way through it leads on to the step that followed it
 *   a step was inserted       a way leads through it to the step that it led to before
 *   a transition was removed  its way leads elsewhere, or nowhere
 */
import type { WorkflowStep, WorkflowTransition } from '../../../../store/schema/workflows.ts'
import { type Edge, firstSlot, type GraphStep, reachableFrom, slotKey } from '../graph/structure.ts'
import { canSplice } from './delete-step.ts'

export type Graph = { steps: readonly GraphStep[]; edges: readonly Edge[] }

/**
 * Returns the steps of the old graph at which no execution may stand: those that a single edit would
 * protect.
 */
export function protectedSteps(
  before: { steps: readonly WorkflowStep[]; edges: readonly WorkflowTransition[] },
  after: Graph,
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

function walker({ steps, edges }: Graph) {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const targets = new Map(
    edges.map((edge) => [`${edge.fromStepId} ${slotKey(edge)}`, edge.toStepId]),
  )
  /** The step after another, on its first branch or outcome. */
  const after = (id: string): string | undefined => {
    const step = byId.get(id)
    const slot = step === undefined ? undefined : firstSlot(step)
    return slot === undefined ? undefined : targets.get(`${id} ${slotKey(slot)}`)
  }
  return {
    steps: byId,
    after,
    /** Where the way of a transition of another graph ends, past the steps that `isPassed` names. */
    endOf(edge: Edge, isPassed: (id: string) => boolean): string | undefined {
      let id = targets.get(`${edge.fromStepId} ${slotKey(edge)}`)
      while (id !== undefined && isPassed(id)) id = after(id)
      return id
    },
  }
}
