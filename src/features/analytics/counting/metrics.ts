/**
 * What an event adds to the counts of its email. `email.sent` counts an email as sent; so does a refusal
 * in the session, because the server did its part. A bounce after the delivery takes the delivery back.
 */
import type { CountedEvent } from '../../../store/schema/analytics.ts'

export const METRICS = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'openedAndClicked',
  'hardBounced',
  'softBounced',
  'complained',
  'unsubscribed',
] as const
export type Metric = (typeof METRICS)[number]

export type Change = { metric: Metric; by: 1 | -1 }

const NONE: readonly Change[] = []
/** An unsubscription for one of these counts as a bounce or a complaint. */
const COUNTED_OTHERWISE: ReadonlySet<string | null> = new Set(['bounce', 'complaint'])

export function changesOf(event: CountedEvent): readonly Change[] {
  switch (event.name) {
    case 'email.sent':
      return [more('sent')]
    case 'email.delivery':
      return [more('delivered')]
    case 'email.bounce':
      return changesOfBounce(event)
    case 'email.open':
      return changesOfOpen(event)
    case 'email.click':
      return changesOfClick(event)
    case 'email.complaint':
      return [more('complained')]
    case 'contact.unsubscribed':
      return event.isFirst && !COUNTED_OTHERWISE.has(event.detail) ? [more('unsubscribed')] : NONE
    default:
      return NONE
  }
}

/** A transient one is a delay. */
function changesOfBounce({ detail, sentAt, deliveredAt }: CountedEvent): readonly Change[] {
  if (detail !== 'Permanent' && detail !== 'Undetermined') return NONE
  return [
    more(detail === 'Permanent' ? 'hardBounced' : 'softBounced'),
    ...(sentAt === null ? [more('sent')] : []),
    ...(deliveredAt === null ? [] : [{ metric: 'delivered', by: -1 } as const]),
  ]
}

/** An email that has both counts as such at the later one, at the click if they are of one instant. */
function changesOfOpen({ isFirst, openedAt, clickedAt }: CountedEvent): readonly Change[] {
  if (!isFirst) return NONE
  const isLater = openedAt !== null && clickedAt !== null && clickedAt < openedAt
  return isLater ? [more('opened'), more('openedAndClicked')] : [more('opened')]
}

function changesOfClick({ isFirst, openedAt, clickedAt }: CountedEvent): readonly Change[] {
  if (!isFirst) return NONE
  const isLater = openedAt !== null && clickedAt !== null && openedAt <= clickedAt
  return isLater ? [more('clicked'), more('openedAndClicked')] : [more('clicked')]
}

function more(metric: Metric): Change {
  return { metric, by: 1 }
}
