/**
 * Compares the status of each answer of a server with those that the description of the API lists for its
 * operation, so that any test of the suite finds an answer that is not described.
 */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Core } from '../../src/core/core.ts'
import { createTraffic } from '../../src/http/exchange/traffic.ts'
import { statusesOf } from '../../src/http/openapi.ts'
import { createLayout } from '../../src/http/pages/layout.ts'
import type { Route } from '../../src/http/route.ts'
import { createRoutes } from '../../src/http/route-table.ts'
import { createAddressList } from '../../src/http/server/client-address.ts'

/** The description says of these that any path may return them. */
const OF_ANY_PATH = new Set([405, 431, 500, 501])
const FINISHED = 'http.server.response.finish'

/** Watches the server at this address until `end`, which throws if an answer was not described. */
export function watchStatuses(core: Core, url: string): { end(): void } {
  const port = Number(new URL(url).port)
  const operations = listOperations(core)
  const undescribed = new Set<string>()
  const look = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    if (request.socket.localPort !== port) return
    const [path = ''] = (request.url ?? '').split('?')
    const operation = operations.find(
      ({ method, pattern }) => method === request.method && pattern.test(path),
    )
    const { statusCode } = response
    if (operation === undefined || OF_ANY_PATH.has(statusCode)) return
    if (!operation.statuses.has(statusCode)) undescribed.add(`${operation.name} ${statusCode}`)
  }
  subscribe(FINISHED, look)
  return {
    end() {
      unsubscribe(FINISHED, look)
      assert.deepEqual([...undescribed], [], 'answers that /openapi.json does not list')
    },
  }
}

type Operation = { method: string; name: string; pattern: RegExp; statuses: ReadonlySet<number> }

function listOperations(core: Core): Operation[] {
  const routes = createRoutes({
    ...{ core, traffic: createTraffic(), answers: {} as never },
    ...{ proxies: createAddressList([]), layout: createLayout() },
  })
  return routes.map(toOperation)
}

/** Hidden routes take part, so that none of them counts as another one. */
function toOperation(route: Route): Operation {
  const { method, path, isHidden } = route
  const source = path.replaceAll(/[.@]/g, '\\$&').replaceAll(/:\w+/g, '[^/]+')
  const statuses = new Set(isHidden ? ANY : statusesOf(route))
  return { method, name: `${method} ${path}`, pattern: new RegExp(`^${source}$`), statuses }
}

const ANY = Array.from({ length: 600 }, (_, status) => status)
