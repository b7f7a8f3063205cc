import type { Core } from '../../src/core/core.ts'
import type { Route } from '../../src/http/route.ts'
import type { OperationExample } from '../../src/http/route-docs.ts'
import { createRoutes } from '../../src/http/route-table.ts'
import type { TestCore } from '../core.ts'

const listed = new WeakMap<Core, Route[]>()

/** The routes of the table, for tests that look at what they declare. */
export function listRoutes(core: TestCore): Route[] {
  const layout = (() => '') as never
  const proxies = { has: () => false }
  const own = { core, traffic: {} as never, answers: {} as never, proxies, layout }
  const routes = listed.get(core) ?? createRoutes(own)
  listed.set(core, routes)
  return routes
}

/** `POST /v1/send` */
export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`

/** @throws TypeError for a name of no route */
export function findRoute(core: TestCore, name: string): Route {
  const route = listRoutes(core).find((each) => nameOf(each) === name)
  if (route === undefined) throw new TypeError(`${name} is no route`)
  return route
}

/** The example of the operation of this name, if it has one. */
export function findExample(core: TestCore, name: string): OperationExample | undefined {
  return findRoute(core, name).example?.()
}
