/**
 * The messages between the main thread and its delivery and composing threads. Contents and keys are
 * sent once and referred to by id afterwards. The main thread chooses `task` numbers; no two tasks
 * under way share one.
 *
 * The main thread allocates a site's connections: a thread never has more open than its last
 * `allocate` message said. The thread confirms a lower allocation with `allocated` once the connections
 * beyond it are closed.
 */

import type { QueueClass } from '../base/queue-class.ts'
import type { RelayConfig } from '../config/config.ts'
import type {
  MessageSource,
  PartFault,
  RenderedMessage,
  RenderSource,
} from '../formats/compose/build-message.ts'
import type { SigningKey } from '../formats/compose/dkim.ts'
import type { MessageContent } from '../formats/compose/message-content.ts'
import type { InspectedMessage, MessageRules } from '../formats/compose/message-findings.ts'
import type { Tracker } from '../formats/html/tracking.ts'
import type { TemplateFault } from '../formats/template/template.ts'
import type { Variables } from '../formats/template/variables.ts'
import type { AttemptOutcome, CurrentStep } from './attempt.ts'
import type { SmtpTarget } from './routing/targets.ts'
import type { SmtpTimeouts } from './smtp/commands.ts'

/** The worker of a delivery or composing thread, as the main thread addresses it. */
export type DeliveryThread = {
  /** The buffers in `transfer` are detached here. */
  postMessage(message: ToThread, transfer?: readonly ArrayBuffer[]): void
}

/** The maximum number of results in one message of a delivery thread. */
export const MAX_BATCHED_RESULTS = 100

/** The `workerData` of a delivery or composing thread. */
export type ThreadSettings = {
  ehloName: string
  relay: RelayConfig | null
  tracker: Tracker
  timeouts: Partial<SmtpTimeouts>
  idleMs: number
  /**
   * Two Int32: the number of the task that the thread composes, previews or checks (0 = none), and how many
   * tasks it has started.
   */
  slot: SharedArrayBuffer
  /** Int32: tasks whose messages a server accepted and whose results are not sent yet. */
  accepted: SharedArrayBuffer
}

/**
 * The addresses that connections come from: at most one of each family; if both are undefined, the system
 * chooses.
 */
export type SourceAddresses = { ipv4?: string; ipv6?: string }

