/** Maps the types of the activity feed to the names of the stored events, which differ. */
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { storedEventName } from '../../ground/conditions/field.ts'

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
  ['campaign.sent', 'campaign.sent'],
  ['campaign.scheduled', 'campaign.scheduled'],
  ['workflow.started', 'workflow.started'],
  ['workflow.completed', 'workflow.completed'],
])

/** Included only when a request names them. The event has the same name as the type. */
const UNLISTED_TYPES = UNLISTED_EVENTS

/** Types that are not stored as events: they are of the future. */
const FUTURE_TYPES = ['workflow.email.scheduled', 'workflow.execution.active']

const TYPES_BY_EVENT_NAME = new Map(
  EVENT_NAMES_BY_TYPE.entries().map(([type, name]) => [name, type]),
)

/** The types that the feed includes by default; clients' events are `event.triggered`. */
export const ACTIVITY_TYPES: readonly string[] = [
  'event.triggered',
  ...EVENT_NAMES_BY_TYPE.keys(),
  ...FUTURE_TYPES,
]

export function activityTypeOf(eventName: string): string {
  if (UNLISTED_TYPES.includes(eventName)) return eventName
  return TYPES_BY_EVENT_NAME.get(eventName) ?? 'event.triggered'
}

/** Returns the names of the service's events that have a type in the feed. */
export function serviceEventNames(): string[] {
  return [...EVENT_NAMES_BY_TYPE.values(), ...UNLISTED_EVENTS]
}

/** Returns the event names of these types, also of those that are named as their events are; `*` stands for all names that clients gave. */
export function eventNamesOf(types: readonly string[]): string[] {
  return types.flatMap((type) => {
    if (type === 'event.triggered') return ['*']
    if (UNLISTED_TYPES.includes(type)) return [type]
    const stored = EVENT_NAMES_BY_TYPE.get(type) ?? storedEventName(type)
    return TYPES_BY_EVENT_NAME.has(stored) ? [stored] : []
  })
}
