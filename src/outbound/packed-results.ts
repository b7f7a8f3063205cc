/**
 * Results on their way from a delivery thread to the main thread: collected in batches, and packed as numbers and
 * a list of values in which each value has one place. Most values, such as hosts and replies, are the same in all
 * results of a batch. A structured clone of the results would write the names of the properties for each object
 * anew, which takes almost three times as long.
 */

import type { Now } from '../base/clock.ts'
import type { AttemptOutcome, AttemptStep } from './attempt.ts'
import { MAX_BATCHED_RESULTS, type PackedResults, type TaskResult } from './protocol.ts'

type Attempted = Extract<TaskResult, { kind: 'attempted' }>

type TextPlace = (value: unknown) => number

type Reader = { number(): number; value<T>(): T }

/** In place of the number of steps: the result is a value. */
const WHOLE = -1

type ResultBatches = { add(result: TaskResult): void; flush(): void }

type ResultBatchesDeps = {
  accepted: SharedArrayBuffer
  post(results: TaskResult[]): void
  now: Now
}

const BEAT_MS = 20
const AFTER_REST_MS = 5

export function packResults(results: readonly TaskResult[]): PackedResults {
  const numbers: number[] = []
  const places = new Map<unknown, number>()
  const place = (value: unknown) => {
    const known = places.get(value)
    if (known === undefined) places.set(value, places.size)
    return known ?? places.size - 1
  }
  for (const result of results) {
    if (result.kind !== 'attempted') numbers.push(WHOLE, place(result))
    else packAttempted(result, numbers, place)
  }
  const { length: count } = results
  return { count, numbers: Float64Array.from(numbers), values: [...places.keys()] }
}

function packAttempted(attempted: Attempted, numbers: number[], place: TextPlace): void {
  const { task, startedAt, subject, faults, brokenTls, outcome } = attempted
  const { result, verdict, host, address, tls, reply, error, steps, isMaybeDelivered } = outcome
  numbers.push(steps.length, task, startedAt, outcome.durationMs)
  numbers.push(place(subject), place(faults), place(brokenTls), place(result), place(verdict))
  numbers.push(place(host), place(address), place(tls), place(reply), place(error))
  numbers.push(place(isMaybeDelivered))
  for (const step of steps) {
    numbers.push(step.at, step.durationMs, place(step.step), place(step.host))
    numbers.push(place(step.address), place(step.reply), place(step.error))
  }
}

export function unpackResults({ count, numbers, values }: PackedResults): TaskResult[] {
  let at = 0
  const number = () => numbers[at++] as number
  const value = <T>() => values[number()] as T
  const results: TaskResult[] = []
  while (results.length < count) {
    const steps = number()
    results.push(steps === WHOLE ? value<TaskResult>() : unpackAttempted({ number, value }, steps))
  }
  return results
}

/** The order of the properties is that of `packAttempted`. */
function unpackAttempted({ number, value }: Reader, stepCount: number): Attempted {
  const own = { task: number(), kind: 'attempted', startedAt: number() } as const
  const durationMs = number()
  const rest = {
    subject: value<Attempted['subject']>(),
    faults: value<Attempted['faults']>(),
    brokenTls: value<Attempted['brokenTls']>(),
  }
  const steps: AttemptStep[] = []
  const outcome: AttemptOutcome = {
    result: value(),
    verdict: value(),
    host: value(),
    address: value(),
    tls: value(),
    reply: value(),
    error: value(),
    isMaybeDelivered: value(),
    durationMs,
    steps,
  }
  for (let index = 0; index < stepCount; index += 1) steps.push(unpackStep({ number, value }))
  return { ...own, ...rest, outcome }
}

function unpackStep({ number, value }: Reader): AttemptStep {
  const [at, durationMs] = [number(), number()]
  const step: AttemptStep = { step: value(), at, durationMs }
  const host = value<string | undefined>()
  const address = value<string | undefined>()
  const reply = value<AttemptStep['reply']>()
  const error = value<string | undefined>()
  if (host !== undefined) step.host = host
  if (address !== undefined) step.address = address
  if (reply !== undefined) step.reply = reply
  if (error !== undefined) step.error = error
  return step
}

/**
 * In a delivery thread: collects results into batches of at most 100. Under load a batch leaves at the next beat,
 * which all threads have in common, so that one transaction takes the batches of all threads. After a rest the
 * first results wait for a moment only. Until a batch leaves, the task numbers of its accepted messages are in
 * `accepted`, which the main thread reads if it has to end this thread.
 */
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
