/**
 * A table of any length. Only the rows in view are in the document; the next page is asked for before its end is
 * reached. The page itself scrolls, so that the browser's keys and gestures work as everywhere.
 */
import { Component, type ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Arrangement, widthsWithin } from '../logic/columns.ts'
import { isNearEnd, type Span, scrollTo, stepTo, type View, windowOf } from '../logic/window.ts'
import { t } from '../text/text.ts'
import { HeaderCell } from './header-cell.tsx'
import { useKeys } from './keys.ts'

export type Column<Row> = {
  key: string
  label: string
  /** Classes of its cells: `key`, `sub`, `end` and `end2` place them in the two lines of a phone. */
  class?: string
  isSorted?: boolean
  /** Hidden until somebody chooses it. */
  isExtra?: boolean
  /** Always shown: its link opens the row. */
  isFixed?: boolean
  show(row: Row): ComponentChildren
}

export type TableProps<Row> = {
  label: string
  columns: readonly Column<Row>[]
  /** The columns that are shown, and how wide somebody made them. */
  arrangement?: Arrangement
  /** `isPassing`: the next width follows at once. */
  onWidth?(key: string, width: number, isPassing: boolean): void
  rows: readonly Row[]
  /** The place of the first of `rows` among all. */
  first?: number
  /** The id of a row. One cell of each row has a link, which opens it. */
  idOf(row: Row): string
  /** All rows that exist; undefined while it is not known. */
  total?: number | undefined
  /** Asks for the next page; undefined if there is none, or one is on its way. */
  onEnd?: (() => void) | undefined
  isBusy?: boolean
}

const GUESSED_ROW = 36
/** Rows of the first frame; the others of the window follow. */
const FIRST_ROWS = 30

/** What the entry of the history keeps, so that going back finds the row again. `row`: its place among all. */
type Kept = { row: number; scroll: number }

export function keptPlace(): Kept | undefined {
  return (history.state as { place?: Kept } | null)?.place
}

export function Table<Row>({
  label,
  columns,
  arrangement,
  onWidth,
  rows,
  first = 0,
  idOf,
  total,
  onEnd,
  isBusy = false,
}: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [span, setSpan] = useState<Span>({ from: 0, to: Math.min(rows.length, FIRST_ROWS) })
  const [rowHeight, setRowHeight] = useState(GUESSED_ROW)
  const [width, setWidth] = useState(0)
  const [current, setCurrent] = useState(() => (keptPlace()?.row ?? -1) - first)
  const latest = useRef(current)
  latest.current = current
  const wanted = useRef<number | undefined>(undefined)
  const isRestored = useRef(false)

  const view = (): View => ({
    count: rows.length,
    rowHeight,
    above: -(body.current?.getBoundingClientRect().top ?? 0),
    height: window.innerHeight,
  })
  const look = () => {
    const seen = view()
    setSpan((before) => {
      const next = stepTo(before, windowOf(seen), seen)
      return before.from === next.from && before.to === next.to ? before : next
    })
    if (onEnd !== undefined && isNearEnd(seen)) onEnd()
  }
  const latestLook = useRef(look)
  latestLook.current = look
  useEffect(() => {
    // The window may still be on its way.
    const frame = requestAnimationFrame(() => latestLook.current())
    return () => cancelAnimationFrame(frame)
  }, [span])

  const focusWanted = () => {
    if (wanted.current === undefined) return
    const link = linkOf(body.current, wanted.current)
    if (link === null) return
    wanted.current = undefined
    link.focus({ preventScroll: true })
  }

  const go = (row: number) => {
    const target = Math.max(0, Math.min(rows.length - 1, row))
    const covered = body.current?.previousElementSibling?.getBoundingClientRect().height ?? 0
    wanted.current = target
    // A key that is held down comes again before the row is drawn.
    latest.current = target
    setCurrent(target)
    if (target === 0) window.scrollTo(0, 0)
    else window.scrollBy(0, scrollTo(target, view(), covered))
  }
  const shownFirst = useRef(first)
  useLayoutEffect(() => {
    if (shownFirst.current === first) return
    // Another page begins at its first row. The window below must see it there: what leaves it loses the focus.
    shownFirst.current = first
    // A filter keeps the focus while it is changed.
    if (isElsewhere(document.activeElement)) return setCurrent(-1)
    go(0)
    focusWanted()
  }, [first])

  // To measure lays the page out, so it is done only where the height may have changed.
  const measure = () => {
    const row = body.current?.querySelector('tr[data-row]')
    const height = row?.getBoundingClientRect().height ?? 0
    setWidth(body.current?.clientWidth ?? 0)
    if (height > 0) setRowHeight((before) => (Math.abs(height - before) > 0.5 ? height : before))
  }
  useLayoutEffect(measure, [columns])
  useEffect(() => {
    if (!isRestored.current && rows.length > 0) {
      isRestored.current = true
      const place = keptPlace()
      if (place !== undefined) {
        window.scrollTo(0, place.scroll)
        // The row that was opened takes the focus back from the heading of the page.
        wanted.current = place.row - first
        focusWanted()
      }
    }
    look()
    addEventListener('scroll', look, { passive: true })
    const fit = () => {
      measure()
      look()
    }
    addEventListener('resize', fit)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', fit)
    }
  }, [rows, rowHeight, onEnd])
  // The row that was asked for may have come into the document just now.
  useLayoutEffect(() => focusWanted(), [span, current])

  useKeys(
    [
      { key: 'j', label: t('table.next'), run: () => go(latest.current + 1) },
      { key: 'k', label: t('table.previous'), run: () => go(latest.current - 1) },
      { key: 'Home', label: t('table.first'), run: () => go(0) },
      { key: 'End', label: t('table.last'), run: () => go(rows.length - 1) },
    ],
    [rows, rowHeight],
  )

  /** Before a row is opened, the entry of the list learns where the person was. */
  const keep = ({ target }: Event) => {
    const row = rowOf(target)
    if (row === undefined || (target as Element).closest('a') === null) return
    const place: Kept = { row: first + row, scroll: window.scrollY }
    history.replaceState({ ...history.state, place }, '')
  }

  const widths = arrangement === undefined ? {} : widthsWithin(arrangement, width)
  return (
    <table
      class="full list nosel window"
      aria-label={label}
      aria-rowcount={total === undefined ? -1 : total + 1}
      aria-busy={isBusy}
      onClickCapture={keep}
    >
      <thead>
        <tr aria-rowindex={1}>
          {columns.map((column) => (
            <HeaderCell key={column.key} {...{ column, onWidth }} width={widths[column.key]} />
          ))}
        </tr>
      </thead>
      <tbody
        ref={body}
        onFocusIn={({ target }) => {
          const at = rowOf(target)
          if (at !== undefined) setCurrent(at)
        }}
      >
        <Gap rows={span.from} {...{ rowHeight }} width={columns.length} />
        {rows.slice(span.from, span.to).map((row, index) => {
          const at = span.from + index
          const isCurrent = at === current
          return <TableRow key={idOf(row)} {...{ row, columns, first, at, isCurrent }} />
        })}
        <Gap rows={Math.max(0, rows.length - span.to)} {...{ rowHeight }} width={columns.length} />
      </tbody>
    </table>
  )
}

