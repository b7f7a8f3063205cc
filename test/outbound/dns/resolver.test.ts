import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { createResolver, type Resolver } from '../../../src/outbound/dns/resolver.ts'
import { type DnsZone, type FakeDns, startDnsServer } from '../../fakes/dns-server.ts'
import { pause } from '../../pause.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

type Setup = { dns: FakeDns; resolver: Resolver; clock: { at: number } }

async function setUp(zone: DnsZone, options = {}): Promise<Setup> {
  const dns = await startDnsServer(zone)
  const clock = { at: 1_000_000 }
  const now = () => clock.at
  const resolver = createResolver({ servers: [dns.address], now, ...options })
  stops.push(() => dns.stop())
  stops.push(() => resolver.stop())
  return { dns, resolver, clock }
}

test('returns records of every type, with host names in lower case without a final dot', async () => {
  const { resolver } = await setUp({
    'a.test': {
      A: ['192.0.2.1', '192.0.2.2'],
      AAAA: ['2001:db8::1'],
      MX: [
        [20, 'MX2.a.test'],
        [10, 'mx1.a.test'],
      ],
      TXT: ['v=spf1 mx ~all', 'x'.repeat(300)],
      NS: ['ns.a.test'],
    },
  })
  const found = async (answer: Promise<{ kind: string; records?: readonly unknown[] }>) => {
    const { kind, records } = await answer
    assert.equal(kind, 'found')
    return records
  }
  assert.deepEqual(await found(resolver.a('a.test')), ['192.0.2.1', '192.0.2.2'])
  assert.deepEqual(await found(resolver.aaaa('a.test')), ['2001:db8::1'])
  assert.deepEqual(await found(resolver.txt('a.test')), ['v=spf1 mx ~all', 'x'.repeat(300)])
  assert.deepEqual(await found(resolver.ns('a.test')), ['ns.a.test'])
  assert.deepEqual(await found(resolver.mx('a.test')), [
    { preference: 20, host: 'mx2.a.test' },
    { preference: 10, host: 'mx1.a.test' },
  ])
})

test('distinguishes a missing name, a missing record and a failing server', async () => {
  const { resolver } = await setUp({
    'empty.test': {},
    'broken.test': 'SERVFAIL',
    'loop.test': { CNAME: 'loop2.test' },
    'loop2.test': { CNAME: 'loop.test' },
    'null.test': { MX: [[0, '']] },
  })
  assert.equal((await resolver.a('gone.test')).kind, 'nxdomain')
  assert.equal((await resolver.a('a..b')).kind, 'nxdomain')
  assert.equal((await resolver.a('empty.test')).kind, 'nodata')
  const broken = await resolver.mx('broken.test')
  assert.deepEqual({ ...broken, expiresAt: 0 }, { kind: 'failed', error: 'SERVFAIL', expiresAt: 0 })
  assert.equal((await resolver.a('loop.test')).kind, 'failed')
  const nullMx = await resolver.mx('null.test')
  assert.deepEqual(nullMx.kind === 'found' && nullMx.records, [{ preference: 0, host: '' }])
})

test('a silent server and a missing server are failures', async () => {
  const options = { timeoutMs: 60, tries: 1 }
  const { dns, resolver } = await setUp({ 'silent.test': 'SILENT' }, options)
  const silent = await resolver.a('silent.test')
  assert.equal(silent.kind === 'failed' && silent.error, 'time-out')
  await dns.stop()
  stops.shift()
  assert.equal((await resolver.a('other.test')).kind, 'failed')
})

test('a TXT record of 60 KB comes over TCP and is cut', async () => {
  const { dns, resolver } = await setUp({ 'big.test': { TXT: ['t'.repeat(60_000)] } })
  const answer = await resolver.txt('big.test')
  assert.deepEqual(answer.kind === 'found' && answer.records.map((text) => text.length), [4_096])
  assert.ok(dns.queries.some((query) => query.transport === 'tcp'))
})

