import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCounters } from '../../../src/base/counters.ts'
import { type GaugeDeps, listGauges } from '../../../src/features/operation/metrics/list-gauges.ts'
import { createTraffic } from '../../../src/http/exchange/traffic.ts'
import { createMetrics } from '../../../src/http/metrics/metrics.ts'
import { address, START } from '../../core.ts'
import { openSender } from '../../features/mail/messages/sender.ts'

const DAY_S = 24 * 60 * 60
const GB = 1024 ** 3

const site = (name: string, blockedUntil: number | null, restrictedSince: number | null) =>
  ({ site: name, blockedUntil, restrictedSince }) as never

/** Scans are waited for, however busy the machine is. */
const PATIENT = { waitMs: 30_000 }

async function openMetrics(t: TestContext, parts: object = {}) {
  const sender = await openSender(t)
  const deps = { ...sender.core, ...parts } as unknown as GaugeDeps
  const counters = createCounters()
  const traffic = createTraffic()
  const read = async () => {
    const metrics = createMetrics({ traffic, gauges: listGauges(deps, PATIENT), counters })
    return (await metrics.text()).split('\n')
  }
  return { ...sender, deps, counters, traffic, read }
}

function assertLines(lines: readonly string[], expected: readonly string[]): void {
  for (const line of expected) {
    const name = line.split(/[ {]/)[0] ?? ''
    assert.ok(
      lines.includes(line),
      `${line}\nin\n${lines.filter((one) => one.includes(name)).join('\n')}`,
    )
  }
}

test('/metrics shows waiting emails, sites in back-off, certificates and disk space', async (t) => {
  const { send, clock, core, counters, traffic, deps, read } = await openMetrics(t)
  await send()
  clock.now = START + 90_000
  Object.assign(deps, {
    outbound: {
      ...core.outbound,
      inFlight: () => 3,
      threads: () => ({ running: 2, busy: 1, waiting: 5 }),
      sites: () => [
        site('dead.test', START + 1, START),
        site('slow.test', null, START),
        site('well.test', null, null),
      ],
    },
    hits: { counts: () => ({ waiting: 1, lost: 2 }) },
    disk: {
      ...core.disk,
      space: () => ({ free: 2 * GB, total: 9 * GB, freeInodes: 7, totalInodes: 8 }),
    },
    certificates: {
      ...core.certificates,
      list: () => [{ listener: 'http' as const, daysLeft: 6.5 }],
    },
  })
  counters.add('pillarbox_email_outcomes_total', { outcome: 'bounced', class: 'hard' }, 2)
  counters.observe('pillarbox_accept_duration_seconds', 3, 'api')
  counters.observe('pillarbox_accept_duration_seconds', 7_000, 'api')
  counters.observe('pillarbox_accept_duration_seconds', 7_000, 'nobody')
  const route = { method: 'GET', path: '/emails' }
  for (let count = 0; count < 2; count += 1) traffic.count(route, 250)
  const lines = await read()
  assertLines(lines, [
    'pillarbox_queue_emails{state="queued"} 1',
    'pillarbox_queue_emails{state="held"} 0',
    'pillarbox_queue_site_emails{site="other"} 1',
    'pillarbox_queue_oldest_due_seconds{class="transactional"} 90',
    'pillarbox_queue_oldest_due_seconds{class="campaign"} 0',
    'pillarbox_sites_in_backoff{state="blocked"} 1',
    'pillarbox_sites_in_backoff{state="slowed"} 1',
    `pillarbox_certificate_expiry_timestamp_seconds{listener="http"} ${(START + 90_000) / 1000 + 6.5 * DAY_S}`,
    `pillarbox_disk_free_bytes ${2 * GB}`,
    'pillarbox_disk_free_inodes 7',
    'pillarbox_deliveries_in_flight 3',
    'pillarbox_threads{kind="delivery",state="idle"} 1',
    'pillarbox_thread_queue_tasks{kind="delivery"} 5',
    'pillarbox_tracking_hits_lost_total 2',
    'pillarbox_email_outcomes_total{outcome="bounced",class="hard"} 2',
    'pillarbox_complaints_total 0',
    'pillarbox_accept_duration_seconds_bucket{source="api",le="0.0025"} 0',
    'pillarbox_accept_duration_seconds_bucket{source="api",le="0.005"} 1',
    'pillarbox_accept_duration_seconds_bucket{source="api",le="+Inf"} 2',
    'pillarbox_accept_duration_seconds_sum{source="api"} 7.003',
    'pillarbox_accept_duration_seconds_count{source="api"} 2',
    'pillarbox_http_request_duration_seconds_sum{method="GET",route="/emails"} 0.5',
    'pillarbox_http_request_duration_seconds_count{method="GET",route="/emails"} 2',
    'pillarbox_campaigns{state="sending"} 0',
    'pillarbox_inbound_waiting_messages{kind="mail"} 0',
    'pillarbox_webhook_deliveries{state="due"} 0',
    'pillarbox_executions{state="waiting"} 0',
  ])
  assert.ok(lines.some((line) => /^process_resident_memory_bytes \d+/.test(line)))
  assert.ok(lines.some((line) => /^pillarbox_build_info\{version="\d/.test(line)))
})

test('the first scrape after a start has every metric of the second, however slow its scans are', async (t) => {
  const { deps, counters, traffic } = await openMetrics(t)
  const gauges = listGauges(deps, { waitMs: 0 })
  const metrics = createMetrics({ traffic, gauges, counters })
  const namesOf = (text: string) => text.match(/^# HELP pillarbox_\S+/gm)
  const first = namesOf(await metrics.text())
  assert.ok(first?.includes('# HELP pillarbox_inbound_oldest_waiting_seconds'))
  assert.deepEqual(first, namesOf(await metrics.text()))
})

test('emails to sites in back-off do not count as due', async (t) => {
  const { send, clock, restrictions, read } = await openMetrics(t)
  const sendTo = (to: string) => send({ to: [{ address: address(to), name: null }] })
  const oldest = async () =>
    (await read()).filter((line) => line.startsWith('pillarbox_queue_oldest_due_seconds{class="t'))
  const due = (seconds: number) => [
    `pillarbox_queue_oldest_due_seconds{class="transactional"} ${seconds}`,
  ]
  assert.deepEqual(await oldest(), due(0))
  await sendTo('ada@dead.test')
  clock.now = START + 30_000
  await sendTo('eve@well.test')
  await sendTo('ann@well.test')
  clock.now = START + 90_000
  assert.deepEqual(await oldest(), due(90))
  restrictions.set('dead.test', { triedAt: START, reason: 'dead.test accepts no mail now' })
  assert.deepEqual(await oldest(), due(60))
  restrictions.set('well.test', { triedAt: START, reason: 'well.test accepts little mail now' })
  assert.deepEqual(await oldest(), due(0))
})

test('the queue counts 1,200 domains, and names only sites that many domains share', async (t) => {
  const { send, core, read, deps } = await openMetrics(t)
  const to = (recipient: string) => ({ address: address(recipient), name: null })
  const domains = Array.from({ length: 1_200 }, (_, number) => `d${number}.test`)
  for (let from = 0; from < domains.length; from += 300) {
    await send({ to: domains.slice(from, from + 300).map((domain) => to(`ada@${domain}`)) })
  }
  // A provider, hosts beside a provider's name, the recipient's own domain.
  const siteOf = (domain: string) =>
    domain.endsWith('7.test') ? 'google.com' : domain === 'd1.test' ? 'evil.google.com' : domain
  Object.assign(deps, { outbound: { ...core.outbound, siteOf } })
  const lines = await read()
  assert.deepEqual(
    lines.filter((line) => line.startsWith('pillarbox_queue_site_emails')),
    [
      'pillarbox_queue_site_emails{site="google.com"} 120',
      'pillarbox_queue_site_emails{site="other"} 1080',
    ],
  )
  assertLines(lines, ['pillarbox_queue_emails{state="queued"} 1200'])
  assert.ok(!lines.join('\n').includes('.test'))
})

test('a figure that cannot be read is left out, and the others are shown', async (t) => {
  const { read } = await openMetrics(t, {
    hits: {
      counts: () => {
        throw new Error('no hits')
      },
    },
  })
  const lines = await read()
  assertLines(lines, ['pillarbox_queue_emails{state="queued"} 0'])
  assert.ok(!lines.some((line) => line.includes('pillarbox_tracking_hits')))
})

test('/metrics shows the result of each check, and nothing for one that was skipped', async (t) => {
  const { core } = await openSender(t)
  const result = (id: string, status: string) => ({ id, status, evidence: '', fix: null })
  const checks = [result('spf', 'ok'), result('dkim', 'failed'), result('clock', 'skipped')]
  const run = { startedAt: START, finishedAt: START + 1_500, checks }
  const doctor = { ...core.doctor, last: () => run }
  const gauges = listGauges({ ...core, doctor } as unknown as GaugeDeps)
  const read = (name: string) => gauges.find((gauge) => gauge.name === name)?.read()
  assert.deepEqual(await read('pillarbox_check_status'), [
    { value: 0, labels: { check: 'spf' } },
    { value: 2, labels: { check: 'dkim' } },
  ])
  const at = [{ value: (START + 1_500) / 1_000 }]
  assert.deepEqual(await read('pillarbox_checks_timestamp_seconds'), at)
  const before = listGauges(core).find(({ name }) => name === 'pillarbox_checks_timestamp_seconds')
  assert.deepEqual(await before?.read(), [])
})
