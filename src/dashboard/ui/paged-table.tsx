/** A list in pages, for those who want no endless scrolling: a part of the rows that are loaded, and more on demand. */
import { useEffect, useState } from 'preact/hooks'
import { view as viewTexts } from '../text/en/view.ts'
import { addTexts, t } from '../text/text.ts'
import { keptPlace, Table, type TableProps } from './table.tsx'
import type { LoadedList } from './use-list.ts'

addTexts(viewTexts)

const PAGE_ROWS = 100

type ListPage<Item> = {
  rows: readonly Item[]
  /** The place of its first row among all. */
  first: number
  /** Undefined at the first page. */
  previous: (() => void) | undefined
  /** Undefined at the last page, and at the last that may be loaded. */
  next: (() => void) | undefined
}

type PagedProps<Item> = {
  list: LoadedList<Item>
  table: Omit<TableProps<Item>, 'rows' | 'first' | 'onEnd'>
}

export default function PagedTable<Item extends { id: string }>({ list, table }: PagedProps<Item>) {
  const page = useListPage(list)
  return (
    <>
      <Table {...table} rows={page.rows} first={page.first} />
      <Pager page={page} total={table.total} />
    </>
  )
}

function useListPage<Item extends { id: string }>(list: LoadedList<Item>): ListPage<Item> {
  const { rows, hasMore, isFull, loadMore, isReady } = list
  const { of } = list
  const [kept, setPlace] = useState(() => placeAt(pageOf(keptPlace()?.row ?? 0), of))
  const { shown, wanted } = kept.of === of ? kept : placeAt(0, of)
  const isWhole = rows.length >= wanted + PAGE_ROWS || (isReady && (!hasMore || isFull))
  useEffect(() => {
    // A page of the server may have fewer rows.
    if (!isWhole) return loadMore?.()
    setPlace(placeAt(Math.min(wanted, pageOf(Math.max(0, rows.length - 1))), of))
  }, [of, isWhole, wanted, loadMore, rows.length])
  const go = (first: number) => setPlace({ of, shown, wanted: first })
  const page = rows.slice(shown, shown + PAGE_ROWS)
  const hasNext = rows.length > shown + PAGE_ROWS || (hasMore && !isFull)
  return {
    rows: page,
    first: shown,
    previous: shown === 0 ? undefined : () => go(shown - PAGE_ROWS),
    next: hasNext ? () => go(shown + PAGE_ROWS) : undefined,
  }
}

/** `of`: the rows that have these pages. `shown`, `wanted`: the first rows of pages. */
type Place = { of: string; shown: number; wanted: number }

function placeAt(first: number, of: string): Place {
  return { of, shown: first, wanted: first }
}

/** The first row of the page that has the row. */
function pageOf(row: number): number {
  return Math.floor(row / PAGE_ROWS) * PAGE_ROWS
}

function Pager<Row>({ page, total }: { page: ListPage<Row>; total: number | undefined }) {
  const { rows, first, previous, next } = page
  const range = { from: first + 1, to: first + rows.length }
  const steps = [
    { label: t('view.previous'), go: previous },
    { label: t('view.following'), go: next },
  ]
  return (
    <nav class="bar pager" aria-label={t('view.allPages')}>
      {steps.map(({ label, go }) => (
        <button key={label} class="btn" type="button" aria-disabled={go === undefined} onClick={go}>
          {label}
        </button>
      ))}
      <span class="small muted" aria-live="polite">
        {total === undefined
          ? t('view.range', range)
          : t('view.rangeOf', { ...range, count: total })}
      </span>
    </nav>
  )
}
