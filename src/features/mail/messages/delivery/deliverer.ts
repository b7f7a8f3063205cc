/**
 * Delivers claimed emails: reads their contents, refuses those that may no longer be sent, hands the
 * others to the delivery threads, and records their results. Emails in flight are known in memory
 * only; after a crash the queue recovers their leases at the next start.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS, type Now } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { DeliveryResult } from '../../../../outbound/delivery.ts'
import type { Base } from '../../../ground/base.ts'
import { type Ending, endEmails } from '../outcome/end-emails.ts'
import type { InFlightEmail } from '../outcome/record-attempts.ts'
import type { Fuse, KnownDomains } from '../outcome/suppression-guards.ts'
import type { ClaimedEmail } from '../queue/claim.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import { pauseClaimed, putBackEmails, putOnHold } from '../queue/put-back.ts'
import { type ContentCache, createContentCache } from './content-cache.ts'
import { type PrepareDeps, prepareBatch, type UnsentReason } from './prepare.ts'
import { createResultBuffer, keepTrying, recordResults } from './record-results.ts'

export type Deliverer = {
  /** Takes claimed emails. Never rejects. */
  deliver(emails: readonly ClaimedEmail[]): Promise<void>
  /**
   * Recalls emails of held domains and disabled projects whose attempt has not begun, and those of
   * stopped campaigns whose message is not being written.
   */
  recall(): Promise<void>
  /** Recalls all emails whose attempt has not begun. */
  recallAll(): void
  /** Takes the results of outbound. */
  finished(results: readonly DeliveryResult[]): void
  /** The ids of claimed emails whose result is not recorded yet. */
  inFlight(): string[]
  /**
   * Stops repeating writes to a database that cannot be written. Emails that could not be put back
   * have a lease, and the next start recovers them.
   */
  stop(): void
  /** Resolves when all results are durable, or after `graceMs`. */
  settled(graceMs: number): Promise<void>
}

type DeliveryDeps = Pick<
  Base,
  | 'store'
  | 'config'
  | 'keyring'
  | 'directory'
  | 'outbound'
  | 'campaignNotifier'
  | 'counters'
  | 'now'
  | 'log'
> & { queueNotifier: QueueNotifier; fuse: Fuse; knownDomains: KnownDomains }

/** The delay after an error of this server, so that the same emails are not claimed in a loop. */
const FAULT_PAUSE_MS = MINUTE_MS

/** Emails whose contents were too large for the batch are due again in groups, a pause apart. */
const LEFT_PAUSE_MS = 1_000

const LEFT_GROUP_SIZE = 10

/** By id; undefined before the email is handed to outbound. */
type InFlight = Map<string, InFlightEmail | undefined>

type DeliveryBatch = {
  emails: readonly ClaimedEmail[]
  cache: ContentCache
  inFlight: InFlight
  signal: AbortSignal
}

/**
 * The same time for which mail must be overdue before it is given up untried (`queue/give-up.ts`).
 */
const BELIEVED_AFTER_MS = 10 * MINUTE_MS

const SMALL_JUMP_MS = MINUTE_MS

/**
 * A reading of both clocks. `at`: the monotonic clock. `leadMs`: how far the clock of the machine
 * was ahead of it.
 */
type ClockReading = { at: number; leadMs: number }

/** `elapsed`: a monotonic clock in milliseconds. */
export function createDeliverer(
  deps: DeliveryDeps,
  elapsed: () => number = () => performance.now(),
): Deliverer {
  const cache = createContentCache(deps)
  const inFlight: InFlight = new Map()
  const stopping = new AbortController()
  const prepareDeps = { ...deps, returnKey: deps.keyring.keys('return-path')[0] }
  const recordDeps = { ...deps, steadyNow: createSteadyClock(deps.now, elapsed) }
  const buffer = createResultBuffer((results) => recordResults(recordDeps, inFlight, results))
  let recalls = 0

  async function deliver(emails: readonly ClaimedEmail[]): Promise<void> {
    for (const { id } of emails) inFlight.set(id, undefined)
    const recallsBefore = recalls
    try {
      await deliverBatch(prepareDeps, { emails, cache, inFlight, signal: stopping.signal })
      // These emails may have been prepared before the change that a recall is about.
      if (recalls !== recallsBefore) await recall(deps, inFlight)
    } catch (error) {
      deps.log.error(
        { error: describeError(error) },
        'claimed emails could not be handed to delivery',
      )
      const ids = emails.map(({ id }) => id)
      const left = ids.filter((id) => inFlight.has(id) && inFlight.get(id) === undefined)
      const dueAt = deps.now() + FAULT_PAUSE_MS
      await putBack(deps, inFlight, { ids: left, dueAt, signal: stopping.signal })
    }
  }

  return {
    deliver,
    recall: () => {
      recalls += 1
      return recall(deps, inFlight)
    },
    recallAll: () => recallFrom(deps, [...inFlight.values()]),
    finished: buffer.add,
    inFlight: () => [...inFlight.keys()],
    stop: () => stopping.abort(),
    settled: (graceMs) =>
      Promise.race([buffer.settled(), sleep(graceMs, undefined, { ref: false })]),
  }
}

/**
 * Returns a clock without the jumps that the clock of the machine made in the last ten minutes. A jump ahead is
 * believed after ten minutes of the running time of this process; a jump back, or one ahead by less than a minute, at
 * once. Sleep of the machine counts as a jump, too. Without jumps the clock is that of the machine. `elapsed`: a
 * monotonic clock in milliseconds.
 */
