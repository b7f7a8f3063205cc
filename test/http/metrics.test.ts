import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCounters } from '../../src/counters.ts'
import { type GaugeDeps, listGauges } from '../../src/features/metrics.ts'
import { createTraffic } from '../../src/http/exchange/traffic.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { address, START } from '../core.ts'
import { openSender } from '../features/messages/sender.ts'

const site = (name: string, blockedUntil: number | null, restrictedSince: number | null) =>
  ({ site: name, blockedUntil, restrictedSince }) as never

test('/metrics shows waiting emails, sites in back-off, certificates and disk space', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  await sender.send()
  sender.clock.now = START + 90_000
  const outbound = {
    ...core.outbound,
    inFlight: () => 3,
    sites: () => [
      site('dead.test', START + 1, START),
      site('slow.test', null, START),
      site('well.test', null, null),
    ],
  }
  const hits = { counts: () => ({ waiting: 1, lost: 2 }) }
  const disk = { ...core.disk, freeBytes: () => 12_345 }
  const certificates = {
    ...core.certificates,
    list: () => [{ listener: 'http' as const, daysLeft: 6.5 }],
  }
  const deps = { ...core, outbound, hits, disk, certificates } as unknown as GaugeDeps
  const counters = createCounters()
  counters.add('pillarbox_email_outcomes_total', { outcome: 'bounced', class: 'hard' }, 2)
  const metrics = createMetrics({ traffic: createTraffic(), gauges: listGauges(deps), counters })
  const lines = (await metrics.text()).split('\n')
  for (const line of [
    'pillarbox_queue_emails{state="queued"} 1',
    'pillarbox_queue_oldest_due_seconds 90',
    'pillarbox_sites_in_backoff{state="blocked"} 1',
    'pillarbox_sites_in_backoff{state="slowed"} 1',
    'pillarbox_certificate_days_left{listener="http"} 6.5',
    'pillarbox_disk_free_bytes 12345',
    'pillarbox_deliveries_in_flight 3',
    'pillarbox_tracking_hits{state="lost"} 2',
    'pillarbox_email_outcomes_total{outcome="bounced",class="hard"} 2',
  ]) {
    assert.ok(lines.includes(line), line)
  }
})

test('without due emails the oldest age is 0', async (t) => {
  const { core } = await openSender(t)
  const deps = { ...core, hits: {}, certificates: {} } as unknown as GaugeDeps
  const gauge = listGauges(deps).find(({ name }) => name.endsWith('oldest_due_seconds'))
  assert.deepEqual(await gauge?.read(), [{ value: 0 }])
})

test('emails to sites in back-off do not count as due', async (t) => {
  const { core, send, clock, restrictions } = await openSender(t)
  const sendTo = (to: string) => send({ to: [{ address: address(to), name: null }] })
  await sendTo('ada@dead.test')
  clock.now = START + 30_000
  await sendTo('eve@well.test')
  await sendTo('ann@well.test')
  clock.now = START + 90_000
  const deps = { ...core, hits: {}, certificates: {} } as unknown as GaugeDeps
  const gauge = listGauges(deps).find(({ name }) => name.endsWith('oldest_due_seconds'))
  assert.deepEqual(await gauge?.read(), [{ value: 90 }])
  restrictions.set('dead.test', { triedAt: START, reason: 'dead.test accepts no mail now' })
  assert.deepEqual(await gauge?.read(), [{ value: 60 }])
  restrictions.set('well.test', { triedAt: START, reason: 'well.test accepts little mail now' })
  assert.deepEqual(await gauge?.read(), [{ value: 0 }])
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
