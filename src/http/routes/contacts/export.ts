/** `GET /contacts/export`: contacts as a CSV file. */
import { z } from 'zod'
import { formatInstant } from '../../../base/clock.ts'
import { parseConditionText } from '../../../features/ground/conditions/condition.ts'
import { exportContacts } from '../../../features/people/import-export/export-contacts.ts'
import { createExportSlots } from '../../../features/people/import-export/export-slots.ts'
import { id } from '../../../records/fields.ts'
import { MAX_SEARCH_LENGTH } from '../../../records/limits.ts'
import { EXPORT_ANSWER_BYTES } from '../../exchange/list-response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'

const booleanText = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional()

// The query is strict, because a misspelt parameter must not export all contacts.
const exportQuery = z.strictObject({
  subscribed: booleanText.meta({ type: 'boolean' }),
  search: z.string().max(MAX_SEARCH_LENGTH).optional().meta({ description: 'Part of the address' }),
  filter: z.string().optional().meta({ description: 'A condition as JSON' }),
  segmentId: id.optional(),
  bom: booleanText.meta({
    type: 'boolean',
    description: 'Start with a byte order mark, without which Excel misreads accents',
  }),
})

export const exportCsv = ({ core }: RouteDeps) => {
  const slots = createExportSlots()
  return projectOperation({
    tag: 'Contacts',
    summary: 'Export contacts as CSV, oldest first',
    description:
      'Columns: id, email, subscribed, createdAt, updatedAt, and data.<key> for each key in use. Text that a spreadsheet program would run as a formula is prefixed with an apostrophe, which an import of the file removes. Lists and objects are JSON. A project can have 2 exports open at a time and the server 8; further ones are refused with 429.',
    query: exportQuery,
    answerBytes: EXPORT_ANSWER_BYTES,
    responses: {
      200: { description: 'The file', contentType: 'text/csv' },
    },
    refusals: [400, 404],
    example: () => ({
      query: { subscribed: 'true' },
      status: 200,
      response:
        'id,email,subscribed,createdAt,updatedAt,data.city,data.name,data.plan\r\n0199a7c0-0000-7000-8000-000000000003,ann@example.org,true,2026-11-22T09:30:00.000Z,2026-11-22T09:30:00.000Z,Oslo,Ann,pro\r\n',
    }),
    handle: async ({ project, query }) => {
      const { filter, bom: hasMark, ...rest } = query
      const condition = filter === undefined ? undefined : parseConditionText(filter, 'filter')
      const wanted = { ...rest, projectId: project.id, condition, hasMark }
      const body = await exportContacts({ ...core, slots }, wanted)
      const name = `contacts-${formatInstant(core.now()).slice(0, 10)}.csv`
      return { status: 200, body, headers: headersOf(name) }
    },
  })
}

function headersOf(name: string): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
  }
}
