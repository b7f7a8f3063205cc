/**
 * Writes the results of outbound in groups of up to 50; the groups share a commit. Results are
 * gathered for some milliseconds first, because a commit costs more than the rows. The delay is
 * short, and shortest at low load, because after a crash before the commit the delivered emails are
 * sent again. If a result causes an error, each result of its group is written by itself, so that
 * only that result is lost. Writing is retried until the result is durable.
 */
import { MINUTE_MS, type Now } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { DeliveryResult } from '../../../../outbound/delivery.ts'
import { isTransientDatabaseError } from '../../../../store/database-error.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { retryWhileUnwritable } from '../../../../store/write/writability.ts'
import type { Base } from '../../../ground/base.ts'
import {
  type AttemptRecord,
  type InFlightEmail,
  recordAttempts,
} from '../outcome/record-attempts.ts'
import type { Fuse, KnownDomains } from '../outcome/suppression-guards.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import { putBackEmails } from '../queue/put-back.ts'

const GATHER_MS = 5
/** The least time between two batches, unless the second one is full. */
const BUSY_GATHER_MS = 20
const MAX_GATHERED = 250
const RECORD_RETRY_MS = 1_000
/** The size of a group; other events are handled between two groups. */
const RESULTS_PER_WRITE = 50

/**
 * A jump of the clock ahead is believed after this time: as long as mail must be overdue before it
 * is given up untried (`queue/give-up.ts`).
 */
const BELIEVED_AFTER_MS = 10 * MINUTE_MS

const SMALL_JUMP_MS = MINUTE_MS

/**
 * A reading of both clocks. `at`: the monotonic clock. `leadMs`: how far the clock of the machine
 * was ahead of it.
 */
type Reading = { at: number; leadMs: number }

type Deps = Pick<Base, 'store' | 'config' | 'counters' | 'now' | 'log'> & {
  /** The time without recent jumps of the clock (`createSteadyClock`). */
  steadyNow: Now
  queueNotifier: QueueNotifier
  fuse: Fuse
  knownDomains: KnownDomains
}
type InFlight = Map<string, InFlightEmail | undefined>
type KnownResult = { email: InFlightEmail; result: DeliveryResult }

type ResultBuffer = {
  add(results: readonly DeliveryResult[]): void
  /** Resolves when all results, including those added meanwhile, are recorded. */
  settled(): Promise<void>
}

/** `clock`: a monotonic clock, in milliseconds. */
export function createResultBuffer(
  record: (results: readonly DeliveryResult[]) => Promise<void>,
  clock: () => number = () => performance.now(),
): ResultBuffer {
  let waiting: DeliveryResult[] = []
  let timer: NodeJS.Timeout | undefined
  let flushedAt = Number.NEGATIVE_INFINITY
  const recordings = new Set<Promise<void>>()

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    flushedAt = clock()
    const recording = record(waiting).finally(() => recordings.delete(recording))
    recordings.add(recording)
    waiting = []
  }

  function gatherMs(): number {
    return Math.max(GATHER_MS, flushedAt + BUSY_GATHER_MS - clock())
  }

  function add(results: readonly DeliveryResult[]): void {
    waiting.push(...results)
    if (waiting.length >= MAX_GATHERED) flush()
    else timer ??= setTimeout(flush, gatherMs())
  }

  async function settled(): Promise<void> {
    for (;;) {
      flush()
      if (recordings.size === 0) return
      await Promise.all(recordings)
    }
  }

  return { add, settled }
}

/**
 * Returns a clock without the jumps that the clock of the machine made in the last ten minutes. A jump ahead is
 * believed after ten minutes of the running time of this process; a jump back, or one ahead by less than a minute, at
 * once. Sleep of the machine counts as a jump, too. Without jumps the clock is that of the machine. `elapsed`: a
 * monotonic clock in milliseconds.
 */
export function createSteadyClock(now: Now, elapsed: () => number): Now {
  let readings: Reading[] = []

  function read(): number {
    const at = elapsed()
    const clock = now()
    add({ at, leadMs: clock - at })
    // Of the readings that are old enough, the newest stays: there may be no newer one.
    const first = readings.findLastIndex((reading) => reading.at <= at - BELIEVED_AFTER_MS)
    if (first > 0) readings = readings.slice(first)
    const steady = at + Math.min(...readings.map(({ leadMs }) => leadMs))
    return clock - steady < SMALL_JUMP_MS ? clock : steady
  }

  /** Readings of the same minute are one, with the least lead. */
  function add(reading: Reading): void {
    const last = readings.at(-1)
    if (last === undefined || reading.at - last.at >= MINUTE_MS) readings.push(reading)
    else last.leadMs = Math.min(last.leadMs, reading.leadMs)
  }

  read()
  return read
}

