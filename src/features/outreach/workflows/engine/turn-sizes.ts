/**
 * Decides how many executions the next turn of a workflow takes. The first turn takes only as many
 * as fit into a light write, which shares its transaction with other writes: most workflows have
 * few due executions. If more are due, heavier turns follow: each may take twice as many as the one
 * before, up to what fits into `TURN_MS`.
 */
import { createLru } from '../../../../base/lru.ts'

/** `isHeavy`: whether the turn is a heavy write (`store/write/writer.ts`). */
export type TurnSize = { limit: number; isHeavy: boolean }

type Taken = TurnSize & { walked: number; tookMs: number }

export type TurnSizes = {
  /**
   * Returns the size of the next turn. `turns`: how many turns run at the same time; all of them
   * together must be as light as one light write.
   */
  next(workflowId: string, turns: number): TurnSize
  /** Notes how a turn went. `isAll`: no further execution of the workflow is due now. */
  ended(workflowId: string, taken: Taken & { isAll: boolean }): void
}

const FIRST_SIZE = 4
const MAX_SIZE = 200
/**
 * The time of a light write. A turn may take a little longer, because its contacts are read before
 * its first step, whatever their size.
 */
const LIGHT_MS = 4
const MAX_LIGHT_SIZE = 32
/** The aim for the time of a heavy turn's transaction. */
const TURN_MS = 12
const MAX_KNOWN = 10_000

export function createTurnSizes(): TurnSizes {
  /** The limit of the next turn, for workflows whose last turn left due executions. */
  const limits = new Map<string, number>()
  /** The ms that one execution of a workflow takes, as last measured. */
  const paces = createLru<number>(MAX_KNOWN)

  function lightLimit(workflowId: string, turns: number): number {
    const eachMs = paces.get(workflowId)
    if (eachMs === undefined) return FIRST_SIZE
    return Math.min(MAX_LIGHT_SIZE, bounded(LIGHT_MS / turns / eachMs))
  }

  return {
    next(workflowId, turns) {
      const light = lightLimit(workflowId, turns)
      const limit = limits.get(workflowId) ?? light
      return { limit, isHeavy: limit > light }
    },
    ended(workflowId, { limit, walked, tookMs, isAll }) {
      const eachMs = Math.max(tookMs, 0.1) / walked
      // A turn has a cost of its own, so a turn that walks few executions shows only an upper bound
      // of the time of each.
      const isMeasure =
        walked >= FIRST_SIZE || tookMs > LIGHT_MS || eachMs < (paces.get(workflowId) ?? 0)
      if (walked > 0 && isMeasure) paces.set(workflowId, eachMs)
      if (isAll) limits.delete(workflowId)
      else if (walked === 0) limits.set(workflowId, limit)
      else limits.set(workflowId, Math.min(2 * limit, bounded(TURN_MS / eachMs)))
    },
  }
}

function bounded(executions: number): number {
  return Math.max(1, Math.min(MAX_SIZE, Math.round(executions)))
}
