/**
 * Reports that arrived: which of them may act, and on what.
 *
 * A bounce acts on the email of the return path it came to; one that came to a mailbox or to the
 * operator instead, as some systems answer the From field, on the email whose mark the message that
 * it brings back carries. A complaint acts by such a mark only. Marks are signed; one that is 30
 * days old, or of another email than the return path's, means nothing is believed.
 *
 * A bounce of somebody whom the email was not for is a forward's or an alias's: its address may be
 * fine and the one behind it wrong, so class hard is a strike there.
 */
import { parseAddress } from '../../../mail/address/address.ts'
import { isComplaint } from '../../../mail/report/complaint.ts'
import type { Report } from '../../../mail/report/read-report.ts'
import type { ReportedRecipient } from '../../../mail/report/reported-recipient.ts'
import { eq } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type EmailReport, recordReports } from '../../messages/outcome/record-reports.ts'
import { unsubscribe } from './apply-unsubscribe.ts'
import { type ApplyDeps, type Effect, ignore, ignoreKnown, type ReceivedMessage } from './effect.ts'
import { isExpired, readOwnTokens } from './own-tokens.ts'

const findRecipient = statement((db) =>
  db
    .select({ recipient: emails.recipient })
    .from(emails)
    .where(eq(emails.id, parameter('id'))),
)

/** What came to the return path of `emailId`. */
export async function applyReturnedReport(
  deps: ApplyDeps,
  tx: Tx,
  { row, parsed, emailId }: ReceivedMessage & { emailId: string },
): Promise<Effect> {
  const { report } = parsed
  if (report.kind === 'auto-reply') return ignore('an automatic reply', emailId)
  if (report.kind === 'other') return ignore('not a report', emailId)
  if (isExpired(emailId, row.receivedAt)) return ignore('the return path has expired', emailId)
  const marks = readOwnTokens(deps, report.tokens)
  if (marks.length > 0 && !marks.includes(emailId)) return ignore('about another email', emailId)
  if (report.kind === 'complaint') return applyComplaint(deps, tx, { row, parsed })
  return applyBounce(deps, tx, { parsed, emailId, mayBeForwarded: true })
}

/** A report that came to a mailbox or to the operator; undefined when it is not about our mail. */
export async function applyStrayReport(
  deps: ApplyDeps,
  tx: Tx,
  { row, parsed }: ReceivedMessage,
): Promise<Effect | undefined> {
  const { kind, tokens } = parsed.report
  if (kind === 'complaint') return applyComplaint(deps, tx, { row, parsed })
  const [emailId, ...others] = kind === 'bounce' ? readOwnTokens(deps, tokens) : []
  if (emailId === undefined || others.length > 0) return undefined
  if (isExpired(emailId, row.receivedAt)) return ignore('the mark has expired', emailId)
  return applyBounce(deps, tx, { parsed, emailId, mayBeForwarded: false })
}

/** What early feedback reports called the wish to be taken off a list. */
const OPT_OUT_TYPES = new Set(['opt-out', 'opt-out-list'])

async function applyComplaint(
  deps: ApplyDeps,
  tx: Tx,
  { row, parsed }: ReceivedMessage,
): Promise<Effect> {
  const { tokens, feedbackType } = parsed.report
  const marks = readOwnTokens(deps, tokens)
  const emailId = marks.find((id) => !isExpired(id, row.receivedAt))
  if (emailId === undefined) {
    const why = marks.length > 0 ? 'the mark has expired' : 'a complaint without a mark of ours'
    return ignore(why, marks[0])
  }
  if (!isComplaint(feedbackType)) return ignore(`feedback: ${feedbackType}`, emailId)
  if (feedbackType !== null && OPT_OUT_TYPES.has(feedbackType))
    return unsubscribe(deps, tx, emailId)
  return record(deps, tx, { type: 'complaint', emailId, feedbackType })
}

type About = { parsed: ReceivedMessage['parsed']; emailId: string; mayBeForwarded: boolean }

