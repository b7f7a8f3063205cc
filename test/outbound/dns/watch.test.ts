/** Servers that deny everything, servers that are silent, and what is believed meanwhile. */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { describe, it, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createHealth } from '../../../src/base/health.ts'
import { createLog } from '../../../src/base/log.ts'
import type { DnsAnswer, MxRecord } from '../../../src/outbound/dns/answer.ts'
import { createDnsCanary } from '../../../src/outbound/dns/canary.ts'
import { createResolver } from '../../../src/outbound/dns/resolver.ts'
import { createDnsWatch } from '../../../src/outbound/dns/watch.ts'
import type { DestinationDeps } from '../../../src/outbound/routing/destination.ts'
import { createDestinations } from '../../../src/outbound/routing/destinations.ts'
import { canaries, type DnsZone, type FakeDns, startDnsServer } from '../../fakes/dns-server.ts'
import { deliverySettings } from '../settings.ts'

type Options = { zone?: DnsZone; canary?: readonly string[]; recheckMs?: number; silent?: boolean }

const destination: DnsZone = {
  'dest.test': { MX: [[10, 'mx.dest.test']] },
  'mx.dest.test': { A: ['192.0.2.1'] },
}

async function setUp(t: TestContext, options: Options = {}) {
  const { zone = {}, canary = canaries, recheckMs = 3_600_000 } = options
  const dns = await startDnsServer({ ...destination, ...zone })
  const second = await startDnsServer({ ...destination, ...zone })
  const clock = { at: 1_800_000_000_000 }
  const now = () => clock.at
  const lines: Record<string, unknown>[] = []
  const logged = new EventEmitter()
  const log = createLog('debug', {
    write(line: string) {
      lines.push(JSON.parse(line))
      logged.emit('line')
    },
  })
  const health = createHealth()
  const servers = options.silent ? [dns.address, second.address] : [dns.address]
  const settings = { dns: { servers, canary }, now, log, health }
  const timeoutMs = options.silent ? 300 : 5_000
  const watch = createDnsWatch({ ...settings, timeoutMs, recheckMs })
  const resolver = createResolver({ servers, now, timeoutMs, tries: 1, watch })
  t.after(async () => {
    resolver.stop()
    watch.stop()
    await Promise.all([dns.stop(), second.stop()])
  })
  const destinations = createDestinations({
    config: deliverySettings(),
    resolver,
    now,
    random: Math.random,
    sandboxPort: null,
    inboundListeners: () => [],
    receivedDomains: new Set(),
  } satisfies DestinationDeps)
  const resultOf = async (domain: string) => {
    const route = await destinations.resolve(domain)
    return route.kind === 'open' ? 'open' : route.result
  }
  const messages = () => lines.map(({ msg }) => msg)
  return { dns, second, clock, resolver, destinations, health, lines, logged, messages, resultOf }
}

const countOfCanaries = (dns: FakeDns) => canaries.reduce((sum, name) => sum + dns.count(name), 0)

test('no denial counts while the servers deny everything: mail waits with class dns', async (t) => {
  for (const denial of ['NXDOMAIN', 'NODATA'] as const) {
    const { dns, destinations, health, messages, lines } = await setUp(t)
    dns.answerAll(denial)
    const names = Array.from({ length: 200 }, (_, index) => `d${index}.test`)
    const found = await Promise.all(names.map((name) => destinations.resolve(name)))
    const ends = found.map(
      (route) => route.kind === 'closed' && [route.result, route.verdict.class],
    )
    assert.deepEqual(new Set(ends.map(String)), new Set(['deferred,dns']))
    assert.deepEqual(messages(), ['the DNS servers are not believed: no canary resolves'])
    assert.equal(lines[0]?.level, 'warn')
    const [reason, ...others] = health.reasons()
    assert.deepEqual(others, [])
    assert.equal(reason?.cause, 'dns')
    assert.match(
      reason?.reason ?? '',
      /gmail\.com: no (such domain|record).*mail to such domains waits.*dns\.servers/,
    )
  }
})

test('a null MX counts only while a canary resolves', async (t) => {
  const { dns, clock, resultOf } = await setUp(t, { zone: { 'null.test': { MX: [[0, '']] } } })
  for (const name of canaries) dns.set(name, 'NXDOMAIN')
  assert.equal(await resultOf('null.test'), 'deferred')
  for (const name of canaries) dns.set(name, { MX: [[0, '']] })
  clock.at += 61_000
  assert.equal(await resultOf('null.test'), 'deferred')
  dns.set('yahoo.com', { MX: [[10, 'mx.yahoo.com']] })
  clock.at += 61_000
  assert.equal(await resultOf('null.test'), 'bounced')
})

test('denials count while one canary resolves, and the first denial queries it', async (t) => {
  const { dns, resultOf, health, lines } = await setUp(t)
  for (const name of canaries.slice(0, 3)) dns.set(name, 'NXDOMAIN')
  assert.equal(await resultOf('dest.test'), 'open')
  assert.equal(countOfCanaries(dns), 0)
  assert.equal(await resultOf('gone.test'), 'bounced')
  assert.ok(dns.count('icloud.com') >= 1)
  assert.deepEqual([health.reasons(), lines], [[], []])
})

test('a canary may have an address and no MX', async (t) => {
  const { resultOf } = await setUp(t, {
    canary: ['host.test'],
    zone: { 'host.test': { A: ['192.0.2.1'] } },
  })
  assert.equal(await resultOf('gone.test'), 'bounced')
})

