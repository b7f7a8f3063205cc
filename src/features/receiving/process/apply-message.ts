/**
 * What was read, put into effect: for each recipient what its address is for (`recipient.ts`), then
 * the end of the row, in one transaction, so that a message counts once however often it is read.
 */
import type { InboundKind } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { mayKeepReport } from '../accept/quota.ts'
import { applyReturned, applyStray } from './apply-report.ts'
import { applyWish } from './apply-unsubscribe.ts'
import { receiveMail } from './deliver-to-mailbox.ts'
import { type Act, type Arrival, ignore, isDealtWith } from './effect.ts'
import { endPending, isPending } from './pending.ts'

type Deps = Pick<Base, 'counters' | 'now' | 'keyring' | 'log'>

const MAX_SENDER_LENGTH = 320

export async function applyArrival(deps: Deps, tx: Tx, arrival: Arrival): Promise<void> {
  const { row, reading } = arrival
  if (!(await isPending(tx, row.id))) return
  const acts = [
    ...(await applyReturns(deps, tx, arrival)),
    ...(await applyWishes(deps, tx, arrival)),
    ...(await applyOthers(deps, tx, arrival)),
  ]
  const kind = kindOf(arrival, acts)
  await endPending(tx, {
    id: row.id,
    kind,
    sender: (reading.header.fromField || row.reversePath).slice(0, MAX_SENDER_LENGTH),
    subject: reading.header.subject,
    summary: { report: reading.report.kind, acts },
    remark: isForMailboxes(arrival) ? remarkOf(acts) : null,
    keepsRaw: isForPeople(arrival) || (kind === 'other' && (await mayKeepReport(tx, row))),
    at: deps.now(),
  })
  tx.afterCommit(() => {
    deps.counters.add('pillarbox_inbound_messages_total', { kind })
    tell(deps, row, acts)
  })
}

/** In the log, what did not take effect like other mail. */
function tell({ log }: Deps, row: Arrival['row'], acts: readonly Act[]): void {
  const facts = { inbound: row.id, clientAddress: row.clientAddress }
  const ignored = acts.filter(({ did }) => did === 'ignored')
  if (ignored.length > 0) log.info({ ...facts, ignored }, 'mail that changes nothing')
  const capped = acts.filter(({ did, why }) => did === 'received' && why !== undefined)
  if (capped.length === 0) return
  // Of one sender it is said once a minute, of another one as well.
  const reason = capped.map(({ why }) => why).join('; ')
  log.warn({ ...facts, capped, reason }, 'received mail is capped')
}

/** What an operator is to see at a glance; a report about our own mail took its effect. */
function remarkOf(acts: readonly Act[]): string | null {
  const reasons = acts.flatMap((act) => (isDealtWith(act) && act.did !== 'received' ? [] : act.why))
  return [...new Set(reasons.filter((why) => why !== undefined))].join('; ') || null
}

async function applyReturns(deps: Deps, tx: Tx, arrival: Arrival): Promise<Act[]> {
  const acts: Act[] = []
  for (const emailId of idsFor(arrival, 'return-path')) {
    acts.push(await applyReturned(deps, tx, { ...arrival, emailId }))
  }
  return acts
}

async function applyWishes(deps: Deps, tx: Tx, arrival: Arrival): Promise<Act[]> {
  const acts: Act[] = []
  for (const emailId of idsFor(arrival, 'unsubscribe')) {
    acts.push(await applyWish(deps, tx, { ...arrival, emailId }))
  }
  return acts
}

/** A report about our own mail is dealt with and is no mail to anybody. */
async function applyOthers(deps: Deps, tx: Tx, arrival: Arrival): Promise<Act[]> {
  if (!isForPeople(arrival)) return []
  const stray = await applyStray(deps, tx, arrival)
  if (stray !== undefined && isDealtWith(stray)) return [stray]
  const acts: Act[] = stray === undefined ? [] : [stray]
  const { mail } = arrival.reading
  for (const [projectId, addresses] of mailboxesOf(arrival)) {
    if (mail === null) acts.push(ignore('it could not be read as mail'))
    else acts.push(await receiveMail(deps, tx, { ...arrival, mail, projectId, addresses }))
  }
  return acts
}

function idsFor({ row }: Arrival, purpose: 'return-path' | 'unsubscribe'): Set<string> {
  return new Set(row.recipients.flatMap((each) => (each.for === purpose ? [each.emailId] : [])))
}

/** One project gets one email, whichever of its mailboxes a message was for. */
function mailboxesOf({ row }: Arrival): Map<string, string[]> {
  const mailboxes = new Map<string, string[]>()
  for (const recipient of row.recipients) {
    if (recipient.for !== 'mailbox') continue
    const known = mailboxes.get(recipient.projectId) ?? []
    mailboxes.set(recipient.projectId, [...new Set([...known, recipient.address])])
  }
  return mailboxes
}

function isForPeople({ row }: Arrival): boolean {
  return row.recipients.some(({ for: purpose }) => purpose === 'mailbox' || purpose === 'server')
}

function isForMailboxes({ row }: Arrival): boolean {
  return row.recipients.some(({ for: purpose }) => purpose === 'mailbox')
}

function kindOf(arrival: Arrival, acts: readonly Act[]): InboundKind {
  if (acts.some(({ did }) => did === 'unsubscribed')) return 'unsubscribe'
  const { kind } = arrival.reading.report
  if (kind !== 'other') return kind
  if (isForPeople(arrival)) return 'mail'
  return idsFor(arrival, 'unsubscribe').size > 0 ? 'unsubscribe' : 'other'
}