test('addresses are cached for their TTL, other records for five minutes', async () => {
  const zone = { 'a.test': { A: ['192.0.2.1'], TXT: ['t'], ttl: 30 } }
  const { dns, resolver, clock } = await setUp(zone)
  const ask = async () => [await resolver.a('a.test'), await resolver.txt('a.test')]
  await ask()
  clock.at += 29_000
  await ask()
  assert.deepEqual([dns.count('a.test', 'A'), dns.count('a.test', 'TXT')], [1, 1])
  clock.at += 2_000
  await ask()
  assert.deepEqual([dns.count('a.test', 'A'), dns.count('a.test', 'TXT')], [2, 1])
  clock.at += 270_000
  await ask()
  assert.equal(dns.count('a.test', 'TXT'), 2)
})

test('a negative response is cached for a minute, a failure for ten seconds', async () => {
  const { dns, resolver, clock } = await setUp({ 'broken.test': 'SERVFAIL' })
  const ask = async () => [await resolver.a('gone.test'), await resolver.a('broken.test')]
  await ask()
  const failures = dns.count('broken.test')
  clock.at += 9_000
  await ask()
  assert.equal(dns.count('broken.test'), failures)
  clock.at += 2_000
  await ask()
  assert.equal(dns.count('broken.test'), 2 * failures)
  assert.equal(dns.count('gone.test'), 1)
  clock.at += 60_000
  dns.set('gone.test', { A: ['192.0.2.9'] })
  assert.equal((await resolver.a('gone.test')).kind, 'found')
})

test('a fresh query bypasses the cache and renews it', async () => {
  const { dns, resolver } = await setUp({ 'a.test': { TXT: ['old'] } })
  await resolver.txt('a.test')
  dns.set('a.test', { TXT: ['new'] })
  const fresh = await resolver.txt('a.test', { isFresh: true })
  assert.deepEqual(fresh.kind === 'found' && fresh.records, ['new'])
  assert.equal(await resolver.txt('a.test'), fresh)
  assert.equal(dns.count('a.test'), 2)
})

test('concurrent queries with the same question are sent once', async () => {
  const { dns, resolver } = await setUp({ 'a.test': { A: ['192.0.2.1'] } })
  await Promise.all(Array.from({ length: 50 }, () => resolver.a('a.test')))
  assert.equal(dns.count('a.test'), 1)
})

test('the cache is bounded', async () => {
  const zone = { 'a.test': { A: ['192.0.2.1'] }, 'b.test': {}, 'c.test': {} }
  const { dns, resolver } = await setUp(zone, { maxCached: 2 })
  for (const name of ['a.test', 'b.test', 'c.test', 'a.test']) await resolver.a(name)
  assert.equal(dns.count('a.test'), 2)
})

test('stop ends open queries as failed', async () => {
  const { dns, resolver } = await setUp({ 'silent.test': 'SILENT' })
  const asked = resolver.a('silent.test')
  while (dns.queries.length === 0) await pause()
  resolver.stop()
  const answer = await asked
  assert.equal(answer.kind === 'failed' && answer.error, 'cancelled')
})

test('a query that fails is repeated in every round, any other is sent once', async () => {
  const zone: DnsZone = { 'broken.test': 'SERVFAIL', 'refused.test': 'REFUSED', 'empty.test': {} }
  const { dns, resolver } = await setUp(zone, { tries: 1, rounds: 3 })
  assert.equal((await resolver.mx('broken.test')).kind, 'failed')
  assert.equal((await resolver.mx('refused.test')).kind, 'failed')
  assert.equal((await resolver.mx('empty.test')).kind, 'nodata')
  assert.equal((await resolver.mx('gone.test')).kind, 'nxdomain')
  const counts = ['broken.test', 'refused.test', 'empty.test', 'gone.test'].map((name) =>
    dns.count(name),
  )
  assert.deepEqual(counts, [3, 3, 1, 1])
})

test('stop ends open queries as failed and sends no more', async () => {
  const { dns, resolver } = await setUp({ 'silent.test': 'SILENT' }, { rounds: 2 })
  const open = resolver.a('silent.test')
  while (dns.count('silent.test') === 0) await pause()
  resolver.stop()
  assert.equal((await open).kind, 'failed')
  assert.equal((await resolver.a('other.test')).kind, 'failed')
  assert.deepEqual([dns.count('silent.test'), dns.count('other.test')], [1, 0])
})
