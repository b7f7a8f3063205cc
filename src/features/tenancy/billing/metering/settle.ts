/**
 * Settles batches to which Stripe never answered, by the count of the meter in their minute. The
 * summary of a minute is the sum of all batches of the customer in it, so the known batches are
 * subtracted. If several batches are unknown, those are sent again whose sum is missing. Whichever
 * they are, the charged sum is right.
 *
 * A minute is unknown if one of its batches was tried with another meter than today's. The summary
 * of that other meter is no proof either: a meter event names no meter, and the noted meter was
 * read up to an hour before the try, so its successor may have counted. Today's meter is read
 * after the last try, because the client reads it once an hour, and a minute is settled an hour
 * after its last try.
 */
import { MINUTE_MS } from '../../../../base/clock.ts'
import { newId } from '../../../../store/ids.ts'
import type { Meter } from '../stripe.ts'
import { isFault, type StripeFault } from '../stripe-fault.ts'
import {
  listWindow,
  listWindows,
  noteLook,
  renew,
  SETTLE_AFTER_MS,
  setCharged,
  type WindowBatch,
} from './batches.ts'
import { drop, dropBatch } from './drop.ts'
import { describeMeterFault, type MeteringDeps } from './send.ts'

/** The number of minutes that one run settles. */
const WINDOWS = 50
/** The number of minutes without an answer of Stripe after which a run settles no more. */
const MAX_FAULTS = 3

const UNDECIDABLE = 'the summary of the meter does not tell whether it was counted'

type MeterMinute = { customer: string; startsAt: number }
type MeterRange = MeterMinute & { endsAt: number }

/**
 * Settles the minutes that are due. A minute without an answer of Stripe holds up no other: it is
 * looked at again after all others. Returns whether Stripe answered for all minutes; if not,
 * Stripe may be out.
 *
 * @throws StripeFault when no minute can be settled
 */
export async function settle(deps: MeteringDeps, signal: AbortSignal): Promise<boolean> {
  const before = deps.now() - SETTLE_AFTER_MS
  const windows = await deps.store.scan.list(listWindows, { before, limit: WINDOWS })
  let faults = 0
  for (const window of windows) {
    if (signal.aborted || faults === MAX_FAULTS) break
    await deps.store.write((tx) => tx.execute(noteLook, { ...rangeOf(window), at: deps.now() }))
    try {
      await settleWindow(deps, window, signal)
    } catch (error) {
      if (isFault(error, 'refused')) await dropWindow(deps, { window, signal }, error)
      else if (signal.aborted || !isFault(error, 'unanswered')) throw error
      else faults += 1
    }
  }
  return faults === 0
}

/**
 * Drops the batches of a minute whose summary Stripe refuses: it gives none for a deleted customer.
 * Drops nothing if the refusal concerns an old meter.
 */
async function dropWindow(
  deps: MeteringDeps,
  { window, signal }: { window: MeterMinute; signal: AbortSignal },
  fault: StripeFault,
): Promise<void> {
  const { id: asked } = await deps.stripe.meter({ signal })
  const { id } = await deps.stripe.meter({ isFresh: true, signal })
  if (id !== asked) return
  const batches = await deps.store.read.list(listWindow, rangeOf(window))
  for (const batch of batches.filter(({ state }) => state === 'settling')) {
    await dropBatch(deps, { id: batch.id, error: describeMeterFault(fault) })
  }
}

