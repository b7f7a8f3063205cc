/** The tasks of a delivery thread whose attempt has begun. */
import type { Now } from '../../base/clock.ts'
import type { CurrentStep } from '../attempt.ts'
import type { Session } from '../smtp/session.ts'

/**
 * Whether the main thread wants a task back, and the session that carries its message. Updated in
 * place.
 */
export type Withdrawal = { isAsked: boolean; session: Session | null }

export type RunningTask = { current: CurrentStep; withdrawal: Withdrawal }

type RunningTasks = {
  begin(task: number): RunningTask
  end(task: number): void
  currentOf(task: number): CurrentStep | undefined
  /** The tasks begin no message; a moment later the sessions that wait to write one are closed. */
  withdraw(tasks: ReadonlySet<number>): void
  /**
   * Withdraws all tasks. Resolves when none of them waits for the reply to its message any more; what
   * still opens a session then has sent nothing.
   */
  finish(): Promise<void>
}

/** Most receivers have asked for the message by then, so that the connection stays open. */
const GRACE_MS = 300

const WAITS_TO_WRITE: ReadonlySet<CurrentStep['step']> = new Set(['mail', 'rcpt', 'data'])

const IS_WRITTEN: ReadonlySet<CurrentStep['step']> = new Set(['message', 'final-dot'])

export function createRunningTasks(now: Now): RunningTasks {
  const running = new Map<number, RunningTask>()
  let settled: (() => void)[] = []

  function begin(task: number): RunningTask {
    const current: CurrentStep = { step: 'waiting', since: now(), peer: null }
    const begun = { current, withdrawal: { isAsked: false, session: null } }
    running.set(task, begun)
    return begun
  }

  function end(task: number): void {
    running.delete(task)
    if (settled.length === 0 || isInTransaction()) return
    for (const resolve of settled) resolve()
    settled = []
  }

  function isInTransaction(): boolean {
    return running.values().some(({ current }) => {
      return WAITS_TO_WRITE.has(current.step) || IS_WRITTEN.has(current.step)
    })
  }

  function withdraw(tasks: ReadonlySet<number>): void {
    const asked = [...running].filter(([task]) => tasks.has(task))
    for (const [, { withdrawal }] of asked) withdrawal.isAsked = true
    if (asked.length > 0) setTimeout(() => closeUnwritten(asked), GRACE_MS)
  }

  function closeUnwritten(asked: readonly [number, RunningTask][]): void {
    for (const [task, begun] of asked) {
      const isUnwritten = WAITS_TO_WRITE.has(begun.current.step)
      if (isUnwritten && running.get(task) === begun) begun.withdrawal.session?.close()
    }
  }

  return {
    begin,
    end,
    currentOf: (task) => running.get(task)?.current,
    withdraw,
    async finish() {
      withdraw(new Set(running.keys()))
      if (isInTransaction()) await new Promise<void>((resolve) => settled.push(resolve))
    },
  }
}
