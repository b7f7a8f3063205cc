/** The feed's types beside the names of the events they show (contract 7.1: the two differ). */
import { UNLISTED_EVENTS } from '../events/unlisted.ts'

const EVENT_NAMES_BY_TYPE = new Map([
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

/** Shown only when a request names them; their event is named like the type. */
const UNLISTED_TYPES = UNLISTED_EVENTS

/** No events: the feed makes them of campaigns and of workflow executions. */
const RECORD_TYPES = [
  'campaign.sent',
  'campaign.scheduled',
  'workflow.started',
  'workflow.completed',
  'workflow.email.scheduled',
]

const TYPES_BY_EVENT_NAME = new Map(
  EVENT_NAMES_BY_TYPE.entries().map(([type, name]) => [name, type]),
)

/** Every type that the feed shows unasked; the client's own events are `event.triggered`. */
export const ACTIVITY_TYPES: readonly string[] = [
  'event.triggered',
  ...EVENT_NAMES_BY_TYPE.keys(),
  ...RECORD_TYPES,
]

export function activityTypeOf(eventName: string): string {
  if (UNLISTED_TYPES.includes(eventName)) return eventName
  return TYPES_BY_EVENT_NAME.get(eventName) ?? 'event.triggered'
}

/** The names of all events that the service itself makes and the feed has a type for. */
export function serviceEventNames(): string[] {
  return [...EVENT_NAMES_BY_TYPE.values(), ...UNLISTED_EVENTS]
}

/** The event names behind these types; `*` stands for all that are not the service's own. */
export function eventNamesOf(types: readonly string[]): string[] {
  return types.flatMap((type) => {
    if (type === 'event.triggered') return ['*']
    if (UNLISTED_TYPES.includes(type)) return [type]
    return EVENT_NAMES_BY_TYPE.get(type) ?? []
  })
}
