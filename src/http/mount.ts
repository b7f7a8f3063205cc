/**
 * Routes in one hono application, and what answers where there is none. One slash at the end of a
 * path is ignored, unless the path ends with a token; an id in a path may be written in either case;
 * a value of the query that is empty is none.
 */
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { AppError } from '../errors.ts'
import { answer, type Hall } from './exchange/exchange.ts'
import { preflightHeaders } from './exchange/response-headers.ts'
import { methods, openRoute, type Route } from './route.ts'

export type Bindings = { Bindings: HttpBindings }

export function mount(hall: Hall, routes: readonly Route[]): Hono<Bindings> {
  const api = new Hono<Bindings>()
  for (const route of routes) {
    const paths = route.isUnlogged ? [route.path] : [route.path, `${route.path}/`]
    api.on(route.method, paths, (context) => answer(hall, route, arrivalOf(context)))
  }
  api.options('/v1/*', (context) => answer(hall, preflight, arrivalOf(context)))
  const nowhere = nowhereIn(api)
  api.notFound((context) => {
    const { path } = context.req
    return answer(hall, nowhere, { ...arrivalOf(context), path })
  })
  return api
}

function arrivalOf(context: Context<Bindings>) {
  const { incoming, outgoing } = context.env
  const path = context.req.path.replace(/(?<=.)\/$/, '')
  const params = lowerCaseIds(context.req.param())
  return { incoming, outgoing, path, params, query: filled(context.req.query()) }
}

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** UUIDs are kept in lower case; what is called otherwise, such as a name of events, stays. */
function lowerCaseIds(params: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(params)) {
    if (/(?:^i|I)d$/.test(name) && uuid.test(value)) params[name] = value.toLowerCase()
  }
  return params
}

/** An empty `limit` is no number; any other empty value is as good as absent. */
function filled(query: Record<string, string>): Record<string, string> {
  const given = Object.entries(query).filter(([name, value]) => value !== '' || name === 'limit')
  return Object.fromEntries(given)
}

/** What `Allow` says of a path; nothing where there is no such path. */
function allowedMethods(api: Hono<Bindings>, path: string): string[] {
  const known = methods.filter((method) => api.router.match(method, path)[0].length > 0)
  if (known.length === 0) return []
  const head = known.includes('GET') ? ['HEAD'] : []
  const options = path.startsWith('/v1/') ? ['OPTIONS'] : []
  return [...known, ...head, ...options]
}

const preflight = openRoute({
  method: 'GET',
  path: '/v1/*',
  permission: 'none',
  isHidden: true,
  tag: 'Service',
  summary: 'What a browser asks before it calls the public API',
  responses: { 200: { description: 'What is allowed' } },
  handle: () => ({ status: 200, body: '', headers: preflightHeaders }),
})

/** Where no route is: not for this method, or not at all. */
function nowhereIn(api: Hono<Bindings>): Route {
  return openRoute({
    method: 'GET',
    path: '*',
    permission: 'none',
    isHidden: true,
    tag: 'Service',
    summary: 'Where there is nothing',
    responses: {},
    handle: ({ path, incoming }) => {
      const allow = incoming.method === 'OPTIONS' ? [] : allowedMethods(api, path)
      if (allow.length > 0) {
        const text = `${incoming.method} is not possible here.`
        throw new AppError('METHOD_NOT_ALLOWED', text, { details: { allow } })
      }
      throw new AppError('RESOURCE_NOT_FOUND', 'There is nothing at this path for this method.', {
        details: { resource: 'path', id: path },
        suggestion: 'The paths of this API are listed at /docs.',
      })
    },
  })
}