async function settleWindow(
  deps: MeteringDeps,
  window: MeterMinute,
  signal: AbortSignal,
): Promise<void> {
  const range = rangeOf(window)
  const batches = await deps.store.read.list(listWindow, range)
  if (!isQuiet(batches, deps.now() - SETTLE_AFTER_MS)) return
  const meter = await deps.stripe.meter({ signal })
  const isOwn = batches.every(({ meter: used }) => used === null || used === meter.id)
  const counted = isOwn ? await readCounted(deps, meter, { range, signal }) : undefined
  const verdict = judgeBatches(batches, counted)
  await deps.store.write(async (tx) => {
    const at = deps.now()
    for (const id of verdict.counted) await tx.execute(setCharged, { id, at })
    for (const id of verdict.missing) await tx.execute(renew, { id, newId: newId(), at })
    for (const id of verdict.unknown) await drop(deps, tx, { id, error: UNDECIDABLE })
  })
  const facts = { ...window, ...verdict }
  deps.log.info(facts, 'batches without an answer were settled by the summary of the meter')
}

function rangeOf({ customer, startsAt }: MeterMinute): MeterRange {
  return { customer, startsAt, endsAt: startsAt + MINUTE_MS }
}

/** Whether Stripe has had the time to add up all events of the minute. */
function isQuiet(batches: readonly WindowBatch[], before: number): boolean {
  return batches.every(({ state, firstTriedAt, lastTriedAt, updatedAt }) => {
    if (firstTriedAt === null) return true
    if (state === 'waiting') return false
    return (lastTriedAt ?? 0) <= before && (state !== 'charged' || updatedAt <= before)
  })
}

async function readCounted(
  { stripe }: MeteringDeps,
  { id }: Meter,
  { range, signal }: { range: MeterRange; signal: AbortSignal },
): Promise<number> {
  const { customer, startsAt, endsAt } = range
  const times = { start_time: startsAt / 1000, end_time: endsAt / 1000 }
  const { data } = await stripe.call(
    (api) => api.billing.meters.listEventSummaries(id, { customer, ...times, limit: 100 }),
    signal,
  )
  return data.reduce((sum, { aggregated_value }) => sum + aggregated_value, 0)
}

/** The ids of the batches to settle: Stripe has counted them, has not, or it is unknown. */
type MeterVerdict = { counted: string[]; missing: string[]; unknown: string[] }

type Judged = Pick<WindowBatch, 'id' | 'state' | 'credits' | 'firstTriedAt'>

/**
 * Decides what became of the batches of a minute. `counted`: the credits that the meter has counted
 * in the minute; undefined if the meter does not tell.
 */
export function judgeBatches(
  batches: readonly Judged[],
  counted: number | undefined,
): MeterVerdict {
  const settling = batches.filter(({ state }) => state === 'settling')
  const ids = settling.map(({ id }) => id)
  const unknown = { counted: [], missing: [], unknown: ids }
  if (counted === undefined) return unknown
  const charged = sumOf(batches.filter(({ state }) => state === 'charged'))
  const rest = counted - charged
  if (rest === 0) return { counted: [], missing: ids, unknown: [] }
  // Stripe may or may not have counted a batch that was dropped after a try.
  const isDoubtful = batches.some((one) => one.state === 'dropped' && one.firstTriedAt !== null)
  const some = isDoubtful ? undefined : pick(settling, sumOf(settling) - rest)
  if (some === undefined) return unknown
  return { counted: ids.filter((id) => !some.has(id)), missing: [...some], unknown: [] }
}

function sumOf(batches: readonly Pick<Judged, 'credits'>[]): number {
  return batches.reduce((sum, { credits }) => sum + credits, 0)
}

type PickedBatch = { id: string; before: number } | null

/** Picks batches whose credits add up to `sum`; undefined if there are none. */
function pick(batches: readonly Judged[], sum: number): Set<string> | undefined {
  const reached = new Map<number, PickedBatch>([[0, null]])
  for (const { id, credits } of batches) {
    for (const before of [...reached.keys()]) {
      const after = before + credits
      if (after <= sum && !reached.has(after)) reached.set(after, { id, before })
    }
  }
  if (!reached.has(sum)) return undefined
  const picked = new Set<string>()
  for (let step = reached.get(sum); step != null; step = reached.get(step.before)) {
    picked.add(step.id)
  }
  return picked
}
