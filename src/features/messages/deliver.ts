/**
 * One claimed batch on its way: load the rows, see that each may still be sent, hand them to the
 * delivery threads, record what came of each. What is in hand is known in memory only: if the
 * process dies, it comes back at the next start.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError, describeError } from '../../errors.ts'
import { parseAddress } from '../../mail/address.ts'
import type { MessageContent } from '../../mail/message.ts'
import { createReturnPathLocalPart } from '../../mail/tokens.ts'
import type { DeliveryReport, DeliveryTask } from '../../outbound/outbound.ts'
import type { SenderDomain } from '../accounts/directory.ts'
import type { Core } from '../core.ts'
import { endSuppressed, failEmail, type InFlightEmail, recordAttempt } from './outcome.ts'
import { holdEmail, returnEmails } from './put-back.ts'
import { createReportBuffer } from './report-buffer.ts'
import {
  type ContentShelf,
  contentSizes,
  createContentShelf,
  type LoadedEmail,
  loadEmails,
  toSource,
} from './source.ts'

export type Delivery = {
  /** Takes emails that were just claimed; never rejects. */
  deliver(ids: readonly string[]): Promise<void>
  /** For outbound: what became of them. */
  report(reports: readonly DeliveryReport[]): void
  /** What has been claimed and is not on record yet. */
  inHand(): string[]
  /** Resolves when every report so far is on disk, or when the time is over. */
  settled(graceMs: number): Promise<void>
}

export type DeliveryDeps = Pick<
  Core,
  'store' | 'config' | 'keyring' | 'directory' | 'outbound' | 'bell' | 'now' | 'log'
>

/** After an error of ours an email waits that long, so that the error is not all we do. */
const FAULT_PAUSE_MS = 60_000
const RECORD_RETRY_MS = 1_000
/** Contents read for one batch; the rest of the batch goes back and comes again. */
const MAX_BATCH_BYTES = 32 * 1024 * 1024

type Refusal = 'suppressed' | 'held' | { error: string }
type Prepared = { task: DeliveryTask } | { refusal: Refusal }
type InHand = Map<string, InFlightEmail | undefined>

export function createDelivery(deps: DeliveryDeps): Delivery {
  const shelf = createContentShelf(deps)
  const inHand: InHand = new Map()
  const buffer = createReportBuffer((reports) => recordAll(deps, inHand, reports))

  async function deliver(ids: readonly string[]): Promise<void> {
    for (const id of ids) inHand.set(id, undefined)
    try {
      await handOver(deps, { ids, shelf, inHand })
    } catch (error) {
      deps.log.error({ error: describeError(error) }, 'claimed emails could not be handed over')
      const left = ids.filter((id) => inHand.has(id) && inHand.get(id) === undefined)
      await putBack(deps, inHand, { ids: left, dueAt: deps.now() + FAULT_PAUSE_MS })
    }
  }

  return {
    deliver,
    report: buffer.add,
    inHand: () => [...inHand.keys()],
    settled: (graceMs) =>
      Promise.race([buffer.settled(), sleep(graceMs, undefined, { ref: false })]),
  }
}

type Batch = { ids: readonly string[]; shelf: ContentShelf; inHand: InHand }

async function handOver(deps: DeliveryDeps, { ids, shelf, inHand }: Batch): Promise<void> {
  if (ids.length === 0) return
  const loaded = await loadEmails(deps, ids)
  forgetMissing(inHand, ids, loaded)
  const { taken, left } = await chooseBySize(deps, loaded)
  const contents = await shelf.load(taken.map((email) => email.contentId))
  const tasks: DeliveryTask[] = []
  const refused: { email: LoadedEmail; refusal: Refusal }[] = []
  const faulty: string[] = []
  for (const email of taken) {
    const prepared = await tryPrepare(deps, email, contents.get(email.contentId))
    if (prepared === undefined) faulty.push(email.id)
    else if ('task' in prepared) tasks.push(prepared.task)
    else refused.push({ email, refusal: prepared.refusal })
  }
  const byId = new Map(taken.map((email) => [email.id, email]))
  for (const { emailId } of tasks) inHand.set(emailId, byId.get(emailId))
  deps.outbound.deliver(tasks)
  await refuseAll(deps, inHand, refused)
  await putBack(deps, inHand, { ids: faulty, dueAt: deps.now() + FAULT_PAUSE_MS })
  await putBack(deps, inHand, { ids: left.map(({ id }) => id), dueAt: deps.now() })
}

/** Rows that went with their contact or project. */
function forgetMissing(inHand: InHand, ids: readonly string[], loaded: LoadedEmail[]): void {
  const found = new Set(loaded.map(({ id }) => id))
  for (const id of ids) if (!found.has(id)) inHand.delete(id)
}

/** As many emails as their contents fit into the bound, the first in any case. */
async function chooseBySize(deps: DeliveryDeps, loaded: LoadedEmail[]) {
  const sizes = await contentSizes(
    deps,
    loaded.map((email) => email.contentId),
  )
  const counted = new Set<string>()
  let bytes = 0
  const fits = (email: LoadedEmail, index: number) => {
    if (!counted.has(email.contentId)) bytes += sizes.get(email.contentId) ?? 0
    counted.add(email.contentId)
    return index === 0 || bytes <= MAX_BATCH_BYTES
  }
  const firstLeft = loaded.findIndex((email, index) => !fits(email, index))
  const end = firstLeft === -1 ? loaded.length : firstLeft
  return { taken: loaded.slice(0, end), left: loaded.slice(end) }
}

