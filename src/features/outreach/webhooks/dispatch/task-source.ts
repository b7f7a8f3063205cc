/**
 * What a dispatcher sends: tasks, each of which is a request that is due. The key of a task is its endpoint
 * or its workflow. The tasks are rows of the database; a task whose result was not recorded is taken again.
 */

/** `id`: of an endpoint or of a workflow. */
export type TaskKey = { id: string; projectId: string }

export type Task = {
  number: number
  /** The memory that the task takes. */
  bytes: number
  /** About the further memory that its request takes while it is in flight. */
  sentBytes: number
}

/** A result to record. */
export type DispatchResult = {
  number: number
  /** When the task is due again; null if it has ended. */
  dueAt: number | null
  /** Whether the server answered, in any way. */
  hasAnswered: boolean
}

/** `taken`: tasks that were handed out and not recorded yet. */
export type TakeQuery = { taken: ReadonlySet<number>; limit: number; now: number }

/** `nextDueAt`: when another task of the key is due; null if none is waiting. */
export type Taken<Item> = { tasks: Item[]; nextDueAt: number | null }

export type TaskSource<Item extends Task, Result extends DispatchResult> = {
  /** For the log. */
  name: string
  /** The keys with waiting tasks, each with its earliest due time. */
  listKeys(): Promise<(TaskKey & { dueAt: number })[]>
  /** Returns due tasks in the order in which they start. */
  take(key: TaskKey, query: TakeQuery): Promise<Taken<Item>>
  /**
   * Makes one request. Returns undefined for a task that is gone, or whose request was aborted: nothing
   * is recorded.
   */
  attempt(task: Item, signal: AbortSignal): Promise<Result | undefined>
  /** Records results in one transaction. May be called again with the same results if it fails. */
  record(results: readonly { key: TaskKey; result: Result }[]): Promise<void>
}

/** Alternates between two lists. */
export function inTurn<T>(one: readonly T[], other: readonly T[]): T[] {
  const length = Math.max(one.length, other.length)
  return Array.from({ length }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((item) => item !== undefined)
}
