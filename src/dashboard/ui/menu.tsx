/** A menu of choices inside of a popover: arrows move, letters jump, Enter and the space key choose. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isTyping } from '../logic/keys.ts'
import { Icon } from './icon.tsx'

export type Choice = { value: string; label: string }

type MenuProps = {
  label: string
  choices: readonly Choice[]
  /** The values that are chosen. */
  chosen: readonly string[]
  /** Several may be chosen at a time. */
  isMany?: boolean
  onChoose(value: string): void
}

export default function Menu({ label, choices, chosen, isMany = false, onChoose }: MenuProps) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const items = itemsOf(element.current)
    const first = items.find((item) => item.getAttribute('aria-checked') === 'true') ?? items[0]
    // The choices may come late: somebody who types in the meantime keeps the focus.
    if (!isTyping(document.activeElement)) first?.focus()
  }, [])
  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const items = itemsOf(element.current)
    const at = items.indexOf(document.activeElement as HTMLElement)
    const target = targetOf(event.key, items, at)
    if (target !== undefined) {
      event.preventDefault()
      items[target]?.focus()
    }
    // Single keys of the page do nothing in a menu.
    if (event.key.length === 1) event.stopPropagation()
  }
  return (
    <div
      ref={element}
      class="choices"
      role="menu"
      tabIndex={-1}
      aria-label={label}
      onKeyDown={move}
    >
      {choices.map(({ value, label: name }) => (
        <button
          key={value}
          type="button"
          {...{
            role: isMany ? 'menuitemcheckbox' : 'menuitemradio',
            'aria-checked': chosen.includes(value),
          }}
          tabIndex={-1}
          onClick={() => onChoose(value)}
        >
          <Icon name="check" />
          <span>{name}</span>
        </button>
      ))}
    </div>
  )
}

function itemsOf(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
}

function targetOf(key: string, items: readonly HTMLElement[], at: number): number | undefined {
  const last = items.length - 1
  if (key === 'ArrowDown') return at === last ? 0 : at + 1
  if (key === 'ArrowUp') return at <= 0 ? last : at - 1
  if (key === 'Home') return 0
  if (key === 'End') return last
  if (key.length !== 1 || key === ' ') return undefined
  const begins = (item: HTMLElement) =>
    item.textContent?.trim().toLowerCase().startsWith(key.toLowerCase()) === true
  const after = items.findIndex((item, index) => index > at && begins(item))
  const found = after === -1 ? items.findIndex(begins) : after
  return found === -1 ? undefined : found
}
