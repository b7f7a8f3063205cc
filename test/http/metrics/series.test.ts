/** The number of series, with every label filled; and the conventions of Prometheus, as far as they are simple. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCounters } from '../../../src/base/counters.ts'
import { ERROR_CODES } from '../../../src/base/errors.ts'
import {
  COUNTER_TEXTS,
  type CounterName,
  HISTOGRAM_TEXTS,
  type HistogramName,
} from '../../../src/base/metric-texts.ts'
import { createSchedule } from '../../../src/core/areas.ts'
import type { Core } from '../../../src/core/core.ts'
import { FOLLOWERS } from '../../../src/features/ground/event-handlers.ts'
import { type GaugeDeps, listGauges } from '../../../src/features/operation/metrics/list-gauges.ts'
import type { ReplyClass } from '../../../src/formats/replies/reply.ts'
import { createTraffic } from '../../../src/http/exchange/traffic.ts'
import { createMetrics } from '../../../src/http/metrics/metrics.ts'
import { ROUTES } from '../../../src/http/route-table.ts'
import { newId } from '../../../src/store/ids.ts'
import type { HeldCause, InboundKind } from '../../../src/store/schema/words.ts'
import { address, openTestCore } from '../../core.ts'
import { openSender } from '../../features/mail/messages/sender.ts'

const MAX_SERIES = 1_500

/** Nothing of this may be in a label. */
const HOSTILE = 'evil"}\nx{y="z.customer.test'

const statuses = [
  ...[200, 201, 202, 204, 206, 302, 303, 304, 308],
  ...[400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 417, 422],
  ...[424, 425, 426, 428, 429, 431, 500, 501, 502, 503, 504, 505, 507],
].map(String)

const classes = Object.keys({
  ...{ accepted: 0, hard: 0, disabled: 0, quota: 0, too_fast: 0, greylist: 0, throttle: 0 },
  ...{ block: 0, connections: 0, session: 0, policy: 0, content: 0, size: 0, syntax: 0 },
  ...{ network: 0, dns: 0, unknown: 0, none: 0 },
} satisfies Record<ReplyClass | 'none', 0>)
const inboundKinds = Object.keys({
  ...{ bounce: 0, complaint: 0, 'auto-reply': 0, unsubscribe: 0, mail: 0, other: 0 },
} satisfies Record<InboundKind, 0>)
const heldCauses = Object.keys({ fuse: 0, domain: 0 } satisfies Record<HeldCause, 0>)
const smtpCodes = [
  421, 450, 451, 452, 500, 501, 502, 503, 504, 521, 530, 535, 550, 552, 553, 554, 555,
]
const outcomes = HISTOGRAM_TEXTS.pillarbox_attempt_duration_seconds.values

/** All values of the labels of each counter. */
function valuesOf(core: Core): Record<CounterName, string[][]> {
  const kinds = Object.keys(createSchedule(core).handlers)
  return {
    pillarbox_log_lines_suppressed_total: [],
    pillarbox_attempts_total: [['transactional', 'workflow', 'campaign'], [...outcomes]],
    pillarbox_email_outcomes_total: [
      ['delivered', 'relayed', 'bounced', 'failed', 'suppressed'],
      classes,
    ],
    pillarbox_email_deferrals_total: [classes],
    pillarbox_bounces_total: [
      ['session', 'report'],
      ['hard', 'soft'],
    ],
    pillarbox_complaints_total: [],
    pillarbox_inbound_messages_total: [inboundKinds],
    pillarbox_suppressions_held_total: [heldCauses],
    pillarbox_http_strangers_refused_total: [statuses.filter((status) => status >= '400')],
    pillarbox_http_connections_refused_total: [],
    pillarbox_http_answers_waited_total: [],
    pillarbox_http_answers_refused_total: [],
    pillarbox_http_answers_cut_total: [],
    pillarbox_http_responses_total: [statuses],
    pillarbox_http_refusals_total: [[...ERROR_CODES]],
    pillarbox_smtp_refusals_total: [['inbound', 'submission'], smtpCodes.map(String)],
    pillarbox_recipients_refused_total: [
      ['relay', 'forged', 'unknown', 'closed', 'full', 'too-large', 'too-often'],
    ],
    pillarbox_job_failures_total: [[...kinds, 'other']],
    pillarbox_webhook_attempts_total: [['succeeded', 'refused', 'no_response']],
    pillarbox_chain_starts_refused_total: [],
    pillarbox_executions_ended_total: [['COMPLETED', 'EXITED', 'FAILED', 'CANCELLED']],
    pillarbox_commit_failures_total: [],
    pillarbox_threads_lost_total: [['scan', 'delivery', 'composing', 'reader', 'submission']],
    pillarbox_acme_orders_total: [['issued', 'failed']],
    pillarbox_metering_batches_total: [['charged', 'dropped']],
    pillarbox_emails_not_charged_total: [],
    pillarbox_template_faults_total: [['subject', 'body', 'text']],
  }
}

