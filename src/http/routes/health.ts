/** The health of the server. Only clients in `http.metrics_allow` see details and metrics. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { formatInstant, HOUR_MS } from '../../base/clock.ts'
import type { Core } from '../../core/core.ts'
import { worstOf } from '../../features/operation/doctor/run-checks.ts'
import { listGauges } from '../../features/operation/metrics/list-gauges.ts'
import { createHostCheck } from '../exchange/own-host.ts'
import { answerGauges, createMetrics } from '../metrics/metrics.ts'
import { json } from '../response.ts'
import { type Call, openOperation, type RouteDeps } from '../route.ts'
import { createAddressList, isDirect } from '../server/client-address.ts'

const health = z
  .object({
    status: z.enum(['ok', 'degraded', 'unwritable']),
    time: z.iso.datetime(),
    environment: z.enum(['sandbox', 'direct', 'relay']).optional(),
    uptime: z.number().meta({ description: 'Seconds' }).optional(),
    memoryUsage: z
      .record(z.string(), z.number())
      .meta({
        description:
          'Bytes. `anonymous`, on Linux: the part of `rss` that the system cannot read from a file again; the rest is mostly the program itself.',
      })
      .optional(),
    walBytes: z.number().meta({ description: "Size of the database's write-ahead log" }).optional(),
    reasons: z
      .array(z.object({ cause: z.string(), reason: z.string() }))
      .meta({ description: 'Why the status is `degraded`' })
      .optional(),
  })
  .meta({ id: 'Health' })

const checks = z
  .object({
    status: z.enum(['ok', 'warning', 'failed']).meta({ description: 'The worst of all checks' }),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    checks: z.array(
      z.object({
        id: z.string(),
        status: z.enum(['ok', 'warning', 'failed', 'skipped']),
        evidence: z.string().meta({ description: 'What was seen, or why the check was skipped' }),
        fix: z.string().nullable().meta({ description: 'What to paste or to do' }),
      }),
    ),
  })
  .meta({ id: 'Checks' })

const checksQuery = z.strictObject({
  fresh: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: run the checks now, unless they ran within the last minute' }),
})

const shared = { tag: 'Service' } as const

export const showHealth = (deps: RouteDeps) => {
  const { core } = deps
  const maySeeDetails = createAccessCheck(deps)
  return openOperation({
    ...shared,
    summary: 'Show whether the server works',
    responses: {
      200: {
        description: 'The server works; if it is `degraded`, `reasons` says why',
        schema: health,
      },
      503: {
        description: '`unwritable`: the database cannot be written or its files are gone',
        schema: health,
      },
    },
    refusals: [400],
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
      200: { description: 'No check has failed', schema: checks },
      503: { description: 'A check has failed', schema: checks },
    },
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

/** The system tells it in a file, which cannot be opened while all descriptors are in use. */
function memoryUsage(): { memoryUsage?: Record<string, number> } {
  try {
    return { memoryUsage: { ...process.memoryUsage(), ...anonymousMemory() } }
  } catch {
    return {}
  }
}
