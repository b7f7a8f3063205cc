/**
 * Builds the outcome of an attempt: from replies, from failures, and from decisions of this server. Judges what the
 * outcome at one address means for the attempt.
 */
import type { Now } from '../base/clock.ts'
import { hideSecrets } from '../formats/link-tokens.ts'
import { classifyLocally, classifyReply } from '../formats/replies/classify-reply.ts'
import type { Reply, Stage } from '../formats/replies/reply.ts'
import type { AttemptOutcome, AttemptStep, CurrentStep, StepName } from './attempt.ts'
import type { ClosedDestination, DestinationLookup } from './routing/destination.ts'
import type { SmtpTarget } from './routing/targets.ts'
import type { SiteObservation } from './sites/shaping.ts'
import type { ReplyResult } from './smtp/wire.ts'

const MAX_SHOWN_HOSTS = 5

/** Records the steps of an attempt and keeps its current step up to date. */
export type StepLog = {
  readonly steps: AttemptStep[]
  /** Sets the current step, which began now or at `since`. */
  begin(step: CurrentStep['step'], since?: number): void
  /** Records a step with the server's reply; `since`: when the wait for it began. */
  recordReply(step: StepName, result: ReplyResult, since: number): void
  /** Records a step that ends now; `since` as `now()` returned it. */
  record(step: Omit<AttemptStep, 'at' | 'durationMs'>, since: number): void
  elapsedMs(): number
}

/** The server of an attempt, and the log of its steps. */
export type AttemptContext = { host: string; address: string; tls: string | null; log: StepLog }

type FailureInput = {
  error: string
  /** A reply that did not decide the outcome. */
  reply?: Reply | null
  isTls?: boolean
  isMaybeDelivered?: boolean
}

type Decided = Pick<AttemptOutcome, 'result' | 'verdict'> &
  Partial<Pick<AttemptOutcome, 'reply' | 'error' | 'isMaybeDelivered'>>

type JudgedAttempt = { brokenTls: readonly string[]; steps: readonly AttemptStep[] }

/** Why a session could not be opened. */
export type SessionTrouble =
  | { kind: 'reply'; step: Exclude<StepName, 'dns'>; reply: Reply }
  | { kind: 'failure'; error: string; isTls?: boolean; isCut?: boolean }
  | { kind: 'loop'; reply: Reply }

/** `beganAt`: when the attempt began, epoch ms. `current` is updated in place. */
export function createStepLog(now: Now, beganAt: number, current?: CurrentStep): StepLog {
  const steps: AttemptStep[] = []
  return {
    steps,
    begin(step, since = now()) {
      if (current === undefined) return
      current.step = step
      current.since = since
    },
    recordReply(step, { reply, failure, at: receivedAt }, since) {
      const [at, durationMs] = [since - beganAt, receivedAt - since]
      if (reply === null) steps.push({ step, error: failure.text, at, durationMs })
      else steps.push({ step, reply: reply.stored, at, durationMs })
    },
    record(step, since) {
      steps.push({ ...step, at: since - beganAt, durationMs: now() - since })
    },
    elapsedMs: () => now() - beganAt,
  }
}

/** The outcome that a reply decides. `accepted`: the result of a 250 to the message. */
export function outcomeOfReply(
  context: AttemptContext,
  { stage, reply }: { stage: Stage; reply: Reply },
  accepted: 'delivered' | 'relayed' = 'delivered',
): AttemptOutcome {
  const verdict = classifyReply({ stage, reply, mxHost: context.host })
  const refused = verdict.isFinal ? 'bounced' : 'deferred'
  const result = verdict.class === 'accepted' ? accepted : refused
  return outcomeAt(context, { result, verdict, reply })
}

/** The outcome of an attempt that no reply decided: deferred. */
export function outcomeOfFailure(
  context: AttemptContext,
  { error, reply = null, isTls = false, isMaybeDelivered = false }: FailureInput,
): AttemptOutcome {
  const verdict = classifyLocally(isTls ? 'tls' : 'network')
  return outcomeAt(context, { result: 'deferred', verdict, reply, error, isMaybeDelivered })
}

