/** An entry of the activity feed. */
import { formatInstant } from '../../../base/clock.ts'
import type { ActivityRecord } from '../../../records/activity.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { emailEventData } from '../../ground/events/email-data.ts'
import { activityTypeOf } from './activity-types.ts'
import type { ShownEmail } from './show-emails.ts'

export type FeedEvent = Pick<
  EventRow,
  'id' | 'name' | 'contactId' | 'emailId' | 'data' | 'createdAt'
> & { contactEmail: string | null }

/** `shown`: the emails of the page, by id. */
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

/**
 * Starts and ends of executions have an id such as `<executionId>_started`. One that failed may be
 * tried again and end again, so its failure adds the id of its event.
 */
function eventId({ id, data }: FeedEvent, type: string): string {
  if (!type.startsWith('workflow.')) return id
  const baseId = `${data?.executionId}_${type.slice('workflow.'.length)}`
  return data?.status === 'FAILED' ? `${baseId}_${id}` : baseId
}

/**
 * Returns an id such as `<emailId>_opened`. Activities that can repeat for an email (a second open,
 * a delay before the bounce, a failure after a retry) add the id of their event, so that ids are
 * unique.
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

/** The data of the types of campaigns and workflows has their id and their name. */
function eventMetadata({ name, data }: FeedEvent, type: string): Record<string, unknown> {
  if (type.startsWith('campaign.')) return { ...data }
  if (type.startsWith('workflow.')) return { status: 'RUNNING', exitReason: null, ...data }
  return { eventName: name, eventData: data }
}

/**
 * Fields of the email take precedence over fields of the event with the same name. A failure keeps
 * its own reason: the email may have been retried since.
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
    reason: event.name === 'email.failed' ? event.data?.reason : email.reason,
    ...(isFailure ? { error: email.error } : {}),
    ...(email.templateFaults === null ? {} : { templateFaults: email.templateFaults }),
  }
}
