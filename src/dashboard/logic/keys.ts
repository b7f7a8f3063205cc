/** Which key of the dashboard an event of the keyboard is. */

type KeyEvent = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing'>

/** `e`, `?`, `Enter`, or `mod+k` with Ctrl or Command; undefined for a key that belongs to others. */
export function readKey({ key, ctrlKey, metaKey, altKey, isComposing }: KeyEvent): string | undefined {
  if (altKey || isComposing || key === 'Dead') return undefined
  if (ctrlKey || metaKey) return key.length === 1 ? `mod+${key.toLowerCase()}` : `mod+${key}`
  return key
}

/** Whether a key belongs to the field that has the focus. */
export function isTyping(target: EventTarget | null): boolean {
  if (target === null || !('closest' in target)) return false
  const field = 'input, textarea, select, [contenteditable], [role=combobox], [role=listbox]'
  return (target as Element).closest(field) !== null
}
