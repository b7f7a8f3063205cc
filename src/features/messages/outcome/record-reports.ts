/**
 * Records reports that arrive after an email's session: a DSN at its return path, a complaint, a
 * notification of a provider. `final-state.ts` has the table of states.
 *
 * Every report counts once. A repeated report, or a report of an outcome that the session has
 * already recorded, changes nothing and makes no event. A complaint unsubscribes the contact of the email and
 * the contact that has the address now. A complaint by somebody to whom a workflow wrote about a contact
 * does not unsubscribe that contact.
 */
import type { Verdict } from '../../../mail/replies/reply.ts'
import type { RowOf } from '../../../store/database.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { wentToOther } from '../../../store/email-terms.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { setSubscribed } from '../../contacts/write/set-subscribed.ts'
import { unsubscribeAddresses } from '../../contacts/write/unsubscribe-addresses.ts'
import { countEmailAgain, type UsageDeps } from '../../usage/count.ts'
import { logOutcome } from './final-state.ts'
import { suppressReportedBounce } from './suppress-bounced.ts'
import { suppress } from './suppression.ts'
import {
  bounceByReport,
  complainByReport,
  deliverByReport,
  findReport,
  insertReport,
  type ReportedReply,
  type ReportResult,
  recordDelayEvent,
} from './write-report.ts'

export type EmailReport =
  /** The action field says failed; the status code may be of any class. */
  | ({ type: 'bounce'; verdict: Verdict } & ReportFacts)
  | ({ type: 'delay' } & ReportFacts)
  /** Relayed mail has arrived. */
  | { type: 'delivery'; emailId: string }
  | { type: 'complaint'; emailId: string; feedbackType: string | null }

/** The facts about a delivery that a report states. */
type ReportFacts = {
  emailId: string
  /** The remote server's reply, if the report quotes it. */
  reply?: ReportedReply | null
  /** One line, control bytes escaped, bounded. */
  diagnostic: string
  reportingMta?: string | null
  /** The recipient, as the report names it. */
  finalRecipient?: string | null
}

type ReportOf<Type extends EmailReport['type']> = Extract<EmailReport, { type: Type }>

const findEmail = statement((db) =>
  db
    .select({
      id: emails.id,
      projectId: emails.projectId,
      contactId: emails.contactId,
      recipient: emails.recipient,
      recipientDomain: emails.recipientDomain,
      state: emails.state,
      status: emails.status,
      sentAt: emails.sentAt,
      deliveredAt: emails.deliveredAt,
      complainedAt: emails.complainedAt,
      attemptCount: emails.attemptCount,
      sourceType: emails.sourceType,
      isPlatform: emails.isPlatform,
      createdAt: emails.createdAt,
      isToOther: sql<boolean>`${wentToOther}`.mapWith(Boolean),
    })
    .from(emails)
    .where(eq(emails.id, parameter('id'))),
)

type Deps = UsageDeps & Pick<Base, 'counters' | 'now' | 'log'>
type ReportedEmailRow = RowOf<typeof findEmail>

/**
 * Records reports in their order. Returns for each whether it changed anything; a report about an
 * email that does not exist changes nothing.
 */
export async function recordReports(
  deps: Deps,
  tx: Tx,
  reports: readonly EmailReport[],
): Promise<boolean[]> {
  const at = deps.now()
  const changed: boolean[] = []
  for (const report of reports) {
    const email = await tx.find(findEmail, { id: report.emailId })
    if (email === undefined) changed.push(false)
    else changed.push(await record(deps, tx, { email, report: shownReport(email, report), at }))
  }
  return changed
}

/** Mail of the server to its users is final by now, and its secrets are no longer known. */
function shownReport({ isPlatform }: ReportedEmailRow, report: EmailReport): EmailReport {
  if (!isPlatform || report.type === 'delivery' || report.type === 'complaint') return report
  const hide = (text: string) => text.replace(/[0-9a-f]{16}[0-9a-f]*/g, '…')
  const { reply = null, diagnostic } = report
  return {
    ...report,
    diagnostic: hide(diagnostic),
    reply: reply && { ...reply, text: hide(reply.text) },
  }
}

type EmailAndReport<Report = EmailReport> = { email: ReportedEmailRow; report: Report; at: number }

function record(deps: Deps, tx: Tx, { email, report, at }: EmailAndReport): Promise<boolean> {
  switch (report.type) {
    case 'bounce':
      return recordBounce(deps, tx, { email, report, at })
    case 'delay':
      return recordDelay(tx, { email, report, at })
    case 'delivery':
      return recordDelivery(deps, tx, { email, report, at })
    case 'complaint':
      return recordComplaint(deps, tx, { email, report, at })
  }
}

