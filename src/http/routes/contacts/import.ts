/** Lists of people from files (contract 3.2): contacts, and addresses to suppress. */
import { z } from 'zod'
import type { Core } from '../../../features/core.ts'
import type { ImportKind } from '../../../features/imports/import-file.ts'
import { findImport } from '../../../features/imports/status.ts'
import { contactsForm, MAX_CSV_FORM_BYTES, suppressionsForm, takeCsv } from '../../body/csv-form.ts'
import { json, keyedRoute, type Route } from '../../route.ts'
import { jobStatus, queuedJob } from '../../shapes/jobs.ts'

const rowError = z.object({
  row: z.int().meta({ description: 'The first one under the header is 2' }),
  line: z.int().meta({ description: 'Of the file' }),
  email: z.string(),
  error: z.string(),
})

const result = z.object({
  totalRows: z.int().meta({ description: 'Under the header; empty rows are not counted' }),
  successCount: z.int(),
  createdCount: z.int(),
  updatedCount: z.int().meta({ description: 'Known before, also where nothing changed' }),
  failureCount: z.int(),
  errors: z.array(rowError).meta({ description: 'The first 1,000' }),
  warnings: z.array(z.string()).meta({ description: 'Of the file as a whole, for people' }),
})

const suppressionResult = result.extend({
  addedCount: z.int(),
  existingCount: z.int().meta({ description: 'On the list before' }),
})

const given = z.object({
  filename: z.string(),
  sizeBytes: z.int(),
  mapping: z.record(z.string(), z.string().nullable()),
  types: z.enum(['values', 'strings']),
  subscribed: z.boolean(),
})

function statusOf(schema: z.ZodType) {
  const data = given.meta({ description: 'What was handed in, without the file' })
  return jobStatus(schema.nullable(), data)
}

const contacts = { tag: 'Contacts', permission: 'secret' } as const
const suppressions = { tag: 'Suppressions', permission: 'secret' } as const

export function contactImportRoutes(core: Core): Route[] {
  return [
    keyedRoute({
      ...contacts,
      method: 'POST',
      path: '/contacts/import',
      summary: 'Import contacts from a CSV',
      description:
        'The header row has a column `email`; `subscribed` (true, 1, yes: subscribed; any other word: not) and all other columns are optional. `data.<key>` is that key, any other header a key in lower case. Empty cells change nothing.',
      takesStream: contactsForm,
      maxBodyBytes: MAX_CSV_FORM_BYTES,
      responses: { 202: { description: 'Queued', schema: queuedJob } },
      refusals: [409],
      handle: async (call) => {
        const fields = ['mapping', 'types', 'subscribed'] as const
        const jobId = await takeCsv(core, call, { kind: 'import', fields })
        return json(202, { message: 'The import is queued.', jobId })
      },
    }),
    statusRoute(core, { ...contacts, path: '/contacts/import/:jobId', kind: 'import', result }),
    keyedRoute({
      ...suppressions,
      method: 'POST',
      path: '/suppressions/import',
      summary: 'Suppress the addresses of a CSV',
      description:
        'The header row has a column `email`; `reason` is optional: HARD_BOUNCE, COMPLAINT, STRIKES or MANUAL, or what other services call it (bounce, spam, unsubscribed). Any other word is MANUAL, and stands in `source`. Who is on the list keeps the first reason.',
      takesStream: suppressionsForm,
      maxBodyBytes: MAX_CSV_FORM_BYTES,
      responses: { 202: { description: 'Queued', schema: queuedJob } },
      refusals: [409],
      handle: async (call) => {
        const jobId = await takeCsv(core, call, {
          kind: 'suppressions-import',
          fields: ['mapping'],
        })
        return json(202, { message: 'The import is queued.', jobId })
      },
    }),
    statusRoute(core, {
      ...suppressions,
      path: '/suppressions/import/:jobId',
      kind: 'suppressions-import',
      result: suppressionResult,
    }),
  ]
}

type StatusShape = {
  tag: string
  permission: 'secret'
  path: string
  kind: ImportKind
  result: z.ZodType
}

function statusRoute(core: Core, { kind, result: schema, ...shape }: StatusShape): Route {
  return keyedRoute({
    ...shape,
    method: 'GET',
    summary: 'Show how far an import is',
    responses: { 200: { description: 'The job', schema: statusOf(schema) } },
    refusals: [404],
    handle: async ({ project, params }) => {
      const { jobId: id = '' } = params
      return json(200, await findImport(core, { projectId: project.id, id, kind }))
    },
  })
}
