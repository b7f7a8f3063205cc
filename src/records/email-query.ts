/** The queries that list and count emails, and the counts. */
import { z } from 'zod'
import { parseDomain } from '../formats/address/address.ts'
import { PROVIDER_NAMES } from '../formats/address/mailbox-providers.ts'
import { id } from './fields.ts'
import { MAX_SEARCH_LENGTH } from './limits.ts'
import { instantParameter, pageParameters } from './page.ts'
import { EMAIL_STATUSES, QUEUE_STATES, SOURCE_TYPES, WAITING_STATES } from './words.ts'

const status = z.enum(EMAIL_STATUSES)
const state = z.enum(QUEUE_STATES)
const source = z.enum(SOURCE_TYPES)

const statuses = z
  .string()
  .transform((text, context): z.infer<typeof status>[] => {
    const names = text.split(',').map((name) => name.trim())
    const known = z.array(status).min(1).safeParse(names)
    if (known.success) return known.data
    const message = `Expected a list of ${EMAIL_STATUSES.join(', ')}`
    context.addIssue({ code: 'invalid_value', values: [...EMAIL_STATUSES], message, input: text })
    return z.NEVER
  })
  .meta({ type: 'string', description: `One or more of ${EMAIL_STATUSES.join(', ')}, with commas` })

const states = z
  .string()
  .transform((text, context): z.infer<typeof state>[] => {
    const names = text.split(',').map((name) => name.trim())
    const spread = names.flatMap((name) => (name === 'waiting' ? [...WAITING_STATES] : [name]))
    const known = z.array(state).min(1).safeParse(spread)
    if (known.success) return [...new Set(known.data)]
    const values = ['waiting', ...QUEUE_STATES]
    const message = `Expected a list of ${values.join(', ')}`
    context.addIssue({ code: 'invalid_value', values, message, input: text })
    return z.NEVER
  })
  .meta({
    type: 'string',
    description:
      `One or more of ${QUEUE_STATES.join(', ')}, with commas; ` +
      `waiting stands for ${WAITING_STATES.join(', ')}`,
  })

const domain = z
  .string()
  .transform((text, context) => {
    const name = parseDomain(text)
    if (name !== undefined) return name
    context.addIssue({ code: 'custom', message: 'Not a domain name', input: text })
    return z.NEVER
  })
  .meta({ type: 'string', description: "The recipient's domain" })

const emailFilters = {
  status: statuses.optional(),
  state: states.optional(),
  source: source.optional(),
  search: z
    .string()
    .max(MAX_SEARCH_LENGTH)
    .optional()
    .meta({ description: "The beginning of the recipient's address, an id, or a Message-ID" }),
  contactId: id.optional(),
  campaignId: id.optional(),
  templateId: id.optional(),
  sourceId: id
    .optional()
    .meta({ description: 'What sent it: a campaign, template, workflow, or execution of one' }),
  domain: domain.optional(),
  receiver: z
    .enum(PROVIDER_NAMES)
    .optional()
    .meta({ description: 'A mailbox provider, as `receiver` of the emails names it' }),
  isTest: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ type: 'boolean', description: 'Tests only, or no tests' }),
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
}

const countedParameter = z.enum(['true', 'false']).optional().meta({
  type: 'boolean',
  description:
    'false: the emails of further pages are not counted, and `total` is 0 if there are any',
})

const SOURCE_TEXT = 'Give either sourceId, or campaignId and templateId'
const hasOneSource = (given: {
  sourceId?: string | undefined
  campaignId?: string | undefined
  templateId?: string | undefined
}) => given.sourceId === undefined || (given.campaignId ?? given.templateId) === undefined

export const emailQuery = z
  .object({ ...pageParameters, total: countedParameter, ...emailFilters })
  .refine(hasOneSource, { path: ['sourceId'], message: SOURCE_TEXT })

/** The filters of `emailQuery`. */
export const emailCountsQuery = z
  .object(emailFilters)
  .refine(hasOneSource, { path: ['sourceId'], message: SOURCE_TEXT })

const statusCounts = z.object(
  Object.fromEntries(EMAIL_STATUSES.map((name) => [name, z.int()])) as Record<
    (typeof EMAIL_STATUSES)[number],
    z.ZodInt
  >,
)

export const emailCounts = z
  .object({
    counts: statusCounts.nullable().meta({ description: 'null: too many emails to count at once' }),
    total: z.int().nullable(),
    tooMany: z.boolean(),
  })
  .meta({ id: 'EmailCounts' })

export type EmailCounts = z.output<typeof emailCounts>
