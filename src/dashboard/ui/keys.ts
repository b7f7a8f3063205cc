/**
 * Keys of the page. A screen registers its own while it is shown, and `?` lists all. Single keys do nothing in
 * fields, and can be turned off (WCAG 2.1.4).
 */
import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { isTyping, readKey } from '../logic/keys.ts'
import { keep, readKept } from '../logic/storage.ts'

/** `key`: `e`, `g e` for two keys in a row, or `mod+k` for Ctrl or Command. */
export type Binding = { key: string; label: string; run(): void; isGlobal?: boolean }

const STORED = 'pillarbox.single-keys'
/** How long the first of two keys waits for the second. */
const SEQUENCE_MS = 1_000

export const bindings = signal<readonly Binding[]>([])
let pending: { key: string; at: number } | undefined

export function areSingleKeysOn(): boolean {
  return readKept(STORED) !== 'off'
}

export function setSingleKeys(isOn: boolean): void {
  keep(STORED, isOn ? 'on' : 'off')
}

export function useKeys(own: readonly Binding[], changesWith: readonly unknown[] = []): void {
  // Before the next key, which may follow at once: it must not act on what was shown before.
  useLayoutEffect(() => {
    bindings.value = [...bindings.value, ...own]
    return () => {
      bindings.value = bindings.value.filter((one) => !own.includes(one))
    }
  }, changesWith)
}

/** Does what the key does here. */
export function act(key: string): void {
  bindings.value.findLast((one) => one.key === key)?.run()
}

addEventListener('keydown', (event) => {
  const key = readKey(event)
  if (key === undefined || event.defaultPrevented) return
  // A firm dialog has something that must not be lost: nothing opens above it.
  if (document.querySelector('dialog[open][closedby=none]') !== null) return
  const isSingle = !key.startsWith('mod+')
  if (isSingle && (!areSingleKeysOn() || isTyping(event.target as Element | null))) return
  // Below an open dialog, only keys with Ctrl or Command act.
  if (isSingle && document.querySelector('dialog[open]') !== null) return
  const isSequence = pending !== undefined && event.timeStamp - pending.at < SEQUENCE_MS
  const pressed = isSequence ? `${pending?.key} ${key}` : key
  pending = undefined
  // The newest binding wins, so that a screen may take a key of the frame.
  const found = bindings.value.findLast((one) => one.key === pressed)
  if (found !== undefined) {
    event.preventDefault()
    found.run()
  } else if (bindings.value.some((one) => one.key.startsWith(`${pressed} `))) {
    pending = { key: pressed, at: event.timeStamp }
  }
})
