/** The health of the server. Only clients in `http.metrics_allow` see details and metrics. */
import { readFileSync } from 'node:fs'
import { formatInstant, HOUR_MS } from '../../base/clock.ts'
import type { Core } from '../../core/core.ts'
import { worstOf } from '../../features/operation/doctor/run-checks.ts'
import { listGauges } from '../../features/operation/metrics/list-gauges.ts'
import { checksQuery, serverChecks, serverHealth } from '../../records/server.ts'
import { createHostCheck } from '../exchange/own-host.ts'
import { answerGauges, createMetrics } from '../metrics/metrics.ts'
import { json } from '../response.ts'
import { type Call, openOperation, type RouteDeps } from '../route.ts'
import { createAddressList, isDirect } from '../server/client-address.ts'

const shared = { tag: 'Service', tagText: 'The state of the server.' } as const

export const showHealth = (deps: RouteDeps) => {
  const { core } = deps
  const maySeeDetails = createAccessCheck(deps)
  return openOperation({
    ...shared,
    summary: 'Show whether the server works',
    responses: {
      200: {
        description: 'The server works; if it is `degraded`, `reasons` says why',
        schema: serverHealth,
      },
      503: {
        description: '`unwritable`: the database cannot be written or its files are gone',
        schema: serverHealth,
      },
    },
    refusals: [400],
    example: () => ({ status: 200, response: { status: 'ok', time: '2026-11-22T09:30:00.000Z' } }),
    handle: (call) => {
      const status = statusOf(core)
      const basic = { status, time: formatInstant(core.now()) }
      const shown = maySeeDetails(call) ? { ...basic, ...detailsOf(core) } : basic
      return json(status === 'unwritable' ? 503 : 200, shown)
    },
  })
}

export const showChecks = ({ core }: RouteDeps) =>
  openOperation({
    ...shared,
    summary: 'Show the checks of the server: the last run of this hour, or a new one',
    query: checksQuery,
    responses: {
      200: { description: 'No check has failed', schema: serverChecks },
      503: { description: 'A check has failed', schema: serverChecks },
    },
    example: () => ({
      status: 200,
      response: {
        status: 'ok',
        startedAt: '2026-11-22T09:23:00.000Z',
        finishedAt: '2026-11-22T09:23:01.412Z',
        checks: [{ id: 'wal', status: 'ok', evidence: 'the write-ahead log has 0 MB', fix: null }],
      },
    }),
    handle: async ({ query }) => {
      const run = await core.doctor.run(query.fresh === 'true' ? 0 : HOUR_MS)
      const status = worstOf(run)
      return json(status === 'failed' ? 503 : 200, {
        status,
        startedAt: formatInstant(run.startedAt),
        finishedAt: formatInstant(run.finishedAt),
        checks: run.checks,
      })
    },
  })

export const showMetrics = (deps: RouteDeps) => {
  const { core, traffic, answers } = deps
  const { counters } = core
  const gauges = [...listGauges(core), ...answerGauges(answers)]
  const metrics = createMetrics({ traffic, gauges, counters })
  return openOperation({
    ...shared,
    isHidden: true,
    summary: 'Show metrics for Prometheus',
    responses: { 200: { description: 'Prometheus text', contentType: 'text/plain' } },
    handle: async () => {
      const headers = { 'content-type': metrics.contentType }
      return { status: 200, body: await metrics.text(), headers }
    },
  })
}

function createAccessCheck({ core, proxies }: RouteDeps) {
  const allowed = createAddressList(core.config.http.metricsAllow)
  const findOtherHost = createHostCheck(core.config)
  return ({ address, incoming }: Call<undefined, undefined>): boolean =>
    allowed.has(address) && isDirect(incoming, proxies) && findOtherHost(incoming) === undefined
}

/** Lost database files count as unwritable too. */
function statusOf({ store, health }: Pick<Core, 'store' | 'health'>) {
  const reasons = health.reasons()
  const hasLostFiles = reasons.some(({ cause }) => cause === 'database-files')
  if (!store.isWritable() || hasLostFiles) return 'unwritable'
  return reasons.length > 0 ? 'degraded' : 'ok'
}

function detailsOf({ config, store, health }: Pick<Core, 'config' | 'store' | 'health'>) {
  return {
    environment: config.delivery.mode,
    uptime: process.uptime(),
    ...memoryUsage(),
    walBytes: store.walBytes(),
    reasons: health.reasons(),
  }
}

function anonymousMemory(): { anonymous?: number } {
  if (process.platform !== 'linux') return {}
  const [, kilobytes] =
    /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return kilobytes === undefined ? {} : { anonymous: Number(kilobytes) * 1024 }
}

/**
 * Returns the memory of the process. To read it, a file of the system is opened; while all
 * descriptors are in use this fails, and the memory is left out.
 */
function memoryUsage(): { memoryUsage?: Record<string, number> } {
  try {
    return { memoryUsage: { ...process.memoryUsage(), ...anonymousMemory() } }
  } catch {
    return {}
  }
}
