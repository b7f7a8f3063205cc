/** The filters above a list: a search field, and a chip for each field that opens its choices. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { toggled } from '../logic/url-state.ts'
import { t } from '../text/text.ts'
import { Icon } from './icon.tsx'
import { useKeys } from './keys.ts'
import { lazy } from './lazy.tsx'
import type { Choice } from './menu.tsx'
import { Suspense } from './suspense.tsx'

/** Chips are opened seldom: what they show is loaded then. */
const Menu = lazy(() => import('./menu.tsx'))

/** How long the field waits after a key before it searches. */
const PAUSE_MS = 250

type SearchProps = {
  label: string
  hint: string
  value: string
  onSearch(text: string): void
  /** Called at Enter, after `onSearch`. */
  onEnter?(): void
}

export function SearchField({ label, hint, value, onSearch, onEnter }: SearchProps) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const [text, setText] = useState(value)
  // The address may change without the field: by going back, or by clearing the filter.
  useEffect(() => {
    // The address has the text without the space at its end, after which somebody may go on.
    if (timer.current === undefined && value !== text.trim()) setText(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  useKeys([{ key: '/', label: t('table.search'), run: () => field.current?.focus() }], [])
  const search = (wanted: string) => {
    clearTimeout(timer.current)
    timer.current = undefined
    if (wanted.trim() !== value) onSearch(wanted.trim())
  }
  return (
    <label class="grow find">
      <span class="sr">{label}</span>
      <input
        ref={field}
        class="input"
        type="search"
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        maxLength={320}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => search(currentTarget.value), PAUSE_MS)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          search(text)
          onEnter?.()
        }}
      />
    </label>
  )
}

type ChipProps = {
  label: string
  /** What is chosen, in words; undefined while nothing is. */
  shown?: string | undefined
  class?: string
  /** `close` closes the popover and gives the focus back to the chip. */
  children(close: () => void): ComponentChildren
}

export function Chip({ label, shown, class: className = '', children }: ChipProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const popover = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  useLayoutEffect(() => {
    const { current: element } = popover
    if (!isOpen || element === null) return
    // What it shows may still load, and make it wider.
    const observer = new ResizeObserver(() => place(button.current, element))
    observer.observe(element)
    return () => observer.disconnect()
  }, [isOpen])
  const close = () => {
    popover.current?.hidePopover()
    button.current?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`chip ${shown === undefined ? '' : 'on'} ${className}`}
        popovertarget={id}
        aria-expanded={isOpen}
        aria-haspopup="dialog"
      >
        {shown === undefined ? label : `${label}: ${shown}`} <Icon name="down" />
      </button>
      <div
        ref={popover}
        id={id}
        class="pop"
        popover="auto"
        role="dialog"
        aria-label={label}
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && children(close)}
      </div>
    </>
  )
}

/** Below the chip, and inside of the page. */
function place(button: HTMLElement | null, popover: HTMLElement): void {
  if (button === null) return
  const { left, bottom } = button.getBoundingClientRect()
  const most = document.documentElement.clientWidth - popover.offsetWidth - 8
  popover.style.left = `${Math.max(8, Math.min(left, most)) + window.scrollX}px`
  popover.style.top = `${bottom + 4 + window.scrollY}px`
}

type ChoiceChipProps = {
  label: string
  choices: readonly Choice[]
  chosen: readonly string[]
  isMany?: boolean
  class?: string
  onChange(chosen: readonly string[]): void
}

/** A chip with a menu: of one choice, or of several. */
export function ChoiceChip(props: ChoiceChipProps) {
  const { label, choices, chosen, isMany = false, onChange, class: className = '' } = props
  const named = choices.filter(({ value }) => chosen.includes(value)).map(({ label: name }) => name)
  return (
    <Chip label={label} shown={summary(named, chosen)} class={className}>
      {(close) => (
        <>
          <Suspense>
            <Menu
              {...{ label, choices, chosen, isMany }}
              onChoose={(value) => {
                const others = isMany ? chosen : []
                onChange(chosen.includes(value) && !isMany ? [] : toggled(others, value))
                if (!isMany) close()
              }}
            />
          </Suspense>
          <ClearButton
            isShown={chosen.length > 0}
            onClear={() => {
              onChange([])
              close()
            }}
          />
        </>
      )}
    </Chip>
  )
}

/** The last item of a popover: takes the filter away. */
export function ClearButton({ isShown, onClear }: { isShown: boolean; onClear(): void }) {
  if (!isShown) return null
  return (
    <button class="btn quiet clear" type="button" onClick={onClear}>
      {t('filter.clear')}
    </button>
  )
}

/** `delivered and 2 more` */
function summary(named: readonly string[], chosen: readonly string[]): string | undefined {
  const [first = chosen[0]] = named
  if (first === undefined) return undefined
  if (chosen.length === 1) return first
  return t('filter.more', { name: first, count: chosen.length - 1 })
}
