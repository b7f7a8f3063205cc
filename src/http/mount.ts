/**
 * Answers requests by a list of routes. A request for an unknown path or method gets advice where it
 * belongs, and a request without a valid target gets its refusal.
 */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { AppError } from '../base/errors.ts'
import type { Core } from '../core/core.ts'
import { errorResponse } from './exchange/error-response.ts'
import type { ExchangeDeps } from './exchange/exchange.ts'
import { respond } from './exchange/respond.ts'
import { commonHeaders, PREFLIGHT_HEADERS, sendWhole } from './response.ts'
import { METHODS, openOperation, openRoute, type Route } from './route.ts'
import { createRouter, type Router, readRequestTarget } from './router.ts'

/** Answers a request. Resolves when the answer was sent, or the first piece of a long answer. */
export type AnswerRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

const preflight = openRoute(
  { method: 'GET', path: '/v1/*' },
  openOperation({
    isHidden: true,
    tag: 'Service',
    summary: 'Respond to the preflight request of a browser',
    responses: { 200: { description: 'The methods and headers that are allowed' } },
    handle: () => ({ status: 200, body: '', headers: PREFLIGHT_HEADERS }),
  }),
)
/** Paths of listmonk, each with the path of this API for the same thing. */
const OTHER_WORDS: readonly [theirs: string, ours: string][] = [
  ['/import/subscribers', '/contacts/import'],
  ['/subscribers', '/contacts'],
  ['/lists', '/segments'],
  ['/tx', '/send'],
  ['/bounces', '/suppressions'],
]

/** Whether a route has the method of the request and this path. */
type Exists = (path: string) => boolean

const SLASH = 'with the slash at the end of the base address: '
/** The paths for sending mail in the APIs of other services, after their version. */
const OTHER_SENDING =
  /^(?:\/api)?(?:\/v[1-4](?:\.\d)?)?\/(?:emails?(?:\/batch|\/send)?|mail\/send|messages(?:\/send)?|smtp\/email)\/?$/

/** @throws TypeError for a route whose requests an earlier one takes */
export function mount(deps: ExchangeDeps, routes: readonly Route[]): AnswerRequest {
  const own = routes.map((route) => ({ method: route.method, path: route.path, route }))
  const router = createRouter([...own, { method: 'OPTIONS', path: '/v1/*', route: preflight }])
  const unknown = { route: unknownRoute(router, deps.core.config.baseUrl), params: {} }
  return async (incoming, outgoing) => {
    const target = readRequestTarget(incoming)
    if (target === undefined) return refuseTarget(deps.core, outgoing)
    const { method = '' } = incoming
    const found = router.find(method === 'HEAD' ? 'GET' : method, target.path)
    const path = found === undefined ? target.path : withoutSlash(target.path)
    const { route, params } = found ?? unknown
    return respond(deps, route, { incoming, outgoing, path, params, query: target.query })
  }
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** The methods for `Allow`; empty if no route has the path. */
function allowedMethods(router: Router, path: string): string[] {
  const known = METHODS.filter((method) => router.find(method, path) !== undefined)
  if (known.length === 0) return []
  const head = known.includes('GET') ? ['HEAD'] : []
  const options = path.startsWith('/v1/') ? ['OPTIONS'] : []
  return [...known, ...head, ...options]
}

/** The route for requests whose path or method matches no other route. */
function unknownRoute(router: Router, baseUrl: string): Route {
  const operation = openOperation({
    isHidden: true,
    tag: 'Service',
    summary: 'Refuse an unknown path or method',
    // Any name: the answer is about the path, also for a client that wants unknown names refused.
    query: z.unknown(),
    responses: {},
    handle: ({ path, incoming }) => {
      const { method = 'GET' } = incoming
      const allow = method === 'OPTIONS' ? [] : allowedMethods(router, path)
      if (allow.length > 0) {
        const text = `${method} is not allowed at this path.`
        const suggestion = adviseSending(method, path)
        throw new AppError('METHOD_NOT_ALLOWED', text, {
          details: { allow },
          ...(suggestion === undefined ? {} : { suggestion }),
        })
      }
      const exists = (other: string) => allowedMethods(router, other).includes(method)
      throw new AppError('RESOURCE_NOT_FOUND', 'There is nothing at this path for this method.', {
        details: { resource: 'path', id: path },
        suggestion:
          adviseLostPath(path, { method, baseUrl, exists }) ??
          'The paths of this API are listed at /docs.',
      })
    },
  })
  return openRoute({ method: 'GET', path: '*' }, operation)
}

/**
 * Suggests another path for `path`, which does not exist; undefined if no similar path exists. Programs of this
 * API family keep `/api` of another server, lose the last part of a base address without a slash at its end, or
 * have `/v1` twice. Programs for listmonk use its words. `baseUrl`: of this server.
 */
function adviseLostPath(
  path: string,
  { method, baseUrl, exists }: { method: string; baseUrl: string; exists: Exists },
): string | undefined {
  const found = candidates(path).find((one) => one !== path && exists(one))
  const sending = found === undefined ? adviseSending(method, path) : undefined
  if (sending !== undefined) return sending
  if (found === undefined) return isElsewhere(path) ? below(baseUrl) : undefined
  const here = `Use ${method} ${found}.`
  return found.startsWith('/v1/') ? `${here} ${below(baseUrl)}` : here
}

/** Advice for a program that was made for another sender's API and wants to send. */
function adviseSending(method: string, path: string): string | undefined {
  return method === 'POST' && OTHER_SENDING.test(path) ? 'To send: POST /v1/send.' : undefined
}

function below(baseUrl: string): string {
  return `The API for sending is below /v1; ${SLASH}${baseUrl}/v1/`
}

function isElsewhere(path: string): boolean {
  return path.startsWith('/api/') || path.startsWith('/v1/v1/')
}

/** The paths that the client may mean: without the parts that such programs add, and with those that they lose. */
function candidates(path: string): string[] {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  const rest = bare.replace(/^\/api(?=\/)/, '').replace(/^(?:\/v1)+(?=\/)/, '')
  const words = OTHER_WORDS.find(([theirs]) => rest === theirs || rest.startsWith(`${theirs}/`))
  const own = words === undefined ? rest : words[1] + rest.slice(words[0].length)
  return [`/v1${own}`, own]
}

/** The response to a request line or a Host field that forms no URL: such a request has no route. */
function refuseTarget(
  { now, counters }: Pick<Core, 'now' | 'counters'>,
  outgoing: ServerResponse,
): void {
  counters.add('pillarbox_http_strangers_refused_total', { status: '400' })
  const error = new AppError('BAD_REQUEST', 'The request has no valid URL.')
  const requestId = randomUUID()
  const context = { requestId, isPublicApi: false, at: now() }
  const { status, body, headers } = errorResponse(error, context)
  const all = [commonHeaders(false), headers, { 'x-request-id': requestId }]
  sendWhole(outgoing, { status, headers: all }, String(body))
}
