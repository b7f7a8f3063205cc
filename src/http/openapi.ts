/**
 * The OpenAPI description, generated from the routes. The generator is loaded at the first request
 * for it.
 */
import { z } from 'zod'
import { ERROR_CODES } from '../base/errors.ts'
import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../features/ground/requests/idempotency.ts'
import { ruleOf } from '../features/tenancy/accounts/callers/caller.ts'
import { fieldWarnings } from '../records/fields.ts'
import { needsOwnHost } from './exchange/own-host.ts'
import { isForOwnPages } from './exchange/same-origin.ts'
import { CSV_TYPE } from './exchange/table.ts'
import type { Route } from './route.ts'
import type { OperationExample, ResponseDoc } from './route-docs.ts'

type Server = { url: string; version: string }

const REFUSAL_TEXTS: Readonly<Record<number, string>> = {
  400: 'Malformed, not possible in the current state, or without X-Project-Id in a session',
  401: 'No key, an unknown key, or a key of the wrong kind',
  402: 'Over a limit of the project by the month; nothing was sent',
  403: 'Not allowed, the project is disabled, or it is one of others',
  404: 'Not found in this project',
  408: 'The request arrived too slowly',
  409: 'Conflicts with an existing record or an earlier request, or the project is being reset',
  412: 'The record has another version than `If-Match` names',
  413: 'The body is too large',
  415: 'The Content-Encoding of the body is not gzip, deflate or br; or a session, or a call of /auth, sends something other than JSON',
  421: 'The host of the request is none of this server; see `http.allowed_hosts`',
  422: 'Does not match the declared shape, or has unknown names with `Prefer: handling=strict`; `error.errors` names the fields',
  429: 'Too many requests; see Retry-After',
  503: 'Not possible at the moment, and nothing was done; see Retry-After',
}

/** The document as JSON text. */
export async function describeApi(routes: readonly Route[], server: Server): Promise<string> {
  const { OpenAPIHono } = await import('@hono/zod-openapi')
  const document = new OpenAPIHono()
  const registry = document.openAPIRegistry
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES)) {
    registry.registerComponent('securitySchemes', name, scheme)
  }
  registry.registerComponent('schemas', 'ErrorCode', { type: 'string', enum: [...ERROR_CODES] })
  registry.registerComponent('schemas', 'Error', ERROR_SCHEMA)
  registry.registerComponent('schemas', 'PublicApiError', PUBLIC_API_ERROR_SCHEMA)
  for (const route of routes.filter(({ isHidden }) => !isHidden)) {
    registry.registerPath(describeRoute(route))
  }
  const description = document.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Pillarbox',
      version: server.version,
      description: INTRODUCTION,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: server.url }],
    tags: listTags(routes),
  })
  return JSON.stringify(description)
}

/** The tags with their descriptions, in the order of the table. */
function listTags(routes: readonly Route[]) {
  const tags = Map.groupBy(
    routes.filter(({ isHidden }) => !isHidden),
    ({ tag }) => tag,
  )
  return [...tags].map(([name, own]) => {
    const text = own.find(({ tagText }) => tagText !== undefined)?.tagText
    return { name, description: text ?? name }
  })
}

function describeRoute(route: Route) {
  const { method, path, tag, summary, description, callers } = route
  const example = route.example?.()
  return {
    method: method.toLowerCase() as Lowercase<typeof method>,
    path: path.replaceAll(/:([A-Za-z]+)/g, '{$1}'),
    operationId: operationId(route),
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: securityOf(callers),
    parameters: [...pathParameters(route, example), ...idempotencyHeader(route)],
    request: describeRequest(route, example),
    responses: { ...successes(route, example), ...refusals(route) },
  }
}

/** `GET /templates/:id/usage` is `getTemplatesByIdUsage`. */
function operationId({ method, path }: Route): string {
  const words = path.replaceAll(':', 'by-').split(/[^A-Za-z0-9]+/)
  const capitalised = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return method.toLowerCase() + capitalised.join('')
}

function securityOf(callers: Route['callers']): Record<string, string[]>[] {
  if (callers === 'anyone') return []
  const { keys, session } = ruleOf(callers)
  return [
    ...keys.map((key): Record<string, string[]> => ({ [`${key}Key`]: [] })),
    ...(session === null ? [] : [{ session: [] }]),
  ]
}

