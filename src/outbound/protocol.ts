/**
 * What the main thread says to delivery threads and to composing threads, and they to it. Contents
 * and keys go over once and are named by their ids afterwards; `task` numbers are the main thread's
 * and never used twice.
 *
 * A site's connections are granted: a thread never has more open than the last `grant` said. A
 * lower grant is answered by `granted` once the connections beyond it are closed.
 */

import type { RelayConfig } from '../config/config.ts'
import type {
  MessageContent,
  MessageSource,
  PartFault,
  RenderedMessage,
  RenderSource,
} from '../mail/compose/build-message.ts'
import type { SigningKey } from '../mail/compose/dkim.ts'
import type { Tracker } from '../mail/html/tracking.ts'
import type { TemplateFault } from '../mail/template/template.ts'
import type { QueueClass } from '../queue-class.ts'
import type { AttemptOutcome, CurrentStep } from './attempt.ts'
import type { SourceAddresses } from './routing/source-addresses.ts'
import type { Target } from './routing/targets.ts'
import type { Timeouts } from './smtp/timeouts.ts'

/** The `workerData` of such a thread. */
export type ThreadSettings = {
  ehloName: string
  relay: RelayConfig | null
  tracker: Tracker
  timeouts: Partial<Timeouts>
  idleMs: number
  /** Two Int32: the task, look or check in hand (0 = none) and a counter of beginnings. */
  slot: SharedArrayBuffer
  /** Int32: tasks of delivered messages that are not reported yet (`reporter.ts`). */
  taken: SharedArrayBuffer
}

/** Connections that may be shared: the same hosts, from the same addresses of ours. */
export type PoolSettings = {
  key: string
  site: string
  mode: 'sandbox' | 'direct' | 'relay'
  port: number
  targets: readonly Target[]
  /** Hosts whose TLS is known to be broken: spoken to in clear. */
  brokenTls: readonly string[]
  requiresTls: boolean
  /** A server of our own name is no loop: we take mail for this domain. */
  isOurs: boolean
  source: SourceAddresses
  messagesPerConnection: number
}

export type SharedSource = Omit<MessageSource, 'content'> & { contentId: number }

/** A message, composed and signed. `octets`: each character is one octet. */
export type ComposedMessage<Octets = string> = {
  octets: Octets
  subject: string
  needsSmtputf8: boolean
  faults: readonly PartFault[]
}

/** The same in memory that can be handed to another thread: each byte is one octet. */
export type TransferableMessage = ComposedMessage<Uint8Array<ArrayBuffer>>

export type ThreadTask = {
  task: number
  projectId: string
  queueClass: QueueClass
  pool: string
  recipient: string
  reversePath: string
  /** What the message is to be made of, or the message. */
  making: { source: SharedSource; keys: readonly number[] } | TransferableMessage
}

export type ToThread =
  | {
      type: 'work'
      contents: readonly { id: number; content: MessageContent }[]
      keys: readonly { id: number; key: SigningKey }[]
      pools: readonly PoolSettings[]
      tasks: readonly ThreadTask[]
    }
  | { type: 'allocate'; site: string; connections: number }
  /** Ends one attempt to open a session that has had no greeting: others need the connection. */
  | { type: 'cut'; site: string }
  /** What has not begun comes back as `returned`. */
  | { type: 'recall'; site: string }
  | { type: 'forget'; contents: readonly number[]; keys: readonly number[] }
  /** No message of this content is made in the thread any more. */
  | { type: 'set aside'; content: string }
  | { type: 'preview'; task: number; sources: readonly RenderSource[] }
  /** Of a template that is to be saved. */
  | { type: 'check'; task: number; source: string }
  /** How far is it? */
  | { type: 'progress'; question: number; task: number }
  | { type: 'stop'; graceMs: number }

export type ThreadResult =
  | {
      task: number
      kind: 'attempted'
      outcome: AttemptOutcome
      subject: string | null
      startedAt: number
      /** Of its templates; none where no message was made. */
      faults: readonly PartFault[]
      /** The host that broke its TLS and then took the message in clear. */
      brokenTls: string | null
    }
  /** Its message takes too long to be made in a thread that others wait for. */
  | { task: number; kind: 'heavy' }
  /** Its session had no greeting when we took the connection for other mail. */
  | { task: number; kind: 'cut'; reason: string }
  | { task: number; kind: 'put back' }

export type FromThread =
  | { type: 'started' }
  | { type: 'results'; results: readonly ThreadResult[] }
  | { type: 'allocated'; site: string; connections: number }
  /** The first session of a site has had its greeting. */
  | { type: 'greeted'; site: string }
  | { type: 'composed'; task: number; composed: TransferableMessage; cpuMs: number }
  | { type: 'not composed'; task: number; error: string }
  | { type: 'previewed'; task: number; messages: readonly RenderedMessage[] }
  | { type: 'preview failed'; task: number; error: string }
  | { type: 'checked'; task: number; fault: TemplateFault | undefined }
  | { type: 'not checked'; task: number; error: string }
  /** Null: the task is not here (any more). */
  | { type: 'progress'; question: number; current: CurrentStep | null }
  | { type: 'warning'; text: string }
  | { type: 'stopped' }
