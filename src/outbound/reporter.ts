/** In a delivery thread: results go back in batches of 100, or what there is after 20 ms. */
import type { ThreadResult } from './protocol.ts'

export type Reporter = { add(result: ThreadResult): void; flush(): void }

const MAX_RESULTS = 100
const MAX_WAIT_MS = 20

export function createReporter(post: (results: ThreadResult[]) => void): Reporter {
  let results: ThreadResult[] = []
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (results.length === 0) return
    const batch = results
    results = []
    post(batch)
  }

  function add(result: ThreadResult): void {
    results.push(result)
    if (results.length >= MAX_RESULTS) flush()
    else timer ??= setTimeout(flush, MAX_WAIT_MS)
  }

  return { add, flush }
}
