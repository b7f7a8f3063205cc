/**
 * One claimed batch on its way: load the rows, see that each may still be sent, hand them to the
 * delivery threads, record what came of each. What is in hand is known in memory only: if the
 * process dies, it comes back when its lease ends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../../errors.ts'
import { parseAddress } from '../../mail/address.ts'
import type { MessageContent } from '../../mail/message.ts'
import { createReturnPathLocalPart } from '../../mail/tokens.ts'
import type { DeliveryReport, DeliveryTask } from '../../outbound/outbound.ts'
import type { SenderDomain } from '../accounts/directory.ts'
import type { Core } from '../core.ts'
import { endSuppressed, failEmail, type InFlightEmail, recordAttempt } from './outcome.ts'
import { holdEmail, returnEmails } from './put-back.ts'
import { createContentShelf, type LoadedEmail, loadEmails, toSource } from './source.ts'

export type Delivery = {
  /** Takes emails that were just claimed. */
  deliver(ids: readonly string[]): Promise<void>
  /** For outbound: what became of them. */
  report(reports: readonly DeliveryReport[]): void
  /** Resolves when every report so far is on disk. */
  settled(): Promise<void>
}

export type DeliveryDeps = Pick<
  Core,
  'store' | 'config' | 'keyring' | 'directory' | 'outbound' | 'bell' | 'now' | 'log'
>

const RECORD_RETRY_MS = 1_000

type Refusal = 'suppressed' | 'held' | { error: string }

export function createDelivery(deps: DeliveryDeps): Delivery {
  const shelf = createContentShelf(deps)
  const inHand = new Map<string, InFlightEmail>()
  const recordings = new Set<Promise<void>>()

  async function deliver(ids: readonly string[]): Promise<void> {
    const loaded = await loadEmails(deps, ids)
    const contents = await shelf.load(loaded.map((email) => email.contentId))
    const tasks: DeliveryTask[] = []
    for (const email of loaded) {
      const task = await prepare(deps, email, contents.get(email.contentId))
      if (task === undefined) continue
      inHand.set(email.id, email)
      tasks.push(task)
    }
    deps.outbound.deliver(tasks)
  }

  function report(reports: readonly DeliveryReport[]): void {
    const recording = recordAll(deps, inHand, reports).finally(() => {
      recordings.delete(recording)
      deps.bell.ring('capacity')
    })
    recordings.add(recording)
  }

  async function settled(): Promise<void> {
    while (recordings.size > 0) await Promise.all(recordings)
  }

  return { deliver, report, settled }
}

async function prepare(
  deps: DeliveryDeps,
  email: LoadedEmail,
  content: MessageContent | undefined,
): Promise<DeliveryTask | undefined> {
  const { domain } = splitAddress(email.fromAddress)
  const sender = await deps.directory.findSenderDomain(email.projectId, domain)
  const held = await deps.directory.heldDomains()
  const refusal = findRefusal(email, { sender, content, isHeld: held.has(email.recipientDomain) })
  if (refusal !== undefined || sender === undefined || content === undefined) {
    await refuse(deps, email, refusal ?? { error: 'its content is gone' })
    return undefined
  }
  return toTask(deps, { email, sender, content })
}

function findRefusal(
  email: LoadedEmail,
  is: { sender: SenderDomain | undefined; content: MessageContent | undefined; isHeld: boolean },
): Refusal | undefined {
  if (email.isDisabled) return { error: 'the project is disabled' }
  if (email.suppressionId !== null) return 'suppressed'
  if (is.isHeld) return 'held'
  if (is.sender === undefined) return { error: 'the sender domain is no longer verified' }
  if (email.contentClass === 'MARKETING' && !email.isSubscribed) {
    return { error: 'the contact has unsubscribed' }
  }
  if (is.content === undefined) return { error: 'its content was cleared by retention' }
  return undefined
}

async function refuse(deps: DeliveryDeps, email: LoadedEmail, refusal: Refusal): Promise<void> {
  const at = deps.now()
  await deps.store.write(async (tx) => {
    if (refusal === 'held') await holdEmail(tx, email.id, at)
    else if (refusal === 'suppressed') await endSuppressed(tx, email, at)
    else await failEmail(tx, email, { error: refusal.error, at })
  })
}

function toTask(
  deps: DeliveryDeps,
  of: { email: LoadedEmail; sender: SenderDomain; content: MessageContent },
): DeliveryTask {
  const { email, sender, content } = of
  const { delivery } = deps.config
  const returnDomain = sender.isReturnPathFound
    ? `bounce.${sender.domain}`
    : delivery.returnPathDomain
  const returnKey = deps.keyring.keys('return-path')[0]
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

async function recordAll(
  deps: DeliveryDeps,
  inHand: Map<string, InFlightEmail>,
  reports: readonly DeliveryReport[],
): Promise<void> {
  await Promise.all(reports.map((report) => recordOne(deps, inHand, report)))
}

/** A report is kept until it is on disk: what was sent and is not recorded would be sent again. */
async function recordOne(
  deps: DeliveryDeps,
  inHand: Map<string, InFlightEmail>,
  report: DeliveryReport,
): Promise<void> {
  const email = inHand.get(report.emailId)
  if (email === undefined) return
  for (;;) {
    try {
      await record(deps, email, report)
      inHand.delete(report.emailId)
      return
    } catch (error) {
      const facts = { emailId: email.id, error: describeError(error) }
      deps.log.error(facts, 'an outcome could not be recorded; trying again')
      await sleep(RECORD_RETRY_MS)
    }
  }
}

async function record(
  deps: DeliveryDeps,
  email: InFlightEmail,
  report: DeliveryReport,
): Promise<void> {
  if (report.kind === 'returned') {
    return returnEmails(deps, [email.id], report.retryAt ?? deps.now())
  }
  const { outcome, subject, startedAt } = report
  await deps.store.write((tx) => recordAttempt(deps, tx, { email, outcome, subject, startedAt }))
}

function splitAddress(address: string): { domain: string } {
  const parsed = parseAddress(address)
  if (parsed === undefined) throw new TypeError(`a stored address does not parse: ${address}`)
  return parsed
}
