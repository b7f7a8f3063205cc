/**
 * In a delivery thread: results go back in batches of 100, or what there is after 20 ms. Messages
 * that their receivers have taken stand in `taken` meanwhile, which the main thread can read when
 * this thread had to be ended before it could tell.
 */
import type { ThreadResult } from '../protocol.ts'

export type ResultBatches = { add(result: ThreadResult): void; flush(): void }

const MAX_RESULTS = 100
const MAX_WAIT_MS = 20

/** For the task numbers of one batch. */
export function createTaken(): SharedArrayBuffer {
  return new SharedArrayBuffer(MAX_RESULTS * Int32Array.BYTES_PER_ELEMENT)
}

/** Also of batches that have been sent: their tasks are known to be over. */
export function readTaken(taken: SharedArrayBuffer): Set<number> {
  return new Set(new Int32Array(taken))
}

export function createResultBatches(
  taken: SharedArrayBuffer,
  post: (results: ThreadResult[]) => void,
): ResultBatches {
  const numbers = new Int32Array(taken)
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
    numbers[results.length] = isTaken(result) ? result.task : 0
    results.push(result)
    if (results.length >= MAX_RESULTS) flush()
    else timer ??= setTimeout(flush, MAX_WAIT_MS)
  }

  return { add, flush }
}

function isTaken(result: ThreadResult): boolean {
  if (result.kind !== 'attempted') return false
  const { result: outcome } = result.outcome
  return outcome === 'delivered' || outcome === 'relayed'
}
