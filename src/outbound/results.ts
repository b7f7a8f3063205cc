/** The results of deliveries that were put back or whose messages were not composed. */
import type { Now } from '../base/clock.ts'
import type { AttemptOutcome } from './attempt.ts'
import type { DeliveryResult, DeliveryTask } from './delivery.ts'
import type { Shaping } from './sites/shaping.ts'

type PutBackInput = {
  site: string
  /** The minimum wait before the email is claimed again. */
  delayMs?: number | undefined
  reason?: string | undefined
}

/**
 * The result of a task that is put back. At a paused site the email is due at once: the queue
 * itself defers mail to such a site, and an operator may end the pause earlier.
 */
export function putBackResult(
  { shaping, now }: { shaping: Shaping; now: Now },
  { emailId }: Pick<DeliveryTask, 'emailId'>,
  { site, delayMs = 0, reason }: PutBackInput,
): DeliveryResult {
  const blockedUntil = shaping.blockedUntil(site)
  const rateUntil = shaping.pauseOf(site) === null ? blockedUntil : 0
  const retryAt = Math.max(rateUntil, delayMs > 0 ? now() + delayMs : 0)
  return {
    emailId,
    kind: 'put back',
    site,
    retryAt: retryAt > 0 ? retryAt : null,
    reason: blockedUntil > 0 ? shaping.reasonOf(site) : reason,
  }
}

/** The result of a task whose message was not composed. */
export function unsentResult(
  { emailId }: Pick<DeliveryTask, 'emailId'>,
  site: string,
  { outcome, endedAt }: { outcome: AttemptOutcome; endedAt: number },
): DeliveryResult {
  const startedAt = endedAt - outcome.durationMs
  return { emailId, kind: 'attempted', site, outcome, subject: null, faults: [], startedAt }
}

type Outbox = { add(result: DeliveryResult): void; flush(): void }

/**
 * Sends results in a later turn of the event loop, so that none arrives before `deliver` returns.
 */
export function createOutbox(send: (results: DeliveryResult[]) => void): Outbox {
  let waiting: DeliveryResult[] = []
  function flush(): void {
    const results = waiting
    waiting = []
    if (results.length > 0) send(results)
  }
  return {
    add(result) {
      if (waiting.push(result) === 1) setImmediate(flush)
    },
    flush,
  }
}
