/** Segments in the API: the record, the requests on it, and its contacts. */
import { z } from 'zod'
import { conditionExample, conditionField } from './condition.ts'
import { contactRecord } from './contact.ts'
import { instant, lineOfText } from './fields.ts'
import {
  DEFAULT_PAGE_SIZE,
  MAX_ADDRESSES_PER_REQUEST,
  MAX_DESCRIPTION_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PAGE_NUMBER,
  MAX_PAGE_SIZE,
} from './limits.ts'
import { countParameter, pageNumbers } from './page.ts'
import { SEGMENT_TYPES } from './words.ts'

const type = z.enum(SEGMENT_TYPES)

export const segmentRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    type,
    condition: z.unknown().meta({ description: 'Null in a STATIC segment' }),
    trackMembership: z.boolean(),
    memberCount: z
      .int()
      .meta({ description: 'In a DYNAMIC segment, the result of the last count' }),
    filterChange: z
      .object({
        at: instant,
        membersBefore: z.int(),
        membersAfter: z.int(),
        filters: z.array(z.object({ field: z.string(), operator: z.string() })),
      })
      .optional()
      .meta({
        description:
          'What new rules of filters changed in the members at an upgrade, without events; absent if nothing, and after a change of the condition',
      }),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Segment' })

export type SegmentRecord = z.output<typeof segmentRecord>

const fields = {
  name: lineOfText(MAX_NAME_LENGTH).min(1),
  description: z.string().max(MAX_DESCRIPTION_LENGTH).nullable(),
  type,
  condition: conditionField,
  trackMembership: z.boolean(),
}

export const newSegment = z.object({
  ...fields,
  description: fields.description.default(null),
  type: type.default('DYNAMIC'),
  condition: conditionField.optional(),
  trackMembership: fields.trackMembership.default(false),
})

export const segmentChanges = z.object(fields).partial()

export const memberAddresses = z
  .array(z.string().meta({ format: 'email' }))
  .min(1)
  .max(MAX_ADDRESSES_PER_REQUEST)

export const newMembers = z.object({
  emails: memberAddresses,
  createMissing: z.boolean().default(false),
  subscribed: z.boolean().default(true).meta({ description: 'State of contacts that are created' }),
})

export const memberQuery = z.object({
  page: countParameter({ fallback: 1, cap: MAX_PAGE_NUMBER }),
  pageSize: countParameter({ fallback: DEFAULT_PAGE_SIZE, cap: MAX_PAGE_SIZE }),
})

export const memberPage = z
  .object({
    data: z.array(contactRecord),
    total: z.int().meta({ description: 'At most five minutes old' }),
    ...pageNumbers,
  })
  .meta({ id: 'SegmentMemberPage' })

export const addedMembers = z.object({
  added: z.int().meta({
    description: 'The number of contacts with these addresses, including earlier members',
  }),
  created: z.int(),
  notFound: z.array(z.string()).meta({ description: 'The addresses as given' }),
})

export const computedMembers = z.object({ added: z.int(), removed: z.int(), total: z.int() })

export const segmentExample: SegmentRecord = {
  id: '0199a7c0-0000-7000-8000-000000000017',
  name: 'Pro customers',
  description: null,
  type: 'DYNAMIC',
  condition: conditionExample,
  trackMembership: true,
  memberCount: 1,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}
