/** Contacts of a project (contract 3.1), but for their fields, files and bulk work. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  type Condition,
  parseCondition,
  parseConditionText,
} from '../../../features/conditions/condition.ts'
import { listContacts } from '../../../features/contacts/list/list.ts'
import { getContact } from '../../../features/contacts/read/get.ts'
import { lookUpAddresses } from '../../../features/contacts/read/lookup.ts'
import { toContactView } from '../../../features/contacts/read/view.ts'
import { deleteContact } from '../../../features/contacts/write/delete.ts'
import { saveContact } from '../../../features/contacts/write/save.ts'
import { updateContact } from '../../../features/contacts/write/update.ts'
import type { Core } from '../../../features/core.ts'
import { json, type KeyedCall, keyedRoute, noContent, type Route } from '../../route.ts'
import { conditionField } from '../../shapes/condition.ts'
import { contactData, contactRecord } from '../../shapes/contact.ts'
import { emailAddress } from '../../shapes/fields.ts'
import { choiceParameter, countParameter } from '../../shapes/paging.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100
const MAX_SEARCH_LENGTH = 255
/** A cursor holds an address, which is up to 254 octets in its shortest form. */
const MAX_CURSOR_LENGTH = 2000
const MAX_LOOKUP = 500
/** Of a text that is looked up: longer than any address, however it is written. */
const MAX_TEXT_LENGTH = 1024

const cursor = z.string().min(1).max(MAX_CURSOR_LENGTH).optional().meta({
  description: 'Where the page before ended, as that page says, or the id of its last contact',
})

const shared = {
  cursor,
  search: z
    .string()
    .max(MAX_SEARCH_LENGTH)
    .optional()
    .meta({
      description:
        'Part of the address, letter case aside. In projects of more than 100,000 contacts, one or ' +
        'two characters are searched for in the newest 20,000 only',
    }),
  sort: choiceParameter(['createdAt', 'email'], 'createdAt'),
  dir: choiceParameter(['asc', 'desc'], 'desc'),
}

const listQuery = z.object({
  ...shared,
  limit: countParameter({ fallback: DEFAULT_LIMIT, cap: MAX_LIMIT }),
  subscribed: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ type: 'boolean' }),
  filter: z.string().optional().meta({ description: 'A condition as JSON' }),
})

const limit = z
  .number()
  .refine(Number.isInteger, { message: 'Expected an integer', params: { code: 'invalid_type' } })
  .min(1)
  .default(DEFAULT_LIMIT)
  .transform((value) => Math.min(value, MAX_LIMIT))
  .meta({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })

const condition = conditionField.optional()

// A name that is not known here, or a condition in place of the body, must not mean all contacts.
const queryBody = z
  .strictObject(
    {
      ...shared,
      limit,
      subscribed: z.boolean().optional(),
      filter: condition,
      condition,
    },
    {
      error: ({ code, keys }) =>
        code === 'unrecognized_keys' && keys.includes('groups')
          ? 'A condition is the value of "filter", not the body itself'
          : undefined,
    },
  )
  .refine((body) => body.filter === undefined || body.condition === undefined, {
    path: ['condition'],
    message: 'Give either filter or condition',
  })

const newContact = z.object({
  email: emailAddress,
  subscribed: z
    .boolean()
    .optional()
    .meta({ description: 'Of a new contact true; an existing one stays as it is' }),
  data: contactData.nullish(),
})

const changes = z.object({
  email: emailAddress,
  subscribed: z.boolean(),
  data: contactData.nullable().meta({ description: 'Merged with what is there; null clears it' }),
})

const saved = contactRecord.extend({
  _meta: z.object({ isNew: z.boolean(), isUpdate: z.boolean() }),
})

const page = z
  .object({
    data: z.array(contactRecord),
    cursor: z.string().nullable().meta({ description: 'Null on the last page' }),
    hasMore: z.boolean(),
    total: z.int().meta({ description: '0 where a cursor was given' }),
  })
  .meta({ id: 'ContactPage' })

const lookup = z.object({
  emails: z.array(z.string().max(MAX_TEXT_LENGTH)).min(1).max(MAX_LOOKUP),
})

const table = { tag: 'Contacts', permission: 'secret' } as const

export function contactRoutes(core: Core): Route[] {
  return [...listRoutes(core), ...saveRoutes(core), ...oneRoutes(core)]
}