/** The outcome of this server's own final decision in a session. */
export function outcomeOfRefusal(
  context: AttemptContext,
  refusal: Pick<AttemptOutcome, 'result' | 'verdict' | 'error'> & { reply?: Reply },
): AttemptOutcome {
  return outcomeAt(context, refusal)
}

/** The outcome of an attempt whose destination accepts no mail. `isOwn`: as for `withLookup`. */
export function outcomeOfClosed(
  { result, verdict, reply, error, lookup }: ClosedDestination,
  isOwn: boolean,
): AttemptOutcome {
  const durationMs = isOwn && lookup !== null ? lookup.durationMs : 0
  const steps = lookup === null ? [] : [{ ...dnsStep(lookup), durationMs, error }]
  return { ...localOutcome({ result, verdict, error }), reply, steps, durationMs }
}

/** The outcome of an attempt whose message could not be composed. */
export function outcomeOfUncomposed(reason: string): AttemptOutcome {
  const error = `the message could not be composed: ${reason}`
  return localOutcome({ result: 'failed', verdict: null, error })
}

/** The outcome of a message that was accepted just before its delivery thread ended. */
export function outcomeOfLostThread(mode: 'sandbox' | 'direct' | 'relay'): AttemptOutcome {
  const reply = { code: 250, enhancedCode: null, text: '' }
  return localOutcome({
    result: mode === 'relay' ? 'relayed' : 'delivered',
    verdict: classifyReply({ stage: 'message', reply }),
    error: 'accepted; the delivery thread ended before it could pass on the reply',
  })
}

/** An outcome without a server and without steps. */
export function localOutcome(
  own: Pick<AttemptOutcome, 'result' | 'verdict' | 'error'>,
): AttemptOutcome {
  return {
    host: null,
    address: null,
    tls: null,
    reply: null,
    steps: [],
    durationMs: 0,
    isMaybeDelivered: false,
    ...own,
  }
}

/**
 * Puts the DNS step first. The attempt begins with a look-up of its own, so all later steps come after
 * it. A look-up made for an earlier message (`isOwn` false) took no time.
 */
export function withLookup(
  outcome: AttemptOutcome,
  lookup: DestinationLookup | null,
  isOwn: boolean,
): AttemptOutcome {
  if (lookup === null) return outcome
  const durationMs = isOwn ? lookup.durationMs : 0
  const dns = { ...dnsStep(lookup), durationMs }
  const others =
    durationMs === 0
      ? outcome.steps
      : outcome.steps.map((step) => ({ ...step, at: step.at + durationMs }))
  return { ...outcome, steps: [dns, ...others], durationMs: outcome.durationMs + durationMs }
}

/**
 * Removes the secrets of the message from an outcome: a receiver may have quoted them. Everything
 * that is recorded, logged or shown comes from the result.
 */
export function withoutSecrets(
  outcome: AttemptOutcome,
  secrets: readonly string[] = [],
): AttemptOutcome {
  if (secrets.length === 0) return outcome
  const hide = (text: string) => hideSecrets(text, secrets)
  const hideReply = (reply: Reply): Reply => ({ ...reply, text: hide(reply.text) })
  const steps = outcome.steps.map((step) => ({
    ...step,
    ...(step.reply && { reply: hideReply(step.reply) }),
    ...(step.error && { error: hide(step.error) }),
  }))
  const { reply, error } = outcome
  return {
    ...outcome,
    reply: reply && hideReply(reply),
    error: error && hide(error),
    steps,
  }
}

/** The outcome in one line: the refusal, or the error if there was no refusal. */
export function outcomeText({ reply, error }: Pick<AttemptOutcome, 'reply' | 'error'>): string {
  const isRefusal = reply !== null && reply.code >= 400
  if (!isRefusal) return error ?? 'no reply'
  // Replies are stored with their control bytes escaped, except the ends of their lines.
  const text = reply.text.split('\n').join(' ')
  return [reply.code, reply.enhancedCode, text].filter((part) => part !== null).join(' ')
}

