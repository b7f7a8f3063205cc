/** The API: all of its routes, and what they share. */
import type { Hono } from 'hono'
import type { Core } from '../features/core.ts'
import type { RequestLog } from '../features/requests/log.ts'
import type { RateLimiter } from '../features/requests/rate-limit.ts'
import { type AddressList, createAddressList } from './client-address.ts'
import type { Hall } from './exchange.ts'
import type { Gauge } from './metrics.ts'
import { type Bindings, mount } from './mount.ts'
import type { Route } from './route.ts'
import { activityRoutes } from './routes/activity.ts'
import { docsRoutes } from './routes/docs.ts'
import { domainRoutes } from './routes/domains.ts'
import { healthRoutes } from './routes/health.ts'
import { pageRoutes } from './routes/pages.ts'
import { publicContactRoutes } from './routes/public-contacts.ts'
import { sendRoutes } from './routes/send.ts'
import { suppressionRoutes } from './routes/suppressions.ts'
import { templateRoutes } from './routes/templates.ts'
import { trackingRoutes } from './routes/tracking.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { createTraffic, type Traffic } from './traffic.ts'

export type ApiDeps = {
  core: Core
  limiter: RateLimiter
  requestLog: Pick<RequestLog, 'record'>
  gauges: readonly Gauge[]
  isStopping(): boolean
}

export type TableDeps = Pick<ApiDeps, 'core' | 'gauges'> & {
  traffic: Traffic
  proxies: AddressList
}

export function createApi({
  core,
  limiter,
  requestLog,
  gauges,
  isStopping,
}: ApiDeps): Hono<Bindings> {
  const { trustedProxies } = core.config.http
  const hall: Hall = {
    core,
    proxies: createAddressList(trustedProxies),
    limiter,
    traffic: createTraffic(),
    requestLog,
    isStopping,
  }
  return mount(hall, listRoutes({ core, gauges, traffic: hall.traffic, proxies: hall.proxies }))
}

/** The whole table. */
export function listRoutes({ core, gauges, traffic, proxies }: TableDeps): Route[] {
  const routes = [
    ...sendRoutes(core),
    ...templateRoutes(core),
    ...domainRoutes(core),
    ...suppressionRoutes(core),
    ...activityRoutes(core),
    ...publicContactRoutes(core),
    ...pageRoutes(core),
    ...trackingRoutes(core),
    ...webhookRoutes(core),
    ...healthRoutes({ core, gauges: [...ownGauges(core), ...gauges], traffic, proxies }),
  ]
  return [...routes, ...docsRoutes(core, routes)]
}

function ownGauges({ store, outbound, hits }: Pick<Core, 'store' | 'outbound' | 'hits'>): Gauge[] {
  return [
    {
      name: 'pillarbox_database_wal_bytes',
      help: 'Size of the write-ahead log',
      read: () => [{ value: store.walBytes() }],
    },
    {
      name: 'pillarbox_deliveries_in_flight',
      help: 'Messages with the delivery workers',
      read: () => [{ value: outbound.inFlight() }],
    },
    {
      name: 'pillarbox_tracking_hits',
      help: 'Opens and clicks that wait to be written, and those that were lost',
      labelNames: ['state'],
      read: () => {
        const { waiting, lost } = hits.counts()
        return [
          { value: waiting, labels: { state: 'waiting' } },
          { value: lost, labels: { state: 'lost' } },
        ]
      },
    },
  ]
}