async function applyBounce(
  deps: ApplyDeps,
  tx: Tx,
  { parsed, emailId, mayBeForwarded }: About,
): Promise<Effect> {
  const email = await tx.find(findRecipient, { id: emailId })
  if (email === undefined) return ignore('the email is gone', emailId)
  const { reportingMta } = parsed.report
  const chosen = chooseRecipient(parsed.report, email.recipient)
  if (chosen === undefined) return ignore('a report about nobody', emailId)
  const { said, whom } = chosen
  if (whom === 'stranger' && !mayBeForwarded) return ignore('about somebody else', emailId)
  const report = toLater(said, { emailId, reportingMta, whom })
  return report === undefined ? ignore(`only ${said.action}`, emailId) : record(deps, tx, report)
}

const order: ReportedRecipient['action'][] = [
  'failed',
  'delayed',
  'delivered',
  'relayed',
  'expanded',
]

/** Whom a report speaks of: the email's recipient, whoever is behind that address, or neither. */
type Whom = 'recipient' | 'behind' | 'stranger'

const nearness: Whom[] = ['recipient', 'behind', 'stranger']

/** An email has one recipient: of what is said, that of them, and of that the worst. */
function chooseRecipient({ recipients, aliases }: Report, address: string) {
  const all = recipients.map((said) => ({ said, whom: findWhom(said, { aliases, address }) }))
  const [chosen] = all.sort(
    (one, other) =>
      nearness.indexOf(one.whom) - nearness.indexOf(other.whom) ||
      order.indexOf(one.said.action) - order.indexOf(other.said.action),
  )
  return chosen
}

/**
 * A report that names nobody is about whom the email was for. Where their address has become
 * another on the way, it is still theirs when only the domain was rewritten.
 */
function findWhom(
  { recipient, originalRecipient }: ReportedRecipient,
  { aliases, address }: { aliases: readonly string[]; address: string },
): Whom {
  const theirs = parseAddress(address)
  if (aliases.some((alias) => alias === address || alias === theirs?.localPart)) return 'behind'
  if (recipient === '' && originalRecipient === null) return 'recipient'
  const final = parseAddress(recipient)
  if (final?.address === address) return 'recipient'
  if (parseAddress(originalRecipient ?? '')?.address !== address) return 'stranger'
  return final === undefined || final.localPart === theirs?.localPart ? 'recipient' : 'behind'
}

function toLater(
  said: ReportedRecipient,
  about: { emailId: string; reportingMta: string | null; whom: Whom },
): EmailReport | undefined {
  const { emailId, reportingMta, whom } = about
  const { recipient, diagnostic, status, replyCode, verdict } = said
  const isCoded = replyCode !== null || status !== null
  const text = withoutCodes(diagnostic)
  const reply = isCoded ? { code: replyCode, enhancedCode: status, text } : null
  const finalRecipient = recipient === '' ? null : recipient
  const told = { emailId, diagnostic, reportingMta, reply, finalRecipient }
  switch (said.action) {
    case 'failed': {
      const { isHard, isStrike } = verdict
      const forward = { ...verdict, isHard: false, isStrike: isHard || isStrike }
      return { type: 'bounce', ...told, verdict: whom === 'recipient' ? verdict : forward }
    }
    case 'delayed':
      return { type: 'delay', ...told }
    case 'delivered':
      return whom === 'stranger' ? undefined : { type: 'delivery', emailId }
    default:
      return undefined
  }
}

/** The words of `550 5.1.1 no such user`. */
function withoutCodes(diagnostic: string): string {
  const codes = /^[245]\d\d[ -](?:[245]\.\d{1,3}\.\d{1,3}\s)?|^[245]\.\d{1,3}\.\d{1,3}\s/
  return diagnostic.replace(codes, '').trim()
}

const did = {
  bounce: 'bounced',
  delay: 'delayed',
  delivery: 'delivered',
  complaint: 'complained',
} as const

async function record(deps: ApplyDeps, tx: Tx, report: EmailReport): Promise<Effect> {
  const [isNews] = await recordReports(deps, tx, [report])
  const { emailId } = report
  return isNews === true ? { did: did[report.type], emailId } : ignoreKnown(emailId)
}