/** Returns what an attempt shows about its site; null if it shows nothing or did not reach the site. */
export function siteObservationOf(outcome: AttemptOutcome): SiteObservation | null {
  const { verdict, durationMs } = outcome
  if (verdict === null || outcome.host === null) return null
  if (verdict.class === 'accepted') return { kind: 'accepted', durationMs }
  const hasReplied = outcome.steps.some(({ reply }) => reply !== undefined)
  // This server's own refusal in an open session shows nothing about the site.
  if (!hasReplied) return verdict.class === 'network' ? { kind: 'unreachable' } : null
  return { kind: 'replied', durationMs, action: verdict.site }
}

/** Whether another address may be tried without the risk of sending the message twice. */
export function isOpenForOthers(
  outcome: AttemptOutcome,
  session: { isUsable: boolean } | null,
): boolean {
  if (outcome.result === 'delivered' || outcome.result === 'relayed') return false
  if (outcome.result === 'failed' || outcome.isMaybeDelivered) return false
  const isBeforeMail = !outcome.steps.some(({ step }) => step === 'mail')
  if (isBeforeMail) return session === null || !session.isUsable
  // A reply is the server's decision, unless it only ends the connection.
  const isUndecided = outcome.reply === null || outcome.verdict?.site === 'reconnect'
  return outcome.result === 'deferred' && isUndecided && session?.isUsable !== true
}

/** Returns the failure that decides: the first one if a deferral was followed by a bounce, else the later one. */
export function decisiveOutcomeOf(
  before: AttemptOutcome | null,
  after: AttemptOutcome,
): AttemptOutcome {
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

/** The outcome if all addresses of the receiver are of a family without a source address. */
export function outcomeOfUnreachable(): AttemptOutcome {
  const error = 'none of delivery.source_addresses can reach the receiver'
  return localOutcome({ result: 'deferred', verdict: classifyLocally('network'), error })
}

export function outcomeOfMissingTls(
  { host, address }: SmtpTarget,
  durationMs: number,
): AttemptOutcome {
  const error = 'the server offers no TLS, although this provider is known to support it'
  const verdict = classifyLocally('tls')
  return { ...localOutcome({ result: 'deferred', verdict, error }), host, address, durationMs }
}

/** The error of a reply with a code that the command does not allow. `to`: the command or the message. */
export function invalidReplyError({ code }: { code: number }, to: string): string {
  return `${code} is not a valid reply to ${to}`
}

/** Why a reply ends the opening of a session; null for a reply with which the session goes on. */
export function refusalOf(
  step: Exclude<StepName, 'dns'>,
  { reply, failure }: ReplyResult,
): SessionTrouble | null {
  if (failure !== null) {
    return { kind: 'failure', error: failure.text, isCut: failure.kind === 'cut' }
  }
  if (reply.code < 300) return null
  if (reply.code < 400) return { kind: 'failure', error: invalidReplyError(reply, step) }
  return { kind: 'reply', step, reply: reply.stored }
}

/** The outcome of an attempt without a session. */
export function outcomeOfTrouble(context: AttemptContext, trouble: SessionTrouble): AttemptOutcome {
  switch (trouble.kind) {
    case 'reply':
      return outcomeOfReply(context, { stage: trouble.step, reply: trouble.reply })
    case 'failure':
      return outcomeOfFailure(context, trouble)
    case 'loop':
      return outcomeOfRefusal(context, {
        result: 'failed',
        verdict: classifyLocally('loop'),
        error: '5.4.6 the mail would loop: the server has the name of this server',
        reply: trouble.reply,
      })
  }
}

function outcomeAt({ host, address, tls, log }: AttemptContext, decided: Decided): AttemptOutcome {
  const { result, verdict, reply = null, error = null, isMaybeDelivered = false } = decided
  const { steps } = log
  const durationMs = log.elapsedMs()
  return { result, verdict, host, address, tls, reply, error, steps, durationMs, isMaybeDelivered }
}

function dnsStep({ durationMs, hosts }: DestinationLookup): AttemptStep {
  const shown = hosts.slice(0, MAX_SHOWN_HOSTS).join(', ')
  const host = hosts.length > MAX_SHOWN_HOSTS ? `${shown}, …` : shown
  return { step: 'dns', at: 0, durationMs, host }
}
