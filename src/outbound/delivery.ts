/** A delivery on its way through outbound: the task, its state here, and its result. */

import type { Now } from '../base/clock.ts'
import type { QueueClass } from '../base/queue-class.ts'
import type { MessageSource, PartFault } from '../formats/compose/build-message.ts'
import type { SigningKey } from '../formats/compose/dkim.ts'
import type { AttemptOutcome } from './attempt.ts'
import type { DeliveryThread, PoolSettings, TransferableMessage } from './protocol.ts'
import type { DestinationLookup } from './routing/destination.ts'
import type { SiteShaping } from './sites/shaping.ts'

export type DeliveryTask = {
  emailId: string
  /** Projects share the capacity of a site fairly; a connection carries mail of any project. */
  projectId: string
  queueClass: QueueClass
  /** Deliveries of one group can be withdrawn together. */
  group?: string | null
  /** The recipient's address as SMTP carries it, with the domain in A-labels. */
  recipient: string
  /** The recipient's domain, A-labels. */
  domain: string
  /** The site that `siteOf` returned when the email was claimed. */
  site: string
  /** '' = the null reverse-path. */
  reversePath: string
  source: MessageSource
  signingKeys: readonly SigningKey[]
  /** Parts of the message that no reply may show; none if absent. */
  secrets?: readonly string[]
}

export type DeliveryResult =
  | {
      emailId: string
      kind: 'attempted'
      site: string
      outcome: AttemptOutcome
      /** The subject as rendered; null if no message was composed. */
      subject: string | null
      /** Faults of the message's templates. */
      faults: readonly PartFault[]
      /** When the attempt began, epoch ms. It begins with its own DNS look-up, if it had one. */
      startedAt: number
    }
  /**
   * Put back without counting an attempt. `retryAt`: epoch ms, null = as soon as there is capacity.
   * `reason`: why the site accepts little or no mail now, or why the session was ended.
   */
  | {
      emailId: string
      kind: 'put back'
      site: string
      retryAt: number | null
      reason?: string | undefined
    }

/** A task whose destination is known. It is changed in place until its result is known. */
export type Delivery = DeliveryTask & {
  pool: PoolSettings
  /** The DNS look-up of the destination; null if there was none. */
  lookup: DestinationLookup | null
  /** Whether the look-up was made for this delivery. */
  isOwnLookup: boolean
  /** When the delivery began to wait, epoch ms. */
  since: number
  /** The number of the delivery in the messages to and from threads. */
  task: number
  /** The thread that has the delivery; null while the delivery waits. */
  thread: DeliveryThread | null
  /** The thread was asked to put the delivery back. */
  isWithdrawn?: boolean
  /** How many threads ended while they had the delivery. */
  lostThreads: number
  /** The message, if a composing thread has composed it. Posting the message to a thread transfers its octets. */
  composed?: TransferableMessage
  /** Size of `composed`; it stays after the octets have been transferred. */
  composedBytes?: number
  /** The content and keys that the thread of the delivery caches: see `createThreadWork`. */
  used?: { contentId: number; keyIds: readonly number[] } | undefined
}

type PutBackInput = {
  site: string
  /** The minimum wait before the email is claimed again. */
  delayMs?: number | undefined
  reason?: string | undefined
}

type Outbox = { add(result: DeliveryResult): void; flush(): void }

/**
 * The result of a task that is put back. At a paused site the email is due at once: the queue
 * itself defers mail to such a site, and an operator may end the pause earlier.
 */
export function putBackResult(
  { shaping, now }: { shaping: SiteShaping; now: Now },
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
