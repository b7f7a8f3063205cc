/**
 * On the main thread: composes messages that take long, one at a time in a composing thread, before
 * they hold a connection or a place at their site. Projects take turns, more urgent mail first. A
 * composed message takes memory until its delivery ends, so a project may hold only some megabytes
 * of them: its slow receivers delay only its own mail.
 *
 * If the thread ends while it composes a message, the message is composed once more, without
 * running its templates. If threads end twice while they compose messages of one content, all
 * waiting messages of the content fail.
 */
import type { Now } from '../../base/clock.ts'
import { type ClassQueue, createClassQueue } from '../class-queue.ts'
import type { Delivery } from '../delivery.ts'
import type { DeliveryThread, FromThread, TransferableMessage } from '../protocol.ts'
import { createThreadWork } from '../thread-messages.ts'
import { createThreads, type ThreadEnd, type ThreadsOptions } from '../threads.ts'
import { type ContentHistory, extraMs } from './contents.ts'

type ComposingDeps = Pick<ThreadsOptions, 'settings' | 'log' | 'counters'> & {
  hangMs: number
  /** The thread ends when there has been nothing to compose for this long. */
  restMs: number
  history: ContentHistory
  now: Now
  /** Called with each composed message. Its bytes count as memory until `release`. */
  composed(delivery: Delivery, message: TransferableMessage): void
  failed(delivery: Delivery, error: string): void
  putBack(delivery: Delivery, delayMs: number): void
  /** Replaces the real threads; for tests. */
  createThreads?: typeof createThreads
}

type Composing = {
  /** Returns 0 if the delivery was added, else the wait in ms before it may be added again. */
  add(delivery: Delivery): number
  /** Gives back the memory of a composed message that was delivered or lost. */
  release(projectId: string, bytes: number): void
  /** Puts back the deliveries that match. */
  recall(test: (delivery: Delivery) => boolean): void
  /** How many deliveries wait or are being composed. */
  waiting(): number
  find(test: (delivery: Delivery) => boolean): Delivery | undefined
  /** Puts back all deliveries at once, then ends the thread. */
  stop(): Promise<void>
}

type CurrentDelivery = {
  thread: DeliveryThread
  delivery: Delivery
  startedAt: number
  isRecalled: boolean
}

const MAX_WAITING = 200
const MAX_WAITING_OF_PROJECT = 50
/**
 * The limit for the composed messages of all projects. A project without a composed message may
 * have one beyond this limit, up to `MAX_TOTAL_BUFFERED_BYTES`.
 */
const MAX_BUFFERED_BYTES = 96 * 1024 * 1024
const MAX_BUFFERED_BYTES_OF_PROJECT = 48 * 1024 * 1024
const MAX_TOTAL_BUFFERED_BYTES = 256 * 1024 * 1024
/** The size of one encoded message; far above what any server accepts. */
const MAX_COMPOSED_BYTES = 128 * 1024 * 1024
const NO_THREAD_DELAY_MS = 60_000
/**
 * The least wait of a refused delivery: refused ones return one by one, as fast as messages are composed.
 */
const MIN_DELAY_MS = 1_000
const MAX_DELAY_MS = 10 * 60_000
const FIRST_MEAN_MS = 250

