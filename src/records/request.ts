/** Entries of the request log in the API: the record, its pages, and the query that lists them. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { MAX_SEARCH_LENGTH } from './limits.ts'
import { instantParameter, page, pageParameters } from './page.ts'

const caller = z.enum(['secret', 'public', 'session'])

const requestRecord = z
  .object({
    id: z.string().meta({ description: '`X-Request-ID`' }),
    method: z.string(),
    path: z.string().meta({ description: 'Without the query' }),
    statusCode: z.int(),
    duration: z.int().meta({ description: 'Milliseconds' }),
    projectId: z.string(),
    userId: z.string().nullable().meta({ description: 'The user of a session' }),
    authType: z.enum(['apiKey', 'jwt']).nullable(),
    caller: caller
      .nullable()
      .meta({ description: 'The key, or a session; null for requests of older versions' }),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    requestSize: z.int().nullable().meta({ description: 'Bytes of the body' }),
    responseSize: z.int().nullable().meta({ description: 'Bytes of the body as it was sent' }),
    warning: z.string().nullable().meta({
      description:
        'The first warning of an answer that took effect, such as a name that was ignored',
    }),
    createdAt: instant,
  })
  .meta({ id: 'ApiRequest' })

export type RequestRecord = z.output<typeof requestRecord>

export const requestPage = page(requestRecord).meta({ id: 'ApiRequestPage' })

const status = z
  .string()
  .transform((text, context): { from: number; to: number } => {
    const [, kind] = /^([1-5])xx$/.exec(text) ?? []
    if (kind !== undefined) return { from: Number(kind) * 100, to: Number(kind) * 100 + 99 }
    if (/^[1-5]\d\d$/.test(text)) return { from: Number(text), to: Number(text) }
    const message = 'Expected a status such as 429, or a class of them such as 4xx'
    context.addIssue({ code: 'custom', message, input: text })
    return z.NEVER
  })
  .meta({
    type: 'string',
    pattern: '^[1-5](xx|\\d\\d)$',
    description: 'A status, or a class such as 4xx',
  })

export const requestQuery = z.object({
  ...pageParameters,
  status: status.optional(),
  path: z
    .string()
    .max(MAX_SEARCH_LENGTH)
    .startsWith('/', 'Must begin with a slash')
    .optional()
    .meta({ description: 'The beginning of the path' }),
  caller: caller.optional(),
  requestId: z.string().max(MAX_SEARCH_LENGTH).optional().meta({
    description:
      'The `requestId` of an error, which every answer has as `X-Request-ID`; the log is about a second behind',
  }),
  startDate: instantParameter('first'),
  endDate: instantParameter('last'),
})
