/** In a delivery thread: what the outcome at one address means for the attempt, and outcomes without a session. */
import { classifyLocally } from '../../formats/replies/classify-reply.ts'
import type { AttemptOutcome, Step } from '../attempt.ts'
import { localOutcome } from '../outcomes.ts'
import type { Target } from '../routing/targets.ts'
import type { Session } from '../smtp/session.ts'

type JudgedAttempt = { brokenTls: readonly string[]; steps: readonly Step[] }

/** Whether another address may be tried without the risk of sending the message twice. */
export function isOpenForOthers(outcome: AttemptOutcome, session: Session | null): boolean {
  if (outcome.result === 'delivered' || outcome.result === 'relayed') return false
  if (outcome.result === 'failed' || outcome.isMaybeDelivered) return false
  const isBeforeMail = !outcome.steps.some(({ step }) => step === 'mail')
  if (isBeforeMail) return session === null || !session.isUsable
  // A reply is the server's decision, unless it only ends the connection.
  const isUndecided = outcome.reply === null || outcome.verdict?.site === 'reconnect'
  return outcome.result === 'deferred' && isUndecided && session?.isUsable !== true
}

/** Returns the failure that decides: a deferral before a bounce, else the later one. */
export function decisiveOf(before: AttemptOutcome | null, after: AttemptOutcome): AttemptOutcome {
  return before?.result === 'deferred' && after.result === 'bounced' ? before : after
}

/**
 * Returns the host whose TLS is broken: it must have decided about the message in the session without
 * TLS. If that session failed, too, the cause was something else.
 */
export function brokenHost(
  { brokenTls, steps }: JudgedAttempt,
  outcome: AttemptOutcome,
): string | null {
  const { host, tls, reply } = outcome
  const isDecided = reply !== null && steps.some(({ step }) => step === 'mail')
  if (!isDecided || host === null || tls !== null) return null
  return brokenTls.includes(host) ? host : null
}

/** All addresses of the receiver are of a family without a source address. */
export function unreachable(): AttemptOutcome {
  const error = 'none of delivery.source_addresses can reach the receiver'
  return localOutcome({ result: 'deferred', verdict: classifyLocally('network'), error })
}

export function noTls({ host, address }: Target, durationMs: number): AttemptOutcome {
  const error = 'the server offers no TLS, although this provider is known to support it'
  const verdict = classifyLocally('tls')
  return { ...localOutcome({ result: 'deferred', verdict, error }), host, address, durationMs }
}
