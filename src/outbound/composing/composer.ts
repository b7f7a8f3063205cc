/**
 * In a delivery or composing thread: composes and signs the messages of tasks. It caches contents,
 * compiled templates and keys, so that a task brings only the data of its recipient. While it
 * composes a message, the task's number is in a slot that the main thread watches: a thread that
 * takes too long for one message is replaced.
 *
 * A delivery thread has connections open, so it renders with the quick limits. A content that has
 * exceeded them twice is not tried again.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Now } from '../../base/clock.ts'
import {
  type BuiltMessage,
  buildMessage,
  type MessageSource,
  type RenderSource,
  renderMessage,
} from '../../formats/compose/build-message.ts'
import { type SigningKey, signDkim } from '../../formats/compose/dkim.ts'
import type { MessageContent } from '../../formats/compose/message-content.ts'
import { findInMessage, type MessageRules } from '../../formats/compose/message-findings.ts'
import { QuickLimitError } from '../../formats/compose/quick-limit-error.ts'
import { markdownToHtml } from '../../formats/html/markdown-to-html.ts'
import type { Tracker } from '../../formats/html/tracking.ts'
import {
  createTemplateCache,
  type TemplateCache,
} from '../../formats/precomposed/template-cache.ts'
import {
  FULL_LIMITS,
  QUICK_LIMITS,
  type RenderLimits,
  TEXT_LIMITS,
} from '../../formats/template/limits.ts'
import {
  checkTemplate,
  renderTemplate,
  type TemplateFault,
  TIME_LIMIT_FAULT,
} from '../../formats/template/template.ts'
import type {
  ComposedMessage,
  Preview,
  SharedSource,
  SmtpTask,
  TextsSource,
  TransferableMessage,
} from '../protocol.ts'
import { contentBytes, SMALL_CONTENT_BYTES } from './contents.ts'
import type { UnsignedMessage } from './previews.ts'

type Composer = {
  addContent(id: number, content: MessageContent): void
  addKey(id: number, key: SigningKey): void
  forget(ids: { contents: readonly number[]; keys: readonly number[] }): void
  /**
   * Stops composing messages of a content. `content`: the content's own id, not its id in this
   * thread.
   */
  setAside(content: string): void
  /** @throws QuickLimitError; any other error means that the message cannot be composed or signed */
  compose(task: Pick<SmtpTask, 'task' | 'making'>): ComposedMessage
  /**
   * Composes and signs one message whose content and keys the thread does not keep. @throws Error if the
   * message cannot be composed or signed
   */
  sign(message: { task: number } & UnsignedMessage): ComposedMessage
  /** The memory that the content of the task takes; 0 if the message is already composed. */
  contentBytes(task: Pick<SmtpTask, 'making'>): number
  /**
   * `isQuick`: renders with the quick limits. @throws QuickLimitError if the message exceeds them
   */
  preview(task: number, source: RenderSource, options: PreviewOptions): Preview
  /**
   * Renders texts outside messages; a faulty template gives the same text as in a message. Null if
   * the texts together exceed the limits.
   */
  renderTexts(task: number, source: TextsSource): string[] | null
  /** Returns the first fault of a template. */
  check(task: number, source: string): TemplateFault | undefined
  /** Turns Markdown to HTML; null if it is too complex. */
  convert(task: number, source: string): string | null
}

/** `rules`: the rules by which the messages are inspected; undefined: they are rendered only. */
type PreviewOptions = { isQuick: boolean; rules: MessageRules | undefined }

const MAX_QUICK_FAILURES = 2

type ComposerDeps = {
  slot: SharedArrayBuffer
  tracker: Tracker
  limits: RenderLimits
  now: Now
}

