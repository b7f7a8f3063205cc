/**
 * Batches of tasks for delivery and composing threads. Contents and keys go along with the first task
 * that uses them. The thread caches them under ids; the main thread decides what the thread forgets.
 */
import { hash } from 'node:crypto'
import type { SigningKey } from '../formats/compose/dkim.ts'
import type { MessageContent } from '../formats/compose/message-content.ts'
import { contentBytes } from './composing/contents.ts'
import type { Delivery } from './delivery.ts'
import { outcomeOfLostThread } from './outcomes.ts'
import type { DeliveryThread, PoolSettings, SmtpTask, TaskResult, ToThread } from './protocol.ts'
import type { ThreadEnd } from './threads.ts'

/** The main thread's record of the cache of one thread. */
type ThreadCache<T> = {
  /** Counts one more use. `isNew`: the value must be sent along. */
  use(value: T): { id: number; isNew: boolean }
  release(id: number): void
  /**
   * Returns the ids that the thread must forget to stay within `maxWeight`: those unused for
   * longest.
   */
  takeEvicted(): number[]
}

type CacheOptions<T> = {
  maxWeight: number
  weigh(value: T): number
  /** Values with the same key are the same. */
  keyOf(value: T): string
}

/**
 * The limit of the contents that a thread keeps although no task needs them; most never come again.
 */
const MAX_CONTENT_BYTES = 8 * 1024 * 1024

const MAX_KEYS = 1_000

type ThreadWork = {
  /** Adds a delivery to its thread's batch. `isPlain`: its templates are not run. */
  add(thread: DeliveryThread, delivery: Delivery, options?: { isPlain: boolean }): void
  /** Returns the messages to post, with the memory to transfer, and starts new batches. */
  takeMessages(): ThreadMessage[]
  /** How many deliveries the thread has. */
  count(thread: DeliveryThread): number
  /** The thread no longer has the delivery, nor needs its content and keys. */
  release(thread: DeliveryThread, delivery: Delivery): void
  /** Forgets a thread that has ended. */
  drop(thread: DeliveryThread): void
}

type ThreadMessage = {
  thread: DeliveryThread
  message: ToThread
  transfer: readonly ArrayBuffer[]
}

type ThreadBatch = {
  contents: { id: number; content: MessageContent }[]
  keys: { id: number; key: SigningKey }[]
  pools: Map<string, PoolSettings>
  tasks: SmtpTask[]
  transfer: ArrayBuffer[]
}

type Caches = ReturnType<typeof createCaches>

type CacheEntry = { id: number; key: string; weight: number; uses: number }

type LostDeliveries = {
  accepted: Delivery[]
  /** Their composed messages are lost with the thread, and must be composed again. */
  composed: Delivery[]
  /** They have lost their thread too often. */
  excluded: Delivery[]
  /** Another thread may take them. */
  waiting: Delivery[]
}

const MAX_LOST_THREADS = 3

export function createThreadWork(): ThreadWork {
  const keyName = createKeyNames()
  // Weak: a thread that its owner ends while it has no tasks needs no `drop`.
  const caches = new WeakMap<DeliveryThread, Caches>()
  const counts = new WeakMap<DeliveryThread, number>()
  const batches = new Map<DeliveryThread, ThreadBatch>()
  const cachesOf = (thread: DeliveryThread) => {
    const known = caches.get(thread) ?? createCaches(keyName)
    caches.set(thread, known)
    return known
  }
  return {
    add(thread, delivery, { isPlain } = { isPlain: false }) {
      const batch = batches.get(thread) ?? emptyBatch()
      batches.set(thread, batch)
      batch.pools.set(delivery.pool.key, delivery.pool)
      const { task, projectId, queueClass, recipient, reversePath, pool, composed } = delivery
      const own = { task, projectId, queueClass, pool: pool.key, recipient, reversePath }
      if (composed !== undefined) batch.transfer.push(composed.octets.buffer)
      const making = composed ?? addSource(cachesOf(thread), batch, delivery)
      if (isPlain && 'source' in making) making.source.isPlain = true
      batch.tasks.push({ ...own, making })
      counts.set(thread, (counts.get(thread) ?? 0) + 1)
    },
    count: (thread) => counts.get(thread) ?? 0,
    takeMessages() {
      const messages: ThreadMessage[] = []
      for (const [thread, { transfer, ...batch }] of batches) {
        const pools = [...batch.pools.values()]
        const { contents, keys } = cachesOf(thread)
        const forgotten = { contents: contents.takeEvicted(), keys: keys.takeEvicted() }
        messages.push({ thread, message: { type: 'work', ...batch, pools, forgotten }, transfer })
      }
      batches.clear()
      return messages
    },
    release(thread, delivery) {
      const { used } = delivery
      delivery.used = undefined
      counts.set(thread, (counts.get(thread) ?? 0) - 1)
      if (used === undefined) return
      caches.get(thread)?.contents.release(used.contentId)
      for (const id of used.keyIds) caches.get(thread)?.keys.release(id)
    },
    drop(thread) {
      caches.delete(thread)
      batches.delete(thread)
      counts.delete(thread)
    },
  }
}

