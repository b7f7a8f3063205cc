/**
 * Converts a notification about an email to reports and hits. SES has classified bounces already:
 * Permanent is a hard bounce, Undetermined a soft one, Transient a delay. The diagnostic gives the
 * class and the remote server's text.
 */
import { MAX_SHOWN_ADDRESS_LENGTH } from '../../../formats/limits.ts'
import { classifyReply } from '../../../formats/replies/classify-reply.ts'
import type { Reply, ReplyVerdict } from '../../../formats/replies/reply.ts'
import { MAX_DIAGNOSTIC_LENGTH } from '../../../formats/report/classify-recipient.ts'
import { isComplaint } from '../../../formats/report/complaint.ts'
import type { EmailReport } from '../../mail/messages/outcome/reported-email.ts'
import { isMachineAgent } from '../../mail/tracking/machine-detection.ts'
import type { Hit } from '../../mail/tracking/record-hits.ts'
import type { SesEmail } from './find-email.ts'
import {
  type BouncedRecipient,
  isBy,
  isSameAddress,
  type ReceivedMail,
  type SesNotification,
} from './notification.ts'

type EmailNotification = Exclude<SesNotification, ReceivedMail>
type OfKind<Kind extends EmailNotification['kind']> = Extract<EmailNotification, { kind: Kind }>

type ReportsAndHits = { reports: EmailReport[]; hits: Hit[] }

const MAX_HOST_LENGTH = 240
const MAX_FEEDBACK_TYPE_LENGTH = 100

/** `now`: the time of a hit without a time, or with one in the future. Both lists may be empty. */
export function toReportsAndHits(
  notification: EmailNotification,
  { id: emailId, recipient }: SesEmail,
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

function toHits(notification: OfKind<'open' | 'click'>, emailId: string, now: number): Hit[] {
  const { kind: type, userAgent } = notification
  const at = Math.min(notification.at ?? now, now)
  const isMachine = isMachineAgent(type, userAgent)
  if (notification.kind === 'open') return [{ type: 'open', emailId, at, isMachine }]
  const { link } = notification
  return link === '' ? [] : [{ type: 'click', emailId, at, isMachine, link }]
}

/**
 * Makes reports of a bounce. A bounce for another address than the email's recipient gives none.
 */
function toBounces(bounce: OfKind<'bounce'>, emailId: string, recipient: string): EmailReport[] {
  const { recipients, bounceType, bounceSubType } = bounce
  const reportingMta = bounce.reportingMta && oneLine(bounce.reportingMta, MAX_HOST_LENGTH)
  const unnamed: BouncedRecipient = { address: recipient, status: null, diagnostic: null }
  const bounced = (recipients.length === 0 ? [unnamed] : recipients).find(
    ({ address }) => address === '' || isSameAddress(address, recipient),
  )
  if (bounced === undefined) return []
  const diagnostic = oneLine(bounced.diagnostic ?? [bounceType, bounceSubType].join(' '))
  const reply = replyOf(bounced)
  const finalRecipient =
    bounced.address === '' ? null : oneLine(bounced.address, MAX_SHOWN_ADDRESS_LENGTH)
  const details = { emailId, reply: reportedReply(reply), diagnostic, reportingMta, finalRecipient }
  if (bounceType === 'Transient') return [{ type: 'delay', ...details }]
  return [{ type: 'bounce', verdict: verdictOf(reply, bounceType), ...details }]
}

function toComplaints(
  complaint: OfKind<'complaint'>,
  emailId: string,
  recipient: string,
): EmailReport[] {
  const { feedbackType } = complaint
  const kind = feedbackType && oneLine(feedbackType, MAX_FEEDBACK_TYPE_LENGTH)
  if (!isComplaint(kind) || !isBy(complaint, recipient)) return []
  return [{ type: 'complaint', emailId, feedbackType: kind }]
}

/** Parses `smtp; 550 5.1.1 user unknown`. The code is 0 when the diagnostic has no code. */
function replyOf({ status, diagnostic }: BouncedRecipient): Reply | null {
  if (status === null && diagnostic === null) return null
  const text = oneLine(diagnostic ?? '').replace(/^[\w-]+\s*;\s*/, '')
  const [, code, enhanced, rest] =
    /^([245]\d\d)?[ -]?([245]\.\d{1,3}\.\d{1,3})?\s*(.*)/.exec(text) ?? []
  const stated = status !== null && /^[245]\.\d{1,3}\.\d{1,3}$/.test(status) ? status : null
  return { code: Number(code ?? 0), enhancedCode: enhanced ?? stated, text: rest ?? '' }
}

/** Makes the reply of a report, in which a code of 0 becomes null. */
function reportedReply(reply: Reply | null) {
  return reply === null ? null : { ...reply, code: reply.code === 0 ? null : reply.code }
}

function verdictOf(reply: Reply | null, bounceType: string): ReplyVerdict {
  const given = reply ?? { code: 0, enhancedCode: null, text: '' }
  const verdict: ReplyVerdict = { ...classifyReply({ stage: 'late', reply: given }), isFinal: true }
  if (bounceType === 'Permanent') {
    return { ...verdict, class: 'hard', isHard: true, isStrike: false }
  }
  const isContradiction = verdict.class === 'accepted'
  return {
    ...verdict,
    class: isContradiction || verdict.isHard ? 'unknown' : verdict.class,
    isHard: false,
    isStrike: verdict.isHard || verdict.isStrike,
  }
}

function oneLine(text: string, maxLength = MAX_DIAGNOSTIC_LENGTH): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
}
