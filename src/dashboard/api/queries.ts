/**
 * Data of the server in components. Rows stay while newer ones come, an old request is aborted when its key
 * changes, and nothing is asked for while the page is hidden.
 */
import {
  InfiniteQueryObserver,
  type InfiniteQueryObserverResult,
  QueryClient,
  QueryObserver,
  type QueryObserverResult,
} from '@tanstack/query-core'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { projectOf } from '../logic/base.ts'
import { type Pace, pollDelay } from '../logic/poll.ts'
import { lastInput } from '../ui/last-input.ts'
import { type Answer, ApiFailure, base, call, type Input, type Key } from './client.ts'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      // Offline, a call fails at once and says so; the hook does not wait in silence.
      networkMode: 'always',
      retry: (count, error) => error instanceof ApiFailure && error.status === 503 && count < 5,
      retryDelay: (_, error) => waitOf(error) || 5_000,
    },
  },
})
queryClient.mount()

/**
 * A pace is that of a minute after input; then all are slow. A number: milliseconds. A function tells them by what is
 * known; it must stay the same one as long as it tells the same.
 */
type Poll<Data> = Pace | number | ((data: Data | undefined) => number) | undefined

type Options<Data> = { poll?: Poll<Data>; isEnabled?: boolean; keep?: boolean }
type Asked<Data> = { state: { data: Data | undefined; error: unknown } }

function intervalOf<Data>(poll: Poll<Data>): false | ((query: Asked<Data>) => number) {
  if (poll === undefined) return false
  const delay = (data: Data | undefined) => {
    if (typeof poll === 'function') return poll(data)
    return typeof poll === 'number' ? poll : pollDelay(poll, Date.now() - lastInput())
  }
  return ({ state: { data, error } }) => Math.max(delay(data), waitOf(error))
}

/** How long the server asks to wait, in milliseconds. */
function waitOf(error: unknown): number {
  return 1000 * ((error instanceof ApiFailure && error.retryAfter) || 0)
}

type Failing = { error: Error | null; failureReason: Error | null }

/** Why there is no newer data, also while a server that was busy is asked again. */
export function failureOf({ error, failureReason }: Failing): Error | null {
  return error ?? failureReason
}

/** `keep`: shows the rows of the earlier input until those of the new one are there. */
export function useCall<K extends Key>(
  key: K,
  input: Omit<Input<K>, 'signal'> = {},
  options: Options<Answer<K>> = {},
): QueryObserverResult<Answer<K>, Error> {
  const own = useInput(input)
  const load = (signal: AbortSignal) => call(key, { ...own, signal } as Input<K>)
  return useLoaded([key, own], load, options)
}

/**
 * The input with the project of the screen, unless it names one: what is kept of one project must not pass for that of
 * another.
 */
export function useInput<Given extends object>(
  input: Given & { project?: string },
): Given & { project?: string } {
  const project = useProjectId()
  return project === undefined ? input : { project, ...input }
}

/**
 * The id of the project of the screen; undefined outside of projects. A screen stays while the next one is loaded, so
 * the address may name another project already.
 */
export function useProjectId(): string | undefined {
  const { params } = useRoute()
  return (params?.project as string | undefined) ?? projectOf(location.pathname.slice(base.length))
}

/** As `useCall`, for what another function loads. */
export function useLoaded<Data>(
  queryKey: readonly unknown[],
  load: (signal: AbortSignal) => Promise<Data>,
  { poll, isEnabled = true, keep = false }: Options<Data> = {},
): QueryObserverResult<Data, Error> {
  const options = {
    queryKey,
    queryFn: ({ signal }: { signal: AbortSignal }) => load(signal),
    enabled: isEnabled,
    refetchInterval: intervalOf(poll),
    ...(keep && { placeholderData: (before: Data | undefined) => before }),
  }
  const observer = useMemo(() => new QueryObserver(queryClient, options as never), [])
  const result = useObserver(observer, options, poll) as unknown as QueryObserverResult<Data, Error>
  // A call without data forgets its failure when it is repeated. It stays shown: to hear it at each poll helps nobody.
  const of = JSON.stringify(queryKey)
  const last = useRef({ of, error: result.error })
  const isAgain = result.isFetching && result.data === undefined && last.current.of === of
  const error = isAgain ? (result.error ?? last.current.error) : result.error
  last.current = { of, error }
  return { ...result, error } as QueryObserverResult<Data, Error>
}

