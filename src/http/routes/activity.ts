/** `GET /activity` and its siblings: what happened to the project's emails and contacts (contract 15.1). */
import { z } from 'zod'
import { listActivity } from '../../features/activity/list.ts'
import { countRecent } from '../../features/activity/recent.ts'
import { createActivityStats } from '../../features/activity/stats.ts'
import { activityTypes } from '../../features/activity/types.ts'
import { listUpcoming } from '../../features/activity/upcoming.ts'
import { largeJson } from '../exchange/large-json.ts'
import { projectOperation } from '../operation.ts'
import { json } from '../response.ts'
import type { RouteDeps } from '../route-deps.ts'
import { id, instant } from '../shapes/fields.ts'
import { countParameter, cursorParameter, instantParameter } from '../shapes/paging.ts'

const activityQuery = z.object({
  limit: countParameter({ fallback: 50, cap: 100 }),
  cursor: cursorParameter,
  types: z
    .string()
    .optional()
    .meta({ description: 'Activity types, separated by commas; unknown ones are ignored' }),
  contactId: id.optional(),
  fields: z
    .enum(['summary'])
    .optional()
    .meta({ description: 'summary: emails without their bodies, which makes the feed quick' }),
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
})

const statsQuery = z.object({
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
})

const recentQuery = z.object({ minutes: countParameter({ fallback: 5, cap: 60 }) })

const upcomingQuery = z.object({
  limit: countParameter({ fallback: 50, cap: 100 }),
  daysAhead: countParameter({ fallback: 30, cap: 90 }),
})

const activity = z
  .object({
    id: z.string(),
    type: z.string(),
    timestamp: instant,
    contactEmail: z.string().optional(),
    contactId: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Activity' })

const activityPage = z
  .object({
    data: z.array(activity),
    cursor: z.string().nullable(),
    hasMore: z.boolean(),
  })
  .meta({ id: 'ActivityPage' })

const activityStats = z
  .object({
    totalEvents: z.int(),
    totalEmailsSent: z.int(),
    totalEmailsOpened: z.int(),
    totalEmailsClicked: z.int(),
    totalWorkflowsStarted: z.int(),
    openRate: z.number().meta({ description: 'Percent of the emails sent, two decimals' }),
    clickRate: z.number().meta({ description: 'Percent of the emails sent, two decimals' }),
  })
  .meta({ id: 'ActivityStats' })

const shared = { tag: 'Activity' } as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'What happened, newest first; the last 30 days unless told otherwise',
    query: activityQuery,
    responses: { 200: { description: 'A page of the feed', schema: activityPage } },
    handle: async ({ project, query }) => {
      const { limit, cursor, types, contactId, fields, startDate, endDate } = query
      const page = await listActivity(core, project.id, {
        limit,
        cursor,
        types: listOf(types),
        contactId,
        isSummary: fields === 'summary',
        startAt: startDate,
        endAt: endDate,
      })
      return largeJson(200, page)
    },
  })

export const showStats = ({ core }: RouteDeps) => {
  const findStats = createActivityStats(core)
  return projectOperation({
    ...shared,
    summary: 'Figures of the last 30 days, or of a range; up to five minutes old',
    query: statsQuery,
    responses: { 200: { description: 'The figures', schema: activityStats } },
    handle: async ({ project, query: { startDate, endDate } }) =>
      json(200, await findStats(project.id, { startAt: startDate, endAt: endDate })),
  })
}

export const countRecentActivity = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'How much happened in the last minutes',
    query: recentQuery,
    responses: {
      200: {
        description: 'Events, emails and executions together',
        schema: z.object({ count: z.int(), minutes: z.int() }),
      },
    },
    handle: async ({ project, query }) =>
      json(200, await countRecent(core, project.id, query.minutes)),
  })

export const listTypes = () =>
  projectOperation({
    ...shared,
    summary: 'Every type that an activity can have',
    responses: {
      200: { description: 'All of them', schema: z.object({ types: z.array(z.string()) }) },
    },
    handle: () => json(200, { types: activityTypes }),
  })

export const listUpcomingActivity = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'What is going to be sent, soonest first',
    query: upcomingQuery,
    responses: {
      200: {
        description: 'Scheduled campaigns, and scheduled emails of workflows',
        schema: z.object({ activities: z.array(activity) }),
      },
    },
    handle: async ({ project, query: { limit, daysAhead } }) =>
      json(200, { activities: await listUpcoming(core, project.id, { limit, daysAhead }) }),
  })

/** Nothing between the commas is no type, and no type at all is no wish. */
function listOf(text: string | undefined): string[] | undefined {
  const types = (text ?? '').split(',').map((type) => type.trim())
  const named = types.filter((type) => type !== '')
  return named.length === 0 ? undefined : named
}
