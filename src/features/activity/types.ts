/** The feed's types beside the names of the events they show (contract 7.1: the two differ). */

const eventNames: Record<string, string> = {
  'email.sent': 'email.sent',
  'email.delivered': 'email.delivery',
  'email.received': 'email.received',
  'email.opened': 'email.open',
  'email.clicked': 'email.click',
  'email.bounced': 'email.bounce',
  'email.complaint': 'email.complaint',
  'contact.subscribed': 'contact.subscribed',
  'contact.unsubscribed': 'contact.unsubscribed',
}

const typesByName = new Map(Object.entries(eventNames).map(([type, name]) => [name, type]))

/** Every type the feed can show; the client's own events are `event.triggered`. */
export const activityTypes: readonly string[] = ['event.triggered', ...Object.keys(eventNames)]

export function activityTypeOf(eventName: string): string {
  return typesByName.get(eventName) ?? 'event.triggered'
}

/** The event names behind these types; `*` stands for all that are not the service's own. */
export function eventNamesOf(types: readonly string[]): string[] {
  return types.flatMap((type) => {
    if (type === 'event.triggered') return ['*']
    return eventNames[type] ?? []
  })
}
