/** From routes and attempts to what is reported of them, and to what they tell of their site. */
import { classifyReply } from '../../mail/replies/classify-reply.ts'
import type { AttemptOutcome, Step } from '../attempt.ts'
import type { PoolSettings } from '../protocol.ts'
import type { ClosedDestination, Lookup } from '../routing/destination.ts'
import type { SiteObservation } from '../sites/shaping.ts'

const MAX_SHOWN_HOSTS = 5

/** The outcome of an attempt that found no way. */
export function closedOutcome({
  result,
  verdict,
  reply,
  error,
  lookup,
}: ClosedDestination): AttemptOutcome {
  const steps = lookup === null ? [] : [{ ...dnsStep(lookup), error }]
  const durationMs = lookup?.durationMs ?? 0
  return { ...localOutcome({ result, verdict, error }), reply, steps, durationMs }
}

/** The outcome of a message that cannot be made. */
export function unmadeOutcome(reason: string): AttemptOutcome {
  const error = `the message could not be made: ${reason}`
  return localOutcome({ result: 'failed', verdict: null, error })
}

/** The outcome of a message that was taken, as much as is known of it without its thread. */
export function unrecordedOutcome({ mode }: Pick<PoolSettings, 'mode'>): AttemptOutcome {
  const reply = { code: 250, enhancedCode: null, text: '' }
  return localOutcome({
    result: mode === 'relay' ? 'relayed' : 'delivered',
    verdict: classifyReply({ stage: 'message', reply }),
    error: 'accepted; the delivery thread ended before it could tell the answer',
  })
}

/** What is decided here, without a word of a receiver. */
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

/** Puts the look-up first; one that was made for an earlier message took this one no time. */
export function withLookup(
  outcome: AttemptOutcome,
  lookup: Lookup | null,
  isOwn: boolean,
): AttemptOutcome {
  if (lookup === null) return outcome
  const step = { ...dnsStep(lookup), durationMs: isOwn ? lookup.durationMs : 0 }
  return { ...outcome, steps: [step, ...outcome.steps] }
}

function dnsStep({ durationMs, hosts }: Lookup): Step {
  const shown = hosts.slice(0, MAX_SHOWN_HOSTS).join(', ')
  return {
    step: 'dns',
    at: 0,
    durationMs,
    host: hosts.length > MAX_SHOWN_HOSTS ? `${shown}, …` : shown,
  }
}

/** Null when the attempt never came to the site, or nothing is known of how. */
export function observationOf(outcome: AttemptOutcome): SiteObservation | null {
  const { verdict, durationMs } = outcome
  if (verdict === null || outcome.host === null) return null
  if (verdict.class === 'accepted') return { kind: 'accepted', durationMs }
  const hasAnswered = outcome.steps.some(({ reply }) => reply !== undefined)
  // What we refused ourselves on an open session is no word of the site's, for or against it.
  if (!hasAnswered) return verdict.class === 'network' ? { kind: 'unreachable' } : null
  return { kind: 'answered', durationMs, action: verdict.site }
}
