/** From an answer, or the want of one, to the outcome of an attempt. */
import { classifyLocally, classifyReply, type Reply, type Stage } from '../../mail/replies.ts'
import type { AttemptOutcome } from '../attempt.ts'
import type { StepLog } from './step-log.ts'

/** Where an attempt was made, and what it left. */
export type Place = { host: string; address: string; tls: string | null; log: StepLog }

function emptyOutcome({ host, address, tls, log }: Place): Omit<AttemptOutcome, 'result'> {
  return {
    verdict: null,
    host,
    address,
    tls,
    reply: null,
    error: null,
    steps: log.steps,
    durationMs: log.elapsedMs(),
    isMaybeDelivered: false,
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
  return { ...emptyOutcome(place), result, verdict, reply }
}

/** No reply decides: the attempt is repeated. */
export function outcomeOfFailure(
  place: Place,
  { error, reply = null, isTls = false, isMaybeDelivered = false }: FailureInput,
): AttemptOutcome {
  const verdict = classifyLocally(isTls ? 'tls' : 'network')
  return { ...emptyOutcome(place), result: 'deferred', verdict, reply, error, isMaybeDelivered }
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
  return { ...emptyOutcome(place), ...refusal }
}
