/** `GET /activity` and its figures: the history of the project's emails and contacts. */
import { z } from 'zod'
import { listingOf } from '../../features/ground/listing.ts'
import { ACTIVITY_TYPES } from '../../features/insight/activity/activity-entry.ts'
import { countActivity, countRecent } from '../../features/insight/activity/figures.ts'
import { listActivity } from '../../features/insight/activity/list.ts'
import { listUpcoming } from '../../features/insight/activity/upcoming.ts'
import { createAnalyticsAnswers } from '../../features/insight/analytics/answers.ts'
import {
  activityPage,
  activityQuery,
  activityRecord,
  activityStats,
} from '../../records/activity.ts'
import { countParameter, instantParameter } from '../../records/page.ts'
import { RENDERING_LIMITS } from '../../turns/rendering.ts'
import { COMPLETE_HEADER, completeHeader } from '../exchange/complete-header.ts'
import { RENDERED_ANSWER_BYTES } from '../exchange/large-json.ts'
import {
  builtPageResponse,
  LIST_ANSWER_BYTES,
  MAX_PAGE_BYTES,
  pageResponse,
  wholeResponse,
} from '../exchange/list-response.ts'
import { jsonOrTable, recordTable } from '../exchange/table.ts'
import { json } from '../response.ts'
import { projectOperation, type RouteDeps } from '../route.ts'

const statsQuery = z.object({
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
})

const recentQuery = z.object({ minutes: countParameter({ fallback: 5, cap: 60 }) })

const upcomingQuery = z.object({
  limit: countParameter({ fallback: 50, cap: 100 }),
  daysAhead: countParameter({ fallback: 30, cap: 90 }),
})

const shared = {
  tag: 'Activity',
  tagText: 'The history of emails and contacts, with figures.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List activities, newest first; by default of the last 30 days',
    query: activityQuery,
    answerBytes: LIST_ANSWER_BYTES,
    answerLimits: RENDERING_LIMITS,
    responses: { 200: { description: 'A page of the feed', schema: activityPage } },
    example: () => ({
      query: { types: 'event.triggered', limit: '20' },
      status: 200,
      response: {
        data: [
          {
            id: '0199a7c0-0000-7000-8000-000000000014',
            type: 'event.triggered',
            timestamp: '2026-11-22T09:30:00.000Z',
            metadata: { eventName: 'page viewed', eventData: { path: '/pricing' } },
          },
          {
            id: '0199a7c0-0000-7000-8000-000000000013',
            type: 'event.triggered',
            timestamp: '2026-11-22T09:30:00.000Z',
            contactEmail: 'ann@example.org',
            contactId: '0199a7c0-0000-7000-8000-000000000003',
            metadata: {
              eventName: 'order placed',
              eventData: { total: { value: 42.5, persistent: false } },
            },
          },
        ],
        cursor: null,
        hasMore: false,
        total: 2,
      },
    }),
    handle: async (call) => {
      const { limit, cursor, types, contactId, fields, startDate, endDate } = call.query
      const listing = await listActivity(core, call.project.id, {
        limit,
        cursor,
        types: listOf(types),
        contactId,
        isSummary: fields === 'summary',
        startAt: startDate,
        endAt: endDate,
      })
      if (fields === 'summary') return pageResponse(call, { name: 'data', listing })
      await call.reserve(RENDERED_ANSWER_BYTES + 2 * MAX_PAGE_BYTES)
      return builtPageResponse({ name: 'data', listing })
    },
  })

export const showStats = ({ core }: RouteDeps) => {
  const find = createAnalyticsAnswers(core, countActivity)
  return projectOperation({
    ...shared,
    summary: 'Show figures for the last 30 days or for a range; up to a minute old',
    query: statsQuery,
    responses: {
      200: {
        description: 'The figures',
        schema: activityStats,
        headers: completeHeader,
        isTableToo: true,
      },
    },
    example: () => ({
      query: { startDate: '2026-11-01', endDate: '2026-11-02' },
      status: 200,
      response: {
        totalEvents: 722,
        totalEmailsSent: 1240,
        totalEmailsOpened: 561,
        totalEmailsClicked: 96,
        totalWorkflowsStarted: 3,
        openRate: 45.24,
        clickRate: 7.74,
      },
    }),
    handle: async ({ project, incoming, query: { startDate, endDate } }) => {
      const range = { startAt: startDate, endAt: endDate }
      const { value, isComplete } = await find(project, { range })
      const response = jsonOrTable(incoming.headers.accept, value, () =>
        recordTable('activity', value),
      )
      if (isComplete) return response
      return { ...response, headers: { ...response.headers, [COMPLETE_HEADER]: 'false' } }
    },
  })
}

export const countRecentActivity = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Count the activities of the last minutes',
    query: recentQuery,
    responses: {
      200: {
        description: 'The number of events, emails and executions',
        schema: z.object({ count: z.int(), minutes: z.int() }),
      },
    },
    example: () => ({ query: { minutes: '5' }, status: 200, response: { count: 5, minutes: 5 } }),
    handle: async ({ project, query }) =>
      json(200, await countRecent(core, project.id, query.minutes)),
  })

export const listTypes = () =>
  projectOperation({
    ...shared,
    summary: 'List the types of activities',
    responses: {
      200: { description: 'All types', schema: z.object({ types: z.array(z.string()) }) },
    },
    example: () => ({
      status: 200,
      response: {
        types: [
          'event.triggered',
          'email.sent',
          'email.delivered',
          'email.received',
          'email.opened',
          'email.clicked',
          'email.bounced',
          'email.complaint',
          'contact.subscribed',
          'contact.unsubscribed',
          'campaign.sent',
          'campaign.scheduled',
          'workflow.started',
          'workflow.completed',
          'workflow.email.scheduled',
          'workflow.execution.active',
        ],
      },
    }),
    handle: () => json(200, { types: ACTIVITY_TYPES }),
  })

export const listUpcomingActivity = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List scheduled campaigns and emails, and active executions, soonest first',
    description:
      'Executions without a coming email take the room that campaigns and emails leave. Those that only an ' +
      'event or a webhook wakes have a `metadata.dueAt` of null, and the time of their last change; they ' +
      'come last.',
    query: upcomingQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: {
      200: {
        description: 'Scheduled campaigns, scheduled emails of workflows, active executions',
        schema: z.object({ activities: z.array(activityRecord) }),
      },
    },
    example: () => ({ status: 200, response: { activities: [] } }),
    handle: async (call) => {
      const { limit, daysAhead } = call.query
      const found = await listUpcoming(core, call.project.id, { limit, daysAhead })
      return wholeResponse(call, { name: 'activities', listing: listingOf(found) })
    },
  })

/**
 * Returns the types that the text names. If it names none, returns undefined, which selects all
 * types.
 */
function listOf(text: string | undefined): string[] | undefined {
  const types = (text ?? '').split(',').map((type) => type.trim())
  const named = types.filter((type) => type !== '')
  return named.length === 0 ? undefined : named
}