function pathParameters({ path, params = {} }: Route, example?: OperationExample) {
  const names = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name = '']) => name)
  return names.map((name) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: { type: 'string' as const },
    ...(params[name] === undefined ? {} : { description: params[name] }),
    ...(example?.params?.[name] === undefined ? {} : { example: example.params[name] }),
  }))
}

function idempotencyHeader({ takesIdempotencyKey }: Route) {
  if (!takesIdempotencyKey) return []
  return [
    {
      name: 'Idempotency-Key',
      in: 'header' as const,
      required: false,
      description: 'Requests with the same key take effect once; further ones are refused (409).',
      schema: { type: 'string' as const, minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_LENGTH },
    },
  ]
}

function describeRequest(route: Route, example?: OperationExample) {
  const { query } = route
  const body = bodyOf(route)
  return {
    ...(query === undefined ? {} : { query: query as z.ZodObject }),
    ...(body === undefined
      ? {}
      : { body: { required: true, content: contentOf(body, example?.request) } }),
  }
}

type Body = NonNullable<Route['takesStream']>

function bodyOf({ body, takesStream, readsJson }: Route): Body | undefined {
  if (takesStream !== undefined) return takesStream
  const schema = body ?? readsJson
  return schema === undefined ? undefined : { contentType: 'application/json', schema }
}

function contentOf({ contentType, schema }: Body, example: unknown) {
  return { [contentType]: { schema, ...(example === undefined ? {} : { example }) } }
}

function successes(route: Route, example?: OperationExample) {
  const entries = Object.entries(route.responses).map(([status, doc]) => [
    status,
    success(
      withWarnings(route, doc),
      example?.status === Number(status) ? example.response : undefined,
    ),
  ])
  return Object.fromEntries(entries)
}

function success(doc: ResponseDoc, example: unknown) {
  const { description, schema, contentType = 'application/json', isTableToo, headers } = doc
  const fields = headers === undefined ? {} : { headers: headersOf(headers) }
  if (schema === undefined) return { description, ...fields }
  const content = contentOf({ contentType, schema }, example)
  return { description, ...fields, content: isTableToo ? { ...content, ...TABLE } : content }
}

/** A body may have names that the operation does not know, or not take any: the answer then has warnings. */
function withWarnings(route: Route, doc: ResponseDoc): ResponseDoc {
  const { body, takesForm, names, expectsNoBody } = route
  const { schema } = doc
  const isRead = (body !== undefined && !takesForm) || expectsNoBody
  const isWarned = isRead && names?.isInAnswer !== true
  if (!isWarned || !(schema instanceof z.ZodObject)) return doc
  return { ...doc, schema: schema.and(answerWarnings) }
}

const answerWarnings = z.object({ warnings: fieldWarnings.optional() })

function headersOf(descriptions: Readonly<Record<string, string>>) {
  const entries = Object.entries(descriptions).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' as const } },
  ])
  return Object.fromEntries(entries)
}

const TABLE = { [CSV_TYPE]: { schema: { type: 'string' as const } } }

function refusals(route: Route) {
  const name = route.path.startsWith('/v1/') ? 'PublicApiError' : 'Error'
  const schema = { $ref: `#/components/schemas/${name}` }
  const content = { 'application/json': { schema } }
  const entries = refusalStatuses(route).map((status) => [
    status,
    { description: REFUSAL_TEXTS[status] ?? 'Refused', content },
  ])
  return Object.fromEntries(entries)
}

/** All statuses that the description lists for an operation. */
export function statusesOf(route: Route): number[] {
  return [...Object.keys(route.responses).map(Number), ...refusalStatuses(route)]
}

