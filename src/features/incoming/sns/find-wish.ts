/**
 * Finds complaints that are a wish to leave and nothing else, as they are by SMTP: reports of the type
 * opt-out, and complaints about an email that was deleted.
 */
import { isComplaint, isOptOut } from '../../../formats/report/complaint.ts'
import type { EmailToken } from '../../../formats/signed-tokens.ts'
import { isUuid } from '../../../store/ids.ts'
import type { Base } from '../../ground/base.ts'
import { readOwnTokens } from '../receiving/process/own-tokens.ts'
import type { ReportedEmail } from './find-email.ts'
import type { MessageIds, Notification, ReceivedMail } from './notification.ts'
import { isBy } from './to-reports.ts'

export type ReportedWish = { email: EmailToken; reason: 'mail' | 'complaint' }

/** `email`: undefined when it is not there. */
export function findWish(
  deps: Pick<Base, 'keyring'>,
  notification: Exclude<Notification, ReceivedMail>,
  email: ReportedEmail | undefined,
): ReportedWish | undefined {
  if (notification.kind !== 'complaint' || !isComplaint(notification.feedbackType)) return undefined
  const isLeaving = isOptOut(notification.feedbackType)
  const reason = isLeaving ? 'mail' : 'complaint'
  if (email === undefined) {
    const deleted = findDeleted(deps, notification.ids)
    return deleted && { email: deleted, reason }
  }
  if (!isLeaving || !isBy(notification, email.recipient)) return undefined
  return { email: { emailId: email.id }, reason }
}

/** By the token in the message, which has the digest of the address; else by our Message-ID. */
function findDeleted(
  deps: Pick<Base, 'keyring'>,
  { tokens, messageIds }: MessageIds,
): EmailToken | undefined {
  const [signed] = readOwnTokens(deps, tokens)
  if (signed !== undefined) return signed
  const ids = messageIds.filter((id) => id[36] === '@').map((id) => id.slice(0, 36))
  const emailId = ids.find(isUuid)
  return emailId === undefined ? undefined : { emailId }
}
