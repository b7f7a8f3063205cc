/** Contacts of a project, one by one and in lists. */

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  type Condition,
  parseCondition,
  parseConditionText,
} from '../../../features/ground/conditions/condition.ts'
import {
  DEFAULT_PAGE_SIZE,
  MAX_ADDRESSES_PER_REQUEST,
  MAX_PAGE_SIZE,
  MAX_SEARCH_LENGTH,
} from '../../../features/ground/limits.ts'
import { listContacts } from '../../../features/people/contacts/list/list.ts'
import { getContact } from '../../../features/people/contacts/read/get.ts'
import { lookUpAddresses } from '../../../features/people/contacts/read/lookup.ts'
import { toContactView } from '../../../features/people/contacts/read/view.ts'
import { upsertContact } from '../../../features/people/contacts/write/contact-queue.ts'
import { deleteContact } from '../../../features/people/contacts/write/delete.ts'
import { updateContact } from '../../../features/people/contacts/write/update.ts'
import { MAX_ADDRESS_TEXT_LENGTH } from '../../../formats/address/address.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../../exchange/list-response.ts'
import { json, noContent } from '../../response.ts'
import { projectOperation, type RouteDeps, rowKeyOf } from '../../route.ts'
import { conditionField } from '../../shapes/condition.ts'
import { contactData, contactRecord } from '../../shapes/contact.ts'
import { emailAddress } from '../../shapes/fields.ts'
import { choiceParameter, countParameter, pageEnd } from '../../shapes/paging.ts'
import { findWeakData, IN_CONTACTS } from '../../shapes/weak-data.ts'

/** A cursor holds an address, which has up to 254 octets in its shortest form. */
const MAX_CURSOR_LENGTH = 2000

const cursor = z.string().min(1).max(MAX_CURSOR_LENGTH).optional().meta({
  description: '`cursor` of the previous page, or the id of its last contact',
})

const listFields = {
  cursor,
  search: z
    .string()
    .max(MAX_SEARCH_LENGTH)
    .optional()
    .meta({
      description:
        'Part of the address, in any letter case. In projects with more than 100,000 contacts, ' +
        'searches of one or two characters cover only the newest 20,000',
    }),
  sort: choiceParameter(['createdAt', 'email'], 'createdAt'),
  dir: choiceParameter(['asc', 'desc'], 'desc'),
}

const listQuery = z.object({
  ...listFields,
  limit: countParameter({ fallback: DEFAULT_PAGE_SIZE, cap: MAX_PAGE_SIZE }),
  subscribed: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ type: 'boolean' }),
  filter: z.string().optional().meta({
    description: 'A condition as JSON. The members of a segment: GET /segments/:id/contacts',
  }),
})

const limit = z
  .number()
  .refine(Number.isInteger, { message: 'Expected an integer', params: { code: 'invalid_type' } })
  .min(1)
  .default(DEFAULT_PAGE_SIZE)
  .transform((value) => Math.min(value, MAX_PAGE_SIZE))
  .meta({ type: 'integer', minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })

const condition = conditionField.optional()

// Strict, because a body with a misspelt name, or a bare condition, must not select all contacts.
const queryBody = z
  .strictObject({
    ...listFields,
    limit,
    subscribed: z.boolean().optional(),
    filter: condition,
    condition,
  })
  .refine((body) => body.filter === undefined || body.condition === undefined, {
    path: ['condition'],
    message: 'Give either filter or condition',
  })

const unsubscribed = z
  .boolean()
  .nullish()
  .meta({
    description:
      'true: the person asked to be unsubscribed. The contact is unsubscribed, and imports, bulk work, ' +
      'defaults and the public key do not subscribe the address again. false and null change nothing',
  })

type GivenState = { subscribed?: boolean | undefined; unsubscribed?: boolean | null | undefined }

const isOneState = ({ subscribed, unsubscribed }: GivenState) =>
  subscribed !== true || unsubscribed !== true

const contradiction = {
  path: ['unsubscribed'],
  message: 'Contradicts "subscribed": give one of them',
}

const newContact = z
  .object({
    email: emailAddress,
    subscribed: z.boolean().optional().meta({
      description: 'Defaults to true for a new contact; an existing contact keeps its state',
    }),
    unsubscribed,
    data: contactData.nullish(),
  })
  .refine(isOneState, contradiction)

const changes = z
  .object({
    email: emailAddress,
    subscribed: z.boolean(),
    unsubscribed,
    data: contactData
      .nullable()
      .meta({ description: 'Merged with the existing data; null clears the data' }),
  })
  .partial()
  .refine(isOneState, contradiction)

const saved = contactRecord.extend({
  _meta: z.object({ isNew: z.boolean(), isUpdate: z.boolean() }),
})

const page = z
  .object({
    data: z.array(contactRecord),
    ...pageEnd,
  })
  .meta({ id: 'ContactPage' })

const lookup = z.object({
  emails: z.array(z.string().max(MAX_ADDRESS_TEXT_LENGTH)).min(1).max(MAX_ADDRESSES_PER_REQUEST),
})

/** Other services have these beside the address. */
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

const shared = { tag: 'Contacts' } as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List contacts, newest first',
    query: listQuery,
    csvWay: 'For CSV: GET /contacts/export',
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: page } },
    refusals: [400],
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
    body: queryBody,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: page } },
    refusals: [400],
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
    handle: async ({ project, body: { emails } }) =>
      largeJson(200, await lookUpAddresses(core, { projectId: project.id, emails })),
  })

/** The condition is given as `filter` or as `condition`. */
function readCondition(body: { filter?: unknown; condition?: unknown }): Condition | undefined {
  if (body.filter !== undefined) return parseCondition(body.filter, 'filter')
  return body.condition === undefined ? undefined : parseCondition(body.condition, 'condition')
}

/**
 * `unsubscribed: true` says that the person asked for it. Clients send false as a default, so it says nothing:
 * it must not clear a wish.
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
      200: { description: 'Changed', schema: saved },
      201: { description: 'Created', schema: saved },
    },
    handle: async ({ project, body, warn }) => {
      const { email: address, data } = body
      for (const warning of findWeakData(data, IN_CONTACTS)) warn(warning)
      const draft = { projectId: project.id, address, ...readState(body), data }
      const { contact: row, isNew } = await upsertContact(core, draft)
      const _meta = { isNew, isUpdate: !isNew }
      return json(isNew ? 201 : 200, { ...toContactView(row), _meta })
    },
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show a contact',
    responses: { 200: { description: 'The contact', schema: contactRecord } },
    refusals: [404],
    handle: async (call) => json(200, toContactView(await getContact(core, rowKeyOf(call)))),
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
    body: changes,
    responses: { 200: { description: 'The contact', schema: contactRecord } },
    refusals: [404, 409],
    handle: async (call) => {
      const { email: address, data } = call.body
      for (const warning of findWeakData(data, IN_CONTACTS)) call.warn(warning)
      const changes = { address, ...readState(call.body), data }
      return json(200, toContactView(await updateContact(core, rowKeyOf(call), changes)))
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a contact with its emails and events',
    responses: { 204: { description: 'Deleted' } },
    refusals: [404],
    handle: async (call) => {
      await deleteContact(core, rowKeyOf(call))
      return noContent()
    },
  })
