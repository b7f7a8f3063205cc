/** Whether the server is well. What it is made of is told to `http.metrics_allow` only. */
import { z } from 'zod'
import { formatInstant } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { Core } from '../../features/core.ts'
import type { Traffic } from '../exchange/traffic.ts'
import { createMetrics, type Gauge } from '../metrics/metrics.ts'
import { type Call, json, openRoute, type Route } from '../route.ts'
import { type AddressList, createAddressList, isDirect } from '../server/client-address.ts'

export type HealthDeps = {
  core: Pick<Core, 'config' | 'now' | 'store' | 'health' | 'counters'>
  gauges: readonly Gauge[]
  traffic: Traffic
  proxies: AddressList
}

const health = z
  .object({
    status: z.enum(['ok', 'degraded', 'unwritable']),
    time: z.iso.datetime(),
    environment: z.enum(['sandbox', 'direct', 'relay']).optional(),
    uptime: z.number().meta({ description: 'Seconds' }).optional(),
    memoryUsage: z.record(z.string(), z.number()).meta({ description: 'Bytes' }).optional(),
    walBytes: z.number().meta({ description: "Size of the database's log" }).optional(),
    reasons: z
      .array(z.object({ cause: z.string(), reason: z.string() }))
      .meta({ description: 'Why the status is `degraded`' })
      .optional(),
  })
  .meta({ id: 'Health' })

export function healthRoutes({ core, gauges, traffic, proxies }: HealthDeps): Route[] {
  const { config, now, store, counters } = core
  const detail = () => ({
    environment: config.delivery.mode,
    uptime: process.uptime(),
    memoryUsage: process.memoryUsage(),
    walBytes: store.walBytes(),
    reasons: core.health.reasons(),
  })
  const allowed = createAddressList(config.http.metricsAllow)
  const metrics = createMetrics({ traffic, gauges, counters })
  const isInsider = ({ address, incoming }: Call<undefined, undefined>) =>
    allowed.has(address) && isDirect(incoming, proxies)

  return [
    openRoute({
      method: 'GET',
      path: '/health',
      permission: 'none',
      tag: 'Service',
      summary: 'Whether the server is well',
      responses: {
        200: { description: 'Well, or `degraded`: with reasons to look into', schema: health },
        503: {
          description: '`unwritable`: the database cannot be written, or its files are gone',
          schema: health,
        },
      },
      refusals: [400],
      handle: (call) => {
        const status = statusOf(core)
        const isWell = status !== 'unwritable'
        const basic = { status, time: formatInstant(now()) }
        return json(isWell ? 200 : 503, isInsider(call) ? { ...basic, ...detail() } : basic)
      },
    }),
    openRoute({
      method: 'GET',
      path: '/metrics',
      permission: 'none',
      isHidden: true,
      tag: 'Service',
      summary: 'Numbers for Prometheus',
      responses: { 200: { description: 'Prometheus text', contentType: 'text/plain' } },
      handle: async (call) => {
        if (!isInsider(call)) throw new AppError('FORBIDDEN', 'Metrics are not for this address.')
        const headers = { 'content-type': metrics.contentType }
        return { status: 200, body: await metrics.text(), headers }
      },
    }),
  ]
}

/** Trouble with the files of the database is as bad as a disk that takes no writes. */
function statusOf({ store, health }: Pick<Core, 'store' | 'health'>) {
  const reasons = health.reasons()
  const hasLostFiles = reasons.some(({ cause }) => cause === 'database-files')
  if (!store.isWritable() || hasLostFiles) return 'unwritable'
  return reasons.length > 0 ? 'degraded' : 'ok'
}
