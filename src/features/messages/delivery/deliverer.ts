/**
 * One claimed batch on its way: read the contents, see that each email may still be sent, hand them
 * to the delivery threads, record what came of each. What is in hand is known in memory only: if
 * the process dies, it comes back at the next start.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../../clock.ts'
import { describeError } from '../../../errors.ts'
import type { DeliveryResult } from '../../../outbound/delivery.ts'
import type { Base } from '../../base.ts'
import type { InFlightEmail } from '../outcome/attempt-row.ts'
import { type Ending, endEmails } from '../outcome/final-state.ts'
import type { Fuse } from '../outcome/fuse.ts'
import type { KnownDomains } from '../outcome/known-domains.ts'
import type { ClaimedEmail } from '../queue/claim.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import { holdEmail, putBackEmails } from '../queue/put-back.ts'
import { type ContentCache, createContentCache } from './content-cache.ts'
import { prepareBatch, type Refusal } from './prepare.ts'
import { keepTrying, recordResults } from './record-results.ts'
import { createResultBuffer } from './result-buffer.ts'

export type Deliverer = {
  /** Takes emails that were just claimed; never rejects. */
  deliver(emails: readonly ClaimedEmail[]): Promise<void>
  /** Calls back what an operator has stopped meanwhile, as far as it has not begun. */
  recall(): Promise<void>
  /** Calls back all that has not begun. */
  recallAll(): void
  /** For outbound: what became of them. */
  report(reports: readonly DeliveryResult[]): void
  /** What has been claimed and is not on record yet. */
  inHand(): string[]
  /**
   * Nothing waits for a disk that fails any more: what cannot be put back has a lease, and comes back
   * at the next start.
   */
  stop(): void
  /** Resolves when every report so far is on disk, or when the time is over. */
  settled(graceMs: number): Promise<void>
}

export type DeliveryDeps = Pick<
  Base,
  'store' | 'config' | 'keyring' | 'directory' | 'outbound' | 'counters' | 'now' | 'log'
> & { queueNotifier: QueueNotifier; fuse: Fuse; knownDomains: KnownDomains }

/** After an error of ours an email waits that long, so that the error is not all we do. */
const FAULT_PAUSE_MS = MINUTE_MS
/** Of emails whose large contents find no room, so many are looked at again after each pause. */
const LEFT_PAUSE_MS = 1_000
const LEFT_AT_A_TIME = 10

/** By id; undefined until it has been handed over. */
export type InHand = Map<string, InFlightEmail | undefined>

export function createDeliverer(deps: DeliveryDeps): Deliverer {
  const shelf = createContentCache(deps)
  const inHand: InHand = new Map()
  const stopping = new AbortController()
  const buffer = createResultBuffer((reports) => recordResults(deps, inHand, reports))

  async function deliver(emails: readonly ClaimedEmail[]): Promise<void> {
    for (const { id } of emails) inHand.set(id, undefined)
    try {
      await handOver(deps, { emails, shelf, inHand, signal: stopping.signal })
    } catch (error) {
      deps.log.error({ error: describeError(error) }, 'claimed emails could not be handed over')
      const ids = emails.map(({ id }) => id)
      const left = ids.filter((id) => inHand.has(id) && inHand.get(id) === undefined)
      const dueAt = deps.now() + FAULT_PAUSE_MS
      await putBack(deps, inHand, { ids: left, dueAt, signal: stopping.signal })
    }
  }

  return {
    deliver,
    recall: () => recall(deps, inHand),
    recallAll: () => withdraw(deps, [...inHand.values()]),
    report: buffer.add,
    inHand: () => [...inHand.keys()],
    stop: () => stopping.abort(),
    settled: (graceMs) =>
      Promise.race([buffer.settled(), sleep(graceMs, undefined, { ref: false })]),
  }
}

