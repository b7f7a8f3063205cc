/**
 * Applies parsed messages: the effect for each recipient, by the purpose of its address
 * (`accept/admit-recipient.ts`), and the final state of the row, in one transaction. A message
 * therefore counts once, even if it is parsed several times.
 */
import { MAX_SHOWN_ADDRESS_LENGTH } from '../../../../formats/limits.ts'
import type { EmailToken } from '../../../../formats/signed-tokens.ts'
import type { InboundKind } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

import { mayStoreReport } from '../limits.ts'
import {
  applyReturnedBounces,
  applyReturnedReport,
  applyStrayReport,
  type ReturnedMessage,
} from './apply-report.ts'
import { applyUnsubscribe } from './apply-unsubscribe.ts'
import { deliverToMailboxes } from './deliver-to-mailbox.ts'
import { type ApplyDeps, type Effect, hasEffect, ignore, type ReceivedMessage } from './effect.ts'
import { type EndedMessage, endPending, listPending } from './pending.ts'

/**
 * Applies messages in their order. Bounces to return paths that follow each other share a few
 * statements.
 */
export async function applyMessages(
  deps: ApplyDeps,
  tx: Tx,
  messages: readonly ReceivedMessage[],
): Promise<undefined[]> {
  const pending = await listPending(
    tx,
    messages.map(({ row }) => row.id),
  )
  let bounces: ReturnedMessage[] = []
  const applyWaiting = async () => {
    await applyBounces(deps, tx, bounces)
    bounces = []
  }
  for (const message of messages) {
    if (!pending.has(message.row.id)) continue
    const emailId = findBounced(message)
    if (emailId !== undefined) bounces.push({ ...message, emailId })
    else {
      await applyWaiting()
      await applyMessage(deps, tx, message)
    }
  }
  await applyWaiting()
  return messages.map(() => undefined)
}

/** Finds the email of a bounce whose only recipient is a return path. */
function findBounced({ row: { recipients }, parsed }: ReceivedMessage): string | undefined {
  const [recipient, ...others] = recipients
  if (parsed.report.kind !== 'bounce' || others.length > 0) return undefined
  return recipient?.for === 'return-path' ? recipient.emailId : undefined
}

async function applyBounces(
  deps: ApplyDeps,
  tx: Tx,
  bounces: readonly ReturnedMessage[],
): Promise<void> {
  if (bounces.length === 0) return
  const effects = await applyReturnedBounces(deps, tx, bounces)
  const endings = bounces.map((message, index) => {
    const own = effects.slice(index, index + 1)
    return { message, effects: own, kind: kindOf(message, own), keepsRaw: false }
  })
  await end(deps, tx, endings)
}

async function applyMessage(deps: ApplyDeps, tx: Tx, message: ReceivedMessage): Promise<void> {
  const effects = [
    ...(await applyReturnedReports(deps, tx, message)),
    ...(await applyUnsubscriptions(deps, tx, message)),
    ...(await applyToMailboxes(deps, tx, message)),
  ]
  const kind = kindOf(message, effects)
  const keepsRaw =
    isForMailboxOrServer(message) || (kind === 'other' && (await mayStoreReport(tx, message.row)))
  await end(deps, tx, [{ message, effects, kind, keepsRaw }])
}

type Ending = {
  message: ReceivedMessage
  effects: readonly Effect[]
  kind: InboundKind
  keepsRaw: boolean
}

async function end(deps: ApplyDeps, tx: Tx, endings: readonly Ending[]): Promise<void> {
  const at = deps.now()
  await endPending(
    tx,
    endings.map((ending) => toEnded(ending, at)),
  )
  tx.afterCommit(() => {
    for (const { message, effects, kind } of endings) {
      deps.counters.add('pillarbox_inbound_messages_total', { kind })
      logEffects(deps, message.row, effects)
    }
  })
}

function toEnded({ message, effects, kind, keepsRaw }: Ending, at: number): EndedMessage {
  const { row, parsed } = message
  return {
    id: row.id,
    kind,
    sender: (parsed.header.fromField || row.reversePath).slice(0, MAX_SHOWN_ADDRESS_LENGTH),
    subject: parsed.header.subject,
    summary: {
      report: parsed.report.kind,
      ...(isForMailbox(message) && parsed.automatic !== null && { automatic: parsed.automatic }),
      acts: effects,
    },
    remark: isForMailbox(message) ? remarkOf(effects) : null,
    kept: parsed.kept,
    rawChunks: row.rawChunks,
    keepsRaw,
    at,
  }
}