export function createSteadyClock(now: Now, elapsed: () => number): Now {
  let readings: ClockReading[] = []

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
  function add(reading: ClockReading): void {
    const last = readings.at(-1)
    if (last === undefined || reading.at - last.at >= MINUTE_MS) readings.push(reading)
    else last.leadMs = Math.min(last.leadMs, reading.leadMs)
  }

  read()
  return read
}

/** A recalled email is put back, claimed again, and then refused or held. */
async function recall({ directory, outbound }: DeliveryDeps, inFlight: InFlight): Promise<void> {
  const stoppedCampaigns = await directory.stoppedCampaigns()
  if (stoppedCampaigns.size > 0) outbound.withdraw(new Set(stoppedCampaigns.keys()))
  const emails = [...inFlight.values()].filter((email) => email !== undefined)
  const held = await directory.heldDomains()
  const fences = await directory.unsettledFences()
  const disabled = new Set<string>()
  for (const id of new Set(emails.map(({ projectId }) => projectId))) {
    if ((await directory.findProject(id))?.isDisabled !== false) disabled.add(id)
  }
  const stopped = emails.filter(({ projectId, recipientDomain }) => {
    return disabled.has(projectId) || held.has(recipientDomain) || fences.has(projectId)
  })
  recallFrom({ outbound }, stopped)
}

function recallFrom(
  { outbound }: Pick<DeliveryDeps, 'outbound'>,
  emails: readonly (InFlightEmail | undefined)[],
): void {
  const domains = emails.flatMap((email) => email?.recipientDomain ?? [])
  for (const site of new Set(domains.map(outbound.siteOf))) outbound.recall(site)
}

async function deliverBatch(
  deps: DeliveryDeps & PrepareDeps,
  { emails, cache, inFlight, signal }: DeliveryBatch,
): Promise<void> {
  if (emails.length === 0) return
  const contents = await cache.load(emails.map(({ contentId }) => contentId))
  const { tasks, refused, faulty, left } = await prepareBatch(deps, emails, contents)
  const byId = new Map(emails.map((email) => [email.id, email]))
  for (const { emailId } of tasks) inFlight.set(emailId, toInFlight(byId.get(emailId)))
  deps.outbound.deliver(tasks)
  await refuseAll(deps, inFlight, refused)
  await putBack(deps, inFlight, { ids: faulty, dueAt: deps.now() + FAULT_PAUSE_MS, signal })
  for (const [dueAt, ids] of groupByDueTime(deps, left))
    await putBack(deps, inFlight, { ids, dueAt, signal })
}

/** Groups ids by the time at which their emails are due again. */
function groupByDueTime({ now }: Pick<Base, 'now'>, ids: readonly string[]): Map<number, string[]> {
  const at = now()
  return Map.groupBy(ids, (_, index) => {
    return at + LEFT_PAUSE_MS * (1 + Math.floor(index / LEFT_GROUP_SIZE))
  })
}

/** Returns the part of the row that stays in memory while the email is in flight. */
function toInFlight(email: ClaimedEmail | undefined): InFlightEmail | undefined {
  if (email === undefined) return undefined
  const { id, projectId, contactId, recipient, recipientDomain, queueClass } = email
  const { subject, giveUpAt, failureCount, attemptCount, campaignId } = email
  const lane = { projectId, recipientDomain, queueClass }
  const counts = { giveUpAt, failureCount, attemptCount }
  const isSealed = email.sealedVariables !== null
  return { id, ...lane, contactId, recipient, subject, ...counts, campaignId, isSealed }
}

async function refuseAll(
  deps: DeliveryDeps,
  inFlight: InFlight,
  refused: readonly { email: ClaimedEmail; refusal: UnsentReason }[],
): Promise<void> {
  if (refused.length === 0) return
  const at = deps.now()
  await deps.store.write(async (tx) => {
    for (const { email, refusal } of refused) {
      const { id, recipientDomain: domain } = email
      if (refusal === 'held') await putOnHold(deps, tx, { id, domain, at })
    }
    const paused = refused.filter(({ refusal }) => refusal === 'paused')
    await pauseClaimed(deps, tx, { ids: paused.map(({ email }) => email.id), at })
    await endEmails(deps, tx, { endings: refused.flatMap(toEnding), at })
  })
  for (const { email } of refused) inFlight.delete(email.id)
}

function toEnding({ email, refusal }: { email: ClaimedEmail; refusal: UnsentReason }): Ending[] {
  const sending = { ...email, state: 'sending' } as const
  if (refusal === 'held' || refusal === 'paused' || refusal === 'erased') return []
  if (refusal === 'suppressed') return [{ email: sending, end: { state: 'suppressed' } }]
  if (refusal === 'cancelled') {
    return [{ email: sending, end: { state: 'failed', error: 'cancelled', reason: 'cancelled' } }]
  }
  const { error } = refusal
  return [{ email: sending, end: { state: 'failed', error, reason: 'refused' } }]
}

async function putBack(
  deps: DeliveryDeps,
  inFlight: InFlight,
  { ids, dueAt, signal }: { ids: readonly string[]; dueAt: number; signal: AbortSignal },
): Promise<void> {
  if (ids.length === 0) return
  const act = () => deps.store.write((tx) => putBackEmails(deps, tx, { ids, dueAt }))
  await keepTrying(deps, act, signal)
  for (const id of ids) inFlight.delete(id)
}
