/** Names of events that only the service records. */

/** The stored names of the events of an email that is sent. */
export const MAIL_EVENTS: readonly string[] = [
  ...['email.sent', 'email.delivery', 'email.open', 'email.click', 'email.bounce'],
  ...['email.complaint', 'email.failed', 'email.suppressed'],
]

/**
 * Reserved names besides the reserved prefixes such as `email.`. Of these events, those of workflows have a
 * contact.
 */
export const OWN_EVENTS: readonly string[] = [
  'campaign.scheduled',
  'campaign.sent',
  'campaign.paused',
  'campaign.resumed',
  'campaign.cancelled',
  'workflow.started',
  'workflow.completed',
  'webhook.disabled',
  'webhook.test',
]

/** Whether only the service may record events of this name. */
export function isReservedEvent(name: string): boolean {
  if (name.startsWith('email.')) return true
  if (name === 'contact.subscribed' || name === 'contact.unsubscribed') return true
  if (OWN_EVENTS.includes(name)) return true
  return name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit'))
}
