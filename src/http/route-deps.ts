/** The dependencies of operations. */
import type { Core } from '../features/core.ts'
import type { Traffic } from './exchange/traffic.ts'
import type { Layout } from './pages/layout.ts'
import type { Route } from './route.ts'
import type { AddressList } from './server/client-address.ts'

export type RouteDeps = {
  core: Core
  traffic: Traffic
  proxies: AddressList
  layout: Layout
  /** The whole table, for its description. */
  listRoutes(): readonly Route[]
}
