/**
 * Decides which received reports are applied, and to which email.
 *
 * A bounce applies to the email of its return path. Some systems send bounces to the From address
 * instead; a bounce to a mailbox or to the operator applies to the email whose signed token is in
 * the returned message. A bounce is ignored when its return path or token is more than 30 days old; a
 * report, when the token and the return path belong to different emails.
 *
 * A complaint needs such a token. A complaint is a wish of the recipient, so it counts at any age
 * of the email, and also when the email was deleted.
 *
 * A bounce for an address that is not the email's recipient comes from a forward or an alias. The
 * recipient may be fine and the address behind it wrong, so a hard bounce counts as a strike there.
 */
import { parseAddress } from '../../../../formats/address/address.ts'
import { isComplaint, isOptOut } from '../../../../formats/report/complaint.ts'
import type { Report } from '../../../../formats/report/read-report.ts'
import type { ReportedRecipient } from '../../../../formats/report/reported-recipient.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { recordReports } from '../../../mail/messages/outcome/record-reports.ts'
import type { EmailReport } from '../../../mail/messages/outcome/reported-email.ts'
import { leaveByMail } from './apply-unsubscribe.ts'
import { type ApplyDeps, type Effect, ignore, ignoreKnown, type ReceivedMessage } from './effect.ts'
import { isExpired, readOwnTokens } from './own-mail.ts'

const listRecipients = statement((db) =>
  db
    .select({ id: emails.id, recipient: emails.recipient })
    .from(emails)
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

/** A message that was sent to the return path of `emailId`. */
export type ReturnedMessage = ReceivedMessage & { emailId: string }

/** Applies a message that was sent to a return path. */
export async function applyReturnedReport(
  deps: ApplyDeps,
  tx: Tx,
  returned: ReturnedMessage,
): Promise<Effect> {
  const { kind } = returned.parsed.report
  const refused = refuseReturned(deps, returned)
  if (refused !== undefined) return refused
  if (kind === 'complaint') return applyComplaint(deps, tx, returned.parsed)
  return applyBounce(deps, tx, { ...returned, mayBeForwarded: true })
}

/** Applies many bounces to return paths by a few statements. */
export async function applyReturnedBounces(
  deps: ApplyDeps,
  tx: Tx,
  messages: readonly ReturnedMessage[],
): Promise<Effect[]> {
  const recipients = await listRecipientsOf(
    tx,
    messages.map(({ emailId }) => emailId),
  )
  const found = messages.map(
    (message) =>
      refuseReturned(deps, message) ??
      readBounce({ ...message, mayBeForwarded: true }, recipients.get(message.emailId)),
  )
  const reports = found.filter((each) => 'type' in each)
  const recorded = (await recordReports(deps, tx, reports)).values()
  return found.map((each) =>
    'type' in each ? effectOf(each, recorded.next().value === true) : each,
  )
}

/**
 * Returns why a message to a return path has no effect, as far as that can be decided without the
 * email.
 */
function refuseReturned(
  deps: ApplyDeps,
  { row, parsed: { report }, emailId }: ReturnedMessage,
): Effect | undefined {
  if (report.kind === 'auto-reply') return ignore('an automatic reply', emailId)
  if (report.kind === 'other') return ignore('not a report', emailId)
  const emails = readOwnTokens(deps, report.tokens)
  if (emails.length > 0 && !emails.some((email) => email.emailId === emailId)) {
    return ignore('about another email', emailId)
  }
  const isLate = report.kind === 'bounce' && isExpired(emailId, row.receivedAt)
  return isLate ? ignore('the return path has expired', emailId) : undefined
}

/**
 * Applies a report that came to a mailbox or to the operator; undefined unless the report is about
 * mail of this server.
 */
export async function applyStrayReport(
  deps: ApplyDeps,
  tx: Tx,
  { row, parsed }: ReceivedMessage,
): Promise<Effect | undefined> {
  const { kind, tokens } = parsed.report
  if (kind === 'complaint') return applyComplaint(deps, tx, parsed)
  const [email, ...others] = kind === 'bounce' ? readOwnTokens(deps, tokens) : []
  if (email === undefined || others.length > 0) return undefined
  const { emailId } = email
  if (isExpired(emailId, row.receivedAt)) return ignore('the token has expired', emailId)
  return applyBounce(deps, tx, { parsed, emailId, mayBeForwarded: false })
}

async function applyComplaint(
  deps: ApplyDeps,
  tx: Tx,
  { report: { tokens, feedbackType } }: ReceivedMessage['parsed'],
): Promise<Effect> {
  const [email] = readOwnTokens(deps, tokens)
  if (email === undefined) return ignore('a complaint without a token of this server')
  const { emailId } = email
  if (!isComplaint(feedbackType)) return ignore(`feedback: ${feedbackType}`, emailId)
  if (isOptOut(feedbackType)) return leaveByMail(deps, tx, { email, reason: 'mail' })
  if (!(await listRecipientsOf(tx, [emailId])).has(emailId))
    return leaveByMail(deps, tx, { email, reason: 'complaint' })
  return record(deps, tx, { type: 'complaint', emailId, feedbackType })
}

type BouncedEmail = { parsed: ReceivedMessage['parsed']; emailId: string; mayBeForwarded: boolean }

async function applyBounce(deps: ApplyDeps, tx: Tx, bounced: BouncedEmail): Promise<Effect> {
  const { emailId } = bounced
  const recipients = await listRecipientsOf(tx, [emailId])
  const found = readBounce(bounced, recipients.get(emailId))
  return 'type' in found ? record(deps, tx, found) : found
}

/** Returns the recipients of emails, by the emails' ids; deleted emails are missing. */
async function listRecipientsOf(tx: Tx, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.list(listRecipients, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, recipient }) => [id, recipient]))
}

