/**
 * Delivers claimed emails: reads their contents, refuses those that may no longer be sent, hands the
 * others to the delivery threads, and records their results. Emails in flight are known in memory
 * only; after a crash the queue recovers their leases at the next start.
 */
import { setImmediate as loopTurn, setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { createLru } from '../../../../base/lru.ts'
import type { SourceAttachment } from '../../../../formats/compose/attachment.ts'
import type { MessageContent } from '../../../../formats/compose/message-content.ts'
import { contentBytes, SMALL_CONTENT_BYTES } from '../../../../outbound/composing/contents.ts'
import type { DeliveryResult } from '../../../../outbound/delivery.ts'
import type { Outbound } from '../../../../outbound/outbound.ts'
import type { RowOf } from '../../../../store/database.ts'
import type { Content } from '../../../../store/schema/messages.ts'
import type { Base } from '../../../ground/base.ts'
import { readAttachments } from '../accept/content.ts'
import { findTexts, listContents } from '../content-rows.ts'
import type { InFlightEmail } from '../outcome/record-attempts.ts'
import type { Fuse, KnownDomains } from '../outcome/suppression-guards.ts'
import type { ClaimedEmail } from '../queue/claim.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import { putBackEmails, recallEmails, recallStopped, refuseClaimed } from '../queue/put-back.ts'
import { type LoadedContents, type PrepareDeps, prepareBatch } from './prepare.ts'
import {
  createResultBuffer,
  createSteadyClock,
  keepTrying,
  recordResults,
} from './record-results.ts'

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

type ContentCache = {
  /** `ids`: one for each email, even if emails share a content. */
  load(ids: readonly string[]): Promise<LoadedContents>
}

const MAX_CACHED_BYTES = 8 * 1024 * 1024
/**
 * The maximum size of one load. The first large content may be larger, if outbound has memory for
 * it.
 */
const MAX_LOADED_BYTES = 32 * 1024 * 1024
/** Small contents per statement; one statement takes milliseconds. */
const SMALL_CONTENTS_PER_LOAD = 100
/** Loading this much takes about a millisecond; the event loop runs other work after it. */
const YIELD_BYTES = 256 * 1024

type ContentDeps = Pick<Base, 'store'> & { outbound: Pick<Outbound, 'hasMemoryFor'> }
type ContentRow = RowOf<typeof listContents>

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
      if (recalls !== recallsBefore) await recallStopped(deps, inFlight)
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
      return recallStopped(deps, inFlight)
    },
    recallAll: () => recallEmails(deps, [...inFlight.values()]),
    finished: buffer.add,
    inFlight: () => [...inFlight.keys()],
    stop: () => stopping.abort(),
    settled: (graceMs) =>
      Promise.race([buffer.settled(), sleep(graceMs, undefined, { ref: false })]),
  }
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
  if (refused.length > 0) {
    const at = deps.now()
    await deps.store.write((tx) => refuseClaimed(deps, tx, { refused, at }))
    for (const { email } of refused) inFlight.delete(email.id)
  }
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

/**
 * Reads the contents of claimed batches. A cache of some megabytes holds the contents that several
 * emails share; the content of a single email is read once and not cached. Small contents are read
 * together, large ones one by one, so that the event loop is not blocked.
 */
export function createContentCache(deps: ContentDeps): ContentCache {
  const cache = createLru<MessageContent>(MAX_CACHED_BYTES, { sizeOf })
  async function load(ids: readonly string[]): Promise<LoadedContents> {
    const found = new Map<string, MessageContent>()
    const missing = new Map<string, number>()
    for (const id of ids) {
      const known = cache.get(id)
      if (known === undefined) missing.set(id, (missing.get(id) ?? 0) + 1)
      else found.set(id, known)
    }
    const { read, left } = await readContents(deps, [...missing.keys()])
    for (const { content, isShared } of read) {
      found.set(content.id, content)
      if (isShared || (missing.get(content.id) ?? 0) > 1) cache.set(content.id, content)
    }
    return { found, left }
  }
  return { load }
}

type Texts = Pick<Content, 'body' | 'text' | 'recipientFields'> & {
  attachments: SourceAttachment[] | null
}
type ReadContent = { content: MessageContent; isShared: boolean }
type Load = { read: ReadContent[]; left: Set<string> }

async function readContents(deps: ContentDeps, ids: readonly string[]): Promise<Load> {
  const load: Load = { read: [], left: new Set() }
  const large: ContentRow[] = []
  let total = 0
  for (let start = 0; start < ids.length; start += SMALL_CONTENTS_PER_LOAD) {
    if (start > 0) await loopTurn()
    const chunk = JSON.stringify(ids.slice(start, start + SMALL_CONTENTS_PER_LOAD))
    for (const row of await deps.store.read.list(listContents, { ids: chunk })) {
      if (row.isCleared) continue
      if (row.bytes > SMALL_CONTENT_BYTES) large.push(row)
      else {
        add(load, row, row)
        total += row.bytes
      }
    }
  }
  await readLarge(deps, load, { rows: large, total })
  return load
}

async function readLarge(
  { store, outbound }: ContentDeps,
  load: Load,
  { rows, total }: { rows: readonly ContentRow[]; total: number },
): Promise<void> {
  let bytesRead = total
  const ofProject = new Map<string, number>()
  for (const [index, row] of rows.entries()) {
    const own = (ofProject.get(row.projectId) ?? 0) + row.bytes
    const isTooMuch = index > 0 && bytesRead + row.bytes > MAX_LOADED_BYTES
    if (isTooMuch || !outbound.hasMemoryFor(row.projectId, own)) {
      load.left.add(row.id)
      continue
    }
    ofProject.set(row.projectId, own)
    bytesRead += row.bytes
    const texts = await store.read.find(findTexts, { id: row.id })
    const attachments = await readAttachments({ store }, row.id, texts?.attachments ?? [])
    if (texts !== undefined && attachments !== undefined) add(load, row, { ...texts, attachments })
    if (row.bytes > YIELD_BYTES) await loopTurn()
  }
}

function add(
  { read }: Load,
  { id, subject, isText, isLiteral, isShared }: ContentRow,
  { body, text, attachments, recipientFields }: Texts,
): void {
  if (body === null) return
  const content = {
    ...{ id, subject, body, isText, text, attachments: attachments ?? [] },
    ...(isLiteral && { isLiteral }),
    ...(recipientFields && { recipientFields }),
  }
  read.push({ content, isShared })
}

function sizeOf(content: MessageContent): number {
  return 200 + 2 * contentBytes(content)
}
