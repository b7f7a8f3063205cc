/** Activity in the API: the record of the feed, its pages, its figures, and the query that lists it. */
import { z } from 'zod'
import { id, instant } from './fields.ts'
import { countParameter, cursorParameter, instantParameter, page } from './page.ts'
import { UNLISTED_EVENTS } from './words.ts'

export const activityRecord = z
  .object({
    id: z.string(),
    type: z.string(),
    timestamp: instant,
    contactEmail: z.string().optional(),
    contactId: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Activity' })

export type ActivityRecord = z.output<typeof activityRecord>

export const activityPage = page(activityRecord).meta({ id: 'ActivityPage' })

export const activityStats = z
  .object({
    totalEvents: z.int(),
    totalEmailsSent: z.int(),
    totalEmailsOpened: z.int(),
    totalEmailsClicked: z.int(),
    totalWorkflowsStarted: z.int(),
    openRate: z.number().meta({ description: 'Percentage of the emails sent, with two decimals' }),
    clickRate: z.number().meta({ description: 'Percentage of the emails sent, with two decimals' }),
  })
  .meta({ id: 'ActivityStats' })

export type ActivityStats = z.output<typeof activityStats>

export const activityQuery = z.object({
  limit: countParameter({ fallback: 50, cap: 100 }),
  cursor: cursorParameter,
  types: z
    .string()
    .optional()
    .meta({
      description:
        'Activity types, separated by commas; unknown ones are ignored. Types that the feed shows ' +
        `only if they are named here: ${UNLISTED_EVENTS.join(', ')}`,
    }),
  contactId: id.optional(),
  fields: z
    .enum(['summary'])
    .optional()
    .meta({ description: 'summary: emails without their bodies, for a fast feed' }),
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
})
