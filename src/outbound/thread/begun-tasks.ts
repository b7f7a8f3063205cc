/**
 * In a delivery thread: the tasks that have begun. Each has a message that is ready to be sent, or a result instead, and
 * can be withdrawn by the main thread.
 *
 * Next tasks have begun while the session of their runner sends the message of another task. Each waits for its turn: the
 * reply to that message. A task whose turn is not near is taken back to the waiting tasks of its pool, so that any
 * connection may take it. Its envelope is open in the session then, so the session ends after the message before it.
 */
import type { Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import { QuickLimitError } from '../../formats/compose/quick-limit-error.ts'
import type { AttemptOutcome, CurrentStep } from '../attempt.ts'
import type { ClassQueue } from '../class-queue.ts'
import type { ComposedBytes } from '../composing/composer.ts'
import { SMALL_CONTENT_BYTES } from '../composing/contents.ts'
import { localOutcome } from '../outcomes.ts'
import type { ComposedMessage, PoolSettings, SmtpTask, TaskResult } from '../protocol.ts'
import type { SmtpEnvelope } from '../smtp/commands.ts'
import type { NextMessage, SmtpSession } from '../smtp/session.ts'

/**
 * Whether the main thread wants a task back, and the session that carries its message. Updated in
 * place.
 */
export type Withdrawal = { isAsked: boolean; session: SmtpSession | null }

type RunningTask = { current: CurrentStep; withdrawal: Withdrawal }

type RunningTasks = {
  begin(task: number): RunningTask
  end(task: number): void
  currentOf(task: number): CurrentStep | undefined
  /** The tasks begin no message; a moment later the sessions that wait to write one are closed. */
  withdraw(tasks: ReadonlySet<number>): void
  /**
   * Withdraws all tasks. Resolves when none of them waits for the reply to its message any more; a
   * task that is still opening a session has sent nothing.
   */
  finish(): Promise<void>
}

/**
 * How long a session may still wait to write a message that was taken back. Most receivers have asked for
 * the message by then, so that the connection stays open.
 */
const GRACE_MS = 300

const WAITS_TO_WRITE: ReadonlySet<CurrentStep['step']> = new Set(['mail', 'rcpt', 'data'])

const IS_WRITTEN: ReadonlySet<CurrentStep['step']> = new Set(['message', 'final-dot'])

export type ComposeDeps = {
  /** @throws QuickLimitError; any other error is a fault of this program */
  compose(task: SmtpTask): ComposedMessage
  contentBytes(task: SmtpTask): number
  /** The bytes of the messages that are composed and not sent. */
  composedBytes: ComposedBytes
  now: Now
}

/** A message that is ready to be sent. Its bytes count until `composedBytes.release`. */
export type ReadyMessage = { composed: ComposedMessage; envelope: SmtpEnvelope }

/** The waiting tasks and the connections of a pool. */
export type ConnectionPool = {
  pool: PoolSettings
  waiting: ClassQueue<SmtpTask>
  idle: IdleSession[]
  runners: number
}

export type IdleSession = { session: SmtpSession; since: number }

/** The pools of a site. `open` and `allowed`: how many connections, see `connection-pools.ts`. */
export type SitePools = {
  site: string
  allowed: number
  /** A lower allocation has not yet taken effect. */
  isLowering: boolean
  hasGreeted: boolean
  open: number
  pools: Map<string, ConnectionPool>
}

/** Holds one connection of a pool and runs one task after another. */
export type PoolRunner = {
  site: SitePools
  state: ConnectionPool
  session: SmtpSession | null
  /** The task whose message waits for the current one. */
  next: NextTask | null
  /** A session with the open envelope of a task that was taken back. */
  abandoned: SmtpSession | null
}

/** `ready`: the message, if it was composed while the session sent the one before it. */
export type BegunTask = RunningTask & { task: SmtpTask; ready: ReadyMessage | null }

type NextTask = BegunTask & { ready: ReadyMessage; session: SmtpSession; isLate: boolean }

export type NextTasksDeps = {
  /**
   * Composes a message that waits for the one before it in its session. Null: the message is too large to
   * wait. @throws for a fault of this program
   */
  composeNext(task: SmtpTask): ReadyMessage | TaskResult | null
  /** Gives up a composed message that will not be sent. */
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

/** A next task that still waits at its second tick is late. */
const TICK_MS = 1_000

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

/** Returns a result if the message cannot be composed here. */
export function composeTask(deps: ComposeDeps, task: SmtpTask): ReadyMessage | TaskResult {
  const beganAt = deps.now()
  try {
    const composed = deps.compose(task)
    deps.composedBytes.add(composed.octets.length)
    return { composed, envelope: envelopeOf(task, composed) }
  } catch (error) {
    if (error instanceof QuickLimitError) return { task: task.task, kind: 'heavy' }
    const outcome = ownFailure(describeError(error), deps.now() - beganAt)
    const unsent = { subject: null, faults: [], brokenTls: null }
    return { task: task.task, kind: 'attempted', outcome, startedAt: beganAt, ...unsent }
  }
}

/** Whether the message takes little memory, so that it may wait for its turn. */
export function isSmallTask({ contentBytes }: ComposeDeps, task: SmtpTask): boolean {
  return 'source' in task.making && contentBytes(task) <= SMALL_CONTENT_BYTES
}

export function isReady(made: ReadyMessage | TaskResult): made is ReadyMessage {
  return 'composed' in made
}

export function ownFailure(error: string, durationMs: number): AttemptOutcome {
  return { ...localOutcome({ result: 'failed', verdict: null, error }), durationMs }
}

export function createNextTasks({ deps, running, onLate }: NextTasksInput) {
  /** Runners with a next task. */
  const runners = new Set<PoolRunner>()
  let isTicking = false

  /**
   * Begins the next task while the session sends the message of the current one, but only if at
   * least as many tasks wait as the pool has connections in use.
   */
  function begin(runner: PoolRunner): NextMessage | null {
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

  /**
   * A fault does not harm the message that is being sent. The task stays in the line and is composed
   * again at its turn, which then shows the fault.
   */
  function compose(task: SmtpTask): ReadyMessage | TaskResult | null {
    try {
      return deps.composeNext(task)
    } catch (error) {
      deps.warn(`the message of a waiting task cannot be composed: ${describeError(error)}`)
      return null
    }
  }

  /** Returns the next task, whose turn has come. */
  function take(runner: PoolRunner): NextTask | null {
    const { next } = runner
    if (next === null) return null
    runner.next = null
    runners.delete(runner)
    return next
  }

  function takeBack(runner: PoolRunner): void {
    const next = take(runner)
    if (next === null) return
    runner.abandoned = next.session
    running.end(next.task.task)
    deps.discard(next.ready)
    runner.state.waiting.push(next.task)
  }

  function takeBackWhere(test: (runner: PoolRunner, task: SmtpTask) => boolean): void {
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

/** Whether the pools that wait with more urgent mail outnumber the free connections. */
export function isOutranked(site: SitePools, state: ConnectionPool): boolean {
  const own = state.waiting.peek()
  if (own === undefined || site.pools.size === 1) return false
  let connections = Math.max(0, site.allowed - site.open)
  for (const other of site.pools.values()) {
    const first = other === state ? undefined : other.waiting.peek()
    if (first !== undefined && first.queueClass < own.queueClass) connections--
  }
  return connections < 0
}

function envelopeOf(
  { recipient, reversePath }: SmtpTask,
  { needsSmtputf8 }: ComposedMessage,
): SmtpEnvelope {
  const isWide = needsSmtputf8 || hasUtf8(recipient) || hasUtf8(reversePath)
  return { reversePath, recipient, needsSmtputf8: isWide }
}

function hasUtf8(path: string): boolean {
  return /[^\x00-\x7f]/.test(path)
}
