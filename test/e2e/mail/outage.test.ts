/**
 * Hours without DNS or without a large receiver, on a clock that the test moves: the queue, the delivery
 * threads and the database are the real ones.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import { acceptOnce } from '../../../src/features/mail/messages/accept/accept-message.ts'
import { createDeliverer } from '../../../src/features/mail/messages/delivery/deliverer.ts'
import { startQueue } from '../../../src/features/mail/messages/queue/queue.ts'
import type { DeliveryResult } from '../../../src/outbound/delivery.ts'
import type { DnsAnswer, MxRecord } from '../../../src/outbound/dns/answer.ts'
import { startOutbound } from '../../../src/outbound/outbound.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { addProject, address, openTestCore, type TestCore, trustDomain } from '../../core.ts'
import { startSink } from '../../fakes/smtp-sink.ts'
import { testTracker } from '../../formats/tracker.ts'
import { eventually } from '../program.ts'

/** States of emails, with their numbers. */
type States = Record<string, number>

/** More than may be in flight. */
const EMAILS = 750
const RETRIES = ['1m', '5m', '15m', '30m', '1h']
const GIVE_UP_AFTER_MS = 24 * HOUR_MS
/** Nobody listens there. */
const DOWN = '127.0.0.250'
const UP = '127.0.0.1'
const MAX_IN_FLIGHT = 500 * 1.25

async function openOutage(t: TestContext) {
  const sink = await startSink({ host: UP, forgets: true })
  const core = await openTestCore(t, {
    settings: {
      PILLARBOX_DELIVERY__MODE: 'direct',
      PILLARBOX_DELIVERY__PORT: String(sink.port),
      PILLARBOX_DELIVERY__ALLOW_PRIVATE_NETWORKS: 'true',
      PILLARBOX_DELIVERY__RETRY_SCHEDULE: JSON.stringify(RETRIES),
    },
  })
  // The threads have the time of the machine.
  core.clock.now = Date.now()
  const network = { hasDns: true, down: new Set<string>() }
  const attempts = new Map<string, number[]>()
  let mostInFlight = 0
  let results = 0
  const listener: { finished(some: DeliveryResult[]): void } = { finished: () => undefined }
  const outbound = startOutbound(
    {
      ...{ config: core.config, log: silentLog(), now: core.now, tracker: testTracker() },
      ...{ resolver: createNetworkDns(core, network), deliveryThreads: 1 },
    },
    listener,
  )
  const parts = { ...core, outbound }
  const delivery = createDeliverer(parts, core.now)
  listener.finished = (some) => {
    results += some.length
    mostInFlight = Math.max(mostInFlight, outbound.inFlight())
    for (const result of some) {
      if (result.kind !== 'attempted') continue
      const times = attempts.get(result.site) ?? []
      times.push(core.clock.now)
      attempts.set(result.site, times)
    }
    delivery.finished(some)
  }
  const queue = startQueue(parts, delivery)
  t.after(async () => {
    await queue.stop()
    await outbound.stop(1_000)
    await delivery.settled(5_000)
    await sink.stop()
  })

  /** Lets a minute pass, and waits until all has been tried that may be. */
  async function passMinute(): Promise<void> {
    core.clock.now += MINUTE_MS
    core.queueNotifier.notify('anywhere')
    // Each step of the progress has the deadline to itself: the machine may be slow.
    for (let isDone = false; !isDone; ) {
      const seen = results
      isDone = await eventually(async () => {
        if (!(await isBusy(core, outbound))) return true
        return results > seen ? false : undefined
      })
    }
  }

  return { core, sink, network, attempts, outbound, passMinute, mostInFlight: () => mostInFlight }
}

/** Each domain has one MX, at an address of its own if it is down. */
function createNetworkDns(
  { now }: Pick<TestCore, 'now'>,
  network: { hasDns: boolean; down: ReadonlySet<string> },
) {
  const answer = async <T>(records: readonly T[]): Promise<DnsAnswer<T>> => {
    if (!network.hasDns) return { kind: 'failed', error: 'SERVFAIL', expiresAt: now() + 10_000 }
    const expiresAt = now() + 5 * MINUTE_MS
    return records.length === 0
      ? { kind: 'nodata', expiresAt }
      : { kind: 'found', records, expiresAt }
  }
  return {
    mx: (name: string) => answer<MxRecord>([{ preference: 10, host: `mx.${name}` }]),
    a: (name: string) => answer([network.down.has(name.slice('mx.'.length)) ? DOWN : UP]),
    aaaa: () => answer<string>([]),
  }
}

async function isBusy(
  { store, now }: TestCore,
  outbound: ReturnType<typeof startOutbound>,
): Promise<boolean> {
  if (outbound.inFlight() > 0) return true
  const rows = await store.scan
    .select({ domain: emails.recipientDomain, count: sql<number>`count(*)` })
    .from(emails)
    .where(sql`due_at <= ${now()} and state in ('queued', 'deferred')`)
    .groupBy(emails.recipientDomain)
    .all()
  if (rows.some(({ domain }) => outbound.pauseOf(outbound.siteOf(domain)) === null)) return true
  return (await store.scan.$count(emails, sql`state = 'sending'`)) > 0
}