export function createComposer({ slot, tracker, limits, now }: ComposerDeps): Composer {
  const contents = new Map<number, MessageContent>()
  const slow = new Set<number>()
  /** How often a content exceeded the quick limits, by the content's own id. */
  const heavy = new Map<string, number>()
  const pemKeys = new Map<number, SigningKey>()
  const parsedKeys = new Map<number, SigningKey<KeyObject>>()
  const templates = createTemplateCache(tracker)
  const watched = new Int32Array(slot)

  function watch<T>(task: number, make: () => T): T {
    Atomics.add(watched, 1, 1)
    Atomics.store(watched, 0, task)
    try {
      return make()
    } finally {
      Atomics.store(watched, 0, 0)
    }
  }

  /** Parses a key when it is first used, so that a broken key fails its own messages only. */
  function keyOf(id: number): SigningKey<KeyObject> {
    const ready = parsedKeys.get(id)
    if (ready !== undefined) return ready
    const pem = known(pemKeys, id)
    const key = { ...pem, privateKey: createPrivateKey(pem.privateKey) }
    parsedKeys.set(id, key)
    return key
  }

  function build(shared: SharedSource): BuiltMessage {
    const { contentId } = shared
    const content = known(contents, contentId)
    const tooHeavy = heavy.get(content.id) ?? 0
    if (tooHeavy >= MAX_QUICK_FAILURES) throw new QuickLimitError()
    try {
      const isPlain = shared.isPlain === true || slow.has(contentId)
      return buildInTime({ ...shared, isPlain, content }, contentId)
    } catch (error) {
      if (error instanceof QuickLimitError) heavy.set(content.id, tooHeavy + 1)
      throw error
    }
  }

  /**
   * Once a template has used up its time, further messages of the content are built without running
   * it.
   */
  function buildInTime(source: MessageSource, contentId: number): BuiltMessage {
    const built = buildMessage(source, templates, limits)
    if (built.faults.some(({ message }) => message === TIME_LIMIT_FAULT)) slow.add(contentId)
    return built
  }

  function composeAndSign(making: SmtpTask['making']): ComposedMessage {
    if ('octets' in making) return fromBytes(making)
    return addSignature(build(making.source), making.keys.map(keyOf))
  }

  function addSignature(built: BuiltMessage, keys: SigningKey<KeyObject>[]): ComposedMessage {
    const { subject, needsSmtputf8, faults } = built
    const signature = signDkim(built.octets, keys, now())
    return { octets: signature + built.octets, subject, needsSmtputf8, faults }
  }

  return {
    addContent: (id, content) => contents.set(id, content),
    addKey: (id, key) => pemKeys.set(id, key),
    forget(ids) {
      for (const id of ids.contents) {
        heavy.delete(contents.get(id)?.id ?? '')
        contents.delete(id)
        slow.delete(id)
      }
      for (const id of ids.keys) {
        pemKeys.delete(id)
        parsedKeys.delete(id)
      }
    },
    setAside: (content) => heavy.set(content, MAX_QUICK_FAILURES),
    compose: ({ task, making }) => watch(task, () => composeAndSign(making)),
    sign: ({ task, source, keys }) =>
      watch(task, () => {
        const parsed = keys.map((key) => ({ ...key, privateKey: createPrivateKey(key.privateKey) }))
        return addSignature(buildMessage(source, templates, limits), parsed)
      }),
    contentBytes({ making }) {
      return 'octets' in making ? 0 : contentBytes(known(contents, making.source.contentId))
    },
    preview(task, source, { isQuick, rules }) {
      const own = isQuick ? QUICK_LIMITS : FULL_LIMITS
      return watch(task, () => {
        const message = renderMessage(source, templates, own)
        if (rules === undefined) return message
        return { faults: message.faults, findings: findInMessage(message, rules) }
      })
    },
    renderTexts: (task, source) => watch(task, () => renderWithin(templates, source)),
    check: (task, source) => watch(task, () => checkTemplate(source)),
    convert: (task, source) => watch(task, () => markdownToHtml(source)),
  }
}

/** Returns null if the texts take more than `TEXT_LIMITS` together. */
function renderWithin(
  cache: Pick<TemplateCache, 'prepare'>,
  { templates, variables, at }: TextsSource,
): string[] | null {
  const began = process.threadCpuUsage()
  let output = TEXT_LIMITS.output
  const texts: string[] = []
  try {
    for (const { source, format } of templates) {
      const { template } = cache.prepare(source, { format })
      const { user, system } = process.threadCpuUsage(began)
      const limits = { ...TEXT_LIMITS, ms: TEXT_LIMITS.ms - (user + system) / 1_000, output }
      const { text } = renderTemplate(template, variables, { at, limits })
      output -= text.length
      if (limits.ms <= 0 || output < 0) return null
      texts.push(text)
    }
    return texts
  } catch (error) {
    if (error instanceof QuickLimitError) return null
    throw error
  }
}

function fromBytes({ octets, ...rest }: TransferableMessage): ComposedMessage {
  const { buffer, byteOffset, byteLength } = octets
  return { ...rest, octets: Buffer.from(buffer, byteOffset, byteLength).toString('latin1') }
}

function known<T>(map: ReadonlyMap<number, T>, id: number): T {
  const value = map.get(id)
  if (value === undefined) throw new TypeError(`the thread has no value with the id ${id}`)
  return value
}

/**
 * Counts the bytes of composed messages in a delivery thread. Beyond the limit a message with a large
 * content is composed only after another one was sent, so that attachments on many connections do not
 * fill the memory. Messages with small contents need not wait: together they have few bytes.
 */
export type ComposedBytes = {
  /** Resolves when a message with a content of this size fits into memory; null if it fits now. */
  waitForSpace(contentBytes: number): Promise<void> | null
  add(bytes: number): void
  release(bytes: number): void
}

export function createComposedBytes(maxBytes: number): ComposedBytes {
  let total = 0
  const waiting: (() => void)[] = []
  return {
    waitForSpace(contentBytes) {
      if (contentBytes <= SMALL_CONTENT_BYTES || total < maxBytes) return null
      return new Promise((resolve) => waiting.push(resolve))
    },
    add(bytes) {
      total += bytes
    },
    release(bytes) {
      total -= bytes
      while (total < maxBytes && waiting.length > 0) {
        waiting.shift()?.()
        // An admitted task composes its message in a later turn, so tasks are admitted one at a
        // time while little memory is left.
        if (total > maxBytes / 2) return
      }
    },
  }
}
