/** The API: all of its routes, and what they share. */
import type { Hono } from 'hono'
import type { Core } from '../features/core.ts'
import type { RequestLog } from '../features/requests/log.ts'
import type { RateLimiter } from '../features/requests/rate-limit.ts'
import { createBodyAllowance } from './body/body-allowance.ts'
import type { Hall } from './exchange/exchange.ts'
import { createTraffic, type Traffic } from './exchange/traffic.ts'
import { listGauges } from './metrics/gauges.ts'
import { type Bindings, mount } from './mount.ts'
import type { Route } from './route.ts'
import { activityRoutes } from './routes/activity.ts'
import { contactBulkRoutes } from './routes/contacts/bulk.ts'
import { contactRoutes } from './routes/contacts/contacts.ts'
import { contactExportRoutes } from './routes/contacts/export.ts'
import { contactFieldRoutes } from './routes/contacts/fields.ts'
import { contactImportRoutes } from './routes/contacts/import.ts'
import { publicContactRoutes } from './routes/contacts/public.ts'
import { contactVerifyRoutes } from './routes/contacts/verify.ts'
import { docsRoutes } from './routes/docs.ts'
import { domainRoutes } from './routes/domains.ts'
import { eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { pageRoutes } from './routes/pages.ts'
import { segmentRoutes } from './routes/segments.ts'
import { sendRoutes } from './routes/send.ts'
import { webhookRoutes } from './routes/sns.ts'
import { suppressionRoutes } from './routes/suppressions.ts'
import { templateRoutes } from './routes/templates.ts'
import { trackRoutes } from './routes/track.ts'
import { trackingRoutes } from './routes/tracking.ts'
import { verifyRoutes } from './routes/verify.ts'
import { type AddressList, createAddressList } from './server/client-address.ts'

/** Of all request bodies under way. */
const MAX_BODIES_BYTES = 256 * 1024 * 1024
const MAX_BODIES_BYTES_PER_ADDRESS = 64 * 1024 * 1024
/** Both keys of a project leave room for others. */
const MAX_BODIES_BYTES_PER_KEY = 96 * 1024 * 1024

export type ApiDeps = {
  core: Core
  limiter: RateLimiter
  requestLog: Pick<RequestLog, 'record'>
  /** Aborted when the server begins to stop. */
  stopping: AbortSignal
}

export type TableDeps = Pick<ApiDeps, 'core'> & {
  traffic: Traffic
  proxies: AddressList
}

export function createApi({ core, limiter, requestLog, stopping }: ApiDeps): Hono<Bindings> {
  const { trustedProxies } = core.config.http
  const proxies = createAddressList(trustedProxies)
  const traffic = createTraffic()
  const routes = listRoutes({ core, traffic, proxies })
  const hall: Hall = {
    core,
    proxies,
    limiter,
    traffic,
    bodies: createBodyAllowance(bodyLimits(routes)),
    requestLog,
    stopping,
  }
  return mount(hall, routes)
}

/** A body that a route takes has room, however large. */
function bodyLimits(routes: readonly Route[]) {
  const largest = Math.max(...routes.map(({ maxBodyBytes }) => maxBodyBytes))
  return {
    totalBytes: Math.max(MAX_BODIES_BYTES, largest),
    addressBytes: Math.max(MAX_BODIES_BYTES_PER_ADDRESS, largest),
    keyBytes: Math.max(MAX_BODIES_BYTES_PER_KEY, largest),
  }
}

/** The whole table. */
export function listRoutes({ core, traffic, proxies }: TableDeps): Route[] {
  const routes = [
    ...sendRoutes(core),
    ...trackRoutes(core),
    ...verifyRoutes(core),
    ...templateRoutes(core),
    ...domainRoutes(core),
    ...segmentRoutes(core),
    ...suppressionRoutes(core),
    ...eventRoutes(core),
    ...activityRoutes(core),
    ...contactVerifyRoutes(core),
    ...publicContactRoutes(core),
    ...contactFieldRoutes(core),
    ...contactBulkRoutes(core),
    ...contactImportRoutes(core),
    ...contactExportRoutes(core),
    // The last of those below /contacts: its `:id` is any word.
    ...contactRoutes(core),
    ...pageRoutes(core),
    ...trackingRoutes(core),
    ...webhookRoutes(core),
    ...healthRoutes({ core, gauges: listGauges(core), traffic, proxies }),
  ]
  return [...routes, ...docsRoutes(core, routes)]
}
