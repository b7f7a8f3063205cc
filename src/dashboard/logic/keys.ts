/** Which key of the dashboard an event of the keyboard is. */

type KeyEvent = {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  isComposing: boolean
}

/** An element, in so far as it is looked at here. */
type Target = { closest?(selector: string): unknown }

/** `e`, `?`, `Enter`, or `mod+k` with Ctrl or Command; undefined for a key that belongs to others. */
export function readKey({
  key,
  ctrlKey,
  metaKey,
  altKey,
  isComposing,
}: KeyEvent): string | undefined {
  if (altKey || isComposing || key === 'Dead') return undefined
  if (ctrlKey || metaKey) return key.length === 1 ? `mod+${key.toLowerCase()}` : `mod+${key}`
  return key
}

const FIELD = 'input, textarea, select, [contenteditable], [role=combobox], [role=listbox]'

/** Whether a key belongs to the field that has the focus. */
export function isTyping(target: Target | null): boolean {
  return (target?.closest?.(FIELD) ?? null) !== null
}