/** Logs ignored and capped mail. */
function logEffects(
  { log }: ApplyDeps,
  row: ReceivedMessage['row'],
  effects: readonly Effect[],
): void {
  const facts = { inboundId: row.id, clientAddress: row.clientAddress }
  const ignored = effects.filter(({ did }) => did === 'ignored')
  if (ignored.length > 0) log.info({ ...facts, ignored }, 'received mail was ignored')
  const capped = effects.filter(({ did, why }) => did === 'received' && why !== undefined)
  if (capped.length === 0) return
  // The log throttles by `reason` (once a minute). With the sender in it, each sender is throttled
  // by itself.
  const reason = capped.map(({ why }) => why).join('; ')
  log.warn({ ...facts, capped, reason }, 'received mail was capped')
}

/**
 * Returns the remark for the operator's list. A report about mail of this server has had its
 * effect, so it needs no remark.
 */
function remarkOf(effects: readonly Effect[]): string | null {
  const reasons = effects.flatMap((effect) =>
    hasEffect(effect) && effect.did !== 'received' ? [] : effect.why,
  )
  return [...new Set(reasons.filter((why) => why !== undefined))].join('; ') || null
}

async function applyReturnedReports(
  deps: ApplyDeps,
  tx: Tx,
  message: ReceivedMessage,
): Promise<Effect[]> {
  const effects: Effect[] = []
  for (const { emailId } of emailsFor(message, 'return-path')) {
    effects.push(await applyReturnedReport(deps, tx, { ...message, emailId }))
  }
  return effects
}

async function applyUnsubscriptions(
  deps: ApplyDeps,
  tx: Tx,
  message: ReceivedMessage,
): Promise<Effect[]> {
  const effects: Effect[] = []
  for (const email of emailsFor(message, 'unsubscribe')) {
    effects.push(await applyUnsubscribe(deps, tx, { ...message, email }))
  }
  return effects
}

/**
 * Applies mail to mailboxes and to the server. A report about mail of this server is applied and
 * not delivered to the mailbox.
 */
async function applyToMailboxes(
  deps: ApplyDeps,
  tx: Tx,
  message: ReceivedMessage,
): Promise<Effect[]> {
  if (!isForMailboxOrServer(message)) return []
  const stray = await applyStrayReport(deps, tx, message)
  if (stray !== undefined && hasEffect(stray)) return [stray]
  const effects: Effect[] = stray === undefined ? [] : [stray]
  const { mail } = message.parsed
  for (const [projectId, addresses] of mailboxesOf(message)) {
    if (mail === null) effects.push(ignore('it could not be parsed as mail'))
    else
      effects.push(await deliverToMailboxes(deps, tx, { ...message, mail, projectId, addresses }))
  }
  return effects
}

/** Returns the emails of the recipients with this purpose, each email once. */
function emailsFor({ row }: ReceivedMessage, purpose: 'return-path' | 'unsubscribe'): EmailToken[] {
  const emails = new Map<string, EmailToken>()
  for (const recipient of row.recipients) {
    if (recipient.for !== purpose) continue
    const { emailId, digest } = recipient
    const octets = digest === undefined ? undefined : Buffer.from(digest, 'hex')
    emails.set(emailId, { emailId, digest: octets })
  }
  return [...emails.values()]
}

/**
 * Groups the addresses by project: a project gets one email, even when several of its mailboxes are
 * recipients.
 */
function mailboxesOf({ row }: ReceivedMessage): Map<string, string[]> {
  const mailboxes = new Map<string, string[]>()
  for (const recipient of row.recipients) {
    if (recipient.for !== 'mailbox') continue
    const known = mailboxes.get(recipient.projectId) ?? []
    mailboxes.set(recipient.projectId, [...new Set([...known, recipient.address])])
  }
  return mailboxes
}

function isForMailboxOrServer({ row }: ReceivedMessage): boolean {
  return row.recipients.some(({ for: purpose }) => purpose === 'mailbox' || purpose === 'server')
}

function isForMailbox({ row }: ReceivedMessage): boolean {
  return row.recipients.some(({ for: purpose }) => purpose === 'mailbox')
}

function kindOf(message: ReceivedMessage, effects: readonly Effect[]): InboundKind {
  if (effects.some(({ did }) => did === 'unsubscribed')) return 'unsubscribe'
  const { kind } = message.parsed.report
  if (kind !== 'other') return kind
  if (isForMailboxOrServer(message)) return 'mail'
  return emailsFor(message, 'unsubscribe').length > 0 ? 'unsubscribe' : 'other'
}