function combine(values: readonly string[][]): string[][] {
  return values.reduce<string[][]>(
    (rows, column) => rows.flatMap((row) => column.map((value) => [...row, value])),
    [[]],
  )
}

/** A core with rows and figures for every label; sites and domains are hostile. */
async function openFilled(t: TestContext) {
  const { core, send } = await openSender(t)
  const { store, now } = core
  await send({
    to: Array.from({ length: 60 }, (_, number) => ({
      address: address(`ada@d${number}.customer.test`),
      name: null,
    })),
  })
  const kinds = Object.keys(createSchedule(core as never).handlers)
  const at = now()
  await store.write(async (tx) => {
    const { jobs } = await import('../../../src/store/schema/jobs.ts')
    const { eventFollowers } = await import('../../../src/store/schema/events.ts')
    for (const kind of kinds) {
      for (const state of ['waiting', 'active'] as const) {
        const row = { id: newId(), kind, state, payload: {}, runAt: at - 5_000, maxAttempts: 1 }
        await tx.insert(jobs).values({ ...row, createdAt: at, updatedAt: at })
      }
    }
    const cursors = FOLLOWERS.map((name) => ({ name, seq: 0, updatedAt: at }))
    await tx.insert(eventFollowers).values(cursors).onConflictDoNothing()
  })
  const names = await providerNames()
  const outbound = {
    ...core.outbound,
    inFlight: () => 1,
    threads: () => ({ running: 8, busy: 3, waiting: 9 }),
    sites: () => [],
    siteOf: (domain: string) => {
      const number = Number(/^d(\d+)\./.exec(domain)?.[1])
      return number % 3 === 0 ? `${number}.${HOSTILE}` : (names[number % names.length] ?? domain)
    },
  }
  const listeners = ['http', 'inbound', 'submission'] as const
  const certificates = { list: () => listeners.map((listener) => ({ listener, daysLeft: 9 })) }
  const disk = { space: () => ({ free: 1, total: 2, freeInodes: 3, totalInodes: 4 }) }
  const hits = { counts: () => ({ waiting: 0, lost: 0 }) }
  return { core, deps: { ...core, outbound, certificates, disk, hits } as unknown as GaugeDeps }
}

/** More names of providers than `/metrics` shows. */
async function providerNames(): Promise<string[]> {
  const { isProviderHost } = await import('../../../src/formats/address/mailbox-providers.ts')
  const names =
    `google.com yahoodns.net gmx.net web.de orange.fr comcast.net mail.ru qq.com ovh.net gandi.net
    infomaniak.ch secureserver.net emailsrvr.com amazonaws.com mimecast.com pphosted.com iphmx.com zoho.com zoho.eu
    kundenserver.de ionos.com hornetsecurity.com fireeyecloud.com trendmicro.com protonmail.ch`.split(
      /\s+/,
    )
  assert.ok(names.length > 20 && names.every(isProviderHost))
  return names
}

