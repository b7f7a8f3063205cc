/** The feed's types beside the names of the events they show (contract 7.1: the two differ). */

const namesByType = new Map([
  ['email.sent', 'email.sent'],
  ['email.delivered', 'email.delivery'],
  ['email.received', 'email.received'],
  ['email.opened', 'email.open'],
  ['email.clicked', 'email.click'],
  ['email.bounced', 'email.bounce'],
  ['email.complaint', 'email.complaint'],
  ['contact.subscribed', 'contact.subscribed'],
  ['contact.unsubscribed', 'contact.unsubscribed'],
])

/** No events: the feed makes them of campaigns and of workflow executions. */
const typesOfRecords = [
  'campaign.sent',
  'campaign.scheduled',
  'workflow.started',
  'workflow.completed',
  'workflow.email.scheduled',
]

const typesByName = new Map(namesByType.entries().map(([type, name]) => [name, type]))

/** Every type there is; the client's own events are `event.triggered`. */
export const activityTypes: readonly string[] = [
  'event.triggered',
  ...namesByType.keys(),
  ...typesOfRecords,
]

export function activityTypeOf(eventName: string): string {
  return typesByName.get(eventName) ?? 'event.triggered'
}

/** The event names behind these types; `*` stands for all that are not the service's own. */
export function eventNamesOf(types: readonly string[]): string[] {
  return types.flatMap((type) => {
    if (type === 'event.triggered') return ['*']
    return namesByType.get(type) ?? []
  })
}