/** `readAt`: epoch milliseconds. */
export type RowPage<Row> = {
  data: readonly Row[]
  hasMore: boolean
  cursor: string | null
  total?: number
  readAt: number
}
type Wanted = { signal: AbortSignal; pageParam: string | undefined }

/**
 * The rows of a list, page after page by cursor. Pages that are there are not asked for again by themselves, since
 * all of them would be: a list learns of newer rows by a call of its own for the first page.
 */
export function usePages<K extends Key, Row>(
  key: K,
  input: Omit<Input<K>, 'signal'>,
  { isEnabled = true }: { isEnabled?: boolean } = {},
): InfiniteQueryObserverResult<{ pages: RowPage<Row>[] }, Error> {
  const own = useInput(input)
  const load = async ({ signal, pageParam: cursor }: Wanted) => {
    const query = { ...(own.query as object), ...(cursor !== undefined && { cursor }) }
    const page = await call(key, { ...own, query, signal } as unknown as Input<K>)
    return { ...(page as object), readAt: Date.now() }
  }
  const options = {
    queryKey: ['pages', key, own],
    queryFn: load,
    initialPageParam: undefined,
    getNextPageParam: (last: RowPage<Row>) =>
      last.hasMore ? (last.cursor ?? undefined) : undefined,
    enabled: isEnabled,
    ...{ staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false },
    placeholderData: (before: unknown) => before,
    // Each new page would be compared with all that are there.
    structuralSharing: false,
  }
  const observer = useMemo(() => new InfiniteQueryObserver(queryClient, options as never), [])
  return useObserver(observer, options) as never
}

type Result = Readonly<Record<string, unknown>>
type Observer = {
  subscribe(listener: (result: unknown) => void): () => void
  setOptions(options: never): void
  getOptimisticResult(options: never): unknown
}
type ObserverOptions = { queryKey: readonly unknown[]; enabled: boolean }

/**
 * The result, which renders again when it has changed: the start of a call is known when it is first rendered. The
 * observer is told of another input.
 */
function useObserver(observer: Observer, options: ObserverOptions, poll?: unknown): Result {
  const [, renderAgain] = useState({})
  const shown = useRef<Result>({})
  const look = (result: unknown) => {
    if (!isSame(shown.current, result as Result)) inNextFrame(renderAgain)
  }
  useEffect(() => observer.subscribe(look), [observer])
  useEffect(() => {
    observer.setOptions(options as never)
    look(resultOf(observer, options))
  }, [observer, JSON.stringify(options.queryKey), options.enabled, poll])
  shown.current = resultOf(observer, options)
  return shown.current
}

const HIDDEN_FRAME_MS = 100
const waiting = new Set<(state: object) => void>()

/** Draws the answers of one frame together: a screen asks for many at once. A page in the back has no frames. */
function inNextFrame(renderAgain: (state: object) => void): void {
  if (waiting.size === 0) {
    const drawAll = () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
      for (const one of waiting) one({})
      waiting.clear()
    }
    const frame = requestAnimationFrame(drawAll)
    const timer = setTimeout(drawAll, HIDDEN_FRAME_MS)
  }
  waiting.add(renderAgain)
}

function isSame(one: Result, other: Result): boolean {
  return Object.keys(other).every((name) => one[name] === other[name])
}

/** The result for this very input: the rows of another one never pass for it. */
function resultOf(observer: Observer, options: ObserverOptions): Result {
  const full: object = queryClient.defaultQueryOptions(options as never)
  const optimistic = { ...full, _optimisticResults: 'optimistic' }
  return observer.getOptimisticResult(optimistic as never) as Result
}
