/**
 * The data of an email's events in the API: the base data of the email, the time that belongs to
 * the event's name, and the data of the event's row, which takes precedence.
 */
import { formatOptionalInstant } from '../../../base/clock.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { type Email, emails } from '../../../store/schema/messages.ts'

export type EventEmail = Pick<
  Email,
  | 'id'
  | 'subject'
  | 'fromAddress'
  | 'fromName'
  | 'messageId'
  | 'templateId'
  | 'campaignId'
  | 'sourceType'
  | 'sentAt'
  | 'deliveredAt'
  | 'openedAt'
  | 'clickedAt'
  | 'bouncedAt'
  | 'complainedAt'
>

export const eventEmailColumns = {
  id: emails.id,
  subject: emails.subject,
  fromAddress: emails.fromAddress,
  fromName: emails.fromName,
  messageId: emails.messageId,
  templateId: emails.templateId,
  campaignId: emails.campaignId,
  sourceType: emails.sourceType,
  sentAt: emails.sentAt,
  deliveredAt: emails.deliveredAt,
  openedAt: emails.openedAt,
  clickedAt: emails.clickedAt,
  bouncedAt: emails.bouncedAt,
  complainedAt: emails.complainedAt,
} satisfies Record<keyof EventEmail, unknown>

/**
 * Makes the data of an email's event. `email.subject`: the rendered subject, if the caller has it.
 */
export function emailEventData(
  { name, data }: Pick<EventRow, 'name' | 'data'>,
  email: EventEmail,
): Record<string, unknown> {
  return { ...baseData(email), ...instants({ name, data }, email), ...data }
}

function baseData(email: EventEmail): Record<string, unknown> {
  return {
    subject: email.subject,
    from: email.fromAddress,
    fromName: email.fromName,
    messageId: email.messageId,
    emailId: email.id,
    templateId: email.templateId,
    campaignId: email.campaignId,
    sourceType: email.sourceType,
  }
}

function instants(
  { name, data }: Pick<EventRow, 'name' | 'data'>,
  email: EventEmail,
): Record<string, unknown> {
  switch (name) {
    case 'email.sent':
      return { sentAt: formatOptionalInstant(email.sentAt) }
    case 'email.delivery':
      return { deliveredAt: formatOptionalInstant(email.deliveredAt) }
    case 'email.open':
      return { openedAt: formatOptionalInstant(email.openedAt) }
    case 'email.click':
      return { clickedAt: formatOptionalInstant(email.clickedAt) }
    case 'email.bounce':
      // A delay is stored as `email.bounce` too, but a delayed email has not bounced.
      if (data?.transientBounce === true) return {}
      return { bouncedAt: formatOptionalInstant(email.bouncedAt) }
    case 'email.complaint':
      return { complainedAt: formatOptionalInstant(email.complainedAt) }
    default:
      return {}
  }
}
