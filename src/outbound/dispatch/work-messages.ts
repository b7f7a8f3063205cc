/** What a thread is sent: tasks, with the contents and keys that it has not had yet. */

import { hash } from 'node:crypto'
import type { MessageContent, MessageSource } from '../../mail/compose/build-message.ts'
import type { SigningKey } from '../../mail/compose/dkim.ts'
import type { QueueClass } from '../../queue-class.ts'
import { contentBytes } from '../composing/content-size.ts'
import type { PoolSettings, ThreadTask, ToThread, TransferableMessage } from '../protocol.ts'
import { createThreadCache } from './thread-cache.ts'
import type { DeliveryThread } from './threads.ts'

export type Parcelled = {
  projectId: string
  queueClass: QueueClass
  recipient: string
  reversePath: string
  source: MessageSource
  signingKeys: readonly SigningKey[]
  /** The message, where it is made already: handing it over takes its octets away. */
  composed?: TransferableMessage
}

export type Parcels = {
  add(thread: DeliveryThread, task: number, pool: PoolSettings, work: Parcelled): void
  /** Sends what was added. */
  flush(): void
  release(thread: DeliveryThread, task: number): void
  drop(thread: DeliveryThread): void
}

type WorkMessage = {
  contents: { id: number; content: MessageContent }[]
  keys: { id: number; key: SigningKey }[]
  pools: Map<string, PoolSettings>
  tasks: ThreadTask[]
  transfer: ArrayBuffer[]
}

const MAX_CONTENT_BYTES = 32 * 1024 * 1024
const MAX_KEYS = 1_000

export function createParcels(): Parcels {
  const nameOfKey = createKeyNames()
  const shelves = new Map<DeliveryThread, ReturnType<typeof createShelf>>()
  const open = new Map<DeliveryThread, WorkMessage>()
  const shelfOf = (thread: DeliveryThread) => {
    const shelf = shelves.get(thread) ?? createShelf(nameOfKey)
    shelves.set(thread, shelf)
    return shelf
  }
  return {
    add(thread, task, pool, work) {
      const message = open.get(thread) ?? emptyMessage()
      open.set(thread, message)
      message.pools.set(pool.key, pool)
      message.tasks.push(shelfOf(thread).pack({ task, pool, work, message }))
    },
    flush() {
      for (const [thread, { transfer, ...message }] of open) {
        const pools = [...message.pools.values()]
        thread.post({ type: 'work', ...message, pools }, transfer)
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
  return { contents: [], keys: [], pools: new Map(), tasks: [], transfer: [] }
}

type PackInput = { task: number; pool: PoolSettings; work: Parcelled; message: WorkMessage }

/** What one thread keeps. */
function createShelf(nameOfKey: (key: SigningKey) => string) {
  const contents = createThreadCache<MessageContent>({
    maxWeight: MAX_CONTENT_BYTES,
    weigh: contentBytes,
    keyOf: (content) => content.id,
  })
  const keys = createThreadCache<SigningKey>({
    maxWeight: MAX_KEYS,
    weigh: () => 1,
    keyOf: nameOfKey,
  })
  const used = new Map<number, { content: number; keys: number[] }>()

  function pack({ task, pool, work, message }: PackInput): ThreadTask {
    const { projectId, queueClass, recipient, reversePath, composed } = work
    const own = { task, projectId, queueClass, pool: pool.key, recipient, reversePath }
    if (composed === undefined) return { ...own, making: packSource(task, work, message) }
    message.transfer.push(composed.octets.buffer)
    return { ...own, making: composed }
  }

  function packSource(task: number, work: Parcelled, message: WorkMessage) {
    const { content, ...rest } = work.source
    const contentUse = contents.use(content)
    if (contentUse.isNew) message.contents.push({ id: contentUse.id, content })
    const keyIds = work.signingKeys.map((key) => {
      const { id, isNew } = keys.use(key)
      if (isNew) message.keys.push({ id, key })
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

/** Callers share these objects between emails, so that most are hashed once. */
function createKeyNames(): (key: SigningKey) => string {
  const names = new WeakMap<SigningKey, string>()
  return (key) => {
    const name = names.get(key) ?? nameOf(key)
    names.set(key, name)
    return name
  }
}

function nameOf({ domain, selector, privateKey }: SigningKey): string {
  return `${domain} ${selector} ${hash('sha256', privateKey, 'base64')}`
}