async function readFilled(t: TestContext): Promise<string> {
  const { core, deps } = await openFilled(t)
  const { counters } = core
  for (const [name, values] of Object.entries(valuesOf(core as never)) as [
    CounterName,
    string[][],
  ][]) {
    const labelNames = Object.keys(COUNTER_TEXTS[name].labels)
    assert.equal(labelNames.length, values.length, name)
    for (const row of combine(values)) {
      counters.add(
        name,
        Object.fromEntries(labelNames.map((label, index) => [label, row[index] ?? ''])),
      )
    }
  }
  for (const name of Object.keys(HISTOGRAM_TEXTS) as HistogramName[]) {
    for (const value of [...HISTOGRAM_TEXTS[name].values, HOSTILE]) {
      counters.observe(name, 5, value)
    }
  }
  const traffic = createTraffic()
  for (const [method, path] of ROUTES) traffic.count({ method, path }, 1)
  for (const path of ['*', '/v1/*']) traffic.count({ method: 'GET', path }, 1)
  const gauges = listGauges(deps, { waitMs: 30_000 })
  const metrics = createMetrics({ traffic, gauges, counters })
  return metrics.text()
}

test('with every label filled, /metrics has at most 1,500 series', async (t) => {
  const text = await readFilled(t)
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  t.diagnostic(`${series.length} series`)
  assert.ok(series.length > 1_000, 'the labels are filled')
  assert.ok(series.length <= MAX_SERIES, String(series.length))
  const names = series.map((line) => line.slice(0, line.lastIndexOf(' ')))
  assert.equal(new Set(names).size, names.length, 'no series twice')
  const sites = series.filter((line) => line.startsWith('pillarbox_queue_site_emails'))
  assert.equal(sites.length, 21)
  assert.ok(sites.some((line) => line.startsWith('pillarbox_queue_site_emails{site="other"}')))
})

test('no label has a domain, a project, an address or an id', async (t) => {
  const text = await readFilled(t)
  assert.equal(text.indexOf('customer.test'), -1)
  assert.equal(text.indexOf('evil'), -1)
  const found = /(?<!\/)@|[0-9a-f]{8}-[0-9a-f]{4}-/.exec(text)
  assert.equal(found, null)
})

test('counters end in _total, units are seconds and bytes, and each metric has one help text', async (t) => {
  const text = await readFilled(t)
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => ({
    name,
    type,
  }))
  const helps = [...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name]) => name)
  assert.deepEqual(
    helps,
    types.map(({ name }) => name),
  )
  assert.equal(new Set(helps).size, helps.length)
  for (const { name, type } of types) {
    assert.equal(name.endsWith('_total'), type === 'counter', `${name} ${type}`)
    assert.doesNotMatch(name, /_(ms|milliseconds|days|minutes|hours|kb|mb|megabytes)(_|$)/, name)
  }
})

test('every class of a figure that this program counts has a value in the test above', async (t) => {
  const core = await openTestCore(t)
  assert.deepEqual(Object.keys(valuesOf(core)).sort(), Object.keys(COUNTER_TEXTS).sort())
})

test('a counter begins at 0 with every value of its labels where these are few', async (t) => {
  const values = valuesOf(await openTestCore(t))
  const counters = createCounters()
  /** Their values are many; the server's own errors are what rules watch. */
  const appearing = {
    pillarbox_http_strangers_refused_total: [],
    pillarbox_http_responses_total: [{ status: '500' }, { status: '503' }],
    pillarbox_http_refusals_total: [],
    pillarbox_smtp_refusals_total: [],
    // The jobs begin the lines of their kinds.
    pillarbox_job_failures_total: [],
  }
  for (const name of Object.keys(COUNTER_TEXTS) as CounterName[]) {
    const labelNames = Object.keys(COUNTER_TEXTS[name].labels)
    const all = combine(values[name]).map((row) =>
      Object.fromEntries(labelNames.map((label, index) => [label, row[index] ?? ''])),
    )
    const expected: object[] = name in appearing ? appearing[name as keyof typeof appearing] : all
    const lines = counters.lines(name)
    assert.deepEqual(new Set(lines.map(({ labels }) => labels)), new Set(expected), name)
    assert.ok(lines.every(({ count }) => count === 0))
  }
})
