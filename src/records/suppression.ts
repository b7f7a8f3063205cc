/** Suppressions in the API: the record, its pages, and the requests that list, add and remove addresses. */
import { z } from 'zod'
import { emailAddress, instant } from './fields.ts'
import { MAX_ADDRESSES_PER_REQUEST, MAX_SEARCH_LENGTH } from './limits.ts'
import { page, pageParameters } from './page.ts'
import { SUPPRESSION_REASONS } from './words.ts'

const reason = z.enum(SUPPRESSION_REASONS)

export const suppressionRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    reason,
    source: z.string().meta({ description: 'The cause of the suppression, as text for people' }),
    emailId: z
      .string()
      .nullable()
      .meta({ description: 'The email that bounced or that the recipient complained about' }),
    createdAt: instant,
  })
  .meta({ id: 'Suppression' })

export type SuppressionRecord = z.output<typeof suppressionRecord>

/** `projectId` is present only in the list of all projects, which operators read. */
export type ListedSuppression = SuppressionRecord & { projectId?: string }

/** A suppression that is held back, as `suppressions held --json` prints it. */
const heldSuppression = suppressionRecord.extend({
  projectId: z.string(),
  /**
   * `fuse`: held until an operator decides; `domain`: held until DNS has been queried for its
   * domain again.
   */
  cause: z.enum(['fuse', 'domain']),
  emailId: z.string(),
  /** The time at which DNS is queried for the domain again. */
  dueAt: instant.nullable(),
})

export type HeldSuppression = z.output<typeof heldSuppression>

export const suppressionPage = page(suppressionRecord).meta({ id: 'SuppressionPage' })

const emails = z.array(emailAddress).min(1).max(MAX_ADDRESSES_PER_REQUEST)

export const suppressionQuery = z.object({
  ...pageParameters,
  search: z.string().max(MAX_SEARCH_LENGTH).optional().meta({ description: 'Part of the address' }),
  reason: reason.optional(),
})

export const newSuppressions = z
  .object({ email: emailAddress.optional(), emails: emails.optional(), reason: reason.optional() })
  .refine(({ email, emails }) => (email === undefined) !== (emails === undefined), {
    path: ['email'],
    message: 'Give either email or emails',
  })

export const removedSuppressions = z.object({ emails })

export const suppressionExample: SuppressionRecord = {
  id: '0199a7c0-0000-7000-8000-000000000019',
  email: 'away@example.org',
  reason: 'MANUAL',
  source: 'API',
  emailId: null,
  createdAt: '2026-11-22T09:30:00.000Z',
}
