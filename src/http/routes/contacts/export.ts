/** Contacts as a file. */
import { z } from 'zod'
import { formatInstant } from '../../../clock.ts'
import { parseConditionText } from '../../../features/conditions/condition.ts'
import type { Core } from '../../../features/core.ts'
import { exportContacts } from '../../../features/imports/export-contacts.ts'
import { createExportSlots } from '../../../features/imports/export-slots.ts'
import { keyedRoute, type Route } from '../../route.ts'
import { id } from '../../shapes/fields.ts'

const MAX_SEARCH_LENGTH = 255

const truth = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional()

// A misspelt filter must not mean all contacts.
const exportQuery = z.strictObject({
  subscribed: truth.meta({ type: 'boolean' }),
  search: z.string().max(MAX_SEARCH_LENGTH).optional().meta({ description: 'Part of the address' }),
  filter: z.string().optional().meta({ description: 'A condition as JSON' }),
  segmentId: id.optional(),
  bom: truth.meta({
    type: 'boolean',
    description: 'Begin with a byte order mark, without which Excel misreads accents',
  }),
})

export function contactExportRoutes(core: Core): Route[] {
  const room = createExportSlots()
  return [
    keyedRoute({
      tag: 'Contacts',
      permission: 'secret',
      method: 'GET',
      path: '/contacts/export',
      summary: 'Export contacts as a CSV, oldest first',
      description:
        'Columns id, email, subscribed, createdAt, updatedAt, and data.<key> for each key in use. A text that a spreadsheet program would run as a formula has an apostrophe before it, which an import of the file takes off again. Lists and objects are JSON. A project has at most 2 exports open at a time, the server 8; more are 429.',
      query: exportQuery,
      responses: {
        200: { description: 'The file', contentType: 'text/csv' },
      },
      refusals: [400, 404],
      handle: async ({ project, query }) => {
        const { filter, bom: hasMark, ...rest } = query
        const condition = filter === undefined ? undefined : parseConditionText(filter, 'filter')
        const wanted = { ...rest, projectId: project.id, condition, hasMark }
        const body = await exportContacts({ ...core, room }, wanted)
        const name = `contacts-${formatInstant(core.now()).slice(0, 10)}.csv`
        return { status: 200, body, headers: headersOf(name) }
      },
    }),
  ]
}

function headersOf(name: string): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  }
}
