/**
 * On the main thread: messages that take long to make, made one at a time in a composing thread,
 * before they hold a connection or a place at their site. Projects take turns, the more urgent mail
 * first. A made message (a letter) takes memory until its delivery is over: a project holds few
 * megabytes of letters, so that its slow receivers delay only its own.
 *
 * A content at which the thread ended is made once more, with its placeholders only; a content at
 * which a thread ended twice is given up, with all its messages that wait here.
 */
import { MINUTE_MS, type Now } from '../../clock.ts'
import { type ClassQueue, createClassQueue } from '../class-queue.ts'
import {
  createThreads,
  type DeliveryThread,
  type LastWords,
  type ThreadsOptions,
} from '../dispatch/threads.ts'
import { createParcels, type Parcelled } from '../dispatch/work-messages.ts'
import type { FromThread, PoolSettings, TransferableMessage } from '../protocol.ts'
import type { ContentHistory } from './content-history.ts'
import { patienceMs } from './content-size.ts'

export type Heavy = Parcelled & { projectId: string; pool: PoolSettings }

export type ComposingDeps<T> = Pick<ThreadsOptions, 'settings' | 'log'> & {
  hangMs: number
  /** The thread ends when nothing was to be made for so long. */
  restMs: number
  history: ContentHistory
  now: Now
  /** From now on its bytes count, until `release`. */
  made(work: T, composed: TransferableMessage): void
  failed(work: T, error: string): void
  returned(work: T, delayMs: number): void
  /** For tests. */
  createThreads?: typeof createThreads
}

export type Composing<T> = {
  /** 0 = taken; else there is no room for it, and it may be brought again in so many ms. */
  add(work: T): number
  /** The letter is delivered, or lost. */
  release(projectId: string, bytes: number): void
  /** Hands back what is for a site. */
  recall(site: string): void
  waiting(): number
  /** Of what waits or is being made. */
  find(test: (work: T) => boolean): T | undefined
  /** What waits has been returned when this is called. */
  stop(): Promise<void>
}

type Current<T> = { task: number; work: T; since: number; isRecalled: boolean }

/** Messages that may wait here, and of one project. */
const MAX_WAITING = 200
const MAX_WAITING_OF_PROJECT = 50
/** Of letters. A project that has none under way may have one even when others hold much. */
const MAX_HELD_BYTES = 96 * 1024 * 1024
const MAX_HELD_BYTES_OF_PROJECT = 48 * 1024 * 1024
const MAX_HELD_BYTES_AT_ALL = 256 * 1024 * 1024
/** Encoded, and far above what any server takes. */
const MAX_COMPOSED_BYTES = 128 * 1024 * 1024
const BROKEN_MS = MINUTE_MS
/** What is brought again comes one by one, as fast as messages are made. */
const LEAST_DELAY_MS = 1_000
const MOST_DELAY_MS = 10 * MINUTE_MS
const FIRST_MEAN_MS = 250

