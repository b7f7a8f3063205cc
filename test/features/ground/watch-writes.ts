/** Tells when the store was written, so that a test reads what it waits for no more often. */
import type { TestCore } from '../../core.ts'

/** Call before parts take the store. The result gives the end of the next write, whichever it is. */
export function watchWrites({ store }: TestCore): () => Promise<void> {
  const { write } = store
  let next = Promise.withResolvers<void>()
  store.write = (act, options) =>
    write(act, options).finally(() => {
      next.resolve()
      next = Promise.withResolvers<void>()
    })
  return () => next.promise
}
