/** Events of a campaign; they have no contact. */
const CAMPAIGN_EVENTS: readonly string[] = [
  'campaign.scheduled',
  'campaign.sent',
  'campaign.paused',
  'campaign.resumed',
  'campaign.cancelled',
]

/** Whether only the service may record events of this name. */
export function isReservedEvent(name: string): boolean {
  if (name.startsWith('email.')) return true
  if (name === 'contact.subscribed' || name === 'contact.unsubscribed') return true
  if (CAMPAIGN_EVENTS.includes(name)) return true
  return name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit'))
}
