/**
 * On the main thread: renders and inspects messages in a composing thread of their own, so that no
 * connection and no message waits for them. Concurrent requests take turns. A source that takes too long is
 * rendered alone; one that ends the thread is rendered again without running its templates; one
 * that ends it twice has no preview.
 */
import type { RenderedMessage, RenderSource } from '../../mail/compose/build-message.ts'
import type { InspectedMessage, MessageRules } from '../../mail/compose/message-findings.ts'
import type { DeliveryThread, FromThread, Preview } from '../protocol.ts'
import { createThreads, shutdownError, type ThreadsOptions } from '../threads.ts'
import { contentBytes, extraMs } from './contents.ts'

type PreviewsDeps = Pick<ThreadsOptions, 'settings' | 'log' | 'counters'> & {
  hangMs: number
  restMs: number
}

type Previews = {
  /** Resolves to null for sources that cannot be rendered. Rejects while shutting down. */
  preview(sources: readonly RenderSource[]): Promise<readonly (RenderedMessage | null)[]>
  /** As `preview`, but returns what is found in the messages. */
  inspect(
    sources: readonly RenderSource[],
    rules: MessageRules,
  ): Promise<readonly (InspectedMessage | null)[]>
  stop(): Promise<void>
}

/** One request and its sources that are not rendered yet. */
type PreviewRequest = {
  rules: MessageRules | undefined
  todo: Portion[]
  shown: (Preview | null)[]
  settled: PromiseWithResolvers<readonly (Preview | null)[]>
}

/** Sources that are rendered together, from the position `at` in the request. */
type Portion = { at: number; sources: readonly RenderSource[]; hasEnded: boolean }

type CurrentPreview = { task: number; request: PreviewRequest; portion: Portion }

const PORTION_SOURCES = 20
const PORTION_BYTES = 128 * 1024

export function createPreviews({
  settings,
  log,
  counters,
  hangMs,
  restMs,
}: PreviewsDeps): Previews {
  const threads = createThreads({
    name: 'composing',
    settings,
    maxThreads: 1,
    hangMs: () => hangMs + msForBytes(current?.portion.sources ?? []),
    log,
    counters,
    received,
    ended: (_thread, { hasStarted }) => retry(hasStarted),
  })
  const requests: PreviewRequest[] = []
  let current: CurrentPreview | null = null
  let lastTask = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  /** The thread answers as it is asked: with messages, or with what it finds by the rules. */
  function ask<Answer extends Preview>(
    sources: readonly RenderSource[],
    rules: MessageRules | undefined,
  ): Promise<readonly (Answer | null)[]> {
    if (isStopped) return Promise.reject(shutdownError())
    if (sources.length === 0) return Promise.resolve([])
    const request: PreviewRequest = {
      rules,
      todo: portionsOf(sources),
      shown: [],
      settled: Promise.withResolvers(),
    }
    requests.push(request)
    next()
    return request.settled.promise as Promise<readonly (Answer | null)[]>
  }

  function next(): void {
    if (current !== null) return
    clearTimeout(timer)
    const request = requests.shift()
    const portion = request?.todo.shift()
    if (request === undefined || portion === undefined) {
      timer = setTimeout(threads.endAll, restMs).unref()
      return
    }
    requests.push(request)
    current = { task: ++lastTask, request, portion }
    begin(threads.list()[0] ?? threads.start(), current)
  }

  function begin(
    thread: DeliveryThread | undefined,
    { task, request, portion }: CurrentPreview,
  ): void {
    if (thread !== undefined) {
      const { rules } = request
      thread.postMessage({ type: 'preview', task, sources: portion.sources, rules })
      return
    }
    leave(request)
    request.settled.reject(new Error('there is no thread to render the message'))
    current = null
    next()
  }

  function received(_thread: DeliveryThread, message: FromThread): void {
    if (current === null) return
    if (message.type !== 'previewed' && message.type !== 'preview failed') return
    const { request, portion } = current
    if (message.type === 'previewed') {
      for (const [index, shown] of message.messages.entries())
        request.shown[portion.at + index] = shown
    } else if (portion.sources.length > 1) request.todo.unshift(...alone(portion))
    else request.shown[portion.at] = null
    finish(request)
  }

  /** The thread ended while it rendered the current portion. */
  function retry(hasStarted: boolean): void {
    if (current === null || isStopped) return
    const { request, portion } = current
    if (!hasStarted) request.todo.unshift(portion)
    else if (portion.sources.length > 1) request.todo.unshift(...alone(portion))
    else if (!portion.hasEnded) request.todo.unshift(plain(portion))
    else request.shown[portion.at] = null
    finish(request)
  }

  function finish(request: PreviewRequest): void {
    current = null
    if (request.todo.length === 0) {
      leave(request)
      request.settled.resolve(request.shown)
    }
    next()
  }

  function leave(request: PreviewRequest): void {
    requests.splice(requests.indexOf(request), 1)
  }

  async function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    for (const { settled } of requests.splice(0)) settled.reject(shutdownError())
    current = null
    threads.endAll()
    await threads.stop(0)
  }

  return {
    preview: (sources) => ask<RenderedMessage>(sources, undefined),
    inspect: (sources, rules) => ask<InspectedMessage>(sources, rules),
    stop,
  }
}

function msForBytes(sources: readonly RenderSource[]): number {
  return sources.reduce((sum, { content }) => sum + extraMs(content), 0)
}

function portionsOf(sources: readonly RenderSource[]): Portion[] {
  const portions: { at: number; sources: RenderSource[]; hasEnded: boolean }[] = []
  let bytes = 0
  for (const [at, source] of sources.entries()) {
    bytes += contentBytes(source.content)
    const open = portions.at(-1)
    const hasSpace = open !== undefined && open.sources.length < PORTION_SOURCES
    if (hasSpace && bytes <= PORTION_BYTES) open.sources.push(source)
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