type RowProps<Row> = {
  row: Row
  columns: readonly Column<Row>[]
  first: number
  at: number
  isCurrent: boolean
}

/**
 * A row that has not changed costs nothing while the window moves. The element of a row is made anew all the same: one
 * that is kept holds the elements of all rows that ever stood beside it.
 */
class TableRow<Row> extends Component<RowProps<Row>> {
  override shouldComponentUpdate(next: RowProps<Row>, state: unknown): boolean {
    // What a cell reads has changed, such as the clock.
    if (state !== this.state) return true
    const { row, columns, first, at, isCurrent } = this.props
    const isSame = row === next.row && columns === next.columns && isCurrent === next.isCurrent
    return !isSame || first !== next.first || at !== next.at
  }

  override render({ row, columns, first, at, isCurrent }: RowProps<Row>) {
    return (
      <tr data-row={at} aria-rowindex={first + at + 2} class={isCurrent ? 'current' : ''}>
        {columns.map(({ key, class: className, show }) => (
          <td key={key} class={className}>
            {show(row)}
          </td>
        ))}
      </tr>
    )
  }
}

/** The row in which the target of an event is. */
function rowOf(target: EventTarget | null): number | undefined {
  const row = (target as Element).closest('tr')?.dataset.row
  return row === undefined ? undefined : Number(row)
}

/** Whether something has the focus that belongs neither to a table nor to its pages. */
function isElsewhere(focused: Element | null): boolean {
  return focused !== null && focused !== document.body && focused.closest('table, .pager') === null
}

function linkOf(body: Element | null, row: number): HTMLAnchorElement | null {
  return body?.querySelector<HTMLAnchorElement>(`tr[data-row="${row}"] a`) ?? null
}

/** The place of the rows that are not in the document. */
function Gap({ rows, rowHeight, width }: { rows: number; rowHeight: number; width: number }) {
  if (rows === 0) return null
  return (
    <tr class="gap">
      <td colSpan={width} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  )
}