/** What comes back is claimed once more, and refused then. */
async function recall({ directory, outbound }: DeliveryDeps, inHand: InHand): Promise<void> {
  const emails = [...inHand.values()].filter((email) => email !== undefined)
  const held = await directory.heldDomains()
  const disabled = new Set<string>()
  for (const id of new Set(emails.map(({ projectId }) => projectId))) {
    if ((await directory.findProject(id))?.isDisabled !== false) disabled.add(id)
  }
  const stopped = emails.filter(({ projectId, recipientDomain }) => {
    return disabled.has(projectId) || held.has(recipientDomain)
  })
  withdraw({ outbound }, stopped)
}

function withdraw(
  { outbound }: Pick<DeliveryDeps, 'outbound'>,
  emails: readonly (InFlightEmail | undefined)[],
): void {
  const domains = emails.flatMap((email) => email?.recipientDomain ?? [])
  for (const site of new Set(domains.map(outbound.siteOf))) outbound.recall(site)
}

type Batch = {
  emails: readonly ClaimedEmail[]
  shelf: ContentCache
  inHand: InHand
  signal: AbortSignal
}

async function handOver(
  deps: DeliveryDeps,
  { emails, shelf, inHand, signal }: Batch,
): Promise<void> {
  if (emails.length === 0) return
  const contents = await shelf.load(emails.map(({ contentId }) => contentId))
  const { tasks, refused, faulty, left } = await prepareBatch(deps, emails, contents)
  const byId = new Map(emails.map((email) => [email.id, email]))
  for (const { emailId } of tasks) inHand.set(emailId, toInFlight(byId.get(emailId)))
  deps.outbound.deliver(tasks)
  await refuseAll(deps, inHand, refused)
  await putBack(deps, inHand, { ids: faulty, dueAt: deps.now() + FAULT_PAUSE_MS, signal })
  for (const [dueAt, ids] of later(deps, left)) await putBack(deps, inHand, { ids, dueAt, signal })
}

/** What found no room comes again some at a time, as it is likely to find some. */
function later({ now }: Pick<Base, 'now'>, ids: readonly string[]): Map<number, string[]> {
  const at = now()
  return Map.groupBy(ids, (_, index) => {
    return at + LEFT_PAUSE_MS * (1 + Math.floor(index / LEFT_AT_A_TIME))
  })
}

/** Not the whole row: it is kept while the message is under way. */
function toInFlight(email: ClaimedEmail | undefined): InFlightEmail | undefined {
  if (email === undefined) return undefined
  const { id, projectId, contactId, recipient, recipientDomain, queueClass } = email
  const { subject, giveUpAt, failureCount, attemptCount } = email
  const lane = { projectId, recipientDomain, queueClass }
  return { id, ...lane, contactId, recipient, subject, giveUpAt, failureCount, attemptCount }
}

async function refuseAll(
  deps: DeliveryDeps,
  inHand: InHand,
  refused: readonly { email: ClaimedEmail; refusal: Refusal }[],
): Promise<void> {
  if (refused.length === 0) return
  const at = deps.now()
  await deps.store.write(async (tx) => {
    for (const { email, refusal } of refused) {
      const { id, recipientDomain: domain } = email
      if (refusal === 'held') await holdEmail(deps, tx, { id, domain, at })
    }
    await endEmails(deps, tx, { endings: refused.flatMap(toEnding), at })
  })
  for (const { email } of refused) inHand.delete(email.id)
}

function toEnding({ email, refusal }: { email: ClaimedEmail; refusal: Refusal }): Ending[] {
  const sending = { ...email, state: 'sending' } as const
  if (refusal === 'held') return []
  if (refusal === 'suppressed') return [{ email: sending, end: { state: 'suppressed' } }]
  const { error } = refusal
  return [{ email: sending, end: { state: 'failed', error, reason: 'refused' } }]
}

async function putBack(
  deps: DeliveryDeps,
  inHand: InHand,
  { ids, dueAt, signal }: { ids: readonly string[]; dueAt: number; signal: AbortSignal },
): Promise<void> {
  if (ids.length === 0) return
  const act = () => deps.store.write((tx) => putBackEmails(deps, tx, { ids, dueAt }))
  await keepTrying(deps, act, signal)
  for (const id of ids) inHand.delete(id)
}
