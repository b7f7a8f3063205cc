/**
 * One attempt of one delivery, in a delivery thread: composes the message, if it is not ready, and sends it
 * in the given session, else in a new one. New sessions are opened address by address in the order of `targets.ts`;
 * at most five addresses are tried and two sessions opened. After a broken TLS handshake the same
 * address is tried once without TLS. The next address is tried while no server has decided: after a
 * failed connection, a refusing greeting, or a connection lost before the final dot.
 */
import type { Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import { classifyLocally } from '../../formats/replies/classify-reply.ts'
import type { ReplyVerdict } from '../../formats/replies/reply.ts'
import type { AttemptOutcome, AttemptStep } from '../attempt.ts'
import {
  brokenHost,
  decisiveOutcomeOf,
  isOpenForOthers,
  localOutcome,
  outcomeOfMissingTls,
  outcomeOfUnreachable,
} from '../outcomes.ts'
import type { PoolSettings, SmtpTask, TaskResult } from '../protocol.ts'
import type { LocalFamilies } from '../routing/addresses.ts'
import { MAX_SMTP_SESSIONS, orderTargets, type SmtpTarget } from '../routing/targets.ts'
import type { OpenResult } from '../smtp/open-session.ts'
import type { NextMessage, SendResult, SmtpSession } from '../smtp/session.ts'
import {
  type BegunTask,
  type ComposeDeps,
  composeTask,
  isReady,
  ownFailure,
  type ReadyMessage,
} from './begun-tasks.ts'

export type OpenInput = {
  pool: PoolSettings
  target: SmtpTarget
  localAddress: string | undefined
  isClear: boolean
} & Pick<OpenAttempt, 'beganAt' | 'current'>

export type TryDeps = ComposeDeps & {
  open(input: OpenInput): Promise<OpenResult>
  findFamilies(): LocalFamilies
  now: Now
  random(): number
}

/** The values that the task shares with its thread are updated in place. */
export type TryInput = BegunTask & {
  pool: PoolSettings
  session: SmtpSession | null
  /** The message that the session may open behind this one; it is sent next. */
  next?: () => NextMessage | null
}

/** `session`: open and ready for the next message, or null. */
export type Tried = { result: TaskResult; session: SmtpSession | null }

type OpenAttempt = TryInput & {
  ready: ReadyMessage
  beganAt: number
  steps: readonly AttemptStep[]
  /** Hosts whose TLS handshake broke in this attempt. */
  brokenTls: readonly string[]
  sessionCount: number
  /** Why this server ended the last connection for other mail; null if it did not. */
  cut: string | null
}

/**
 * How long an email waits after its session was cut, because the server had not greeted and other
 * mail needed the connection.
 */
const AFTER_CUT_MS = 60_000
const NO_STEPS: readonly AttemptStep[] = []
const NO_HOSTS: readonly string[] = []

export async function tryTask(deps: TryDeps, input: TryInput): Promise<Tried> {
  const bytes = input.ready ? 0 : deps.contentBytes(input.task)
  // Several tasks may wake up at the same time.
  for (let wait = deps.composedBytes.waitForSpace(bytes); wait !== null; ) {
    await wait
    wait = deps.composedBytes.waitForSpace(bytes)
  }
  const beganAt = deps.now()
  const { task, session, current, withdrawal } = input
  if (withdrawal.isAsked) return { session, result: withdrawn(task) }
  current.step = 'compose'
  current.since = beganAt
  const ready = input.ready ?? composeTask(deps, task)
  if (!isReady(ready)) return { session, result: ready }
  const { composed } = ready
  const attempt: OpenAttempt = {
    ...input,
    ready,
    beganAt,
    steps: NO_STEPS,
    brokenTls: NO_HOSTS,
    sessionCount: 0,
    cut: null,
  }
  const outcome = await deliver(deps, attempt).catch((error) => fault(deps, attempt, error))
  deps.composedBytes.release(composed.octets.length)
  if (outcome === null && withdrawal.isAsked) {
    return { session: takeUsable(attempt), result: withdrawn(task) }
  }
  if (outcome === null) {
    const reason = attempt.cut ?? 'other mail needed the connection'
    const delayMs = AFTER_CUT_MS
    return { session: null, result: { task: task.task, kind: 'put back', delayMs, reason } }
  }
  const { subject, faults } = composed
  return {
    session: takeUsable(attempt),
    result: {
      task: task.task,
      kind: 'attempted',
      outcome,
      subject,
      faults,
      startedAt: beganAt,
      brokenTls: brokenHost(attempt, outcome),
    },
  }
}

/**
 * Returns null if the attempt does not count: this server ended every connection itself, or the task
 * was withdrawn before its message was written.
 */
async function deliver(deps: TryDeps, attempt: OpenAttempt): Promise<AttemptOutcome | null> {
  let last = attempt.session === null ? null : await sendOnGiven(deps, attempt)
  if (last !== null && !isOpenForOthers(last, attempt.session)) return finish(deps, attempt, last)
  for (const target of targetsOf(deps, attempt.pool)) {
    if (attempt.sessionCount >= MAX_SMTP_SESSIONS || attempt.withdrawal.isAsked) break
    const outcome = await tryTarget(deps, attempt, target)
    if (outcome === null) return null
    if (attempt.cut !== null) return last && finish(deps, attempt, last)
    last = decisiveOutcomeOf(last, outcome)
    if (!isOpenForOthers(outcome, attempt.session)) return finish(deps, attempt, outcome)
  }
  // No server has decided, so a task that the main thread wants back counts no attempt.
  if (attempt.withdrawal.isAsked) return null
  return finish(deps, attempt, last ?? outcomeOfUnreachable())
}

/** Returns null if another session has to decide: `SendResult.isStale`. */
async function sendOnGiven(deps: TryDeps, attempt: OpenAttempt): Promise<AttemptOutcome | null> {
  const { outcome, isStale } = await sendNow(deps, attempt)
  if (isStale) {
    dropSession(attempt)
    return null
  }
  attempt.sessionCount++
  addSteps(attempt, outcome.steps)
  return outcome
}

/** Returns null if the task was withdrawn while the session was opened. */
async function tryTarget(
  deps: TryDeps,
  attempt: OpenAttempt,
  target: SmtpTarget,
): Promise<AttemptOutcome | null> {
  const opened = await openTarget(deps, attempt, target)
  if (!opened.ok) return opened.outcome
  const { session } = opened
  attempt.session = session
  if (attempt.pool.requiresTls && session.tls === null) {
    dropSession(attempt)
    return outcomeOfMissingTls(target, deps.now() - attempt.beganAt)
  }
  if (attempt.withdrawal.isAsked) return null
  const { outcome } = await sendNow(deps, attempt)
  addSteps(attempt, outcome.steps)
  return outcome
}

/** Opens a session with one address; without TLS if its handshake breaks, unless the site requires TLS. */
async function openTarget(
  deps: TryDeps,
  attempt: OpenAttempt,
  target: SmtpTarget,
): Promise<OpenResult> {
  const { pool, beganAt, current } = attempt
  current.peer = { host: target.host, address: target.address }
  const localAddress = target.address.includes(':') ? pool.source.ipv6 : pool.source.ipv4
  const isClear = !pool.requiresTls && isTlsBroken(attempt, target.host)
  const opened = await deps.open({ pool, target, localAddress, isClear, beganAt, current })
  recordOpening(attempt, opened)
  if (opened.ok || !opened.isTlsBroken) return opened
  attempt.brokenTls = [...attempt.brokenTls, target.host]
  if (pool.requiresTls || attempt.sessionCount >= MAX_SMTP_SESSIONS) return opened
  const again = await deps.open({ pool, target, localAddress, isClear: true, beganAt, current })
  recordOpening(attempt, again)
  return again
}

/** Counts a session if the server accepted the connection, even if it then refused the session. */
function recordOpening(attempt: OpenAttempt, opened: OpenResult): void {
  attempt.cut = opened.ok || !opened.isCut ? null : describeCut(opened.outcome)
  const { steps } = opened.ok ? opened.session : opened.outcome
  addSteps(attempt, steps)
  if (opened.ok || steps.at(-1)?.step !== 'connect') attempt.sessionCount++
}

function describeCut({ host, error }: AttemptOutcome): string {
  return `${host ?? 'the receiver'}: ${error ?? 'other mail needed the connection'}`
}

async function sendNow(deps: TryDeps, attempt: OpenAttempt): Promise<SendResult> {
  const { session, ready, beganAt, current, withdrawal, next } = attempt
  withdrawal.session = session
  if (session === null) throw new TypeError('there is no session to send on')
  try {
    const { host, address } = session
    current.peer = { host, address }
    const { envelope, composed } = ready
    const sent = await session.send(envelope, composed.octets, { beganAt, current, next })
    const { verdict } = sent.outcome
    if (verdict?.class !== 'session') return sent
    // The session takes no more; the message, and those after it, go on in another one.
    await session.quit()
    if (session.sendCount > 1) return sent
    // Nothing came before the message in this session, so another session would get the same reply.
    const failed: ReplyVerdict = {
      ...{ ...verdict, site: 'none', retryAfterMs: null },
      countsAsFailure: true,
    }
    return { ...sent, outcome: { ...sent.outcome, verdict: failed } }
  } catch (error) {
    return { outcome: ownFailure(describeError(error), deps.now() - beganAt), isStale: false }
  }
}

function targetsOf(deps: TryDeps, pool: PoolSettings): SmtpTarget[] {
  const { ipv4, ipv6 } = pool.source
  const isBound = ipv4 !== undefined || ipv6 !== undefined
  const bound = pool.targets.filter(({ address }) =>
    address.includes(':') ? ipv6 !== undefined : ipv4 !== undefined,
  )
  const families = deps.findFamilies()
  return orderTargets(isBound ? bound : pool.targets, { families, random: deps.random })
}

function isTlsBroken({ pool, brokenTls }: OpenAttempt, host: string): boolean {
  return pool.brokenTls.includes(host) || brokenTls.includes(host)
}

/** The steps of a single session, the usual case, are not copied. */
function addSteps(attempt: OpenAttempt, steps: readonly AttemptStep[]): void {
  attempt.steps = attempt.steps.length === 0 ? steps : [...attempt.steps, ...steps]
}

function takeUsable({ session }: OpenAttempt): SmtpSession | null {
  if (session?.isUsable === true) return session
  session?.close()
  return null
}

function dropSession(attempt: OpenAttempt): void {
  attempt.session?.close()
  attempt.session = null
}

function finish(deps: TryDeps, attempt: OpenAttempt, outcome: AttemptOutcome): AttemptOutcome {
  const durationMs = deps.now() - attempt.beganAt
  return { ...outcome, steps: attempt.steps, durationMs }
}

/** A fault of this program: deferred, since it may be repaired before the message is given up. */
function fault(deps: TryDeps, attempt: OpenAttempt, error: unknown): AttemptOutcome {
  dropSession(attempt)
  const verdict: ReplyVerdict = {
    ...classifyLocally('dns'),
    class: 'unknown',
    reason: 'systemerror',
  }
  const own = { result: 'deferred', verdict, error: describeError(error) } as const
  return finish(deps, attempt, localOutcome(own))
}

function withdrawn({ task }: SmtpTask): TaskResult {
  return { task, kind: 'put back', delayMs: 0 }
}
