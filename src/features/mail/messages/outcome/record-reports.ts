/**
 * Records reports that arrive after an email's session: a DSN at its return path, a complaint, a
 * notification of a provider. `final-state.ts` has the table of states.
 *
 * Every report counts once. A repeated report, or a report of an outcome that the session has
 * already recorded, changes nothing and makes no event. A complaint unsubscribes the contact of the email and
 * the contact that has the address now. A complaint by somebody to whom a workflow wrote about a contact
 * does not unsubscribe that contact.
 */
import { eq, sql } from '../../../../store/drizzle.ts'
import { wentToOther } from '../../../../store/email-terms.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { UsageDeps } from '../../../ground/usage/count.ts'
import { setSubscribed } from '../../../people/contacts/write/set-subscribed.ts'
import { unsubscribeAddresses } from '../../../people/contacts/write/unsubscribe-addresses.ts'
import { logOutcome } from './final-state.ts'
import {
  countIfFailed,
  type EmailAndReport,
  type EmailReport,
  factsOf,
  isOver,
  listReportedEmails,
  type ReportedEmail,
  type ReportOf,
  shownReport,
  wasSent,
} from './reported-email.ts'
import { suppressReportedBounces } from './suppress-bounced.ts'
import { suppress } from './suppression.ts'
import {
  bounceByReports,
  complainByReport,
  deliverByReport,
  findReport,
  insertReports,
  type ReportedBounce,
  type ReportResult,
  recordDelayEvent,
} from './write-report.ts'

/** Whether a workflow sent the email to an address that is not its contact's. */
const findIsToOther = statement<{ isToOther: number }>(
  () => sql`select ${wentToOther} as "isToOther" from ${emails}
    where ${eq(emails.id, parameter('id'))}`,
)

type Deps = UsageDeps & Pick<Base, 'counters' | 'now' | 'log'>

type OtherReport = Exclude<EmailReport, { type: 'bounce' }>

type BouncesDeps = UsageDeps & Pick<Base, 'counters' | 'log'>

type Bounce = ReportOf<'bounce'>

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
  let bounces: ReportOf<'bounce'>[] = []
  const recordWaiting = async () => {
    if (bounces.length === 0) return
    changed.push(...(await recordBounces(deps, tx, { reports: bounces, at })))
    bounces = []
  }
  for (const report of reports) {
    if (report.type === 'bounce') {
      bounces.push(report)
      // The strikes count from the last delivery on, and a bounce in a later report may undo that
      // delivery. So the strike is recorded before later reports.
      if (report.verdict.isStrike) await recordWaiting()
    } else {
      await recordWaiting()
      changed.push(await recordOther(deps, tx, { report, at }))
    }
  }
  await recordWaiting()
  return changed
}

async function recordOther(
  deps: Deps,
  tx: Tx,
  { report: given, at }: { report: OtherReport; at: number },
): Promise<boolean> {
  const email = (await listReportedEmails(tx, [given.emailId])).get(given.emailId)
  if (email === undefined) return false
  const report = shownReport(email, given)
  switch (report.type) {
    case 'delay':
      return recordDelay(tx, { email, report, at })
    case 'delivery':
      return recordDelivery(deps, tx, { email, report, at })
    case 'complaint':
      return recordComplaint(deps, tx, { email, report, at })
  }
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
  const isToOther = (await tx.find(findIsToOther, { id: emailId }))?.isToOther === 1
  await countIfFailed(deps, tx, { email, at })
  await complainByReport(tx, { email, at, isSettled: isSettled(email), feedbackType })
  const source = `complaint (${report.feedbackType ?? 'abuse'})`
  await insertRow(tx, reported, { result: 'reported-complaint', error: source })
  await suppress(tx, { ...address(email), reason: 'COMPLAINT', source, emailId, at })
  if (!isToOther) {
    await setSubscribed(tx, contactId, { subscribed: false, at, reason: 'complaint', emailId })
  }
  const { projectId, recipient } = email
  const addresses = new Map([[recipient, emailId]])
  await unsubscribeAddresses(tx, { projectId, addresses, reason: 'complaint', at })
  tx.afterCommit(() => {
    deps.counters.add('pillarbox_complaints_total')
    deps.log.info({ emailId, projectId, to: recipient, feedbackType }, 'email complained about')
  })
  return true
}

function isSettled({ state }: ReportedEmail): boolean {
  return state === 'delivered' || state === 'relayed' || state === 'bounced'
}

function address({ projectId, recipient }: ReportedEmail) {
  return { projectId, address: recipient }
}

function insertRow(
  tx: Tx,
  { email, at }: EmailAndReport<unknown>,
  report: Omit<ReportResult, 'emailId' | 'at'>,
): Promise<void> {
  return insertReports(tx, [{ emailId: email.id, at, ...report }])
}

/**
 * Records reports that emails were not delivered, many by few statements. Returns for each whether it changed
 * anything: of several about an email, only the first does. The events of all bounces, in the order of the reports,
 * come before those of the contacts that they unsubscribe.
 */
async function recordBounces(
  deps: BouncesDeps,
  tx: Tx,
  { reports, at }: { reports: readonly Bounce[]; at: number },
): Promise<boolean[]> {
  const ids = reports.map(({ emailId }) => emailId)
  const known = await listReportedEmails(tx, ids)
  const bounces: EmailAndReport<Bounce>[] = []
  const changed = reports.map((report) => {
    const email = known.get(report.emailId)
    known.delete(report.emailId)
    if (email === undefined || isOver(email)) return false
    return bounces.push({ email, report: shownReport(email, report), at }) > 0
  })
  if (bounces.length > 0) await write(deps, tx, bounces)
  return changed
}

async function write(deps: BouncesDeps, tx: Tx, bounces: readonly EmailAndReport<Bounce>[]) {
  for (const bounce of bounces) await countIfFailed(deps, tx, bounce)
  await bounceByReports(tx, bounces.map(toBounce))
  await insertReports(tx, bounces.map(toResult))
  const refusals = bounces.map(({ email, report: { verdict, diagnostic: source }, at }) => {
    return { email, verdict, source, at }
  })
  await suppressReportedBounces(tx, refusals)
  tx.afterCommit(() => {
    for (const bounce of bounces) observe(deps, bounce)
  })
}

function toBounce({ email, report, at }: EmailAndReport<Bounce>): ReportedBounce {
  const bounceType = report.verdict.isHard ? 'Permanent' : 'Undetermined'
  return { email, at, error: report.diagnostic, bounceType }
}

function toResult({ email, report, at }: EmailAndReport<Bounce>) {
  const result = 'reported-bounced' as const
  return { emailId: email.id, at, result, class: report.verdict.class, ...factsOf(report) }
}

function observe(deps: BouncesDeps, { email, report }: EmailAndReport<Bounce>): void {
  const { verdict, diagnostic: reason, reply = null } = report
  const type = verdict.isHard ? 'hard' : 'soft'
  deps.counters.add('pillarbox_bounces_total', { source: 'report', type })
  const why = { class: verdict.class, reply, reason }
  logOutcome(deps, { email, outcome: 'bounced', ...why, attempts: email.attemptCount })
}
