/**
 * Bounds what is in memory for values that are rendered (`step-values.ts`), over all workflows of a project and
 * in all. A workflow without room waits; those that wait go on in their order.
 */
import type { WorkflowLane } from '../notifier.ts'

export type RenderRoom = {
  /** Whether there is room beside what others have asked for. */
  has(lane: WorkflowLane): boolean
  /** Whether a workflow waits for room. */
  isWanted(): boolean
  /** Replaces what the workflow has asked for. Zero lets others go on. */
  hold(lane: WorkflowLane, characters: number): void
  /** Resolves when there is room. */
  wait(lane: WorkflowLane): Promise<void>
}

type Limits = { perProject: number; all: number }
type Waiter = { lane: WorkflowLane; goOn(): void }

/** Characters of JSON. What one turn asks for may exceed them. */
const LIMITS: Limits = { perProject: 16 * 1024 * 1024, all: 64 * 1024 * 1024 }

export function createRenderRoom({ perProject, all }: Limits = LIMITS): RenderRoom {
  const held = new Map<string, { projectId: string; characters: number }>()
  const waiters: Waiter[] = []

  function fits({ workflowId, projectId }: WorkflowLane): boolean {
    let [own, total] = [0, 0]
    for (const [id, each] of held) {
      if (id === workflowId) continue
      total += each.characters
      if (each.projectId === projectId) own += each.characters
    }
    return own < perProject && total < all
  }

  return {
    has: fits,
    isWanted: () => waiters.length > 0,
    hold({ workflowId, projectId }, characters) {
      if (characters === 0) held.delete(workflowId)
      else held.set(workflowId, { projectId, characters })
      // One: the turn that it takes lets the next one go on.
      const next = waiters.findIndex(({ lane }) => fits(lane))
      if (next >= 0) waiters.splice(next, 1)[0]?.goOn()
    },
    wait(lane) {
      if (fits(lane)) return Promise.resolve()
      return new Promise((resolve) => waiters.push({ lane, goOn: resolve }))
    },
  }
}
