/** From an answer, or the want of one, to the outcome of an attempt. */
import { classifyLocally, classifyReply } from '../../mail/replies/classify-reply.ts'
import type { Reply, Stage } from '../../mail/replies/reply.ts'
import type { AttemptOutcome } from '../attempt.ts'
import type { StepLog } from './step-log.ts'

/** Where an attempt was made, and what it left. */
export type Place = { host: string; address: string; tls: string | null; log: StepLog }

type Decided = Pick<AttemptOutcome, 'result' | 'verdict'> &
  Partial<Pick<AttemptOutcome, 'reply' | 'error' | 'isMaybeDelivered'>>

function outcomeAt({ host, address, tls, log }: Place, decided: Decided): AttemptOutcome {
  const { result, verdict, reply = null, error = null, isMaybeDelivered = false } = decided
  const { steps } = log
  const durationMs = log.elapsedMs()
  return {
    result,
    verdict,
    host,
    address,
    tls,
    reply,
    error,
    steps,
    durationMs,
    isMaybeDelivered,
  }
}

/** A reply decides: accepted is `delivered` (or what a smarthost's 250 is called). */
export function outcomeOfReply(
  place: Place,
  { stage, reply }: { stage: Stage; reply: Reply },
  accepted: 'delivered' | 'relayed' = 'delivered',
): AttemptOutcome {
  const verdict = classifyReply({ stage, reply, mxHost: place.host })
  const refused = verdict.isFinal ? 'bounced' : 'deferred'
  const result = verdict.class === 'accepted' ? accepted : refused
  return outcomeAt(place, { result, verdict, reply })
}

/** No reply decides: the attempt is repeated. */
export function outcomeOfFailure(
  place: Place,
  { error, reply = null, isTls = false, isMaybeDelivered = false }: FailureInput,
): AttemptOutcome {
  const verdict = classifyLocally(isTls ? 'tls' : 'network')
  return outcomeAt(place, { result: 'deferred', verdict, reply, error, isMaybeDelivered })
}

type FailureInput = {
  error: string
  /** A reply that says nothing. */
  reply?: Reply | null
  isTls?: boolean
  isMaybeDelivered?: boolean
}

/** We decide ourselves, finally. */
export function outcomeOfRefusal(
  place: Place,
  refusal: Pick<AttemptOutcome, 'result' | 'verdict' | 'error'> & { reply?: Reply },
): AttemptOutcome {
  return outcomeAt(place, refusal)
}