/** The settings that all connections of a pool share: the same hosts and source addresses. */
export type PoolSettings = {
  key: string
  site: string
  mode: 'sandbox' | 'direct' | 'relay'
  port: number
  targets: readonly SmtpTarget[]
  /** Hosts whose STARTTLS is known to be broken: sessions with them use no TLS. */
  brokenTls: readonly string[]
  requiresTls: boolean
  /**
   * This server receives mail for the domain, so a server with this server's name is not a loop.
   */
  isReceivedHere: boolean
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

/** The same message in memory that can be transferred to another thread: each byte is one octet. */
export type TransferableMessage = ComposedMessage<Uint8Array<ArrayBuffer>>

export type Preview = RenderedMessage | InspectedMessage

/** In a text of the format `url` the values are marked (`formats/template/url-values.ts`). */
export type TextTemplate = { source: string; format: 'text' | 'url' }

/** Templates of texts and their variables. `at`: the value of `now`. */
export type TextsSource = {
  templates: readonly TextTemplate[]
  variables: Variables
  at: number
}

export type SmtpTask = {
  task: number
  projectId: string
  queueClass: QueueClass
  pool: string
  recipient: string
  reversePath: string
  /** The composed message, or its source. */
  making: { source: SharedSource; keys: readonly number[] } | TransferableMessage
}

export type ToThread =
  /**
   * `forgotten`: the contents and keys that the thread drops. No task that the thread has, or gets by this
   * message, uses them.
   */
  | {
      type: 'work'
      contents: readonly { id: number; content: MessageContent }[]
      keys: readonly { id: number; key: SigningKey }[]
      pools: readonly PoolSettings[]
      tasks: readonly SmtpTask[]
      forgotten: { contents: readonly number[]; keys: readonly number[] }
    }
  | { type: 'allocate'; site: string; connections: number }
  /** The thread ends the sessions of an idle site at once, and confirms nothing. */
  | { type: 'release'; site: string }
  /** Aborts the oldest session without a greeting: other mail needs the connection. */
  | { type: 'cut'; site: string }
  /** Tasks for the site that have not begun come back as 'put back'. */
  | { type: 'recall'; site: string }
  /**
   * Tasks come back as 'put back' with `delayMs` 0, unless their message is being written. Sessions
   * that still wait to write it a moment later are closed.
   */
  | { type: 'withdraw'; tasks: readonly number[] }
  /** The thread composes no more messages of this content. */
  | { type: 'set aside'; content: string }
  /** With `rules`, what is found in the messages comes back in place of the messages. */
  | {
      type: 'preview'
      task: number
      sources: readonly RenderSource[]
      rules: MessageRules | undefined
    }
  | { type: 'check'; task: number; source: string }
  /** Turns Markdown to HTML. */
  | { type: 'convert'; task: number; source: string }
  /** Renders texts that are no part of a message. */
  | { type: 'render'; task: number; source: TextsSource }
  /** Composes and signs one message, whose content and keys are not kept. */
  | { type: 'sign'; task: number; source: MessageSource; keys: readonly SigningKey[] }
  /** Asks for the current step of a task. */
  | { type: 'progress'; query: number; task: number }
  | { type: 'stop'; graceMs: number }

export type TaskResult =
  | {
      task: number
      kind: 'attempted'
      outcome: AttemptOutcome
      subject: string | null
      startedAt: number
      /** Faults in the templates of the email; none if no message was composed. */
      faults: readonly PartFault[]
      /**
       * A host whose TLS handshake failed and that then decided about the message in a session
       * without TLS.
       */
      brokenTls: string | null
    }
  /** Composing the message takes too long for a delivery thread, or ended one (`reason`). */
  | { task: number; kind: 'heavy'; reason?: string }
  /**
   * The email was not attempted. `delayMs`: how long the email must wait; absent = another connection may
   * take it.
   */
  | { task: number; kind: 'put back'; delayMs?: number; reason?: string }

export type FromThread =
  | { type: 'started' }
  | { type: 'results'; results: readonly TaskResult[] }
  | { type: 'allocated'; site: string; connections: number }
  /**
   * A session with the site has been greeted: the first since the thread got connections of the
   * site.
   */
  | { type: 'greeted'; site: string }
  | { type: 'composed'; task: number; composed: TransferableMessage; cpuMs: number }
  | { type: 'not composed'; task: number; error: string }
  | { type: 'previewed'; task: number; messages: readonly Preview[] }
  | { type: 'preview failed'; task: number; error: string }
  | { type: 'checked'; task: number; fault: TemplateFault | undefined }
  | { type: 'not checked'; task: number; error: string }
  /** `html`: null if the text is too complex. */
  | { type: 'converted'; task: number; html: string | null }
  | { type: 'not converted'; task: number; error: string }
  /** `texts`: null if rendering them takes too long. */
  | { type: 'rendered'; task: number; texts: readonly string[] | null }
  | { type: 'not rendered'; task: number; error: string }
  /** `current`: null if the thread does not have the task. */
  | { type: 'progress'; query: number; current: CurrentStep | null }
  | { type: 'warning'; text: string }
  | { type: 'stopped' }

/**
 * `numbers` has for each result the number of its steps, its other numbers, and the places of its
 * parts in `values`. A result that is one value as a whole has -1 and the place of this value.
 */
export type PackedResults = {
  count: number
  numbers: Float64Array
  values: readonly unknown[]
}

/** A message on its way from a thread. */
export type PackedMessage =
  | Exclude<FromThread, { type: 'results' }>
  | { type: 'results'; packed: PackedResults }
