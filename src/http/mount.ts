/** Answers requests by a list of routes, also those for unknown paths and methods. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../base/errors.ts'
import type { ExchangeDeps } from './exchange/exchange.ts'
import { adviseLostPath, adviseSending } from './exchange/lost-path.ts'
import { refuseTarget } from './exchange/refuse-target.ts'
import { respond } from './exchange/respond.ts'
import { PREFLIGHT_HEADERS } from './response.ts'
import { METHODS, openOperation, openRoute, type Route } from './route.ts'
import { createRouter, type Router } from './router.ts'
import { readTarget } from './target.ts'

/** Resolves when the request has its answer, or the first piece of one that is long. */
export type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

/** @throws TypeError for a route whose requests an earlier one takes */
export function mount(deps: ExchangeDeps, routes: readonly Route[]): Answer {
  const own = routes.map((route) => ({ method: route.method, path: route.path, route }))
  const router = createRouter([...own, { method: 'OPTIONS', path: '/v1/*', route: preflight }])
  const unknown = { route: unknownRoute(router, deps.core.config.baseUrl), params: {} }
  return async (incoming, outgoing) => {
    const target = readTarget(incoming)
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
function unknownRoute(router: Router, baseUrl: string): Route {
  const operation = openOperation({
    isHidden: true,
    tag: 'Service',
    summary: 'Refuse an unknown path or method',
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