export function createComposing<T extends Heavy>(deps: ComposingDeps<T>): Composing<T> {
  const { history, now } = deps
  const lines = new Map<string, ClassQueue<T>>()
  const heldBytes = new Map<string, number>()
  const parcels = createParcels()
  const threads = (deps.createThreads ?? createThreads)({
    ...deps,
    name: 'composing',
    maxThreads: 1,
    hangMs,
    received,
    ended,
  })
  const delays = createDelays(now)
  let current: Current<T> | null = null
  let lastTask = 0
  let heldInAll = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  function hangMs(): number {
    return deps.hangMs + (current === null ? 0 : patienceMs(current.work.source.content))
  }

  function waiting(): number {
    let count = current === null ? 0 : 1
    for (const line of lines.values()) count += line.size()
    return count
  }

  function add(work: T): number {
    const line = lines.get(work.projectId) ?? createClassQueue<T>((one) => one)
    const isFull = waiting() >= MAX_WAITING || line.size() >= MAX_WAITING_OF_PROJECT
    if (isFull) return delays.next(work.projectId)
    lines.set(work.projectId, line)
    line.push(work)
    next()
    return 0
  }

  function next(): void {
    if (current !== null || isStopped) return
    clearTimeout(timer)
    const work = takeTurn()
    const refusal = work === undefined ? null : history.refusal(work.source.content)
    if (work === undefined) timer = setTimeout(threads.rest, deps.restMs).unref()
    else if (refusal === null) begin(work)
    else {
      deps.failed(work, refusal)
      next()
    }
  }

  /** Of the projects that may hold one more letter, the most urgent; then whoever waits longest. */
  function takeTurn(): T | undefined {
    let chosen: { projectId: string; line: ClassQueue<T>; work: T } | undefined
    for (const [projectId, line] of lines) {
      const work = line.peek()
      if (work === undefined || !mayHold(projectId)) continue
      if (chosen === undefined || work.queueClass < chosen.work.queueClass)
        chosen = { projectId, line, work }
    }
    if (chosen === undefined) return undefined
    const { projectId, line } = chosen
    lines.delete(projectId)
    const work = line.shift()
    if (line.size() > 0) lines.set(projectId, line)
    return work
  }

  function mayHold(projectId: string): boolean {
    const own = heldBytes.get(projectId) ?? 0
    if (own === 0) return heldInAll < MAX_HELD_BYTES_AT_ALL
    return own < MAX_HELD_BYTES_OF_PROJECT && heldInAll < MAX_HELD_BYTES
  }

  function begin(work: T): void {
    const thread = threads.list()[0] ?? threads.start()
    if (thread === undefined) {
      returnAll([work, ...take(() => true)], BROKEN_MS)
      return
    }
    current = { task: ++lastTask, work, since: performance.now(), isRecalled: false }
    parcels.add(
      thread,
      lastTask,
      work.pool,
      history.ends(work.source.content) > 0 ? plain(work) : work,
    )
    parcels.flush()
  }

  function received(thread: DeliveryThread, message: FromThread): void {
    if (message.type !== 'composed' && message.type !== 'not composed') return
    if (current === null || message.task !== current.task) return
    const { work, task, since, isRecalled } = current
    parcels.release(thread, task)
    current = null
    delays.noteTime(performance.now() - since)
    if (message.type === 'composed') history.noteTime(work.source.content, message.cpuMs)
    if (isRecalled) deps.returned(work, 0)
    else if (message.type === 'not composed') deps.failed(work, message.error)
    else hold(work, message.composed)
    next()
  }

  function hold(work: T, composed: TransferableMessage): void {
    const bytes = composed.octets.length
    if (bytes > MAX_COMPOSED_BYTES) {
      const megabytes = Math.ceil(bytes / 1_000_000)
      deps.failed(work, `the message has ${megabytes} MB once it is encoded, too many to be sent`)
      return
    }
    heldInAll += bytes
    heldBytes.set(work.projectId, (heldBytes.get(work.projectId) ?? 0) + bytes)
    deps.made(work, composed)
  }

  function release(projectId: string, bytes: number): void {
    heldInAll -= bytes
    const left = (heldBytes.get(projectId) ?? 0) - bytes
    if (left > 0) heldBytes.set(projectId, left)
    else heldBytes.delete(projectId)
    next()
  }

  function ended(thread: DeliveryThread, { hasStarted, reason }: LastWords): void {
    parcels.drop(thread)
    if (current === null || isStopped) return
    const { work } = current
    current = null
    const { content } = work.source
    if (!hasStarted || !history.noteEnd(content, reason)) {
      begin(work)
      return
    }
    deps.failed(work, reason)
    const others = take(({ source }) => source.content.id === content.id)
    for (const other of others) deps.failed(other, reason)
    next()
  }

  /** Out of the lines. */
  function take(test: (work: T) => boolean): T[] {
    const taken: T[] = []
    for (const [projectId, line] of lines) {
      for (const work of line.takeAll()) {
        if (test(work)) taken.push(work)
        else line.push(work)
      }
      if (line.size() === 0) lines.delete(projectId)
    }
    return taken
  }

  function returnAll(works: readonly T[], delayMs: number): void {
    for (const work of works) deps.returned(work, delayMs)
  }

  function recall(site: string): void {
    if (current?.work.pool.site === site) current.isRecalled = true
    const works = take(({ pool }) => pool.site === site)
    returnAll(works, 0)
  }

  function find(test: (work: T) => boolean): T | undefined {
    if (current !== null && test(current.work)) return current.work
    for (const line of lines.values()) {
      const found = line.find(test)
      if (found !== undefined) return found
    }
    return undefined
  }

  async function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    const inHand = current === null ? [] : [current.work]
    current = null
    returnAll([...inHand, ...take(() => true)], 0)
    threads.rest()
    await threads.stop(0)
  }

  return { add, release, recall, waiting, find, stop }
}

function plain<T extends Heavy>(work: T): T {
  return { ...work, source: { ...work.source, isPlain: true } }
}

/** When what finds no room may come again: one by one, in the time that making one takes. */
function createDelays(now: Now) {
  const lastAt = new Map<string, number>()
  let meanMs = FIRST_MEAN_MS
  return {
    noteTime(ms: number): void {
      meanMs += (ms - meanMs) / 8
    },
    next(projectId: string): number {
      const at = now()
      for (const [project, last] of lastAt) if (last < at) lastAt.delete(project)
      const soonest = Math.max(at + LEAST_DELAY_MS, lastAt.get(projectId) ?? 0)
      const due = Math.min(soonest + meanMs, at + MOST_DELAY_MS)
      lastAt.set(projectId, due)
      return Math.round(due - at)
    },
  }
}