function listRoutes(core: Core): Route[] {
  return [
    keyedRoute({
      ...table,
      method: 'GET',
      path: '/contacts',
      summary: 'List contacts, newest first',
      query: listQuery,
      responses: { 200: { description: 'A page', schema: page } },
      refusals: [400],
      handle: async ({ project, query: { filter, ...query } }) => {
        const condition = filter === undefined ? undefined : parseConditionText(filter, 'filter')
        return json(200, await listContacts(core, { ...query, projectId: project.id, condition }))
      },
    }),
    keyedRoute({
      ...table,
      method: 'POST',
      path: '/contacts/query',
      growsDisk: false,
      summary: 'List contacts by a condition',
      description: 'As GET /contacts, for conditions that are too long for a URL.',
      body: queryBody,
      responses: { 200: { description: 'A page', schema: page } },
      refusals: [400],
      handle: async ({ project, body: { filter, condition: given, ...query } }) => {
        const condition = readCondition({ filter, condition: given })
        return json(200, await listContacts(core, { ...query, projectId: project.id, condition }))
      },
    }),
    keyedRoute({
      ...table,
      method: 'POST',
      path: '/contacts/lookup',
      growsDisk: false,
      summary: 'Which of some addresses are contacts',
      body: lookup,
      responses: {
        200: {
          description: 'The addresses as given, in their order',
          schema: z.object({ found: z.array(z.string()), notFound: z.array(z.string()) }),
        },
      },
      handle: async ({ project, body: { emails } }) =>
        json(200, await lookUpAddresses(core, { projectId: project.id, emails })),
    }),
  ]
}

/** Under either name. */
function readCondition(body: { filter?: unknown; condition?: unknown }): Condition | undefined {
  if (body.filter !== undefined) return parseCondition(body.filter, 'filter')
  return body.condition === undefined ? undefined : parseCondition(body.condition, 'condition')
}

function saveRoutes(core: Core): Route[] {
  return [
    keyedRoute({
      ...table,
      method: 'POST',
      path: '/contacts',
      summary: 'Create a contact, or change the one that has the address',
      body: newContact,
      responses: {
        200: { description: 'Changed', schema: saved },
        201: { description: 'Created', schema: saved },
      },
      handle: ({ project, body }) => save(core, project.id, body),
    }),
  ]
}

async function save(core: Core, projectId: string, body: z.output<typeof newContact>) {
  const { email: address, subscribed, data: given } = body
  const { contact: row, isNew } = await saveContact(core, {
    projectId,
    address,
    subscribed,
    data: given,
  })
  const _meta = { isNew, isUpdate: !isNew }
  return json(isNew ? 201 : 200, { ...toContactView(row), _meta })
}

function oneRoutes(core: Core): Route[] {
  const target = ({
    project,
    params,
  }: Pick<KeyedCall<unknown, unknown>, 'project' | 'params'>) => ({
    projectId: project.id,
    id: params.id ?? '',
  })
  return [
    keyedRoute({
      ...table,
      method: 'GET',
      path: '/contacts/:id',
      summary: 'Show a contact',
      responses: { 200: { description: 'The contact', schema: contactRecord } },
      refusals: [404],
      handle: async (call) => json(200, toContactView(await getContact(core, target(call)))),
    }),
    keyedRoute({
      ...table,
      method: 'PATCH',
      path: '/contacts/:id',
      protects: (given) => isDeepStrictEqual(given, { subscribed: false }),
      summary: 'Change a contact',
      description:
        'What is left out stays. A contact that gets a suppressed address is unsubscribed, unless ' +
        'the same request says otherwise.',
      body: changes.partial(),
      responses: { 200: { description: 'The contact', schema: contactRecord } },
      refusals: [404, 409],
      handle: async (call) => {
        const { email: address, ...rest } = call.body
        return json(
          200,
          toContactView(await updateContact(core, target(call), { ...rest, address })),
        )
      },
    }),
    keyedRoute({
      ...table,
      method: 'DELETE',
      path: '/contacts/:id',
      summary: 'Delete a contact with its emails and events',
      responses: { 204: { description: 'Deleted' } },
      refusals: [404],
      handle: async (call) => {
        await deleteContact(core, target(call))
        return noContent()
      },
    }),
  ]
}
