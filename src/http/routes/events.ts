/** Events that clients recorded and that the service emitted. */
import { z } from 'zod'
import { deleteEvents, findDeletionStatus } from '../../features/ground/events/delete.ts'
import { listEvents } from '../../features/ground/events/list.ts'
import { countByName } from '../../features/ground/events/names.ts'
import { findEventUsage } from '../../features/ground/events/usage.ts'
import { listingOf } from '../../features/ground/listing.ts'
import {
  listEventsOfContact,
  recordEventByAddress,
  recordEventByIds,
} from '../../features/people/contacts/events/contact-events.ts'
import {
  contactEventQuery,
  eventName,
  eventPage,
  eventQuery,
  eventRecord,
  eventStatsQuery,
} from '../../records/event.ts'
import { id } from '../../records/fields.ts'
import { jobStatus } from '../../records/job.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../exchange/large-json.ts'
import {
  arrayResponse,
  LIST_ANSWER_BYTES,
  pageResponse,
  wholeResponse,
} from '../exchange/list-response.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'
import { findWeakData, IN_EVENTS } from '../weak-data.ts'
import { eventFields, recordedEvent } from './track.ts'

const eventBody = z
  .object({
    name: eventName.optional(),
    contactId: id.optional(),
    emailId: id.optional(),
    ...eventFields,
    event: eventName.optional(),
    email: eventFields.email.optional(),
  })
  .superRefine(({ name, event, email }, context) => {
    const missing = (field: string) =>
      context.addIssue({
        ...{ code: 'custom', path: [field], message: 'Required' },
        params: { code: 'required' },
      })
    if (name !== undefined) return
    if (event === undefined) return missing('name')
    if (email === undefined) missing('email')
  })

const uses = z.array(z.object({ id: z.string(), name: z.string() }))

const usage = z.object({
  usedInSegments: uses,
  usedInWorkflows: uses,
  totalCount: z.int(),
  uniqueContacts: z.int().meta({ description: 'The number of contacts with such an event' }),
  canDelete: z.boolean(),
})

const deletion = z.object({ deletedCount: z.int(), jobId: z.string().optional() })

const deletionStatus = jobStatus(
  z.object({ deletedCount: z.int() }).nullable().meta({ description: 'When completed' }),
  z.object({ name: z.string(), total: z.int() }),
)

const shared = { tag: 'Events' } as const
/** The memory of a row with a name, beside the name. */
const NAMED_BYTES = 64
const nameParam = { eventName: 'Percent-encoded' }

export const record = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Record an event',
    description:
      'Takes either `name` with the ids of a contact and of an email, or the body of ' +
      '`POST /v1/track`, with the same effect.',
    body: eventBody,
    responses: {
      200: { description: 'Like the response of POST /v1/track', schema: recordedEvent },
      201: { description: 'The event', schema: eventRecord },
    },
    refusals: [404],
    handle: async ({ project, body, warn }) => {
      const { name, event, email: address, contactId, emailId, ...rest } = body
      const projectId = project.id
      if (name === undefined && event !== undefined && address !== undefined) {
        const data = await recordEventByAddress(core, {
          projectId,
          request: { ...rest, event, address },
        })
        for (const warning of findWeakData(body.data, IN_EVENTS)) warn(warning)
        return json(200, { success: true, data, ...data })
      }
      const draft = { projectId, name: name ?? '', contactId, emailId, data: body.data }
      return json(201, await recordEventByIds(core, draft))
    },
  })

export const showUsage = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show what uses the events of a name',
    answerBytes: RECORD_ANSWER_BYTES,
    params: nameParam,
    responses: {
      200: { description: 'The uses, and the number of events', schema: usage },
    },
    handle: async ({ project, params }) => {
      const key = { projectId: project.id, name: params.eventName ?? '' }
      return largeJson(200, await findEventUsage(core, key))
    },
  })

export const removeByName = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete all events of a name',
    description:
      'Refused for events that the service emits and for events that a segment or workflow uses.',
    params: nameParam,
    responses: {
      200: {
        description: 'The number of events: deleted, or to be deleted by the job `jobId`',
        schema: deletion,
      },
    },
    refusals: [400, 409],
    handle: async ({ project, params }) => {
      const key = { projectId: project.id, name: params.eventName ?? '' }
      return json(200, await deleteEvents(core, key))
    },
  })

export const showDeletion = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the progress of a deletion',
    responses: { 200: { description: 'The job', schema: deletionStatus } },
    refusals: [404],
    handle: async ({ project, params: { jobId = '' } }) =>
      json(200, await findDeletionStatus(core, { projectId: project.id, jobId })),
  })

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List events, newest first',
    query: eventQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: eventPage } },
    handle: async (call) => {
      const { eventName: name, limit, cursor } = call.query
      const wanted = { projectId: call.project.id, name, limit, cursor }
      return pageResponse(call, { name: 'events', listing: await listEvents(core, wanted) })
    },
  })

export const countNames = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Count events by name, most frequent first',
    query: eventStatsQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: {
      200: {
        description: 'The names with events in the range',
        schema: z.array(z.object({ name: z.string(), count: z.int() })),
      },
    },
    handle: async (call) => {
      const { startDate: startAt, endDate: endAt } = call.query
      const counts = await countByName(core, call.project.id, { startAt, endAt })
      return arrayResponse(
        call,
        listingOf(counts, ({ name }) => NAMED_BYTES + name.length),
      )
    },
  })

export const listNames = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the names of events, most frequent first',
    answerBytes: LIST_ANSWER_BYTES,
    responses: {
      200: { description: 'The names', schema: z.object({ eventNames: z.array(z.string()) }) },
    },
    handle: async (call) => {
      const counts = await countByName(core, call.project.id)
      const names = counts.map(({ name }) => name)
      const listing = listingOf(names, (name) => NAMED_BYTES + name.length)
      return wholeResponse(call, { name: 'eventNames', listing })
    },
  })

export const listOfContact = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the newest events of a contact',
    query: contactEventQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: {
      200: { description: 'The events', schema: z.object({ events: z.array(eventRecord) }) },
    },
    refusals: [404],
    handle: async (call) => {
      const { contactId = '' } = call.params
      const { limit } = call.query
      const wanted = { projectId: call.project.id, id: contactId.toLowerCase(), limit }
      const listing = await listEventsOfContact(core, wanted)
      return wholeResponse(call, { name: 'events', listing })
    },
  })
