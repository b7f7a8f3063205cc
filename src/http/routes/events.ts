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
import { userIdOf } from '../../features/tenancy/accounts/callers/caller.ts'
import { contactExample } from '../../records/contact.ts'
import {
  contactEventQuery,
  eventDeletion,
  eventDeletionStatus,
  eventExample,
  eventName,
  eventPage,
  eventQuery,
  eventRecord,
  eventStatsQuery,
  eventUsage,
  recordedEvent,
} from '../../records/event.ts'
import { id } from '../../records/fields.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../exchange/large-json.ts'
import {
  arrayResponse,
  LIST_ANSWER_BYTES,
  pageResponse,
  wholeResponse,
} from '../exchange/list-response.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'
import { EVENT_DATA_TEXTS, findWeakData } from '../weak-data.ts'
import { eventFields } from './track.ts'

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

const shared = {
  tag: 'Events',
  tagText: 'Events that applications recorded or that the service emitted.',
} as const
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
    example: () => ({
      request: { name: 'page viewed', data: { path: '/pricing' } },
      status: 201,
      response: {
        projectId: '0199a7c0-0000-7000-8000-000000000001',
        name: 'page viewed',
        contactId: null,
        emailId: null,
        data: { path: '/pricing' },
        id: '0199a7c0-0000-7000-8000-000000000014',
        createdAt: '2026-11-22T09:30:00.000Z',
      },
    }),
    handle: async ({ project, body, warn }) => {
      const { name, event, email: address, contactId, emailId, ...rest } = body
      const projectId = project.id
      if (name === undefined && event !== undefined && address !== undefined) {
        const data = await recordEventByAddress(core, {
          projectId,
          request: { ...rest, event, address },
        })
        for (const warning of findWeakData(body.data, EVENT_DATA_TEXTS)) warn(warning)
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
      200: { description: 'The uses, and the number of events', schema: eventUsage },
    },
    example: () => ({
      params: { eventName: 'order placed' },
      status: 200,
      response: {
        usedInSegments: [],
        usedInWorkflows: [],
        totalCount: 1,
        uniqueContacts: 1,
        canDelete: true,
      },
    }),
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
        schema: eventDeletion,
      },
    },
    refusals: [400, 409],
    example: () => ({
      params: { eventName: 'page viewed' },
      status: 200,
      response: {
        deletedCount: 502,
        jobId: 'delete-events-0199a7c0-0000-7000-8000-000000000001-1795339802000',
      },
    }),
    handle: async ({ project, caller, params }) => {
      const key = { projectId: project.id, name: params.eventName ?? '' }
      return json(200, await deleteEvents(core, { ...key, userId: userIdOf(caller) }))
    },
  })

export const showDeletion = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the progress of a deletion',
    responses: { 200: { description: 'The job', schema: eventDeletionStatus } },
    refusals: [404],
    example: () => ({
      params: { jobId: 'delete-events-0199a7c0-0000-7000-8000-000000000001-1795339802000' },
      status: 200,
      response: {
        id: 'delete-events-0199a7c0-0000-7000-8000-000000000001-1795339802000',
        state: 'completed',
        progress: 100,
        result: { deletedCount: 502 },
        data: { name: 'page viewed', total: 502 },
        failedReason: null,
      },
    }),
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
    example: () => ({
      query: { eventName: 'order placed', limit: '20' },
      status: 200,
      response: {
        events: [{ ...eventExample, contact: { email: contactExample.email } }],
        cursor: null,
        hasMore: false,
        total: 1,
      },
    }),
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
    example: () => ({
      status: 200,
      response: [
        { name: 'contact.subscribed', count: 1 },
        { name: 'contact.unsubscribed', count: 1 },
        { name: 'order placed', count: 1 },
        { name: 'page viewed', count: 1 },
      ],
    }),
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
    example: () => ({
      status: 200,
      response: {
        eventNames: ['contact.subscribed', 'contact.unsubscribed', 'order placed', 'page viewed'],
      },
    }),
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
    example: () => ({
      params: { contactId: '0199a7c0-0000-7000-8000-000000000003' },
      query: { limit: '20' },
      status: 200,
      response: {
        events: [
          eventExample,
          {
            ...eventExample,
            id: '0199a7c0-0000-7000-8000-000000000015',
            name: 'contact.subscribed',
            data: { reason: 'api' },
          },
          {
            ...eventExample,
            id: '0199a7c0-0000-7000-8000-000000000016',
            name: 'contact.unsubscribed',
            data: { reason: 'api' },
          },
        ],
      },
    }),
    handle: async (call) => {
      const { contactId = '' } = call.params
      const { limit } = call.query
      const wanted = { projectId: call.project.id, id: contactId.toLowerCase(), limit }
      const listing = await listEventsOfContact(core, wanted)
      return wholeResponse(call, { name: 'events', listing })
    },
  })