export function createThreadCache<T>({ maxWeight, weigh, keyOf }: CacheOptions<T>): ThreadCache<T> {
  /** In order of last use: a Map keeps insertion order. */
  const byKey = new Map<string, CacheEntry>()
  const byId = new Map<number, CacheEntry>()
  let lastId = 0
  let weight = 0

  function use(value: T): { id: number; isNew: boolean } {
    const key = keyOf(value)
    const known = byKey.get(key)
    if (known !== undefined) {
      known.uses++
      return { id: known.id, isNew: false }
    }
    const entry = { id: ++lastId, key, weight: weigh(value), uses: 1 }
    byKey.set(key, entry)
    byId.set(entry.id, entry)
    weight += entry.weight
    return { id: entry.id, isNew: true }
  }

  function release(id: number): void {
    const entry = byId.get(id)
    if (entry === undefined) return
    entry.uses--
    if (entry.uses > 0) return
    byKey.delete(entry.key)
    byKey.set(entry.key, entry)
  }

  function takeEvicted(): number[] {
    const evicted: number[] = []
    if (weight <= maxWeight) return evicted
    for (const entry of byKey.values()) {
      if (weight <= maxWeight) break
      if (entry.uses > 0) continue
      byKey.delete(entry.key)
      byId.delete(entry.id)
      weight -= entry.weight
      evicted.push(entry.id)
    }
    return evicted
  }

  return { use, release, takeEvicted }
}

/**
 * Decides what happens to the deliveries of a delivery thread that ended. Messages that a server accepted are
 * delivered: the thread ended before it could send their results. Counts the lost thread for each delivery.
 */
export function sortLost(
  deliveries: readonly Delivery[],
  { composing, accepted }: Pick<ThreadEnd, 'composing' | 'accepted'>,
): LostDeliveries {
  const lost: LostDeliveries = { accepted: [], composed: [], excluded: [], waiting: [] }
  for (const delivery of deliveries) {
    delivery.lostThreads++
    const isExcluded = delivery.lostThreads >= MAX_LOST_THREADS && delivery.task !== composing
    if (accepted.has(delivery.task)) lost.accepted.push(delivery)
    else if (delivery.composed !== undefined) lost.composed.push(delivery)
    else if (isExcluded) lost.excluded.push(delivery)
    else lost.waiting.push(delivery)
  }
  return lost
}

export function resultOfAccepted({ task, pool }: Delivery, startedAt: number): TaskResult {
  const outcome = outcomeOfLostThread(pool.mode)
  const unknown = { subject: null, faults: [], brokenTls: null }
  return { task, kind: 'attempted', outcome, startedAt, ...unknown }
}

function emptyBatch(): ThreadBatch {
  return { contents: [], keys: [], pools: new Map(), tasks: [], transfer: [] }
}

function createCaches(keyName: (key: SigningKey) => string) {
  return {
    contents: createThreadCache<MessageContent>({
      maxWeight: MAX_CONTENT_BYTES,
      weigh: contentBytes,
      keyOf: (content) => content.id,
    }),
    keys: createThreadCache<SigningKey>({ maxWeight: MAX_KEYS, weigh: () => 1, keyOf: keyName }),
  }
}

function addSource(caches: Caches, batch: ThreadBatch, delivery: Delivery) {
  const { content, ...rest } = delivery.source
  const { id: contentId, isNew } = caches.contents.use(content)
  if (isNew) batch.contents.push({ id: contentId, content })
  const keyIds = delivery.signingKeys.map((key) => {
    const used = caches.keys.use(key)
    if (used.isNew) batch.keys.push({ id: used.id, key })
    return used.id
  })
  delivery.used = { contentId, keyIds }
  return { source: { ...rest, contentId }, keys: keyIds }
}

/** Callers share key objects between emails, so most keys are hashed only once. */
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
