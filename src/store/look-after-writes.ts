import type { Store } from './store.ts'

/**
 * Calls `look` within `everyMs` after a write of this process, at most once in that time, and soon after a
 * write of another process. While nobody writes, the database has nothing new. `look` must not throw.
 * Returns a function that ends the looking.
 */
export function lookAfterWrites(
  store: Pick<Store, 'onCommit' | 'onExternalChange'>,
  everyMs: number,
  look: () => void,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const unlisten = store.onCommit(() => {
    timer ??= setTimeout(() => {
      timer = undefined
      look()
    }, everyMs).unref()
  })
  const unwatch = store.onExternalChange(look)
  return () => {
    unlisten()
    unwatch()
    clearTimeout(timer)
  }
}
