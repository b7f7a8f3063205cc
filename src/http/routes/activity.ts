/** `GET /activity`: what happened to the project's emails and contacts (contract 15.1). */
import { z } from 'zod'
import { listActivity } from '../../features/activity/list.ts'
import type { Core } from '../../features/core.ts'
import { id, instant } from '../fields.ts'
import { countParameter, cursorParameter, instantParameter } from '../paging.ts'
import { json, keyedRoute, type Route } from '../route.ts'

const activityQuery = z.object({
  limit: countParameter({ fallback: 50, cap: 100 }),
  cursor: cursorParameter,
  types: z
    .string()
    .optional()
    .meta({ description: 'Activity types, separated by commas; unknown ones are ignored' }),
  contactId: id.optional(),
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
})

const activityPage = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      timestamp: instant,
      contactEmail: z.string().optional(),
      contactId: z.string().optional(),
      metadata: z.record(z.string(), z.unknown()),
    }),
  ),
  cursor: z.string().nullable(),
  hasMore: z.boolean(),
})

export function activityRoutes(core: Core): Route[] {
  return [
    keyedRoute({
      method: 'GET',
      path: '/activity',
      permission: 'secret',
      tag: 'Activity',
      summary: 'What happened, newest first; the last 30 days unless told otherwise',
      query: activityQuery,
      responses: { 200: { description: 'A page of the feed', schema: activityPage } },
      handle: async ({ project, query }) => {
        const { limit, cursor, types, contactId, startDate, endDate } = query
        const page = await listActivity(core, project.id, {
          limit,
          cursor,
          types: listOf(types),
          contactId,
          startAt: startDate,
          endAt: endDate,
        })
        return json(200, page)
      },
    }),
  ]
}

/** Nothing between the commas is no type, and no type at all is no wish. */
function listOf(text: string | undefined): string[] | undefined {
  const types = (text ?? '').split(',').map((type) => type.trim())
  const named = types.filter((type) => type !== '')
  return named.length === 0 ? undefined : named
}
