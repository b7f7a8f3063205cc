/** A list with its states: rows, news above them, and what stands below; loading, empty, no match, failed. */
import type { ComponentChildren } from 'preact'
import { withWidth } from '../logic/columns.ts'
import { t, tx } from '../text/text.ts'
import { tick } from './clock.ts'
import { Chip } from './filter-bar.tsx'
import { lazy } from './lazy.tsx'
import { Failed, Loading, NoMatch } from './state.tsx'
import { Suspense } from './suspense.tsx'
import { Table } from './table.tsx'
import { Time } from './time.tsx'
import type { LoadedList } from './use-list.ts'
import type { ListView } from './use-list-view.ts'

const PagedTable = lazy(() => import('./paged-table.tsx'))
const ViewMenu = lazy(() => import('./view-menu.tsx'))

/** Older rows say when they were read. */
const STALE_MS = 60_000

type ListProps<Item> = {
  list: LoadedList<Item>
  label: string
  view: ListView<Item & { id: string }>
  /** No filter is set, so an empty list means that nothing exists. */
  isUnfiltered: boolean
  /** What was filtered, in words. */
  filterText: string
  onClear(): void
  empty: ComponentChildren
  /** Stands below the rows. */
  foot?: ComponentChildren
}

/** Stands at the end of the filters. */
export function ViewChip<Row>({ view }: { view: ListView<Row> }) {
  return (
    <Chip label={t('list.view')} class="view-chip">
      {() => (
        <Suspense>
          <ViewMenu view={view} />
        </Suspense>
      )}
    </Chip>
  )
}

export function List<Item>(props: ListProps<Item>) {
  const { added, showNews, newsError, retryNews, asOf } = props.list
  return (
    <>
      <div class="news" aria-live="polite">
        {added.count > 0 && (
          <button
            class="btn main pill"
            type="button"
            onClick={() => {
              showNews()
              window.scrollTo(0, 0)
            }}
          >
            {t(added.isMore ? 'list.new.many' : 'list.new', { count: added.count })}
          </button>
        )}
      </div>
      {newsError !== null && (
        <div class="body">
          <Failed error={newsError} asOf={asOf} onRetry={retryNews} />
        </div>
      )}
      <Rows {...props} />
    </>
  )
}

function Rows<Item>(props: ListProps<Item>) {
  const { list, label, view, isUnfiltered, filterText, onClear, empty, foot } = props
  const { rows, error, isReady, isDimmed, total, asOf } = list
  const isStale = tick.value - asOf > STALE_MS
  if (rows.length === 0 && error !== null) {
    return (
      <div class="body">
        <Failed error={error} onRetry={list.retry} />
      </div>
    )
  }
  if (rows.length === 0 && (!isReady || list.hasMore)) {
    return (
      <div class="body">
        <Loading rows={12} />
      </div>
    )
  }
  if (rows.length === 0)
    return isUnfiltered ? empty : <NoMatch filter={filterText} onClear={onClear} />
  const table = {
    ...{ label, total, columns: view.columns, arrangement: view.arrangement, isBusy: isDimmed },
    idOf: ({ id }: { id: string }) => id,
    onWidth: (key: string, width: number, isPassing: boolean) =>
      view.change((now) => withWidth(now, key, width), isPassing),
  }
  return (
    <>
      <div class={isDimmed ? 'dimmed' : ''}>
        {view.isPaged ? (
          <Suspense>
            <PagedTable {...{ list: list as LoadedList<{ id: string }>, table }} />
          </Suspense>
        ) : (
          <Table {...table} rows={rows} onEnd={list.loadMore} />
        )}
      </div>
      {error !== null && (
        <div class="body">
          <Failed error={error} onRetry={list.retry} />
        </div>
      )}
      <p class="bar small muted foot">
        {list.isLoadingMore && <span role="status">{t('table.more')}</span>}
        {list.isFull && list.hasMore && <strong>{t('list.narrow', { count: rows.length })}</strong>}
        <span aria-live="polite">{total !== undefined && t('list.count', { count: total })}</span>
        {isStale && (
          <span>{tx('state.asOf', { time: <Time at={new Date(asOf).toISOString()} /> })}</span>
        )}
        {foot}
      </p>
    </>
  )
}
