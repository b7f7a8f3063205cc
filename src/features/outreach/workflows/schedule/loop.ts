/**
 * Fires schedules when they are due. All that it knows is in the database; it sleeps until the next
 * firing, but not for long, because the clock of the machine may step.
 */
import { MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { fireDue, type ScheduleDeps } from './fire-due.ts'

/** Wakes at firings, when a schedule changes, and when another process has written. */
export function startSchedules(deps: ScheduleDeps & { workflowNotifier: WorkflowNotifier }): Loop {
  const { store, log, workflowNotifier } = deps
  return startLoop({
    run: () => fireDue(deps),
    onError: (error) =>
      log.error({ error: describeError(error) }, 'schedules could not fire; they will'),
    wakes: [
      (wake) =>
        workflowNotifier.listen(({ kind }) => {
          if (kind === 'schedule') wake()
        }),
      store.onExternalChange,
    ],
    maxWaitMs: MINUTE_MS,
    retryMs: SECOND_MS,
  })
}