function refusalStatuses(route: Route): number[] {
  const { callers, method, query, takesStream, expectsNoBody, refusals: own = [] } = route
  const body = bodyOf(route)
  // Each operation refuses unknown names of the query, if the client wants that.
  const statuses = new Set([...own, 422])
  if (callers !== 'anyone') for (const status of [401, 429, 503]) statuses.add(status)
  if (callers !== 'anyone' && method !== 'GET') statuses.add(403)
  const rule = callers === 'anyone' ? undefined : ruleOf(callers)
  const session = rule?.session ?? undefined
  if (needsOwnHost(route)) statuses.add(421)
  // 409: the project is being reset.
  if (rule?.isData) statuses.add(409)
  // 400: the header names no project.
  if (session?.project === 'header') statuses.add(400)
  // 403: the user has not verified the address, is no member of the project, or lacks the role.
  if (session !== undefined && !session.mayBeUnverified) statuses.add(403)
  if (session?.project === 'path') statuses.add(404)
  if ((method !== 'GET' && session !== undefined) || isForOwnPages(route)) {
    // 403: a page of another site makes the request. 415: the body could be a form of such a page.
    statuses.add(403)
    if (takesStream === undefined) statuses.add(415)
  }
  if (query !== undefined) statuses.add(400)
  if (body !== undefined) for (const status of [400, 408, 413, 415]) statuses.add(status)
  // 408: the call reads even a body that it does not take, and such a body may arrive too slowly.
  if (expectsNoBody) statuses.add(408)
  return [...statuses].sort((one, other) => one - other)
}

const INTRODUCTION = `Programs send \`Authorization: Bearer <API_KEY>\`; the key identifies the project. People log in, and their \
session's cookie with the header X-Project-Id stands for the key. Secret keys \
(\`sk_\`) give access to every endpoint and belong on servers only; public keys (\`pk_\`) give access to event tracking only. Instants are \
ISO 8601 in UTC, and requests may give them as RFC 1123 dates too. Ids are UUIDs. Every response has an \`X-Request-ID\`; errors have it in their body too, with a code \
for programs and a text for people. In addition to the responses listed, other methods of a path are refused with 405 \
and \`Allow\`, header fields of more than 16 KB with 431, and a coding before chunked in \`Transfer-Encoding\` with 501; a fault of the server itself is a 500. Bodies may be compressed: \`Content-Encoding: gzip\`, \`deflate\` or \`br\`. \
Lists, exports and figures of more than 1 KB are compressed for clients that send \`Accept-Encoding: gzip\` or \`br\`, unless they may show secrets or signed links. \
Names in a body or a query that an operation does not know are ignored and listed in \`warnings\` of an answer that is an object; with \
the header \`Prefer: handling=strict\` they are refused (422, \`unrecognized\`).`

const SECURITY_SCHEMES = {
  secretKey: { type: 'http', scheme: 'bearer', description: 'The secret key of a project (sk_…)' },
  publicKey: { type: 'http', scheme: 'bearer', description: 'The public key of a project (pk_…)' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'pillarbox_session',
    description:
      'The cookie of a login (`__Host-pillarbox_session` with HTTPS). Routes on a project take its id from the header X-Project-Id, or from `?projectId=` of a GET.',
  },
} as const

const ERROR_SCHEMA = {
  type: 'object' as const,
  required: ['success', 'error', 'timestamp'],
  properties: {
    success: { type: 'boolean' as const, const: false },
    error: {
      type: 'object' as const,
      required: ['code', 'message', 'statusCode', 'requestId'],
      properties: {
        code: { $ref: '#/components/schemas/ErrorCode' },
        message: { type: 'string' as const },
        statusCode: { type: 'integer' as const },
        requestId: { type: 'string' as const },
        errors: {
          type: 'array' as const,
          items: {
            type: 'object' as const,
            required: ['field', 'message', 'code'],
            properties: {
              field: { type: 'string' as const, description: 'Dot path' },
              message: { type: 'string' as const },
              code: { type: 'string' as const, examples: ['invalid_string'] },
              received: { description: 'The type of the value, if the code is invalid_type' },
            },
          },
        },
        details: { type: 'object' as const },
        suggestion: { type: 'string' as const },
      },
    },
    timestamp: { type: 'string' as const, format: 'date-time' },
  },
}

const PUBLIC_API_ERROR_SCHEMA = {
  ...ERROR_SCHEMA,
  required: [...ERROR_SCHEMA.required, 'code', 'message', 'time'],
  properties: {
    ...ERROR_SCHEMA.properties,
    code: { type: 'integer' as const, description: 'HTTP status' },
    message: { type: 'string' as const },
    time: { type: 'integer' as const, description: 'Epoch milliseconds' },
  },
}