async function recordBounce(
  deps: Deps,
  tx: Tx,
  reported: EmailAndReport<ReportOf<'bounce'>>,
): Promise<boolean> {
  const { email, report, at } = reported
  if (isOver(email)) return false
  const { verdict, diagnostic } = report
  const bounceType = verdict.isHard ? 'Permanent' : 'Undetermined'
  await countIfFailed(deps, tx, { email, at })
  await bounceByReport(tx, { email, at, error: diagnostic, bounceType })
  const facts = { class: verdict.class, ...factsOf(report) }
  await insertRow(tx, reported, { result: 'reported-bounced', ...facts })
  await suppressReportedBounce(tx, { email, verdict, source: diagnostic, at })
  const type = verdict.isHard ? 'hard' : 'soft'
  tx.afterCommit(() => {
    deps.counters.add('pillarbox_bounces_total', { source: 'report', type })
    const { attemptCount: attempts } = email
    const why = { class: verdict.class, reply: facts.reply, reason: diagnostic }
    logOutcome(deps, { email, outcome: 'bounced', ...why, attempts })
  })
  return true
}

function factsOf({
  reply = null,
  diagnostic: error,
  reportingMta: host = null,
  ...rest
}: ReportFacts) {
  return { reply, error, host, finalRecipient: rest.finalRecipient ?? null }
}

/** Only the first delay of an email counts: the reporting server repeats it every few hours. */
async function recordDelay(tx: Tx, reported: EmailAndReport<ReportOf<'delay'>>): Promise<boolean> {
  const { email, report } = reported
  if (isOver(email) || email.complainedAt !== null) return false
  const result = 'reported-delayed'
  if ((await tx.find(findReport, { emailId: email.id, result })) !== undefined) return false
  await insertRow(tx, reported, { result, ...factsOf(report) })
  await recordDelayEvent(tx, reported)
  return true
}

async function recordDelivery(
  deps: Deps,
  tx: Tx,
  reported: EmailAndReport<ReportOf<'delivery'>>,
): Promise<boolean> {
  const { email, at } = reported
  if (email.state !== 'relayed' || email.deliveredAt !== null || isOver(email)) return false
  await deliverByReport(tx, { email, at })
  await insertRow(tx, reported, { result: 'reported-delivered' })
  tx.afterCommit(() => {
    logOutcome(deps, { email, outcome: 'delivered', attempts: email.attemptCount })
  })
  return true
}

async function recordComplaint(
  deps: Deps,
  tx: Tx,
  reported: EmailAndReport<ReportOf<'complaint'>>,
): Promise<boolean> {
  const { email, report, at } = reported
  const { id: emailId, contactId } = email
  if (email.complainedAt !== null || !wasSent(email)) return false
  const { feedbackType } = report
  await countIfFailed(deps, tx, { email, at })
  await complainByReport(tx, { email, at, isSettled: isSettled(email), feedbackType })
  const source = `complaint (${report.feedbackType ?? 'abuse'})`
  await insertRow(tx, reported, { result: 'reported-complaint', error: source })
  await suppress(tx, { ...address(email), reason: 'COMPLAINT', source, emailId, at })
  if (!email.isToOther) {
    await setSubscribed(tx, contactId, { subscribed: false, at, reason: 'complaint', emailId })
  }
  const { projectId, recipient } = email
  const addresses = [recipient]
  await unsubscribeAddresses(tx, { projectId, addresses, reason: 'complaint', emailId, at })
  tx.afterCommit(() => {
    deps.counters.add('pillarbox_complaints_total')
    deps.log.info({ emailId, projectId, to: recipient, feedbackType }, 'email complained about')
  })
  return true
}

/** BOUNCED and COMPLAINED are terminal; an email that was never sent cannot bounce. */
function isOver(email: ReportedEmailRow): boolean {
  return !wasSent(email) || email.state === 'bounced' || email.status === 'COMPLAINED'
}

/** The use of an email that failed was given back; the report proves that it was sent all the same. */
async function countIfFailed(
  deps: Deps,
  tx: Tx,
  { email, at }: Pick<EmailAndReport, 'email' | 'at'>,
): Promise<void> {
  if (email.state === 'failed') await countEmailAgain(deps, tx, { email, at, isForced: true })
}

function isSettled({ state }: ReportedEmailRow): boolean {
  return state === 'delivered' || state === 'relayed' || state === 'bounced'
}

function wasSent({ state }: ReportedEmailRow): boolean {
  return state !== 'received' && state !== 'suppressed'
}

function address({ projectId, recipient }: ReportedEmailRow) {
  return { projectId, address: recipient }
}

function insertRow(
  tx: Tx,
  { email, at }: EmailAndReport<unknown>,
  report: Omit<ReportResult, 'emailId' | 'at'>,
): Promise<void> {
  return insertReport(tx, { emailId: email.id, at, ...report })
}
