/**
 * The rows of a list, newest first: pages by cursor, and what a call for the first page every few seconds says of
 * them. Rows never jump: newer ones are counted, and shown when the person wants them.
 */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Input, Key } from '../api/client.ts'
import {
  failureOf,
  queryClient,
  type RowPage,
  useCall,
  useInput,
  usePages,
} from '../api/queries.ts'
import { oldestRead } from '../logic/list-age.ts'
import { isVisible } from './clock.ts'
import { keptPlace } from './table.tsx'

const PAGE_ROWS = 100
/** More rows are of no use to a person, and cost memory. */
const MAX_ROWS = 20_000

type Row = { id: string }

export type LoadedList<Item> = ReturnType<typeof useList<Key, Item & Row>>

/** `query`: the filters of the list. */
export function useList<K extends Key, Item extends Row>(key: K, query: object) {
  const input = useInput({ query: { ...query, limit: PAGE_ROWS } } as Omit<Input<K>, 'signal'>)
  const pagesKey = ['pages', key, input]
  const firstKey = [key, input]
  const text = JSON.stringify(input)
  useMemo(() => {
    // Going back shows the rows as they were; any other way here shows the newest ones.
    if (keptPlace() === undefined) queryClient.removeQueries({ queryKey: pagesKey })
  }, [text])
  const pages = usePages<K, Item>(key, input)
  const isReady = pages.isSuccess && !pages.isPlaceholderData
  const first = pages.data?.pages[0]
  const shownText = useRef(text)
  if (!pages.isPlaceholderData) shownText.current = text
  useEffect(() => {
    // The first page was just loaded: the call that looks for news begins after its pause.
    if (isReady && queryClient.getQueryData(firstKey) === undefined) {
      queryClient.setQueryData(firstKey, first)
    }
  }, [isReady, text])
  const news = useCall(key, input, { poll: 'fast', isEnabled: isReady })

  const loaded = useMemo(() => (pages.data?.pages ?? []).flatMap(({ data }) => data), [pages.data])
  const fresh = isReady ? (news.data as unknown as RowPage<Item> | undefined) : undefined
  const rows = useMemo(() => refreshed(loaded, fresh), [loaded, fresh])
  const added = useMemo(() => newer(loaded, fresh), [loaded, fresh])

  const turn = useRef(0)
  const showNews = () => {
    if (fresh === undefined) return
    turn.current += 1
    queryClient.setQueryData(pagesKey, {
      pages: [{ ...fresh, readAt: news.dataUpdatedAt }],
      pageParams: [undefined],
    })
  }
  useEffect(() => {
    // In an empty list nothing can jump.
    if (isReady && loaded.length === 0 && added.count > 0) showNews()
  }, [isReady, loaded, added])

  const isFull = rows.length >= MAX_ROWS
  const canLoad = pages.hasNextPage && !pages.isFetching && !pages.isError && !isFull && isReady
  const isSought = loaded.length === 0 && isVisible.value
  useEffect(() => {
    // A page of a rare filter may be empty, and the next one not.
    if (isSought && canLoad) void pages.fetchNextPage({ cancelRefetch: false })
  }, [isSought, canLoad])
  return {
    /** Names the filters that the rows were found by, and how often newer rows were shown. */
    of: `${shownText.current} ${turn.current}`,
    rows,
    added,
    showNews,
    isFull,
    isReady,
    hasMore: pages.hasNextPage === true,
    isLoadingMore: pages.isFetchingNextPage,
    isDimmed: pages.isPlaceholderData,
    error: failureOf(pages),
    /** Why the rows are no newer. */
    newsError: isReady ? failureOf(news) : null,
    retryNews: () => void news.refetch(),
    retry: () => void (pages.data === undefined ? pages.refetch() : pages.fetchNextPage()),
    loadMore: canLoad ? () => void pages.fetchNextPage({ cancelRefetch: false }) : undefined,
    /** Known of a list without filters, and of one whose rows are all there. */
    total: totalOf(fresh ?? first) ?? (pages.hasNextPage === false ? rows.length : undefined),
    /** When the oldest of the rows was read. */
    asOf: oldestRead(pages.data?.pages ?? [], { rows: fresh?.data ?? [], at: news.dataUpdatedAt }),
  }
}

/** A total that was not asked for is 0 where there are further pages. */
function totalOf<Item>(page: RowPage<Item> | undefined): number | undefined {
  return page?.hasMore === true && page.total === 0 ? undefined : page?.total
}

/** The loaded rows in their places, each as it is now. */
function refreshed<Item extends Row>(
  loaded: readonly Item[],
  fresh: RowPage<Item> | undefined,
): readonly Item[] {
  if (fresh === undefined) return loaded
  const byId = new Map(fresh.data.map((row) => [row.id, row]))
  return loaded.map((row) => byId.get(row.id) ?? row)
}

/** The rows above the first that is known. `isMore`: none is known, so there may be more of them. */
function newer<Item extends Row>(loaded: readonly Item[], fresh: RowPage<Item> | undefined) {
  const known = new Set(loaded.map(({ id }) => id))
  const rows = fresh?.data ?? []
  const at = rows.findIndex(({ id }) => known.has(id))
  return { count: at === -1 ? rows.length : at, isMore: at === -1 && rows.length === PAGE_ROWS }
}
