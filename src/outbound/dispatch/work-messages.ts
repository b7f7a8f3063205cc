/** What a thread is sent: tasks, with the contents and keys that it has not had yet. */

import { hash } from 'node:crypto'
import type { MessageContent, MessageSource } from '../../mail/compose/build-message.ts'
import type { DkimAlgorithm } from '../../mail/compose/dkim.ts'
import type { QueueClass } from '../../queue-class.ts'
import { contentBytes } from '../composing/content-size.ts'
import type { KeyMaterial, Lane, MadeLetter, ThreadTask, ToThread } from '../protocol.ts'
import { createLedger } from './sent-ids.ts'
import type { DeliveryThread } from './threads.ts'

export type Signing = {
  domain: string
  selector: string
  algorithm: DkimAlgorithm
  /** PKCS #8, PEM. */
  privateKey: string
}

export type Parcelled = {
  projectId: string
  queueClass: QueueClass
  recipient: string
  reversePath: string
  source: MessageSource
  signing: readonly Signing[]
  /** The message, where it is made already: handing it over takes its octets away. */
  letter?: MadeLetter
}

export type Parcels = {
  add(thread: DeliveryThread, task: number, lane: Lane, work: Parcelled): void
  /** Sends what was added. */
  flush(): void
  release(thread: DeliveryThread, task: number): void
  drop(thread: DeliveryThread): void
}

type WorkMessage = {
  contents: { id: number; content: MessageContent }[]
  keys: KeyMaterial[]
  lanes: Map<string, Lane>
  tasks: ThreadTask[]
  transfer: ArrayBuffer[]
}

const MAX_CONTENT_BYTES = 32 * 1024 * 1024
const MAX_KEYS = 1_000

export function createParcels(): Parcels {
  const signingKey = createSigningKeys()
  const shelves = new Map<DeliveryThread, ReturnType<typeof createShelf>>()
  const open = new Map<DeliveryThread, WorkMessage>()
  const shelfOf = (thread: DeliveryThread) => {
    const shelf = shelves.get(thread) ?? createShelf(signingKey)
    shelves.set(thread, shelf)
    return shelf
  }
  return {
    add(thread, task, lane, work) {
      const message = open.get(thread) ?? emptyMessage()
      open.set(thread, message)
      message.lanes.set(lane.key, lane)
      message.tasks.push(shelfOf(thread).pack({ task, lane, work, message }))
    },
    flush() {
      for (const [thread, { transfer, ...message }] of open) {
        const lanes = [...message.lanes.values()]
        thread.post({ type: 'work', ...message, lanes }, transfer)
        const forgotten = shelfOf(thread).takeForgotten()
        if (forgotten !== null) thread.post(forgotten)
      }
      open.clear()
    },
    release: (thread, task) => shelves.get(thread)?.release(task),
    drop(thread) {
      shelves.delete(thread)
      open.delete(thread)
    },
  }
}

function emptyMessage(): WorkMessage {
  return { contents: [], keys: [], lanes: new Map(), tasks: [], transfer: [] }
}

type PackInput = { task: number; lane: Lane; work: Parcelled; message: WorkMessage }

/** What one thread keeps. */
function createShelf(signingKey: (signing: Signing) => string) {
  const contents = createLedger<MessageContent>({
    maxWeight: MAX_CONTENT_BYTES,
    weigh: contentBytes,
    keyOf: (content) => content.id,
  })
  const keys = createLedger<Signing>({
    maxWeight: MAX_KEYS,
    weigh: () => 1,
    keyOf: signingKey,
  })
  const used = new Map<number, { content: number; keys: number[] }>()

  function pack({ task, lane, work, message }: PackInput): ThreadTask {
    const { projectId, queueClass, recipient, reversePath, letter } = work
    const own = { task, projectId, queueClass, lane: lane.key, recipient, reversePath }
    if (letter === undefined) return { ...own, making: packSource(task, work, message) }
    message.transfer.push(letter.octets.buffer)
    return { ...own, making: letter }
  }

  function packSource(task: number, work: Parcelled, message: WorkMessage) {
    const { content, ...rest } = work.source
    const contentUse = contents.use(content)
    if (contentUse.isNew) message.contents.push({ id: contentUse.id, content })
    const keyIds = work.signing.map((signing) => {
      const { id, isNew } = keys.use(signing)
      if (isNew) message.keys.push({ ...signing, id })
      return id
    })
    used.set(task, { content: contentUse.id, keys: keyIds })
    return { source: { ...rest, contentId: contentUse.id }, keys: keyIds }
  }

  function release(task: number): void {
    const use = used.get(task)
    if (use === undefined) return
    used.delete(task)
    contents.release(use.content)
    for (const id of use.keys) keys.release(id)
  }

  function takeForgotten(): ToThread | null {
    const forgotten = { contents: contents.takeForgotten(), keys: keys.takeForgotten() }
    if (forgotten.contents.length === 0 && forgotten.keys.length === 0) return null
    return { type: 'forget', ...forgotten }
  }

  return { pack, release, takeForgotten }
}

/** Callers keep these objects, so most are digested once. */
function createSigningKeys(): (signing: Signing) => string {
  const known = new WeakMap<Signing, string>()
  return (signing) => {
    const key = known.get(signing) ?? digest(signing)
    known.set(signing, key)
    return key
  }
}

function digest({ domain, selector, privateKey }: Signing): string {
  return `${domain} ${selector} ${hash('sha256', privateKey, 'base64')}`
}
