/**
 * What a notification says of an email, as the reports that outcomes are made of. SES has judged
 * already: Permanent condemns the address, Undetermined does not, Transient changes nothing
 * (contract 7.4, 17). The diagnostic adds the class and the remote server's own words.
 */
import { parseAddress } from '../../mail/address/address.ts'
import { MAX_SHOWN_ADDRESS_LENGTH } from '../../mail/limits.ts'
import { classifyReply } from '../../mail/replies/classify-reply.ts'
import type { Reply, Verdict } from '../../mail/replies/reply.ts'
import { isComplaint } from '../../mail/report/complaint.ts'
import type { EmailReport } from '../messages/outcome/record-reports.ts'
import { isMachineAgent } from '../tracking/machine-detection.ts'
import type { Hit } from '../tracking/record-hits.ts'
import type { ReportedEmail } from './find-email.ts'
import type { BouncedRecipient, Notification, ReceivedMail } from './notification.ts'

type OfEmail = Exclude<Notification, ReceivedMail>
type Of<Kind extends OfEmail['kind']> = Extract<OfEmail, { kind: Kind }>

export type ReportsAndHits = { reports: EmailReport[]; hits: Hit[] }

const MAX_DIAGNOSTIC = 1_000
const MAX_HOST = 240
const MAX_FEEDBACK_TYPE = 100

/** `now`: of a hit whose time is not told, or lies in the future. Empty when it means nothing. */
export function toReportsAndHits(
  notification: OfEmail,
  { id: emailId, recipient }: ReportedEmail,
  now: number,
): ReportsAndHits {
  switch (notification.kind) {
    case 'delivery':
      return { reports: [{ type: 'delivery', emailId }], hits: [] }
    case 'open':
    case 'click':
      return { reports: [], hits: toHits(notification, emailId, now) }
    case 'bounce':
      return { reports: toBounces(notification, emailId, recipient), hits: [] }
    case 'complaint':
      return { reports: toComplaints(notification, emailId, recipient), hits: [] }
  }
}

function toHits(notification: Of<'open' | 'click'>, emailId: string, now: number): Hit[] {
  const { kind: type, userAgent } = notification
  const at = Math.min(notification.at ?? now, now)
  const isMachine = isMachineAgent(type, userAgent)
  if (notification.kind === 'open') return [{ type: 'open', emailId, at, isMachine }]
  const { link } = notification
  return link === '' ? [] : [{ type: 'click', emailId, at, isMachine, link }]
}

/** Of another recipient than the email's own, nothing: what SES tells of is not its address. */
function toBounces(bounce: Of<'bounce'>, emailId: string, recipient: string): EmailReport[] {
  const { recipients, bounceType, bounceSubType } = bounce
  const reportingMta = bounce.reportingMta && oneLine(bounce.reportingMta, MAX_HOST)
  const unnamed: BouncedRecipient = { address: recipient, status: null, diagnostic: null }
  const ours = (recipients.length === 0 ? [unnamed] : recipients).find(
    ({ address }) => address === '' || isSameAddress(address, recipient),
  )
  if (ours === undefined) return []
  const diagnostic = oneLine(ours.diagnostic ?? [bounceType, bounceSubType].join(' '))
  const reply = replyOf(ours)
  const finalRecipient =
    ours.address === '' ? null : oneLine(ours.address, MAX_SHOWN_ADDRESS_LENGTH)
  const told = { emailId, reply: reportedReply(reply), diagnostic, reportingMta, finalRecipient }
  if (bounceType === 'Transient') return [{ type: 'delay', ...told }]
  return [{ type: 'bounce', verdict: verdictOf(reply, bounceType), ...told }]
}

function toComplaints(
  { feedbackType, recipients }: Of<'complaint'>,
  emailId: string,
  recipient: string,
): EmailReport[] {
  const kind = feedbackType && oneLine(feedbackType, MAX_FEEDBACK_TYPE)
  if (!isComplaint(kind)) return []
  const isOurs =
    recipients.length === 0 || recipients.some((each) => isSameAddress(each, recipient))
  return isOurs ? [{ type: 'complaint', emailId, feedbackType: kind }] : []
}

/** `smtp; 550 5.1.1 user unknown`; without a reply code the status stands for itself. */
function replyOf({ status, diagnostic }: BouncedRecipient): Reply | null {
  if (status === null && diagnostic === null) return null
  const text = oneLine(diagnostic ?? '').replace(/^[\w-]+\s*;\s*/, '')
  const [, code, enhanced, rest] =
    /^([245]\d\d)?[ -]?([245]\.\d{1,3}\.\d{1,3})?\s*(.*)$/.exec(text) ?? []
  const stated = status !== null && /^[245]\.\d{1,3}\.\d{1,3}$/.test(status) ? status : null
  return { code: Number(code ?? 0), enhancedCode: enhanced ?? stated, text: rest ?? '' }
}

/** A code of 0 stands for none. */
function reportedReply(reply: Reply | null) {
  return reply === null ? null : { ...reply, code: reply.code === 0 ? null : reply.code }
}

function verdictOf(reply: Reply | null, bounceType: string): Verdict {
  const said = reply ?? { code: 0, enhancedCode: null, text: '' }
  const verdict: Verdict = { ...classifyReply({ stage: 'late', reply: said }), isFinal: true }
  if (bounceType === 'Permanent') {
    return { ...verdict, class: 'hard', isHard: true, isStrike: false }
  }
  const isOdd = verdict.class === 'accepted'
  return {
    ...verdict,
    class: isOdd || verdict.isHard ? 'unknown' : verdict.class,
    isHard: false,
    isStrike: verdict.isHard || verdict.isStrike,
  }
}

function isSameAddress(given: string, recipient: string): boolean {
  const bare = /<([^<>]+)>\s*$/.exec(given)?.[1] ?? given
  return (parseAddress(bare)?.address ?? bare) === recipient
}

function oneLine(text: string, maxLength = MAX_DIAGNOSTIC): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
}