/**
 * Returns the report to record, or why there is none. `address`: the recipient of the email;
 * undefined if the email has been deleted.
 */
function readBounce(
  { parsed, emailId, mayBeForwarded }: BouncedEmail,
  address: string | undefined,
): EmailReport | Effect {
  if (address === undefined) return ignore('the email has been deleted', emailId)
  const { reportingMta } = parsed.report
  const chosen = chooseRecipient(parsed.report, address)
  if (chosen === undefined) return ignore('a report without a recipient', emailId)
  const { reported, relation } = chosen
  if (relation === 'other' && !mayBeForwarded) return ignore('about another recipient', emailId)
  const report = toEmailReport(reported, { emailId, reportingMta, relation })
  return report ?? ignore(`only ${reported.action}`, emailId)
}

/** The actions of reports, the worst first. */
const ACTIONS: ReportedRecipient['action'][] = [
  'failed',
  'delayed',
  'delivered',
  'relayed',
  'expanded',
]

/**
 * How a reported address relates to an email: its recipient, an address that the recipient forwards
 * to, or another one.
 */
type Relation = 'recipient' | 'behind' | 'other'

/** The relations, the closest first. */
const RELATIONS: Relation[] = ['recipient', 'behind', 'other']

/**
 * Returns the reported address that is closest to the email's recipient; of several, the one with
 * the worst action.
 */
function chooseRecipient({ recipients, aliases }: Report, address: string) {
  const all = recipients.map((reported) => {
    return { reported, relation: relationOf(reported, { aliases, address }) }
  })
  const [chosen] = all.sort(
    (one, other) =>
      RELATIONS.indexOf(one.relation) - RELATIONS.indexOf(other.relation) ||
      ACTIONS.indexOf(one.reported.action) - ACTIONS.indexOf(other.reported.action),
  )
  return chosen
}

/**
 * Returns the relation of a reported address. A report without an address is about the email's
 * recipient. An address that was rewritten on the way counts as the recipient's if only its domain
 * differs.
 */
function relationOf(
  { recipient, originalRecipient }: ReportedRecipient,
  { aliases, address }: { aliases: readonly string[]; address: string },
): Relation {
  const own = parseAddress(address)
  if (aliases.some((alias) => alias === address || alias === own?.localPart)) return 'behind'
  if (recipient === '' && originalRecipient === null) return 'recipient'
  const final = parseAddress(recipient)
  if (final?.address === address) return 'recipient'
  if (parseAddress(originalRecipient ?? '')?.address !== address) return 'other'
  return final === undefined || final.localPart === own?.localPart ? 'recipient' : 'behind'
}

function toEmailReport(
  reported: ReportedRecipient,
  email: { emailId: string; reportingMta: string | null; relation: Relation },
): EmailReport | undefined {
  const { emailId, reportingMta, relation } = email
  const { recipient, diagnostic, status, replyCode, verdict } = reported
  const isCoded = replyCode !== null || status !== null
  const text = withoutCodes(diagnostic)
  const reply = isCoded ? { code: replyCode, enhancedCode: status, text } : null
  const finalRecipient = recipient === '' ? null : recipient
  const details = { emailId, diagnostic, reportingMta, reply, finalRecipient }
  switch (reported.action) {
    case 'failed': {
      const { isHard, isStrike } = verdict
      const forward = { ...verdict, isHard: false, isStrike: isHard || isStrike }
      return { type: 'bounce', ...details, verdict: relation === 'recipient' ? verdict : forward }
    }
    case 'delayed':
      return { type: 'delay', ...details }
    case 'delivered':
      return relation === 'other' ? undefined : { type: 'delivery', emailId }
    default:
      return undefined
  }
}

/** Removes codes: `550 5.1.1 no such user` becomes `no such user`. */
function withoutCodes(diagnostic: string): string {
  const codes = /^[245]\d\d[ -](?:[245]\.\d{1,3}\.\d{1,3}\s)?|^[245]\.\d{1,3}\.\d{1,3}\s/
  return diagnostic.replace(codes, '').trim()
}

const EFFECT_OF_REPORT = {
  bounce: 'bounced',
  delay: 'delayed',
  delivery: 'delivered',
  complaint: 'complained',
} as const

async function record(deps: ApplyDeps, tx: Tx, report: EmailReport): Promise<Effect> {
  const [isRecorded] = await recordReports(deps, tx, [report])
  return effectOf(report, isRecorded === true)
}

function effectOf({ type, emailId }: EmailReport, isRecorded: boolean): Effect {
  return isRecorded ? { did: EFFECT_OF_REPORT[type], emailId } : ignoreKnown(emailId)
}
