/**
 * Wakes the engine. Code that makes an execution due calls `notify` after its commit with the
 * workflow and the time, so that the engine need not search. A notice that nobody listens to is
 * lost without harm: the engine reads all due times when it starts, and after a change by another
 * process.
 */
import type { Notifier } from '../../../work/loop.ts'

/** The key of a turn of the engine, which works on the executions of one workflow. */
export type TurnKey = { workflowId: string; projectId: string }

/**
 * `due`: executions are due at `dueAt`. `request`: a request of a WEBHOOK step is due at `dueAt`.
 * `schedule`: the next firing of a schedule changed. `cancelled`: the executions that count as
 * cancelled changed (`workflows.cancelledThrough`).
 */
export type WorkflowNotice =
  | ({ kind: 'due' | 'request'; dueAt: number } & TurnKey)
  | { kind: 'schedule' }
  | { kind: 'cancelled' }

export type WorkflowNotifier = Notifier<WorkflowNotice>