/** Undefined after an error of ours (a key that does not open): this email's alone. */
async function tryPrepare(
  deps: DeliveryDeps,
  email: LoadedEmail,
  content: MessageContent | undefined,
): Promise<Prepared | undefined> {
  try {
    return await prepare(deps, email, content)
  } catch (error) {
    const facts = { emailId: email.id, error: describeError(error) }
    deps.log.error(facts, 'an email could not be prepared')
    return undefined
  }
}

async function prepare(
  deps: DeliveryDeps,
  email: LoadedEmail,
  content: MessageContent | undefined,
): Promise<Prepared> {
  const domain = parseAddress(email.fromAddress)?.domain
  const sender =
    domain === undefined
      ? undefined
      : await deps.directory.findSenderDomain(email.projectId, domain)
  const held = await deps.directory.heldDomains()
  if (email.isDisabled) return { refusal: { error: 'the project is disabled' } }
  if (email.suppressionId !== null) return { refusal: 'suppressed' }
  if (held.has(email.recipientDomain)) return { refusal: 'held' }
  if (sender === undefined) {
    return { refusal: { error: 'the sender domain is no longer verified' } }
  }
  if (email.contentClass === 'MARKETING' && !email.isSubscribed) {
    return { refusal: { error: 'the contact has unsubscribed' } }
  }
  if (content === undefined) {
    return { refusal: { error: 'its content was cleared by retention' } }
  }
  return { task: toTask(deps, { email, sender, content }) }
}

function toTask(
  deps: DeliveryDeps,
  of: { email: LoadedEmail; sender: SenderDomain; content: MessageContent },
): DeliveryTask {
  const { email, sender, content } = of
  const returnDomain = sender.isReturnPathFound
    ? `bounce.${sender.domain}`
    : deps.config.delivery.returnPathDomain
  const [returnKey] = deps.keyring.keys('return-path')
  return {
    emailId: email.id,
    queueClass: email.queueClass,
    recipient: parseAddress(email.recipient)?.wire ?? email.recipient,
    domain: email.recipientDomain,
    site: deps.outbound.siteOf(email.recipientDomain),
    reversePath: `${createReturnPathLocalPart(returnKey, email.id)}@${returnDomain}`,
    source: toSource(deps, email, content),
    signing: sender.signing,
  }
}

async function refuseAll(
  deps: DeliveryDeps,
  inHand: InHand,
  refused: readonly { email: LoadedEmail; refusal: Refusal }[],
): Promise<void> {
  if (refused.length === 0) return
  const at = deps.now()
  await deps.store.write(async (tx) => {
    for (const { email, refusal } of refused) {
      const { id, recipientDomain: domain } = email
      if (refusal === 'held') await holdEmail(deps, tx, { id, domain, at })
      else if (refusal === 'suppressed') await endSuppressed(tx, email, at)
      else await failEmail(tx, email, { error: refusal.error, at })
    }
  })
  for (const { email } of refused) inHand.delete(email.id)
}

async function putBack(
  deps: DeliveryDeps,
  inHand: InHand,
  { ids, dueAt }: { ids: readonly string[]; dueAt: number },
): Promise<void> {
  if (ids.length === 0) return
  await keepTrying(deps, () => deps.store.write((tx) => returnEmails(deps, tx, { ids, dueAt })))
  for (const id of ids) inHand.delete(id)
}

async function recordAll(
  deps: DeliveryDeps,
  inHand: InHand,
  reports: readonly DeliveryReport[],
): Promise<void> {
  await Promise.all(reports.map((report) => recordOne(deps, inHand, report)))
  deps.bell.ring('capacity')
}

/** A report is kept until it is on disk: what was sent and is not recorded would be sent again. */
async function recordOne(
  deps: DeliveryDeps,
  inHand: InHand,
  report: DeliveryReport,
): Promise<void> {
  const email = inHand.get(report.emailId)
  if (email === undefined) return
  await keepTrying(deps, () => record(deps, email, report))
  inHand.delete(report.emailId)
}

/** Again and again while the database cannot write; any other error is logged, once. */
async function keepTrying({ log }: Pick<Core, 'log'>, act: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await act()
      return
    } catch (error) {
      const isPassing = error instanceof AppError && error.code === 'DATABASE_ERROR'
      const facts = { error: describeError(error) }
      if (tries === 0) log.error(facts, 'what became of an email could not be recorded')
      if (!isPassing) return
      await sleep(RECORD_RETRY_MS)
    }
  }
}

function record(deps: DeliveryDeps, email: InFlightEmail, report: DeliveryReport): Promise<void> {
  if (report.kind === 'returned') {
    const dueAt = report.retryAt ?? deps.now()
    return deps.store.write((tx) => returnEmails(deps, tx, { ids: [email.id], dueAt }))
  }
  const { outcome, subject, startedAt } = report
  return deps.store.write((tx) => recordAttempt(deps, tx, { email, outcome, subject, startedAt }))
}
