/**
 * In a delivery thread: results on their way to the main thread, in batches of at most 100. Under load a batch
 * leaves at the next beat, which all threads have in common, so that one transaction takes what all of them
 * send. After a rest the first results wait a moment only. Until they leave, the task numbers of accepted
 * messages are in `accepted`, which the main thread reads if it has to end this thread.
 */
import type { Now } from '../../base/clock.ts'
import { MAX_BATCHED_RESULTS, type TaskResult } from '../protocol.ts'

type ResultBatches = { add(result: TaskResult): void; flush(): void }

type ResultBatchesDeps = {
  accepted: SharedArrayBuffer
  post(results: TaskResult[]): void
  now: Now
}

const BEAT_MS = 20
const AFTER_REST_MS = 5

export function createResultBatches({ accepted, post, now }: ResultBatchesDeps): ResultBatches {
  const numbers = new Int32Array(accepted)
  let results: TaskResult[] = []
  let timer: NodeJS.Timeout | undefined
  let flushedAt = Number.NEGATIVE_INFINITY

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (results.length === 0) return
    const batch = results
    results = []
    flushedAt = now()
    post(batch)
  }

  function add(result: TaskResult): void {
    numbers[results.length] = isAccepted(result) ? result.task : 0
    results.push(result)
    if (results.length >= MAX_BATCHED_RESULTS) flush()
    else timer ??= setTimeout(flush, waitMs())
  }

  function waitMs(): number {
    const at = now()
    const isLoad = Math.abs(at - flushedAt) <= BEAT_MS
    return isLoad ? BEAT_MS - (at % BEAT_MS) : AFTER_REST_MS
  }

  return { add, flush }
}

function isAccepted(result: TaskResult): boolean {
  if (result.kind !== 'attempted') return false
  const { result: outcome } = result.outcome
  return outcome === 'delivered' || outcome === 'relayed'
}
