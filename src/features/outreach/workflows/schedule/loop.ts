/**
 * Fires schedules when they are due. All that it knows is in the database; it sleeps until the next
 * firing, but not for long, because the clock of the machine may step.
 */
import { MINUTE_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { fireDue, type ScheduleDeps } from './fire-due.ts'

const MAX_WAIT_MS = MINUTE_MS
const AFTER_FAILURE_MS = 1_000

/** Wakes at firings, when a schedule changes, and when another process has written. */
export function startSchedules(deps: ScheduleDeps & { workflowNotifier: WorkflowNotifier }): {
  stop(): Promise<void>
} {
  const { store, log, workflowNotifier } = deps
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isWanted = false
  let isStopping = false

  async function run(): Promise<void> {
    let waitMs: number | undefined
    while (isWanted && !isStopping) {
      isWanted = false
      waitMs = await fireDue(deps).catch((error: unknown) => {
        log.error({ error: describeError(error) }, 'schedules could not fire; they will')
        return AFTER_FAILURE_MS
      })
    }
    running = undefined
    if (!isStopping) timer = setTimeout(wake, Math.min(MAX_WAIT_MS, waitMs ?? MAX_WAIT_MS))
  }

  function wake(): void {
    isWanted = true
    clearTimeout(timer)
    if (!isStopping) running ??= run()
  }

  const ends = [
    workflowNotifier.listen(({ kind }) => {
      if (kind === 'schedule') wake()
    }),
    store.onExternalChange(wake),
  ]
  wake()
  return {
    async stop() {
      isStopping = true
      clearTimeout(timer)
      for (const end of ends) end()
      await running
    },
  }
}
