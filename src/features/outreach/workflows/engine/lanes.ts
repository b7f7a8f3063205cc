/**
 * The workflows with executions that are or will be due, and when: a copy in memory of the index
 * `workflow_executions_due`. A workflow may have nothing due by the time it is taken, but none is
 * missing: code that makes an execution due notifies the engine.
 *
 * Projects take turns, and within a project its workflows do: what was taken goes to the end.
 */
import { createFairQueue } from '../../../../turns/fair-queue.ts'
import { createTimetable } from '../../../mail/messages/queue/timetable.ts'
import type { WorkflowLane } from '../notifier.ts'

export type WorkflowLanes = {
  /** Records that an execution of the workflow is due at `dueAt`; an earlier known time stays. */
  addDueAt(lane: WorkflowLane, dueAt: number): void
  /** Removes and returns the next workflow with due executions. */
  take(now: number): WorkflowLane | undefined
  /** When the next one is due; undefined when none waits. */
  nextDueAt(): number | undefined
}

type KnownLane = { lane: WorkflowLane; dueAt: number }

export function createWorkflowLanes(): WorkflowLanes {
  const known = new Map<string, KnownLane>()
  const waiting = createTimetable<KnownLane>()
  /** The lines are projects. */
  const due = createFairQueue<WorkflowLane>()
  /** The ids of those that are due. */
  const dueIds = new Set<string>()
  /** Entries are replaced and never changed: an entry of the timetable that is not known is stale. */
  const isCurrent = (entry: KnownLane) => known.get(entry.lane.workflowId) === entry

  function makeDue(now: number): void {
    for (const entry of waiting.takeUntil(now)) {
      if (!isCurrent(entry)) continue
      const { lane } = entry
      known.delete(lane.workflowId)
      dueIds.add(lane.workflowId)
      due.add(lane.projectId, lane)
    }
  }

  return {
    addDueAt(lane, dueAt) {
      if (dueIds.has(lane.workflowId)) return
      const entry = known.get(lane.workflowId)
      if (entry !== undefined && entry.dueAt <= dueAt) return
      const added = { lane, dueAt }
      known.set(lane.workflowId, added)
      waiting.add(dueAt, added)
    },
    take(now) {
      makeDue(now)
      const lane = due.take()
      if (lane !== undefined) dueIds.delete(lane.workflowId)
      return lane
    },
    nextDueAt: () => (due.isEmpty() ? waiting.next(isCurrent) : 0),
  }
}
