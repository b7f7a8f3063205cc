/** Short messages about what finished elsewhere. What succeeds on the spot changes the thing itself. */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

type Toast = { id: number; content: ComponentChildren }

const SHOWN_MS = 8_000

const toasts = signal<readonly Toast[]>([])
let lastId = 0

/** Shows the message for eight seconds; `undo` and links in it stay usable by then. */
export function toast(content: ComponentChildren): void {
  lastId += 1
  const id = lastId
  toasts.value = [...toasts.value, { id, content }]
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id)
  }, SHOWN_MS)
}

/** The live region of the messages: once on the page, also while it is empty. */
export function Toasts() {
  return (
    <output class="toasts">
      {toasts.value.map(({ id, content }) => (
        <p key={id}>{content}</p>
      ))}
    </output>
  )
}
