/** A clock that components read: texts such as "in 31 minutes" follow it while somebody looks. */
import { signal } from '@preact/signals'

const TICK_MS = 30_000

/** Epoch milliseconds of the last tick. */
export const tick = signal(Date.now())

setInterval(() => {
  if (!document.hidden) tick.value = Date.now()
}, TICK_MS)
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) tick.value = Date.now()
})
