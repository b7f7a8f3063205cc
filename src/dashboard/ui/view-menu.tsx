/** What the chip *View* of a list opens: pages or one long table, and which columns, in which order, how wide. */
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { withMoved, withShown } from '../logic/column-moves.ts'
import { MAX_WIDTH, MIN_WIDTH, usual, withWidth } from '../logic/columns.ts'
import { view as viewTexts } from '../text/en/view.ts'
import { addTexts, t } from '../text/text.ts'
import { Icon } from './icon.tsx'
import type { Column } from './table.tsx'
import type { ListView } from './use-list-view.ts'

addTexts(viewTexts)

/** Pixels of one press of an arrow key. */
const WIDTH_STEP = 8

// biome-ignore lint/suspicious/noExplicitAny: the menu shows no row, so lists of all kinds of rows have it.
type MenuProps = { view: ListView<any> }

export default function ViewMenu({ view }: MenuProps) {
  const { all, columns, arrangement, change, isPaged, setPaged } = view
  const [said, say] = useState('')
  const hidden = all.filter(({ key }) => !arrangement.shown.includes(key))
  return (
    <>
      <label class="view-pages">
        <input
          type="checkbox"
          checked={isPaged}
          onChange={({ currentTarget }) => setPaged(currentTarget.checked)}
        />
        {t('view.pages')}
      </label>
      <fieldset class="view-columns wide-only">
        <legend>{t('view.columns')}</legend>
        <ul>
          {[...columns, ...hidden].map((column) => (
            <ColumnItem key={column.key} {...{ view, column, say }} />
          ))}
        </ul>
        <button class="btn quiet" type="button" onClick={() => change(() => usual(all))}>
          {t('view.usual')}
        </button>
      </fieldset>
      <p class="sr" aria-live="polite">
        {said}
      </p>
    </>
  )
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
type ItemProps = MenuProps & { column: Column<any>; say(text: string): void }

function ColumnItem({ view: { arrangement, change }, column, say }: ItemProps) {
  const { key, label, isFixed = false } = column
  const { shown, widths } = arrangement
  const id = useId()
  const at = shown.indexOf(key)
  const isShown = at !== -1
  const refocus = useRef<HTMLElement | null>(null)
  // The item has moved in the document, by which it lost the focus.
  useLayoutEffect(() => {
    refocus.current?.focus()
    refocus.current = null
  }, [at])
  const move = (button: HTMLButtonElement, by: number) => {
    const moved = withMoved(arrangement, key, by)
    if (moved === arrangement) return
    refocus.current = button
    change(() => moved)
    const place = moved.shown.indexOf(key) + 1
    say(t('view.moved', { column: label, place, count: shown.length }))
  }
  const resize = (width: number, isPassing: boolean) =>
    change((now) => withWidth(now, key, width), isPassing)
  return (
    <li>
      <input
        id={id}
        type="checkbox"
        checked={isShown}
        disabled={isFixed}
        onChange={({ currentTarget }) => {
          refocus.current = currentTarget
          change((now) => withShown(now, key, currentTarget.checked))
        }}
      />
      <label class="grow" for={id}>
        {label}
      </label>
      {isShown && (
        <>
          <input
            type="range"
            aria-label={t('view.width', { column: label })}
            min={MIN_WIDTH}
            max={MAX_WIDTH}
            step={WIDTH_STEP}
            value={widths[key] ?? widthOf(key)}
            onInput={({ currentTarget }) => resize(Number(currentTarget.value), true)}
            onChange={({ currentTarget }) => resize(Number(currentTarget.value), false)}
          />
          <MoveButton
            name="up"
            label={t('view.up', { column: label })}
            isAtEnd={at === 0}
            onMove={(button) => move(button, -1)}
          />
          <MoveButton
            name="down"
            label={t('view.down', { column: label })}
            isAtEnd={at === shown.length - 1}
            onMove={(button) => move(button, 1)}
          />
        </>
      )}
    </li>
  )
}

type MoveProps = {
  name: 'up' | 'down'
  label: string
  isAtEnd: boolean
  onMove(button: HTMLButtonElement): void
}

/** At an end it stays a button, since a disabled one would lose the focus. */
function MoveButton({ name, label, isAtEnd, onMove }: MoveProps) {
  return (
    <button
      class="btn quiet icon"
      type="button"
      aria-label={label}
      aria-disabled={isAtEnd}
      onClick={({ currentTarget }) => onMove(currentTarget)}
    >
      <Icon name={name} />
    </button>
  )
}

/** The pixels that the column has now. */
function widthOf(key: string): number {
  return document.querySelector<HTMLElement>(`th.w-${key}`)?.offsetWidth ?? 0
}
