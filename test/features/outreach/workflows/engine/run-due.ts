/** Runs the engine's turns by hand, until nothing is due at the test's time. */
import { startUrgentReader } from '../../../../../src/features/ground/events/readers.ts'
import { listDueWorkflows } from '../../../../../src/features/outreach/workflows/engine/due.ts'
import { triggerHandler } from '../../../../../src/features/outreach/workflows/engine/follow-events.ts'
import { createGraphs } from '../../../../../src/features/outreach/workflows/engine/graphs.ts'
import { createStepValues } from '../../../../../src/features/outreach/workflows/engine/step-values.ts'
import { takeTurn } from '../../../../../src/features/outreach/workflows/engine/turn.ts'
import type { TestCore } from '../../../../core.ts'

type Runner = {
  /** Handles all events and takes turns until nothing is due. Returns the number of walks. */
  run(): Promise<number>
  stop(): Promise<void>
}

/** `limit`: executions of a turn. */
export async function createRunner(core: TestCore, limit = 50): Promise<Runner> {
  const follower = startUrgentReader(core, [triggerHandler(core)])
  const graphs = createGraphs()
  const values = createStepValues(core)
  await follower.caughtUp()
  return {
    async run() {
      let walked = 0
      for (;;) {
        await follower.caughtUp()
        const listed = await listDueWorkflows(core.store.read)
        const due = listed.filter(({ dueAt }) => dueAt <= core.now())
        if (due.length === 0) return walked
        for (const key of due) {
          const turn = await takeTurn({ ...core, graphs, values }, key, {
            limit,
            isHeavy: limit > 4,
          })
          walked += turn.walked
          await turn.rendering
        }
      }
    },
    stop: follower.stop,
  }
}
