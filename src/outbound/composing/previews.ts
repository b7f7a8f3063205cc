/**
 * On the main thread: messages rendered to be looked at, in a composing thread of their own, so that
 * no connection and no message waits for them. Those who ask at the same time take turns, and what
 * takes long is done alone. What ends the thread is done again with placeholders only; what ends it
 * once more is not shown.
 */
import type { RenderedMessage, RenderSource } from '../../mail/compose/build-message.ts'
import { createThreads, type DeliveryThread, type ThreadsOptions } from '../dispatch/threads.ts'
import type { FromThread } from '../protocol.ts'
import { contentBytes, patienceMs } from './content-size.ts'

export type PreviewsDeps = Pick<ThreadsOptions, 'settings' | 'log'> & {
  hangMs: number
  restMs: number
}

export type Previews = {
  /** Null for what cannot be rendered. Rejects while shutting down. */
  look(sources: readonly RenderSource[]): Promise<readonly (RenderedMessage | null)[]>
  stop(): Promise<void>
}

/** One who asked, and what is still to be done for them. */
type Asker = {
  todo: Portion[]
  shown: (RenderedMessage | null)[]
  settled: PromiseWithResolvers<readonly (RenderedMessage | null)[]>
}

/** Sources that are done together, and where they stand in the asker's order. */
type Portion = { at: number; sources: readonly RenderSource[]; hasEnded: boolean }

type Current = { task: number; asker: Asker; portion: Portion }

const PORTION_SOURCES = 20
const PORTION_BYTES = 128 * 1024

export function createPreviews({ settings, log, hangMs, restMs }: PreviewsDeps): Previews {
  const threads = createThreads({
    name: 'composing',
    settings,
    maxThreads: 1,
    hangMs: () => hangMs + msForBytes(current?.portion.sources ?? []),
    log,
    received,
    ended: (_thread, { hasStarted }) => again(hasStarted),
  })
  const askers: Asker[] = []
  let current: Current | null = null
  let lastTask = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  function look(sources: readonly RenderSource[]): Promise<readonly (RenderedMessage | null)[]> {
    if (isStopped) return Promise.reject(stopping())
    if (sources.length === 0) return Promise.resolve([])
    const asker: Asker = { todo: portionsOf(sources), shown: [], settled: Promise.withResolvers() }
    askers.push(asker)
    next()
    return asker.settled.promise
  }

  function next(): void {
    if (current !== null) return
    clearTimeout(timer)
    const asker = askers.shift()
    const portion = asker?.todo.shift()
    if (asker === undefined || portion === undefined) {
      timer = setTimeout(threads.rest, restMs).unref()
      return
    }
    askers.push(asker)
    current = { task: ++lastTask, asker, portion }
    begin(threads.list()[0] ?? threads.start(), current)
  }

  function begin(thread: DeliveryThread | undefined, { task, asker, portion }: Current): void {
    if (thread !== undefined) {
      thread.post({ type: 'preview', task, sources: portion.sources })
      return
    }
    leave(asker)
    asker.settled.reject(new Error('no thread is there to render the message'))
    current = null
    next()
  }

  function received(_thread: DeliveryThread, message: FromThread): void {
    if (current === null) return
    if (message.type !== 'previewed' && message.type !== 'preview failed') return
    const { asker, portion } = current
    if (message.type === 'previewed') {
      for (const [index, shown] of message.messages.entries())
        asker.shown[portion.at + index] = shown
    } else if (portion.sources.length > 1) asker.todo.unshift(...alone(portion))
    else asker.shown[portion.at] = null
    finish(asker)
  }

  /** The thread ended under what is done now, wherever it stood. */
  function again(hasStarted: boolean): void {
    if (current === null || isStopped) return
    const { asker, portion } = current
    if (!hasStarted) asker.todo.unshift(portion)
    else if (portion.sources.length > 1) asker.todo.unshift(...alone(portion))
    else if (!portion.hasEnded) asker.todo.unshift(plain(portion))
    else asker.shown[portion.at] = null
    finish(asker)
  }

  function finish(asker: Asker): void {
    current = null
    if (asker.todo.length === 0) {
      leave(asker)
      asker.settled.resolve(asker.shown)
    }
    next()
  }

  function leave(asker: Asker): void {
    askers.splice(askers.indexOf(asker), 1)
  }

  async function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    for (const { settled } of askers.splice(0)) settled.reject(stopping())
    current = null
    threads.rest()
    await threads.stop(0)
  }

  return { look, stop }
}

function msForBytes(sources: readonly RenderSource[]): number {
  return sources.reduce((sum, { content }) => sum + patienceMs(content), 0)
}

function stopping(): Error {
  return new Error('the server is shutting down')
}

function portionsOf(sources: readonly RenderSource[]): Portion[] {
  const portions: { at: number; sources: RenderSource[]; hasEnded: boolean }[] = []
  let bytes = 0
  for (const [at, source] of sources.entries()) {
    bytes += contentBytes(source.content)
    const open = portions.at(-1)
    const hasRoom = open !== undefined && open.sources.length < PORTION_SOURCES
    if (hasRoom && bytes <= PORTION_BYTES) open.sources.push(source)
    else {
      portions.push({ at, sources: [source], hasEnded: false })
      bytes = contentBytes(source.content)
    }
  }
  return portions
}

function alone({ at, sources }: Portion): Portion[] {
  return sources.map((source, index) => ({ at: at + index, sources: [source], hasEnded: false }))
}

function plain({ at, sources }: Portion): Portion {
  const [source] = sources
  if (source === undefined) throw new TypeError('a portion has a source')
  return { at, sources: [{ ...source, isPlain: true }], hasEnded: true }
}