/** Makes that many emails to each domain out of one that was accepted. */
async function queueMail(core: TestCore, domains: readonly string[], count: number): Promise<void> {
  const { id: projectId } = await addProject(core)
  const domain = `sender${projectId.slice(-6)}.test`
  await trustDomain(core, projectId, domain)
  const project = await core.directory.findProject(projectId)
  assert.ok(project)
  for (const recipientDomain of domains) {
    const accepted = await acceptOnce(
      core,
      {
        project,
        request: {
          to: [{ address: address(`first@${recipientDomain}`), name: null }],
          from: { address: address(`shop@${domain}`), name: null },
          ...{ subject: 'Hello', body: '<p>Hello</p>' },
        },
      },
      { idempotency: undefined, toResponseData: ({ emails: [email] }) => ({ id: email?.id }) },
    )
    await multiply(core, String(accepted.id), count)
  }
}

async function multiply({ store }: TestCore, id: string, count: number): Promise<void> {
  const row = await store.read.select().from(emails).where(sql`id = ${id}`).get()
  assert.ok(row)
  for (let at = 1; at < count; ) {
    const until = Math.min(count, at + 500)
    await store.write(async (tx) => {
      for (; at < until; at += 1) {
        const name = `${id.slice(0, -6)}${at.toString(16).padStart(6, '0')}`
        await tx
          .insert(emails)
          .values({ ...row, id: name, recipient: `u${at}@${row.recipientDomain}` })
      }
    })
  }
}

async function statesOf({ store }: TestCore): Promise<States> {
  const rows = await store.scan
    .select({ state: emails.state, count: sql<number>`count(*)` })
    .from(emails)
    .groupBy(emails.state)
    .all()
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

test('F4: an hour without DNS fails no mail, spreads what is tried again, and then all of it arrives', async (t) => {
  const { core, sink, network, attempts, passMinute, mostInFlight } = await openOutage(t)
  const domains = Array.from({ length: 10 }, (_, at) => `d${at}.test`)
  const total = EMAILS
  network.hasDns = false
  await queueMail(core, domains, total / domains.length)
  for (let minute = 0; minute < 60; minute += 1) await passMinute()
  assert.deepEqual(await statesOf(core), { deferred: total })
  const tried = [...attempts.values()].flat()
  // At once, after 1, 6, 21 and 51 minutes, 15% more or less.
  assert.ok(tried.length <= 6 * total, `${tried.length} attempts`)
  const perMinute = [...Map.groupBy(tried, (at) => at).values()].map(({ length }) => length)
  const later = perMinute.slice(3)
  assert.ok(Math.max(...later) < 0.6 * total, `${perMinute}`)
  assert.ok(mostInFlight() <= MAX_IN_FLIGHT, `${mostInFlight()} in flight`)

  network.hasDns = true
  const before = tried.length
  let minutes = 0
  for (; sink.acceptedCount() < total && minutes < 90; minutes += 1) await passMinute()
  assert.equal(sink.acceptedCount(), total)
  assert.equal([...attempts.values()].flat().length - before, total, 'each is sent once')
  assert.ok(mostInFlight() <= MAX_IN_FLIGHT, `${mostInFlight()} in flight`)
  t.diagnostic(`attempts by minute: ${perMinute}; all arrived after ${minutes} minutes`)
})

test('F4: a large receiver that is down for six hours is probed, delays no other, and is not flooded', async (t) => {
  const { core, sink, network, attempts, outbound, passMinute, mostInFlight } = await openOutage(t)
  const large = EMAILS
  network.down.add('large.test')
  await queueMail(core, ['large.test'], large)
  for (let minute = 0; minute < 6 * 60; minute += 1) {
    if (minute % 60 === 0) {
      const before = sink.acceptedCount()
      await queueMail(core, [`other${minute}.test`], 20)
      await passMinute()
      assert.equal(sink.acceptedCount() - before, 20, 'other mail arrives within the minute')
    } else await passMinute()
  }
  const { deferred = 0, queued = 0, delivered } = await statesOf(core)
  assert.deepEqual([deferred + queued, delivered], [large, 120])
  const probes = [...(attempts.get('large.test') ?? [])]
  const perHour = Map.groupBy(probes, (at) => Math.floor((at - (probes[0] ?? 0)) / HOUR_MS))
  for (const [hour, some] of perHour) {
    if (hour > 0) assert.ok(some.length <= 6, `${some.length} attempts in hour ${hour}`)
  }
  assert.ok(mostInFlight() <= MAX_IN_FLIGHT, `${mostInFlight()} in flight`)

  let mostConnections = 0
  network.down.clear()
  const beforeRecovery = sink.acceptedCount()
  const sites = () => outbound.sites().find(({ site }) => site === 'large.test')
  for (let minute = 0; sink.acceptedCount() - beforeRecovery < large && minute < 90; minute += 1) {
    await passMinute()
    mostConnections = Math.max(mostConnections, sites()?.connections ?? 0)
  }
  assert.equal(sink.acceptedCount() - beforeRecovery, large)
  assert.ok(core.now() - (probes[0] ?? 0) < GIVE_UP_AFTER_MS)
  assert.ok(mostConnections <= core.config.delivery.maxConnectionsPerSite)
  t.diagnostic(`${probes.length} attempts in six hours, then ${mostConnections} connections`)
})
