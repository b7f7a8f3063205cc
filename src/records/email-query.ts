/** The queries that list and count emails, and the counts. */
import { z } from 'zod'
import { parseDomain } from '../formats/address/address.ts'
import { PROVIDER_NAMES } from '../formats/address/mailbox-providers.ts'
import { id } from './fields.ts'
import { MAX_SEARCH_LENGTH } from './limits.ts'
import { instantParameter, pageParameters } from './page.ts'
import { EMAIL_STATUSES, QUEUE_STATES, SOURCE_TYPES, WAITING_STATES } from './words.ts'

const source = z.enum(SOURCE_TYPES)

type ListParameter<Word extends string> = {
  words: readonly Word[]
  /** What further names stand for. */
  groups?: Readonly<Record<string, readonly Word[]>>
}

/** A list of words with commas between them. */
function listParameter<const Word extends string>({ words, groups = {} }: ListParameter<Word>) {
  const known = new Map<string, readonly Word[]>([
    ...Object.entries(groups),
    ...words.map((word): [string, readonly Word[]] => [word, [word]]),
  ])
  const spread = Object.entries(groups).map(
    ([name, members]) => `; ${name} stands for ${members.join(', ')}`,
  )
  return z
    .string()
    .transform((text, context): Word[] => {
      const found = text.split(',').map((name) => known.get(name.trim()))
      if (!found.includes(undefined)) return [...new Set(found.flatMap((some) => some ?? []))]
      const values = [...known.keys()]
      const message = `Expected a list of ${values.join(', ')}`
      context.addIssue({ code: 'invalid_value', values, message, input: text })
      return z.NEVER
    })
    .meta({
      type: 'string',
      description: `One or more of ${words.join(', ')}, with commas${spread.join('')}`,
    })
}

const statuses = listParameter({ words: EMAIL_STATUSES })
const states = listParameter({ words: QUEUE_STATES, groups: { waiting: WAITING_STATES } })

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
