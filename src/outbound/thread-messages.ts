/**
 * The messages that carry deliveries between the main thread and its threads, many in one message.
 *
 * Tasks go to delivery and composing threads in batches. Contents and keys go along with the first task
 * that uses them. The thread caches them under ids; the main thread decides what the thread forgets.
 *
 * Results come from delivery threads in batches, packed as numbers and a list of values in which each
 * value has one place. Most values, such as hosts and replies, are the same in all results of a batch. A
 * structured clone of the results would write the names of the properties for each object anew, which
 * takes almost three times as long.
 */
import { hash } from 'node:crypto'
import type { Now } from '../base/clock.ts'
import type { SigningKey } from '../formats/compose/dkim.ts'
import type { MessageContent } from '../formats/compose/message-content.ts'
import type { AttemptOutcome, AttemptStep } from './attempt.ts'
import { contentBytes } from './composing/contents.ts'
import type { Delivery } from './delivery.ts'
import {
  type DeliveryThread,
  MAX_BATCHED_RESULTS,
  type PackedResults,
  type PoolSettings,
  type SmtpTask,
  type TaskResult,
  type ToThread,
} from './protocol.ts'

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

type Attempted = Extract<TaskResult, { kind: 'attempted' }>

type Place = (value: unknown) => number

type Reader = { number(): number; value<T>(): T }

/** Stands where the number of steps would, and says that the result is one value as a whole. */
const WHOLE = -1

type ResultBatchesDeps = {
  accepted: SharedArrayBuffer
  post(results: TaskResult[]): void
  now: Now
}

const BEAT_MS = 20
const AFTER_REST_MS = 5

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

/** The main thread's record of the cache of one thread. */
export function createThreadCache<T>({ maxWeight, weigh, keyOf }: CacheOptions<T>) {
  /** The entries in the order of their last use: a Map keeps insertion order. */
  const byKey = new Map<string, CacheEntry>()
  const byId = new Map<number, CacheEntry>()
  let lastId = 0
  let weight = 0

  /** Counts one more use. `isNew`: the value must be sent along. */
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

  /** The ids that the thread must forget to stay within `maxWeight`: those unused for longest. */
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

export function packResults(results: readonly TaskResult[]): PackedResults {
  const numbers: number[] = []
  const places = new Map<unknown, number>()
  const place = (value: unknown) => {
    const known = places.get(value)
    if (known === undefined) places.set(value, places.size)
    return known ?? places.size - 1
  }
  for (const result of results) {
    if (result.kind !== 'attempted') numbers.push(WHOLE, place(result))
    else packAttempted(result, numbers, place)
  }
  const { length: count } = results
  return { count, numbers: Float64Array.from(numbers), values: [...places.keys()] }
}

function packAttempted(attempted: Attempted, numbers: number[], place: Place): void {
  const { task, startedAt, subject, faults, brokenTls, outcome } = attempted
  const { result, verdict, host, address, tls, reply, error, steps, isMaybeDelivered } = outcome
  numbers.push(steps.length, task, startedAt, outcome.durationMs)
  numbers.push(place(subject), place(faults), place(brokenTls), place(result), place(verdict))
  numbers.push(place(host), place(address), place(tls), place(reply), place(error))
  numbers.push(place(isMaybeDelivered))
  for (const step of steps) {
    numbers.push(step.at, step.durationMs, place(step.step), place(step.host))
    numbers.push(place(step.address), place(step.reply), place(step.error))
  }
}

export function unpackResults({ count, numbers, values }: PackedResults): TaskResult[] {
  let at = 0
  const number = () => numbers[at++] as number
  const value = <T>() => values[number()] as T
  const results: TaskResult[] = []
  while (results.length < count) {
    const steps = number()
    results.push(steps === WHOLE ? value<TaskResult>() : unpackAttempted({ number, value }, steps))
  }
  return results
}

/** The order of the properties is that of `packAttempted`. */
function unpackAttempted({ number, value }: Reader, stepCount: number): Attempted {
  const own = { task: number(), kind: 'attempted', startedAt: number() } as const
  const durationMs = number()
  const rest = {
    subject: value<Attempted['subject']>(),
    faults: value<Attempted['faults']>(),
    brokenTls: value<Attempted['brokenTls']>(),
  }
  const steps: AttemptStep[] = []
  const outcome: AttemptOutcome = {
    result: value(),
    verdict: value(),
    host: value(),
    address: value(),
    tls: value(),
    reply: value(),
    error: value(),
    isMaybeDelivered: value(),
    durationMs,
    steps,
  }
  for (let index = 0; index < stepCount; index += 1) steps.push(unpackStep({ number, value }))
  return { ...own, ...rest, outcome }
}

function unpackStep({ number, value }: Reader): AttemptStep {
  const [at, durationMs] = [number(), number()]
  const step: AttemptStep = { step: value(), at, durationMs }
  const host = value<string | undefined>()
  const address = value<string | undefined>()
  const reply = value<AttemptStep['reply']>()
  const error = value<string | undefined>()
  if (host !== undefined) step.host = host
  if (address !== undefined) step.address = address
  if (reply !== undefined) step.reply = reply
  if (error !== undefined) step.error = error
  return step
}

/**
 * In a delivery thread: collects results into batches of at most 100. Under load a batch leaves at the next beat,
 * which all threads have in common, so that one transaction takes the batches of all threads. After a rest the
 * first results wait for a moment only. Until a batch leaves, the task numbers of its accepted messages are in
 * `accepted`, which the main thread reads if it has to end this thread.
 */
export function createResultBatches({ accepted, post, now }: ResultBatchesDeps) {
  const numbers = new Int32Array(accepted)
  let results: TaskResult[] = []
  let timer: NodeJS.Timeout | undefined
  let flushedAt = Number.NEGATIVE_INFINITY

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (results.length === 0) return
    const batch = results
    results = []
    flushedAt = now()
    post(batch)
  }

  function add(result: TaskResult): void {
    numbers[results.length] = isAccepted(result) ? result.task : 0
    results.push(result)
    if (results.length >= MAX_BATCHED_RESULTS) flush()
    else timer ??= setTimeout(flush, waitMs())
  }

  function waitMs(): number {
    const at = now()
    const isLoad = Math.abs(at - flushedAt) <= BEAT_MS
    return isLoad ? BEAT_MS - (at % BEAT_MS) : AFTER_REST_MS
  }

  return { add, flush }
}

function isAccepted(result: TaskResult): boolean {
  if (result.kind !== 'attempted') return false
  const { result: outcome } = result.outcome
  return outcome === 'delivered' || outcome === 'relayed'
}
