/** A delivery on its way through outbound: the task, its state here, and its result. */

import type { QueueClass } from '../base/queue-class.ts'
import type { MessageSource, PartFault } from '../formats/compose/build-message.ts'
import type { SigningKey } from '../formats/compose/dkim.ts'
import type { AttemptOutcome } from './attempt.ts'
import type { DeliveryThread, PoolSettings, TransferableMessage } from './protocol.ts'
import type { Lookup } from './routing/destination.ts'

export type DeliveryTask = {
  emailId: string
  /** Capacity is shared fairly between projects; connections are common to them. */
  projectId: string
  queueClass: QueueClass
  /** Deliveries of one group can be withdrawn together. */
  group?: string | null
  /** As on the wire: A-labels. */
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
      /** As rendered; null if no message was composed. */
      subject: string | null
      /** Faults of the message's templates. */
      faults: readonly PartFault[]
      /** Epoch ms. The attempt begins with its own look-up, if it had one. */
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
  lookup: Lookup | null
  /** Whether the look-up was made for this delivery. */
  isOwnLookup: boolean
  /** When the delivery began to wait, epoch ms. */
  since: number
  /** Its number in the protocol of the threads. */
  task: number
  /** The delivery thread that has it; null while it waits. */
  thread: DeliveryThread | null
  /** Its thread was asked to put it back. */
  isWithdrawn?: boolean
  /** How many threads ended while they had it. */
  lostThreads: number
  /**
   * The message, if a composing thread has composed it. Posting it to a thread transfers its
   * octets.
   */
  composed?: TransferableMessage
  /** Size of `composed`; it stays after the octets have been transferred. */
  composedBytes?: number
  /** The content and keys that its thread caches: see `createThreadWork`. */
  used?: { contentId: number; keyIds: readonly number[] } | undefined
}