export function createComposing(deps: ComposingDeps): Composing {
  const { history, now } = deps
  const queues = new Map<string, ClassQueue<Delivery>>()
  const bufferedBytes = new Map<string, number>()
  const work = createThreadWork()
  const threads = (deps.createThreads ?? createThreads)({
    ...deps,
    name: 'composing',
    maxThreads: 1,
    hangMs,
    received,
    ended,
  })
  const delays = createDelays(now)
  let current: CurrentDelivery | null = null
  let lastTask = 0
  let totalBuffered = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  function hangMs(): number {
    return deps.hangMs + (current === null ? 0 : extraMs(current.delivery.source.content))
  }

  function waiting(): number {
    let count = current === null ? 0 : 1
    for (const queue of queues.values()) count += queue.size()
    return count
  }

  function add(delivery: Delivery): number {
    const { projectId } = delivery
    const queue = queues.get(projectId) ?? createClassQueue<Delivery>((one) => one)
    const isFull = waiting() >= MAX_WAITING || queue.size() >= MAX_WAITING_OF_PROJECT
    if (isFull) return delays.next(projectId)
    queues.set(projectId, queue)
    queue.push(delivery)
    next()
    return 0
  }

  function next(): void {
    if (current !== null || isStopped) return
    clearTimeout(timer)
    const delivery = takeNext()
    const refusal = delivery === undefined ? null : history.refusal(delivery.source.content)
    if (delivery === undefined) timer = setTimeout(threads.endAll, deps.restMs).unref()
    else if (refusal === null) begin(delivery)
    else {
      deps.failed(delivery, refusal)
      next()
    }
  }

  /**
   * Takes the most urgent delivery of the projects that may hold one more message. Among equally
   * urgent ones, takes the delivery of the project that has waited longest.
   */
  function takeNext(): Delivery | undefined {
    let chosen: { projectId: string; queue: ClassQueue<Delivery>; first: Delivery } | undefined
    for (const [projectId, queue] of queues) {
      const first = queue.peek()
      if (first === undefined || !mayBuffer(projectId)) continue
      if (chosen === undefined || first.queueClass < chosen.first.queueClass)
        chosen = { projectId, queue, first }
    }
    if (chosen === undefined) return undefined
    const { projectId, queue } = chosen
    queues.delete(projectId)
    const delivery = queue.shift()
    if (queue.size() > 0) queues.set(projectId, queue)
    return delivery
  }

  function mayBuffer(projectId: string): boolean {
    const own = bufferedBytes.get(projectId) ?? 0
    if (own === 0) return totalBuffered < MAX_TOTAL_BUFFERED_BYTES
    return own < MAX_BUFFERED_BYTES_OF_PROJECT && totalBuffered < MAX_BUFFERED_BYTES
  }

  function begin(delivery: Delivery): void {
    const thread = threads.list()[0] ?? threads.start()
    if (thread === undefined) {
      putBackAll([delivery, ...take(() => true)], NO_THREAD_DELAY_MS)
      return
    }
    delivery.task = ++lastTask
    current = { thread, delivery, startedAt: performance.now(), isRecalled: false }
    const isPlain = history.threadEnds(delivery.source.content) > 0
    work.add(thread, delivery, { isPlain })
    for (const { message, transfer } of work.takeMessages()) thread.postMessage(message, transfer)
  }

  function received(thread: DeliveryThread, message: FromThread): void {
    if (message.type !== 'composed' && message.type !== 'not composed') return
    if (current === null || message.task !== current.delivery.task) return
    const { delivery, startedAt, isRecalled } = current
    work.release(thread, delivery)
    current = null
    delays.recordTime(performance.now() - startedAt)
    if (message.type === 'composed') history.recordTime(delivery.source.content, message.cpuMs)
    if (isRecalled) deps.putBack(delivery, 0)
    else if (message.type === 'not composed') deps.failed(delivery, message.error)
    else bufferMessage(delivery, message.composed)
    next()
  }

  function bufferMessage(delivery: Delivery, message: TransferableMessage): void {
    const bytes = message.octets.length
    const { projectId } = delivery
    if (bytes > MAX_COMPOSED_BYTES) {
      const megabytes = Math.ceil(bytes / 1_000_000)
      deps.failed(delivery, `the encoded message has ${megabytes} MB, which is too large to send`)
      return
    }
    totalBuffered += bytes
    bufferedBytes.set(projectId, (bufferedBytes.get(projectId) ?? 0) + bytes)
    deps.composed(delivery, message)
  }

  function release(projectId: string, bytes: number): void {
    totalBuffered -= bytes
    const left = (bufferedBytes.get(projectId) ?? 0) - bytes
    if (left > 0) bufferedBytes.set(projectId, left)
    else bufferedBytes.delete(projectId)
    next()
  }

  function ended(thread: DeliveryThread, { hasStarted, reason }: ThreadEnd): void {
    work.drop(thread)
    if (current === null || isStopped) return
    const { delivery } = current
    current = null
    const { content } = delivery.source
    if (!hasStarted || !history.recordThreadEnd(content, reason)) {
      begin(delivery)
      return
    }
    deps.failed(delivery, reason)
    const others = take(({ source }) => source.content.id === content.id)
    for (const other of others) deps.failed(other, reason)
    next()
  }

  /** Removes from the queues the deliveries that match `test`, and returns them. */
  function take(test: (delivery: Delivery) => boolean): Delivery[] {
    const taken: Delivery[] = []
    for (const [projectId, queue] of queues) {
      taken.push(...queue.take(test))
      if (queue.size() === 0) queues.delete(projectId)
    }
    return taken
  }

  function putBackAll(deliveries: readonly Delivery[], delayMs: number): void {
    for (const delivery of deliveries) deps.putBack(delivery, delayMs)
  }

  function recall(test: (delivery: Delivery) => boolean): void {
    if (current !== null && test(current.delivery)) current.isRecalled = true
    putBackAll(take(test), 0)
  }

  function find(test: (delivery: Delivery) => boolean): Delivery | undefined {
    if (current !== null && test(current.delivery)) return current.delivery
    for (const queue of queues.values()) {
      const found = queue.find(test)
      if (found !== undefined) return found
    }
    return undefined
  }

  async function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    const begun = current === null ? [] : [current.delivery]
    current = null
    putBackAll([...begun, ...take(() => true)], 0)
    threads.endAll()
    await threads.stop(0)
  }

  return { add, release, recall, waiting, find, stop }
}

/** Spaces the return of refused deliveries by the time that composing a message takes. */
function createDelays(now: Now) {
  const lastAt = new Map<string, number>()
  let meanMs = FIRST_MEAN_MS
  return {
    recordTime(ms: number): void {
      meanMs += (ms - meanMs) / 8
    },
    next(projectId: string): number {
      const at = now()
      for (const [project, last] of lastAt) if (last < at) lastAt.delete(project)
      const soonest = Math.max(at + MIN_DELAY_MS, lastAt.get(projectId) ?? 0)
      const due = Math.min(soonest + meanMs, at + MAX_DELAY_MS)
      lastAt.set(projectId, due)
      return Math.round(due - at)
    },
  }
}
