/**
 * What an event adds to the counts of its email. `email.sent` counts an email as sent; so does a refusal
 * in the session, because the server did its part. A bounce after the delivery takes the delivery back.
 */
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import { COUNTED_OTHERWISE } from '../../../people/contacts/write/set-subscribed.ts'
import type { MailCount } from '../mail-counts.ts'

export type Change = { metric: MailCount; by: 1 | -1 }

const NONE: readonly Change[] = []
const SENT = one('sent')
const DELIVERED = one('delivered')
const OPENED = one('opened')
const CLICKED = one('clicked')
const BOTH = one('openedAndClicked')
const COMPLAINED = one('complained')
const UNSUBSCRIBED = one('unsubscribed')
const UNDELIVERED: readonly Change[] = [{ metric: 'delivered', by: -1 }]
/** The types of bounces; a transient one is a delay. */
const BOUNCED: Readonly<Record<string, readonly Change[]>> = {
  Permanent: one('hardBounced'),
  Undetermined: one('softBounced'),
}

export function changesOf(event: CountedEvent): readonly Change[] {
  switch (event.name) {
    case 'email.sent':
      return SENT
    case 'email.delivery':
      return DELIVERED
    case 'email.bounce':
      return changesOfBounce(event)
    case 'email.open':
      return changesOfOpen(event)
    case 'email.click':
      return changesOfClick(event)
    case 'email.complaint':
      return COMPLAINED
    case 'contact.unsubscribed':
      return event.isFirst && !COUNTED_OTHERWISE.has(event.detail) ? UNSUBSCRIBED : NONE
    default:
      return NONE
  }
}

function changesOfBounce({ detail, sentAt, deliveredAt }: CountedEvent): readonly Change[] {
  const bounced = BOUNCED[detail ?? '']
  if (bounced === undefined) return NONE
  return [
    ...bounced,
    ...(sentAt === null ? SENT : NONE),
    ...(deliveredAt === null ? NONE : UNDELIVERED),
  ]
}

/** An email that has both counts as such at the later one, at the click if they are of one instant. */
function changesOfOpen({ isFirst, openedAt, clickedAt }: CountedEvent): readonly Change[] {
  if (!isFirst) return NONE
  const isLater = openedAt !== null && clickedAt !== null && clickedAt < openedAt
  return isLater ? [...OPENED, ...BOTH] : OPENED
}

function changesOfClick({ isFirst, openedAt, clickedAt }: CountedEvent): readonly Change[] {
  if (!isFirst) return NONE
  const isLater = openedAt !== null && clickedAt !== null && openedAt <= clickedAt
  return isLater ? [...CLICKED, ...BOTH] : CLICKED
}

function one(metric: MailCount): readonly Change[] {
  return [{ metric, by: 1 }]
}
