import type { Route } from '../../src/http/route.ts'
import { createRoutes } from '../../src/http/route-table.ts'
import type { TestCore } from '../core.ts'

/** The routes of the table, for tests that look at what they declare. */
export function listRoutes(core: TestCore): Route[] {
  const layout = (() => '') as never
  const proxies = { has: () => false }
  return createRoutes({ core, traffic: {} as never, answers: {} as never, proxies, layout })
}
