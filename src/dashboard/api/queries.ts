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
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { projectOf } from '../logic/base.ts'
import { pollDelay } from '../logic/poll.ts'
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
      retryDelay: (_, error) => 1000 * ((error instanceof ApiFailure && error.retryAfter) || 5),
    },
  },
})
queryClient.mount()

/** `fast`: every 5 s for a minute after input, then every 15 s. A number: milliseconds. */
export type Poll = 'fast' | number | undefined

type Options = { poll?: Poll; isEnabled?: boolean; keep?: boolean }

function intervalOf(poll: Poll): number | false | (() => number) {
  if (poll === 'fast') return () => pollDelay(Date.now() - lastInput())
  return poll ?? false
}

/** `keep`: shows the rows of the earlier input until those of the new one are there. */
export function useCall<K extends Key>(
  key: K,
  input: Omit<Input<K>, 'signal'> = {},
  options: Options = {},
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
  { poll, isEnabled = true, keep = false }: Options = {},
): QueryObserverResult<Data, Error> {
  const options = {
    queryKey,
    queryFn: ({ signal }: { signal: AbortSignal }) => load(signal),
    enabled: isEnabled,
    refetchInterval: intervalOf(poll),
    ...(keep && { placeholderData: (before: Data | undefined) => before }),
  }
  const observer = useMemo(() => new QueryObserver(queryClient, options as never), [])
  useObserver(observer, options, poll)
  return resultOf(observer, options) as QueryObserverResult<Data, Error>
}

type Page<Row> = { data: readonly Row[]; hasMore: boolean; cursor: string | null }

/**
 * The rows of a list, page after page by cursor. Pages that are there are not asked for again by themselves, since
 * all of them would be: a list learns of newer rows by a call of its own for the first page.
 */
export function usePages<K extends Key, Row>(
  key: K,
  input: Omit<Input<K>, 'signal'>,
  { poll, isEnabled = true }: Options = {},
): InfiniteQueryObserverResult<{ pages: Page<Row>[] }, Error> {
  const own = useInput(input)
  const options = {
    queryKey: ['pages', key, own],
    queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string | undefined }) =>
      call(key, {
        ...own,
        query: {
          ...(own.query as object),
          ...(pageParam !== undefined && { cursor: pageParam }),
        },
        signal,
      } as unknown as Input<K>),
    initialPageParam: undefined,
    getNextPageParam: (last: Page<Row>) => (last.hasMore ? (last.cursor ?? undefined) : undefined),
    enabled: isEnabled,
    refetchInterval: intervalOf(poll),
    ...{ staleTime: Number.POSITIVE_INFINITY, refetchOnWindowFocus: false },
    placeholderData: (before: unknown) => before,
  }
  const observer = useMemo(() => new InfiniteQueryObserver(queryClient, options as never), [])
  useObserver(observer, options, poll)
  return resultOf(observer, options) as never
}

type Observer = {
  subscribe(listener: () => void): () => void
  setOptions(options: never): void
  getOptimisticResult(options: never): unknown
}
type ObserverOptions = { queryKey: readonly unknown[]; enabled: boolean }

/** Renders again at each change of the result, and tells the observer of another input. */
function useObserver(observer: Observer, options: ObserverOptions, poll: Poll): void {
  const [, renderAgain] = useState({})
  useEffect(() => observer.subscribe(() => renderAgain({})), [observer])
  useEffect(() => {
    observer.setOptions(options as never)
    renderAgain({})
  }, [observer, JSON.stringify(options.queryKey), options.enabled, poll])
}

/** The result for this very input: the rows of another one never pass for it. */
function resultOf(observer: Observer, options: ObserverOptions): unknown {
  const full: object = queryClient.defaultQueryOptions(options as never)
  return observer.getOptimisticResult({ ...full, _optimisticResults: 'optimistic' } as never)
}