test('canary results before an outage of the servers do not confirm later denials', async (t) => {
  const { dns, resultOf } = await setUp(t)
  assert.equal(await resultOf('gone.test'), 'bounced')
  dns.answerAll('NXDOMAIN')
  for (let index = 0; index < 20; index += 1) {
    assert.equal(await resultOf(`d${index}.test`), 'deferred')
  }
})

test('a canary is queried at most once in ten seconds while denials are rare', async (t) => {
  const zone = Object.fromEntries(
    Array.from({ length: 45 }, (_, index) => [`d${index}.test`, { MX: [[10, 'mx.test']] }]),
  ) as DnsZone
  const { dns, clock, resolver } = await setUp(t, { zone })
  for (const name of Object.keys(zone)) await resolver.mx(name)
  for (const name of ['x1.test', 'x2.test', 'x3.test']) await resolver.mx(name)
  assert.equal(countOfCanaries(dns), 1)
  clock.at += 11_000
  for (const name of ['x4.test', 'x5.test']) await resolver.mx(name)
  assert.equal(countOfCanaries(dns), 2)
  // The tenth of 50 is a fifth, the eleventh is more.
  for (let index = 6; index <= 10; index += 1) await resolver.mx(`x${index}.test`)
  assert.equal(countOfCanaries(dns), 2)
  for (let index = 11; index <= 13; index += 1) await resolver.mx(`x${index}.test`)
  assert.equal(countOfCanaries(dns), 5)
})

test('one query for a canary is open at a time, under any load', async (t) => {
  const asked: ((answer: DnsAnswer<MxRecord>) => void)[] = []
  const mx = () => new Promise<DnsAnswer<MxRecord>>((resolve) => asked.push(resolve))
  const options = { names: ['a.test', 'b.test'], now: () => 0, changed: () => undefined }
  const canary = createDnsCanary({ ...options, dns: { mx, a: async () => assert.fail() } })
  t.after(canary.stop)
  const found = {
    kind: 'found',
    records: [{ preference: 1, host: 'mx.test' }],
    expiresAt: 0,
  } as const
  for (let index = 0; index < 60; index += 1) canary.record(`d${index}.test`, true)
  const flood = Array.from({ length: 500 }, () => canary.isBelieved())
  await turn()
  assert.equal(asked.length, 1)
  asked[0]?.(found)
  assert.equal(await flood[0], true)
  await turn()
  // Those that came while it was under way are answered by one more.
  assert.equal(asked.length, 2)
  asked[1]?.(found)
  assert.deepEqual(new Set(await Promise.all(flood)), new Set([true]))
  assert.equal(asked.length, 2)
})

test('denials count again after an outage, which one log line says, even without mail', async (t) => {
  const { dns, clock, resultOf, health, messages, logged } = await setUp(t, { recheckMs: 5 })
  dns.answerAll('NXDOMAIN')
  assert.equal(await resultOf('gone.test'), 'deferred')
  assert.equal(health.reasons().length, 1)
  const line = once(logged, 'line')
  dns.answerAll(undefined)
  await line
  assert.deepEqual(messages(), [
    'the DNS servers are not believed: no canary resolves',
    'the DNS servers are believed again',
  ])
  assert.deepEqual(health.reasons(), [])
  clock.at += 11_000
  assert.equal(await resultOf('gone.test'), 'bounced')
})

test('every denial counts without canaries', async (t) => {
  const { dns, resultOf, health } = await setUp(t, { canary: [] })
  dns.answerAll('NXDOMAIN')
  assert.equal(await resultOf('gone.test'), 'bounced')
  assert.deepEqual(health.reasons(), [])
})

/** They wait for answers most of the time. */
describe('servers that give no answer', { concurrency: true }, () => {
  it('a DNS server that stops responding is logged once, and once more when it responds again', async (t) => {
    const setup = await setUp(t, { silent: true, recheckMs: 5 })
    const { dns, resolver, health, lines, logged, messages } = setup
    dns.answerAll('SILENT')
    const silent = once(logged, 'line')
    await resolver.mx('dest.test')
    await resolver.mx('other.test')
    await silent
    assert.deepEqual(messages(), ['a DNS server gives no answer'])
    assert.equal(lines[0]?.server, dns.address)
    assert.deepEqual(health.reasons(), [
      { cause: 'dns', reason: `No answer from these DNS servers: ${dns.address}.` },
    ])
    const back = once(logged, 'line')
    dns.answerAll(undefined)
    await back
    assert.deepEqual(messages(), ['a DNS server gives no answer', 'a DNS server answers again'])
    assert.equal(lines[1]?.server, dns.address)
    assert.deepEqual(health.reasons(), [])
  })

  it('a domain whose own servers do not respond does not count against a DNS server', async (t) => {
    const zone: DnsZone = { 'down.test': 'SILENT' }
    const { dns, second, resolver, health, lines } = await setUp(t, { silent: true, zone })
    const answer = await resolver.mx('down.test')
    assert.equal(answer.kind, 'failed')
    const wereAsked = () => dns.count('gmail.com') > 0 && second.count('gmail.com') > 0
    while (!wereAsked()) await resolver.mx('dest.test', { isFresh: true })
    await resolver.mx('dest.test', { isFresh: true })
    assert.deepEqual([lines, health.reasons()], [[], []])
  })
})
