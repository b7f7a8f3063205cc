/**
 * Mounts routes in one hono application, with responses for unknown paths and methods. A slash at
 * the end of a path is ignored unless the path ends with a token. Ids in a path may be in upper or
 * lower case. An empty value in the query counts as absent, unless it is an id or a limit.
 */
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { AppError } from '../errors.ts'
import type { ExchangeDeps, RoutedRequest } from './exchange/exchange.ts'
import { adviseLostPath, adviseSending } from './exchange/lost-path.ts'
import { respond } from './exchange/respond.ts'
import { PREFLIGHT_HEADERS } from './response.ts'
import { METHODS, openOperation, openRoute, type Route } from './route.ts'

export type Bindings = { Bindings: HttpBindings }

export function mount(deps: ExchangeDeps, routes: readonly Route[]): Hono<Bindings> {
  const api = new Hono<Bindings>()
  for (const route of routes) {
    const paths = route.isUnlogged ? [route.path] : [route.path, `${route.path}/`]
    api.on(route.method, paths, (context) => respond(deps, route, routedRequest(context)))
  }
  api.options('/v1/*', (context) => respond(deps, preflight, routedRequest(context)))
  const unknown = unknownRoute(api, deps.core.config.baseUrl)
  api.notFound((context) => {
    const { path } = context.req
    return respond(deps, unknown, { ...routedRequest(context), path })
  })
  return api
}

function routedRequest(context: Context<Bindings>): RoutedRequest {
  const { incoming, outgoing } = context.env
  const path = context.req.path.replace(/(?<=.)\/$/, '')
  const params = lowerCaseIds(context.req.param())
  return { incoming, outgoing, path, params, query: withoutEmpty(context.req.query()) }
}

const NAMES_ID = /(?:^i|I)d$/
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** UUIDs are stored in lower case. Other parameters, such as event names, stay as they are. */
function lowerCaseIds(params: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(params)) {
    if (NAMES_ID.test(name) && UUID.test(value)) params[name] = value.toLowerCase()
  }
  return params
}

/**
 * An empty limit or id is passed on, so that validation refuses it: without an id that a client failed
 * to fill in, the request would be about all records.
 */
function withoutEmpty(query: Record<string, string>): Record<string, string> {
  const isGiven = (name: string) => name === 'limit' || NAMES_ID.test(name)
  const given = Object.entries(query).filter(([name, value]) => value !== '' || isGiven(name))
  return Object.fromEntries(given)
}

/** The methods for `Allow`; empty if no route has the path. */
function allowedMethods(api: Hono<Bindings>, path: string): string[] {
  const known = METHODS.filter((method) => api.router.match(method, path)[0].length > 0)
  if (known.length === 0) return []
  const head = known.includes('GET') ? ['HEAD'] : []
  const options = path.startsWith('/v1/') ? ['OPTIONS'] : []
  return [...known, ...head, ...options]
}

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

/** For requests that match no route, by their path or by their method. */
function unknownRoute(api: Hono<Bindings>, baseUrl: string): Route {
  const operation = openOperation({
    isHidden: true,
    tag: 'Service',
    summary: 'Refuse an unknown path or method',
    responses: {},
    handle: ({ path, incoming }) => {
      const { method = 'GET' } = incoming
      const allow = method === 'OPTIONS' ? [] : allowedMethods(api, path)
      if (allow.length > 0) {
        const text = `${method} is not allowed at this path.`
        const suggestion = adviseSending(method, path)
        throw new AppError('METHOD_NOT_ALLOWED', text, {
          details: { allow },
          ...(suggestion === undefined ? {} : { suggestion }),
        })
      }
      const exists = (other: string) => allowedMethods(api, other).includes(method)
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
