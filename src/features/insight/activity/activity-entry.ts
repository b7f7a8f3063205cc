/**
 * Makes entries of the activity feed, and maps their types to the names of the stored events, which
 * differ.
 */
import { formatInstant } from '../../../base/clock.ts'
import type { ActivityRecord } from '../../../records/activity.ts'
import { NO_REASON } from '../../../records/reason.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { storedEventName } from '../../ground/conditions/field.ts'
import { emailEventData } from '../../ground/events/email-data.ts'
import { reasonOfFailure } from '../../mail/messages/explain/failures.ts'
import { reasonOfExit } from '../../outreach/workflows/reasons.ts'
import type { ShownEmail } from './show-emails.ts'

export type FeedEvent = Pick<
  EventRow,
  'id' | 'name' | 'contactId' | 'emailId' | 'data' | 'createdAt'
> & { contactEmail: string | null }

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

/** Types that the feed includes only if a request names them. Their events have the same names. */
const UNLISTED_TYPES = UNLISTED_EVENTS

/** Types of future activity, which is not stored as events. */
const FUTURE_TYPES = ['workflow.email.scheduled', 'workflow.execution.active']

const TYPES_BY_EVENT_NAME = new Map(
  EVENT_NAMES_BY_TYPE.entries().map(([type, name]) => [name, type]),
)

/**
 * The types that the feed includes by default. `event.triggered` stands for the events of clients.
 */
export const ACTIVITY_TYPES: readonly string[] = [
  'event.triggered',
  ...EVENT_NAMES_BY_TYPE.keys(),
  ...FUTURE_TYPES,
]

/** Converts an event to an entry. `shown`: the emails of the page, by id. */
export function toActivity(
  event: FeedEvent,
  shown: ReadonlyMap<string, ShownEmail>,
): ActivityRecord {
  const type = activityTypeOf(event.name)
  const isOfEmail = type.startsWith('email.')
  const email = isOfEmail && event.emailId !== null ? shown.get(event.emailId) : undefined
  return {
    id: email === undefined ? eventId(event, type) : emailActivityId(event, email.id, type),
    type,
    timestamp: formatInstant(event.createdAt),
    ...(event.contactEmail === null ? {} : { contactEmail: event.contactEmail }),
    ...(event.contactId === null ? {} : { contactId: event.contactId }),
    metadata: email === undefined ? eventMetadata(event, type) : emailMetadata(event, email),
  }
}

/** Returns the names of the service's events that have a type in the feed. */
export function serviceEventNames(): string[] {
  return [...EVENT_NAMES_BY_TYPE.values(), ...UNLISTED_EVENTS]
}

/**
 * Returns the names of the events that have these types; `*` stands for all names that clients
 * chose.
 */
export function eventNamesOf(types: readonly string[]): string[] {
  return types.flatMap((type) => {
    if (type === 'event.triggered') return ['*']
    if (UNLISTED_TYPES.includes(type)) return [type]
    const stored = EVENT_NAMES_BY_TYPE.get(type) ?? storedEventName(type)
    return TYPES_BY_EVENT_NAME.has(stored) ? [stored] : []
  })
}

/**
 * Returns the id of an entry without an email. Starts and ends of executions have ids such as
 * `<executionId>_started`. A failed execution may be tried again and end again, so the id of its
 * failure also contains the id of the event.
 */
function eventId({ id, data }: FeedEvent, type: string): string {
  if (!type.startsWith('workflow.')) return id
  const baseId = `${data?.executionId}_${type.slice('workflow.'.length)}`
  return data?.status === 'FAILED' ? `${baseId}_${id}` : baseId
}

/**
 * Returns an id such as `<emailId>_opened`. Activities that can repeat for an email (a second open,
 * a delay before the bounce, a failure after a retry) also contain the id of their event, so that
 * ids are unique.
 */
function emailActivityId({ id, name, data }: FeedEvent, emailId: string, type: string): string {
  const isRepeatable =
    data?.isFirstOpen === false ||
    data?.isFirstClick === false ||
    data?.transientBounce === true ||
    name === 'email.failed'
  const baseId = `${emailId}_${type.slice('email.'.length)}`
  return isRepeatable ? `${baseId}_${id}` : baseId
}

/**
 * Returns the metadata of an entry without an email. The data of a campaign's or workflow's event
 * already contains its id and name.
 */
function eventMetadata({ name, data }: FeedEvent, type: string): Record<string, unknown> {
  if (type.startsWith('campaign.')) return { ...data }
  if (type.startsWith('workflow.')) {
    const execution = { status: 'RUNNING', exitReason: null, ...data }
    return { ...execution, ...(reasonOfExit(execution) ?? NO_REASON) }
  }
  return { eventName: name, eventData: data }
}

/**
 * Joins the fields of event and email. The email's fields beat the event's, but a failure keeps its
 * own reason, because the email may have been retried since.
 */
function emailMetadata(event: FeedEvent, email: ShownEmail): Record<string, unknown> {
  const isFailure = ['email.bounce', 'email.complaint'].includes(event.name)
  return {
    ...emailEventData(event, email),
    subject: email.subject,
    ...(email.body === undefined ? {} : { body: email.body }),
    ...(event.name === 'email.received' && email.text !== undefined ? { text: email.text } : {}),
    from: email.fromAddress,
    fromName: email.fromName,
    replyTo: email.replyTo,
    toName: email.toName,
    sourceType: email.sourceType,
    campaignName: email.campaignName,
    workflowName: email.workflowName,
    status: email.status,
    ...ownReason(event, email),
    ...(isFailure ? { error: email.error } : {}),
    ...(email.templateFaults === null ? {} : { templateFaults: email.templateFaults }),
  }
}

/** The reason of a failure is one of its words; its code has the values of this failure. */
function ownReason({ name, data, createdAt: at }: FeedEvent, email: ShownEmail) {
  const { reason, reasonCode, reasonData } = email
  if (name !== 'email.failed') return { reason, reasonCode, reasonData }
  const error = typeof data?.error === 'string' ? data.error : null
  const unknown = { attempts: null, obstacle: null, cutOff: null }
  return { reason: data?.reason, ...reasonOfFailure({ error, at, ...unknown }) }
}

function activityTypeOf(eventName: string): string {
  if (UNLISTED_TYPES.includes(eventName)) return eventName
  return TYPES_BY_EVENT_NAME.get(eventName) ?? 'event.triggered'
}
