/**
 * In a delivery thread: from a task to the signed bytes of its message. Contents, compiled
 * templates and keys are kept here, so that a task only brings what is its recipient's own. While
 * a message is made its number stands in a slot that the main thread watches, which replaces a
 * thread that stays at one too long.
 */
import { createPrivateKey } from 'node:crypto'
import type { Now } from '../clock.ts'
import { type DkimKey, signDkim } from '../mail/dkim.ts'
import {
  type BuiltMessage,
  buildMessage,
  createTemplateCache,
  type MessageContent,
  type RenderedMessage,
  type RenderSource,
  renderMessage,
} from '../mail/message.ts'
import type { Tracker } from '../mail/tracking.ts'
import type { KeyMaterial, SharedSource, ThreadTask } from './protocol.ts'

/** `octets`: the message with its signatures, each character one octet. */
export type Letter = { octets: string; subject: string; needsSmtputf8: boolean }

export type Letters = {
  addContent(id: number, content: MessageContent): void
  forgetContent(id: number): void
  addKey(key: KeyMaterial): void
  forgetKey(id: number): void
  /** @throws when the message cannot be composed or signed: our own error */
  make(task: ThreadTask): Letter
  look(task: number, source: RenderSource): RenderedMessage
}

/** Of one rendering: what takes longer was ended, and has its placeholders filled in only. */
const RENDER_LIMIT_MS = 1_000

export type LettersDeps = { slot: SharedArrayBuffer; tracker: Tracker; now: Now }

export function createLetters({ slot, tracker, now }: LettersDeps): Letters {
  const contents = new Map<number, MessageContent>()
  const slow = new Set<number>()
  const materials = new Map<number, KeyMaterial>()
  const keys = new Map<number, DkimKey>()
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

  /** Read when first used, so that a broken key fails its own messages only. */
  function keyOf(id: number): DkimKey {
    const ready = keys.get(id)
    if (ready !== undefined) return ready
    const { domain, selector, algorithm, privateKey } = known(materials, id)
    const key = { domain, selector, algorithm, privateKey: createPrivateKey(privateKey) }
    keys.set(id, key)
    return key
  }

  /** A template that used up its time once is not given it again for every recipient. */
  function build({ contentId, ...rest }: SharedSource): BuiltMessage {
    const isPlain = rest.isPlain === true || slow.has(contentId)
    const began = performance.now()
    const source = { ...rest, isPlain, content: known(contents, contentId) }
    const built = buildMessage(source, templates)
    if (performance.now() - began > RENDER_LIMIT_MS) slow.add(contentId)
    return built
  }

  function signedLetter({ source, keys: ids }: ThreadTask): Letter {
    const built = build(source)
    const { subject, needsSmtputf8 } = built
    const signature = signDkim(built.octets, ids.map(keyOf), now())
    return { octets: signature + built.octets, subject, needsSmtputf8 }
  }

  return {
    addContent: (id, content) => contents.set(id, content),
    forgetContent(id) {
      contents.delete(id)
      slow.delete(id)
    },
    addKey: (key) => materials.set(key.id, key),
    forgetKey(id) {
      materials.delete(id)
      keys.delete(id)
    },
    make: (task) => watch(task.task, () => signedLetter(task)),
    look: (task, source) => watch(task, () => renderMessage(source, templates)),
  }
}

function known<T>(map: ReadonlyMap<number, T>, id: number): T {
  const value = map.get(id)
  if (value === undefined) throw new TypeError(`nothing is known under ${id}`)
  return value
}
