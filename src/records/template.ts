/** Templates in the API: the record, its pages, the requests on it, and the fields that campaigns share. */
import { z } from 'zod'
import type { ParsedAddress } from '../formats/address/address.ts'
import type { NamedMailbox } from '../formats/address/named-mailbox.ts'
import { MAX_SUBJECT_LENGTH } from '../formats/limits.ts'
import { MAX_TEMPLATE_LENGTH } from '../formats/template/limits.ts'
import { emailAddress, fieldWarnings, instant, lineOfText, mailbox } from './fields.ts'
import {
  DEFAULT_PAGE_SIZE,
  MAX_DESCRIPTION_LENGTH,
  MAX_FROM_NAME_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PAGE_NUMBER,
  MAX_PAGE_SIZE,
  MAX_SEARCH_LENGTH,
} from './limits.ts'
import {
  choiceParameter,
  countParameter,
  cursorParameter,
  pageEnd,
  pageNumbers,
  refuseMixedPaging,
} from './page.ts'
import { CONTENT_CLASSES } from './words.ts'

export const contentClass = z.enum(CONTENT_CLASSES)

const sender = mailbox
  .refine(
    ({ name }) => (name ?? '').length <= MAX_FROM_NAME_LENGTH,
    `The name must be at most ${MAX_FROM_NAME_LENGTH} characters long`,
  )
  .meta({ description: 'A name in it is the `fromName`, unless that is given' })

export const templateFields = {
  name: lineOfText(MAX_NAME_LENGTH).min(1),
  description: z.string().max(MAX_DESCRIPTION_LENGTH).nullable(),
  subject: lineOfText(MAX_SUBJECT_LENGTH).min(1),
  body: z.string().min(1).max(MAX_TEMPLATE_LENGTH).meta({ description: 'HTML' }),
  from: sender,
  fromName: lineOfText(MAX_FROM_NAME_LENGTH).nullable(),
  replyTo: emailAddress.nullable().meta({ type: ['string', 'null'] }),
  type: contentClass,
}

type Sender = { from?: NamedMailbox | undefined; fromName?: string | null | undefined }
type Apart<Body extends Sender> = Omit<Body, 'from'> & {
  from: undefined extends Body['from'] ? ParsedAddress | undefined : ParsedAddress
}

/**
 * Splits `from` into the sender's address and name, as they are stored. A given `fromName` beats
 * the name in `from`.
 */
export function apartSender<Body extends Sender>(body: Body): Apart<Body> {
  const { from, ...rest } = body
  // An absent `from` stays absent: a campaign may take its sender from a template.
  if (from === undefined) return rest as Apart<Body>
  const isNamed = from.name !== null && (rest.fromName ?? '').trim() === ''
  const name = isNamed ? { fromName: from.name } : {}
  return { ...rest, ...name, from: from.address } as unknown as Apart<Body>
}

export const templateRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    subject: z.string(),
    body: z.string(),
    from: z.string(),
    fromName: z.string().nullable(),
    replyTo: z.string().nullable(),
    type: contentClass,
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Template' })

export type TemplateRecord = z.output<typeof templateRecord>

export const templatePage = z
  .object({
    templates: z.array(templateRecord),
    data: z.array(templateRecord).meta({ description: 'The same as `templates`' }),
    ...pageNumbers,
    ...pageEnd,
  })
  .meta({ id: 'TemplatePage' })

export const templateQuery = z
  .object({
    limit: countParameter({ fallback: undefined, cap: MAX_PAGE_SIZE }).meta({
      default: DEFAULT_PAGE_SIZE,
    }),
    cursor: cursorParameter,
    page: countParameter({ fallback: undefined, cap: MAX_PAGE_NUMBER }),
    pageSize: countParameter({ fallback: undefined, cap: MAX_PAGE_SIZE }),
    type: contentClass.optional(),
    search: z
      .string()
      .max(MAX_SEARCH_LENGTH)
      .optional()
      .meta({ description: 'Part of the name, description or subject' }),
    sort: choiceParameter(['name', 'createdAt', 'updatedAt'], 'createdAt'),
    dir: choiceParameter(['asc', 'desc'], 'desc'),
  })
  .superRefine(refuseMixedPaging)

export const newTemplate = z
  .object({
    ...templateFields,
    description: templateFields.description.default(null),
    fromName: templateFields.fromName.default(null),
    replyTo: templateFields.replyTo.default(null),
    type: contentClass.default('MARKETING'),
  })
  .transform((body) => apartSender(body))

export const templateChanges = z
  .object(templateFields)
  .partial()
  .transform((body) => apartSender(body))

const references = z.array(z.object({ id: z.string(), name: z.string() }))

export const templateUsage = z.object({
  workflowSteps: z.int(),
  emailsSent: z.int(),
  campaigns: references,
  workflows: references,
  steps: references.meta({ description: 'The steps of workflows that send the template' }),
})

/** The rendering of a text, a template or a campaign, as a recipient would get it. */
export const renderedPreview = z.object({
  subject: z.string(),
  html: z.string(),
  text: z.string().meta({ description: 'The text part' }),
  sizeBytes: z.int().meta({ description: 'Of the HTML; Gmail clips more than 102 KB' }),
  warnings: z.array(z.string()).meta({
    description: 'Faults of the templates, which never stop an email, and unknown fields',
  }),
  unknownFields: fieldWarnings.meta({
    description: 'The names of the request that were ignored; empty without any',
  }),
})

export type RenderedPreview = Omit<z.output<typeof renderedPreview>, 'unknownFields'>

export const templateExample: TemplateRecord = {
  id: '0199a7c0-0000-7000-8000-000000000010',
  name: 'Order confirmation',
  description: null,
  subject: 'Your order {{ order }}',
  body: '<p>Thank you, {{ name }}.</p>',
  from: 'hello@example.test',
  fromName: null,
  replyTo: null,
  type: 'TRANSACTIONAL',
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}
