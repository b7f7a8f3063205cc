/**
 * The workflows with executions that are or will be due, and when: a copy in memory of the index
 * `workflow_executions_due`. A workflow may have nothing due by the time it is taken, but none is
 * missing: code that makes an execution due notifies the engine.
 *
 * Projects take turns, and within a project its workflows do: what was taken goes to the end.
 */
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
  /** By project; the Maps keep the order of the turns. */
  const due = new Map<string, Map<string, WorkflowLane>>()
  /** Entries are replaced and never changed: an entry of the timetable that is not known is stale. */
  const isCurrent = (entry: KnownLane) => known.get(entry.lane.workflowId) === entry
  const isDue = ({ projectId, workflowId }: WorkflowLane) => due.get(projectId)?.has(workflowId)

  function makeDue(now: number): void {
    for (const entry of waiting.takeUntil(now)) {
      if (!isCurrent(entry)) continue
      const { lane } = entry
      known.delete(lane.workflowId)
      const lanes = due.get(lane.projectId) ?? new Map<string, WorkflowLane>()
      lanes.set(lane.workflowId, lane)
      due.set(lane.projectId, lanes)
    }
  }

  return {
    addDueAt(lane, dueAt) {
      if (isDue(lane)) return
      const entry = known.get(lane.workflowId)
      if (entry !== undefined && entry.dueAt <= dueAt) return
      const added = { lane, dueAt }
      known.set(lane.workflowId, added)
      waiting.add(dueAt, added)
    },
    take(now) {
      makeDue(now)
      const [first] = due
      if (first === undefined) return undefined
      const [projectId, lanes] = first
      const [lane] = lanes.values()
      due.delete(projectId)
      if (lane === undefined) return undefined
      lanes.delete(lane.workflowId)
      if (lanes.size > 0) due.set(projectId, lanes)
      return lane
    },
    nextDueAt: () => (due.size > 0 ? 0 : waiting.next(isCurrent)),
  }
}
