/** The API as one application: the table of routes, and the parts that its exchanges share. */
import { productVersion } from '../config/version.ts'
import type { Core } from '../core/core.ts'
import type { RequestLog } from '../features/ground/requests/log.ts'
import { createBodyAllowance } from './body/body-allowance.ts'
import { createAnswerAllowance } from './exchange/answer-allowance.ts'
import { createCompressor } from './exchange/compression/compress.ts'
import type { RateLimiters } from './exchange/exchange.ts'
import { createHostCheck } from './exchange/own-host.ts'
import { createTraffic } from './exchange/traffic.ts'
import { type AnswerRequest, mount } from './mount.ts'
import { createLayout } from './pages/layout.ts'
import type { Route } from './route.ts'
import { createRoutes } from './route-table.ts'
import { createAddressList } from './server/client-address.ts'

/**
 * The memory for all answers, for the answers to one client address, and for those of one project
 * or user. No project can take more than half of it.
 */
const ANSWER_LIMITS = {
  totalBytes: 256 * 1024 * 1024,
  addressBytes: 64 * 1024 * 1024,
  ownerBytes: 128 * 1024 * 1024,
}

/** The memory for all request bodies. */
const MAX_BODIES_BYTES = 256 * 1024 * 1024
const MAX_BODIES_BYTES_PER_ADDRESS = 64 * 1024 * 1024
/** A project has two keys: both together still leave memory for other projects. */
const MAX_BODIES_BYTES_PER_KEY = 96 * 1024 * 1024

type ApiDeps = {
  core: Core
  limiters: RateLimiters
  requestLog: Pick<RequestLog, 'record'>
  /** Aborted when the server begins to stop. */
  stopping: AbortSignal
}

export function createApi({ core, limiters, requestLog, stopping }: ApiDeps): AnswerRequest {
  const proxies = createAddressList(core.config.http.trustedProxies)
  const traffic = createTraffic()
  const answers = createAnswerAllowance(ANSWER_LIMITS, core.counters)
  const routes = createRoutes({ core, traffic, answers, proxies, layout: createLayout() })
  const bodies = createBodyAllowance(bodyLimits(routes))
  const monitors = createAddressList(core.config.http.metricsAllow)
  const findOtherHost = createHostCheck(core.config)
  const memory = { bodies, answers, compressor: createCompressor() }
  const shared = { core, proxies, monitors, findOtherHost, limiters, traffic, requestLog }
  const version = productVersion()
  return mount({ ...shared, ...memory, version, stopping }, routes)
}

/**
 * Returns the limits of the memory for bodies. Each limit is at least the largest body of any
 * route.
 */
function bodyLimits(routes: readonly Route[]) {
  const largest = Math.max(...routes.map(({ maxBodyBytes }) => maxBodyBytes))
  return {
    totalBytes: Math.max(MAX_BODIES_BYTES, largest),
    addressBytes: Math.max(MAX_BODIES_BYTES_PER_ADDRESS, largest),
    keyBytes: Math.max(MAX_BODIES_BYTES_PER_KEY, largest),
  }
}
