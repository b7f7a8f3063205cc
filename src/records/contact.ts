/** Contacts in the API: the record, its pages, and the requests that list and write contacts. */
import { z } from 'zod'
import { conditionField } from './condition.ts'
import { emailAddress, instant } from './fields.ts'
import {
  DEFAULT_PAGE_SIZE,
  MAX_ADDRESS_CURSOR_LENGTH,
  MAX_PAGE_SIZE,
  MAX_SEARCH_LENGTH,
} from './limits.ts'
import { choiceParameter, countParameter, page } from './page.ts'

/** The data of a contact, by key. */
const contactData = z.record(z.string(), z.unknown())

export const contactRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    subscribed: z.boolean(),
    data: contactData.nullable(),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Contact' })

export type ContactRecord = z.output<typeof contactRecord>

export const contactPage = page(contactRecord).meta({ id: 'ContactPage' })

const listFields = {
  cursor: z.string().min(1).max(MAX_ADDRESS_CURSOR_LENGTH).optional().meta({
    description: '`cursor` of the previous page, or the id of its last contact',
  }),
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

/** The query parameters of the list of contacts. `filter`: a condition as JSON text. */
export const contactQuery = z.object({
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

/**
 * The query of the list of contacts as a JSON body. Strict: a misspelt name, or a condition sent as
 * the whole body, must not select all contacts.
 */
export const contactQueryBody = z
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

/** The subscription state that a request gives for a contact. */
export type GivenState = {
  subscribed?: boolean | undefined
  unsubscribed?: boolean | null | undefined
}

const isOneState = ({ subscribed, unsubscribed }: GivenState) =>
  subscribed !== true || unsubscribed !== true

const contradiction = {
  path: ['unsubscribed'],
  message: 'Contradicts "subscribed": give one of them',
}

export const newContact = z
  .object({
    email: emailAddress,
    subscribed: z.boolean().optional().meta({
      description: 'Defaults to true for a new contact; an existing contact keeps its state',
    }),
    unsubscribed,
    data: contactData.nullish(),
  })
  .refine(isOneState, contradiction)

export const contactChanges = z
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

export const savedContact = contactRecord.extend({
  _meta: z.object({ isNew: z.boolean(), isUpdate: z.boolean() }),
})

export const newContactExample: ContactRecord = {
  id: '0199a7c0-0000-7000-8000-000000000003',
  email: 'ann@example.org',
  subscribed: true,
  data: { name: 'Ann', plan: 'pro' },
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}

/** The contact of `newContactExample` after a change of its data. */
export const contactExample: ContactRecord = {
  ...newContactExample,
  data: { name: 'Ann', plan: 'pro', city: 'Oslo' },
}
