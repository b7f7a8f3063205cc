/** Contacts of a project, one by one and in lists. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  type Condition,
  parseCondition,
  parseConditionText,
} from '../../../features/ground/conditions/condition.ts'
import { listContacts } from '../../../features/people/contacts/list/contact-list.ts'
import {
  loadContact,
  lookUpAddresses,
  toContactRecord,
} from '../../../features/people/contacts/read/find-contact.ts'
import { upsertContact } from '../../../features/people/contacts/write/contact-queue.ts'
import { deleteContact } from '../../../features/people/contacts/write/delete.ts'
import { updateContact } from '../../../features/people/contacts/write/update.ts'
import { MAX_ADDRESS_TEXT_LENGTH } from '../../../formats/address/address.ts'
import { conditionExample } from '../../../records/condition.ts'
import {
  contactChanges,
  contactExample,
  contactPage,
  contactQuery,
  contactQueryBody,
  contactRecord,
  type GivenState,
  newContact,
  newContactExample,
  savedContact,
} from '../../../records/contact.ts'
import { MAX_ADDRESSES_PER_REQUEST } from '../../../records/limits.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../../exchange/list-response.ts'
import { json, noContent } from '../../response.ts'
import { projectOperation, type RouteDeps, rowKeyOf } from '../../route.ts'
import { CONTACT_DATA_TEXTS, findWeakData } from '../../weak-data.ts'

const lookup = z.object({
  emails: z.array(z.string().max(MAX_ADDRESS_TEXT_LENGTH)).min(1).max(MAX_ADDRESSES_PER_REQUEST),
})

/** Fields of contacts in other services. */
const names = {
  aliases: {
    name: 'data.name',
    firstName: 'data.firstName',
    lastName: 'data.lastName',
    phone: 'data.phone',
    attributes: 'data',
    attribs: 'data',
    status: 'subscribed',
    fields: 'data',
    customFields: 'data',
    properties: 'data',
    metadata: 'data',
    address: 'email',
  },
}

const shared = {
  tag: 'Contacts',
  tagText: 'Contacts with their data: one by one, in lists, in files and in bulk.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List contacts, newest first',
    query: contactQuery,
    csvWay: 'For CSV: GET /contacts/export',
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: contactPage } },
    refusals: [400],
    example: () => ({
      query: { limit: '20', search: 'example.org' },
      status: 200,
      response: { data: [contactExample], cursor: null, hasMore: false, total: 1 },
    }),
    handle: async (call) => {
      const { filter, ...query } = call.query
      const condition = filter === undefined ? undefined : parseConditionText(filter, 'filter')
      const wanted = { ...query, projectId: call.project.id, condition }
      return pageResponse(call, { name: 'data', listing: await listContacts(core, wanted) })
    },
  })

export const query = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    isRead: true,
    summary: 'List contacts by a condition',
    description: 'Like GET /contacts, for conditions that are too long for a URL.',
    // A condition is the value of "filter", not the body itself.
    names: { aliases: { logic: 'filter', groups: 'filter' } },
    body: contactQueryBody,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: contactPage } },
    refusals: [400],
    example: () => ({
      request: { filter: conditionExample, limit: 20 },
      status: 200,
      response: { data: [contactExample], cursor: null, hasMore: false, total: 1 },
    }),
    handle: async (call) => {
      const { filter, condition: given, ...query } = call.body
      const condition = readCondition({ filter, condition: given })
      const wanted = { ...query, projectId: call.project.id, condition }
      return pageResponse(call, { name: 'data', listing: await listContacts(core, wanted) })
    },
  })

export const lookUp = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    isRead: true,
    summary: 'Look up which addresses belong to contacts',
    answerBytes: RECORD_ANSWER_BYTES,
    body: lookup,
    responses: {
      200: {
        description: 'The addresses as given, in the order given',
        schema: z.object({ found: z.array(z.string()), notFound: z.array(z.string()) }),
      },
    },
    example: () => ({
      request: { emails: ['ann@example.org', 'nobody@example.org'] },
      status: 200,
      response: { found: ['ann@example.org'], notFound: ['nobody@example.org'] },
    }),
    handle: async ({ project, body: { emails } }) =>
      largeJson(200, await lookUpAddresses(core, { projectId: project.id, emails })),
  })

/** The condition is given as `filter` or as `condition`. */
function readCondition(body: { filter?: unknown; condition?: unknown }): Condition | undefined {
  if (body.filter !== undefined) return parseCondition(body.filter, 'filter')
  return body.condition === undefined ? undefined : parseCondition(body.condition, 'condition')
}

/**
 * `unsubscribed: true` says that the person asked for it. Clients send false as a default, so false
 * says nothing and must not clear a wish.
 */
function readState({ subscribed, unsubscribed }: GivenState) {
  const hasLeft = unsubscribed === true
  return { subscribed: hasLeft ? false : subscribed, hasLeft }
}

export const save = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Create a contact, or change the contact with this address',
    names,
    body: newContact,
    responses: {
      200: { description: 'Changed', schema: savedContact },
      201: { description: 'Created', schema: savedContact },
    },
    example: () => ({
      request: { email: 'ann@example.org', subscribed: true, data: { name: 'Ann', plan: 'pro' } },
      status: 201,
      response: { ...newContactExample, _meta: { isNew: true, isUpdate: false } },
    }),
    handle: async ({ project, body, warn }) => {
      const { email: address, data } = body
      for (const warning of findWeakData(data, CONTACT_DATA_TEXTS)) warn(warning)
      const draft = { projectId: project.id, address, ...readState(body), data }
      const { contact: row, isNew } = await upsertContact(core, draft)
      const _meta = { isNew, isUpdate: !isNew }
      return json(isNew ? 201 : 200, { ...toContactRecord(row), _meta })
    },
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show a contact',
    responses: { 200: { description: 'The contact', schema: contactRecord } },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000003' },
      status: 200,
      response: newContactExample,
    }),
    handle: async (call) => json(200, toContactRecord(await loadContact(core, rowKeyOf(call)))),
  })

export const update = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    protects: (given) =>
      isDeepStrictEqual(given, { subscribed: false }) ||
      isDeepStrictEqual(given, { unsubscribed: true }),
    summary: 'Change a contact',
    description:
      'Absent fields stay as they are. A contact that gets a suppressed address is unsubscribed ' +
      'unless the same request sets `subscribed`.',
    names,
    body: contactChanges,
    responses: { 200: { description: 'The contact', schema: contactRecord } },
    refusals: [404, 409],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000003' },
      request: { data: { city: 'Oslo' } },
      status: 200,
      response: contactExample,
    }),
    handle: async (call) => {
      const { email: address, data } = call.body
      for (const warning of findWeakData(data, CONTACT_DATA_TEXTS)) call.warn(warning)
      const changes = { address, ...readState(call.body), data }
      return json(200, toContactRecord(await updateContact(core, rowKeyOf(call), changes)))
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a contact with its emails and events',
    responses: { 204: { description: 'Deleted' } },
    refusals: [404],
    example: () => ({ params: { id: '0199a7c0-0000-7000-8000-000000000003' }, status: 204 }),
    handle: async (call) => {
      await deleteContact(core, rowKeyOf(call))
      return noContent()
    },
  })
