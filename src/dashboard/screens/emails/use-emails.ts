/** The rows of the list: pages by cursor, and what a call for the first page every few seconds says of them. */
import { useEffect, useMemo } from 'preact/hooks'
import type { Answer } from '../../api/client.ts'
import { queryClient, useCall, usePages } from '../../api/queries.ts'
import type { EmailQuery } from '../../logic/email-filter.ts'
import { keptPlace } from '../../ui/table.tsx'

export type EmailRow = Answer<'GET /emails'>['data'][number]
type Page = Answer<'GET /emails'>

const PAGE_ROWS = 100
/** More rows are of no use to a person, and cost memory. */
const MAX_ROWS = 20_000

export function useEmails(filter: EmailQuery) {
  const input = { query: { ...filter, limit: PAGE_ROWS } }
  const key = ['pages', 'GET /emails', input]
  const firstKey = ['GET /emails', input]
  const text = JSON.stringify(input)
  useMemo(() => {
    // Going back shows the rows as they were; any other way here shows the newest ones.
    if (keptPlace() === undefined) queryClient.removeQueries({ queryKey: key })
  }, [text])
  const pages = usePages<'GET /emails', EmailRow>('GET /emails', input)
  const isReady = pages.isSuccess && !pages.isPlaceholderData
  const first = pages.data?.pages[0]
  useEffect(() => {
    // The first page was just loaded: the call that looks for news begins after its pause.
    if (isReady && queryClient.getQueryData(firstKey) === undefined) {
      queryClient.setQueryData(firstKey, first)
    }
  }, [isReady, text])
  const news = useCall('GET /emails', input, { poll: 'fast', isEnabled: isReady })

  const loaded = useMemo(() => (pages.data?.pages ?? []).flatMap(({ data }) => data), [pages.data])
  const fresh = isReady ? news.data : undefined
  const rows = useMemo(() => refreshed(loaded, fresh), [loaded, fresh])
  const added = useMemo(() => newer(loaded, fresh), [loaded, fresh])

  const showNews = () => {
    if (fresh === undefined) return
    queryClient.setQueryData(key, { pages: [fresh], pageParams: [undefined] })
  }
  useEffect(() => {
    // In an empty list nothing can jump.
    if (isReady && loaded.length === 0 && added.count > 0) showNews()
  }, [isReady, loaded, added])

  const isFull = rows.length >= MAX_ROWS
  const canLoad = pages.hasNextPage && !pages.isFetching && !pages.isError && !isFull && isReady
  return {
    rows,
    added,
    showNews,
    isFull,
    isReady,
    hasMore: pages.hasNextPage === true,
    isLoadingMore: pages.isFetchingNextPage,
    isDimmed: pages.isPlaceholderData,
    error: pages.error,
    retry: () => void (pages.data === undefined ? pages.refetch() : pages.fetchNextPage()),
    loadMore: canLoad ? () => void pages.fetchNextPage({ cancelRefetch: false }) : undefined,
    total: (fresh ?? (first as Page | undefined))?.total,
    asOf: news.dataUpdatedAt || pages.dataUpdatedAt,
  }
}

/** The loaded rows in their places, each as it is now. */
function refreshed(loaded: readonly EmailRow[], fresh: Page | undefined): readonly EmailRow[] {
  if (fresh === undefined) return loaded
  const byId = new Map(fresh.data.map((row) => [row.id, row]))
  return loaded.map((row) => byId.get(row.id) ?? row)
}

/** `isMore`: all rows of the first page are new, so there may be more of them. */
function newer(loaded: readonly EmailRow[], fresh: Page | undefined) {
  const known = new Set(loaded.map(({ id }) => id))
  const newest = loaded.reduce((last, { createdAt }) => (createdAt > last ? createdAt : last), '')
  const found = (fresh?.data ?? []).filter((row) => !known.has(row.id) && row.createdAt >= newest)
  return { count: found.length, isMore: found.length === PAGE_ROWS }
}
