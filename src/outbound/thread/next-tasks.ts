/**
 * In a delivery thread: tasks that have begun while the session of their runner sends the message of another
 * task. Each waits for its turn: the reply to that message. A task whose turn is not near is taken back to the
 * waiting tasks of its pool, so that any connection may take it. Its envelope is open in the session then, so
 * the session ends after the message before it.
 */
import { describeError } from '../../base/errors.ts'
import type { TaskResult, ThreadTask } from '../protocol.ts'
import type { Session } from '../smtp/session.ts'
import type { NextMessage } from '../smtp/transaction.ts'
import { isReady, type ReadyMessage } from './compose-task.ts'
import type { createRunningTasks, RunningTask } from './running-tasks.ts'
import { isOutranked, type Pool, type SitePools } from './site-pools.ts'

/** Holds one connection of a pool and runs one task after another. */
export type Runner = {
  site: SitePools
  state: Pool
  session: Session | null
  /** The task whose message waits for the current one. */
  next: NextTask | null
  /** A session with the open envelope of a task that was taken back. */
  abandoned: Session | null
}

export type BegunTask = RunningTask & { task: ThreadTask; ready: ReadyMessage | null }
type NextTask = BegunTask & { ready: ReadyMessage; session: Session; isLate: boolean }

export type NextTasksDeps = {
  /**
   * Composes a message that waits for the one before it in its session. Null: the message is too large to
   * wait. @throws for a fault of this program
   */
  composeNext(task: ThreadTask): ReadyMessage | TaskResult | null
  /** A composed message is not sent. */
  discard(ready: ReadyMessage): void
  finished(result: TaskResult): void
  warn(text: string): void
}

type NextTasksInput = {
  deps: NextTasksDeps
  running: ReturnType<typeof createRunningTasks>
  /** Called when tasks of the site were taken back because they waited too long. */
  onLate(site: SitePools): void
}

/** A task that sees the second of these ticks is late. */
const TICK_MS = 1_000

export function createNextTasks({ deps, running, onLate }: NextTasksInput) {
  /** Those with a next task. */
  const runners = new Set<Runner>()
  let isTicking = false

  /**
   * Begins the next task while the session sends the message of the current one. Only if so many wait that
   * each connection of the pool has one to follow.
   */
  function begin(runner: Runner): NextMessage | null {
    const { site, state, session } = runner
    if (session === null || session.sendCount + 2 > state.pool.messagesPerConnection) return null
    if (site.open > site.allowed || isOutranked(site, state)) return null
    const task = state.waiting.size() < state.runners ? undefined : state.waiting.peek()
    const ready = task === undefined ? null : compose(task)
    if (task === undefined || ready === null) return null
    state.waiting.shift()
    if (!isReady(ready)) {
      deps.finished(ready)
      return null
    }
    runner.next = { ...running.begin(task.task), task, ready, session, isLate: false }
    runners.add(runner)
    if (!isTicking) waitForTick()
    return { envelope: ready.envelope, message: ready.composed.octets }
  }

  /** A fault is the task's own: it shows at its turn, and the message that is being sent is unharmed. */
  function compose(task: ThreadTask): ReadyMessage | TaskResult | null {
    try {
      return deps.composeNext(task)
    } catch (error) {
      deps.warn(`the message of a waiting task cannot be composed: ${describeError(error)}`)
      return null
    }
  }

  /** Returns the next task: it is its turn. */
  function take(runner: Runner): NextTask | null {
    const { next } = runner
    if (next === null) return null
    runner.next = null
    runners.delete(runner)
    return next
  }

  function takeBack(runner: Runner): void {
    const next = take(runner)
    if (next === null) return
    runner.abandoned = next.session
    running.end(next.task.task)
    deps.discard(next.ready)
    runner.state.waiting.push(next.task)
  }

  function takeBackWhere(test: (runner: Runner, task: ThreadTask) => boolean): void {
    for (const runner of runners)
      if (runner.next !== null && test(runner, runner.next.task)) takeBack(runner)
  }

  function waitForTick(): void {
    isTicking = true
    setTimeout(tick, TICK_MS).unref()
  }

  function tick(): void {
    const sites = new Set<SitePools>()
    for (const runner of runners) {
      const { next, site } = runner
      if (next?.isLate) {
        takeBack(runner)
        sites.add(site)
      } else if (next !== null) next.isLate = true
    }
    isTicking = false
    if (runners.size > 0) waitForTick()
    for (const site of sites) onLate(site)
  }

  return { begin, take, takeBack, takeBackWhere }
}
