/**
 * A clock that components read: texts such as "in 31 minutes" follow it while somebody looks. While the page is hidden,
 * it stands, so that nothing is asked for.
 */
import { signal } from '@preact/signals'

const TICK_MS = 30_000

/** Epoch milliseconds of the last tick. */
export const tick = signal(Date.now())

/** Whether somebody may look. */
export const isVisible = signal(!document.hidden)

setInterval(() => {
  if (!document.hidden) tick.value = Date.now()
}, TICK_MS)
document.addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden
  if (isVisible.value) tick.value = Date.now()
})
