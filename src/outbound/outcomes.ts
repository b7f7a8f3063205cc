/** Builds the outcome of an attempt: from replies, from failures, and from decisions of this server. */
import type { Now } from '../base/clock.ts'
import { hideSecrets } from '../formats/link-tokens.ts'
import { classifyLocally, classifyReply } from '../formats/replies/classify-reply.ts'
import type { Reply, Stage } from '../formats/replies/reply.ts'
import type { AttemptOutcome, CurrentStep, Step, StepName } from './attempt.ts'
import type { ClosedDestination, Lookup } from './routing/destination.ts'
import type { SiteObservation } from './sites/shaping.ts'
import type { ReplyResult } from './smtp/wire.ts'

const MAX_SHOWN_HOSTS = 5

/** Records the steps of an attempt and keeps its current step up to date. */
export type StepLog = {
  readonly steps: Step[]
  /** Sets the current step, which began now or at `since`. */
  begin(step: CurrentStep['step'], since?: number): void
  /** Records a step with the server's reply; `since`: when the wait for it began. */
  recordReply(step: StepName, result: ReplyResult, since: number): void
  /** Records a step that ends now; `since` as `now()` returned it. */
  record(step: Omit<Step, 'at' | 'durationMs'>, since: number): void
  elapsedMs(): number
}

/** The server of an attempt, and the log of its steps. */
export type AttemptContext = { host: string; address: string; tls: string | null; log: StepLog }

/** `beganAt`: when the attempt began, epoch ms. `current` is updated in place. */
export function createStepLog(now: Now, beganAt: number, current?: CurrentStep): StepLog {
  const steps: Step[] = []
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

type FailureInput = {
  error: string
  /** A reply that did not decide the outcome. */
  reply?: Reply | null
  isTls?: boolean
  isMaybeDelivered?: boolean
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

type Decided = Pick<AttemptOutcome, 'result' | 'verdict'> &
  Partial<Pick<AttemptOutcome, 'reply' | 'error' | 'isMaybeDelivered'>>

function outcomeAt({ host, address, tls, log }: AttemptContext, decided: Decided): AttemptOutcome {
  const { result, verdict, reply = null, error = null, isMaybeDelivered = false } = decided
  const { steps } = log
  const durationMs = log.elapsedMs()
  return { result, verdict, host, address, tls, reply, error, steps, durationMs, isMaybeDelivered }
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
  lookup: Lookup | null,
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

function dnsStep({ durationMs, hosts }: Lookup): Step {
  const shown = hosts.slice(0, MAX_SHOWN_HOSTS).join(', ')
  const host = hosts.length > MAX_SHOWN_HOSTS ? `${shown}, …` : shown
  return { step: 'dns', at: 0, durationMs, host }
}

/**
 * Without the secrets of its message, which a receiver may have quoted. Everything that is recorded,
 * logged or shown comes from this outcome.
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