/** Removes each email from `inFlight` when its result is durable. Never rejects. */
export async function recordResults(
  deps: Deps,
  inFlight: InFlight,
  results: readonly DeliveryResult[],
): Promise<void> {
  // The notification comes before the write, so that the claims that it causes share the commit.
  deps.queueNotifier.notify('capacity')
  const known = results.flatMap((result) => {
    const email = inFlight.get(result.emailId)
    return email === undefined ? [] : [{ email, result }]
  })
  deps.fuse.countTried(known.filter(hasVerdict).length)
  const writes: Promise<void>[] = []
  for (let from = 0; from < known.length; from += RESULTS_PER_WRITE) {
    writes.push(recordSome(deps, inFlight, known.slice(from, from + RESULTS_PER_WRITE)))
  }
  await Promise.all(writes)
}

/**
 * Whether the attempt reached a verdict, so that the fuse counts the email as tried. A deferral
 * without a connection is no decision of a receiver.
 */
function hasVerdict({ result }: KnownResult): boolean {
  if (result.kind !== 'attempted') return false
  return result.outcome.host !== null || result.outcome.result !== 'deferred'
}

async function recordSome(
  deps: Deps,
  inFlight: InFlight,
  known: readonly KnownResult[],
): Promise<void> {
  const write = (some: readonly KnownResult[]) =>
    deps.store.write(async (tx) => {
      await record(deps, tx, some)
      tx.afterCommit(() => forget(inFlight, some))
    })
  let isRefused = false
  const from = performance.now()
  await keepTrying(deps, () =>
    write(known).catch((error) => {
      if (known.length === 1 || isTransientDatabaseError(error)) throw error
      isRefused = true
    }),
  )
  if (isRefused) await Promise.all(known.map((each) => keepTrying(deps, () => write([each]))))
  const tookMs = performance.now() - from
  deps.counters.observe('pillarbox_queue_batch_duration_seconds', tookMs, 'outcomes')
  forget(inFlight, known)
}

/**
 * Removes emails from those in flight, unless an email was put back and has been claimed again
 * meanwhile: then its new entry stays.
 */
function forget(inFlight: InFlight, known: readonly KnownResult[]): void {
  for (const { email } of known) if (inFlight.get(email.id) === email) inFlight.delete(email.id)
}

async function record(deps: Deps, tx: Tx, known: readonly KnownResult[]): Promise<void> {
  const attempted: AttemptRecord[] = []
  const putBack = new Map<string, { ids: string[]; dueAt: number; reason: string | undefined }>()
  for (const { email, result } of known) {
    if (result.kind === 'attempted') {
      const { site, outcome, subject, faults, startedAt } = result
      attempted.push({ email, site, outcome, subject, faults, startedAt })
    } else {
      const { retryAt, reason } = result
      const dueAt = retryAt ?? deps.now()
      const name = `${dueAt} ${reason}`
      const group = putBack.get(name) ?? { ids: [], dueAt, reason }
      group.ids.push(email.id)
      putBack.set(name, group)
    }
  }
  await recordAttempts(deps, tx, attempted)
  for (const group of putBack.values()) await putBackEmails(deps, tx, group)
}

/** Repeats `act` while the database cannot be written, until the signal is aborted. Logs the first error. */
export async function keepTrying(
  { log }: Pick<Base, 'log'>,
  act: () => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  let isLogged = false
  const logged = async () => {
    try {
      await act()
    } catch (error) {
      const facts = { error: describeError(error) }
      if (!isLogged) log.error(facts, 'the results of emails could not be recorded')
      isLogged = true
      throw error
    }
  }
  const wait = async () => {
    await pause(RECORD_RETRY_MS, signal)
    return signal?.aborted !== true
  }
  // The error is in the log. The queue recovers the email when its lease ends.
  await retryWhileUnwritable(logged, wait).catch(() => undefined)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const end = () => resolve()
  signal?.addEventListener('abort', end)
  await promise
  signal?.removeEventListener('abort', end)
  clearTimeout(timer)
}
