import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import type { Config } from '../../../src/config/config.ts'
import { createResolver } from '../../../src/outbound/dns/resolver.ts'
import type {
  ClosedDestination,
  DestinationDeps,
  OpenDestination,
} from '../../../src/outbound/routing/destination.ts'
import { createDestinations } from '../../../src/outbound/routing/destinations.ts'
import { type DnsZone, startDnsServer } from '../../fakes/dns-server.ts'
import { deliverySettings } from '../settings.ts'

/** Every question is answered: no test waits for so long, even on a busy machine. */
const ANSWERED_MS = 30_000
/** For servers that never answer. */
const SILENT_MS = 60

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function setUp(
  zone: DnsZone,
  delivery: Partial<Config['delivery']> = {},
  deps: Partial<DestinationDeps> = {},
  timeoutMs = ANSWERED_MS,
) {
  const dns = await startDnsServer(zone)
  const clock = { at: 1_000_000 }
  const now = () => clock.at
  const options = { servers: [dns.address], now, timeoutMs, tries: 1 }
  const resolver = createResolver(options)
  stops.push(() => dns.stop())
  stops.push(() => resolver.stop())
  const destinations = createDestinations({
    config: deliverySettings(delivery),
    resolver,
    now,
    random: Math.random,
    sandboxPort: null,
    inboundListeners: () => [],
    receivedDomains: new Set(),
    ...deps,
  })
  const open = async (domain: string): Promise<OpenDestination> => {
    const route = await destinations.resolve(domain)
    assert.ok(route.kind === 'open', `${domain} is closed`)
    return route
  }
  const closed = async (domain: string): Promise<ClosedDestination> => {
    const route = await destinations.resolve(domain)
    assert.ok(route.kind === 'closed', `${domain} is open`)
    return route
  }
  return { dns, clock, destinations, open, closed }
}

test('a destination has the MX hosts of the domain with both families and preferences', async () => {
  const { open } = await setUp({
    'a.test': {
      MX: [
        [20, 'mx2.a.test'],
        [10, 'mx1.a.test'],
      ],
      A: ['8.8.8.8'],
    },
    'mx1.a.test': { A: ['8.8.4.1'], AAAA: ['2600::1'] },
    'mx2.a.test': { A: ['8.8.4.2'] },
  })
  const route = await open('a.test')
  assert.deepEqual(route.targets, [
    { host: 'mx1.a.test', address: '8.8.4.1', preference: 10 },
    { host: 'mx1.a.test', address: '2600::1', preference: 10 },
    { host: 'mx2.a.test', address: '8.8.4.2', preference: 20 },
  ])
  assert.equal(route.site, 'a.test')
  assert.deepEqual(route.lookup?.hosts, ['mx1.a.test', 'mx2.a.test'])
})

test('a domain without MX records resolves to its own addresses', async () => {
  const { open, closed } = await setUp({
    'plain.test': { A: ['8.8.8.8'] },
    'unsure.test': { MX: 'SERVFAIL', A: ['8.8.8.8'] },
    'lost.test': { MX: [[10, 'mx.lost.test']], A: ['8.8.8.8'] },
  })
  const { targets } = await open('plain.test')
  assert.deepEqual(targets, [{ host: 'plain.test', address: '8.8.8.8', preference: 0 }])
  assert.equal((await closed('unsure.test')).result, 'deferred')
  assert.equal((await closed('lost.test')).result, 'deferred')
})

test('S15: a null MX is a hard refusal with the reply of RFC 7505', async () => {
  const { closed } = await setUp({ 'null.test': { MX: [[0, '']], A: ['8.8.8.8'] } })
  const { result, verdict, reply } = await closed('null.test')
  assert.equal(result, 'bounced')
  assert.equal(verdict.isHard, true)
  assert.deepEqual([reply?.code, reply?.enhancedCode], [556, '5.1.10'])
})

test('S15: a missing name is final, a failing or silent server is not', async () => {
  const { closed } = await setUp({
    'broken.test': 'SERVFAIL',
    'half.test': { MX: [[10, 'mx.half.test']] },
    'mx.half.test': 'SERVFAIL',
    'bare.test': {},
  })
  const silent = await setUp({ 'silent.test': 'SILENT' }, {}, {}, SILENT_MS)
  const gone = await closed('gone.test')
  assert.deepEqual([gone.result, gone.verdict.reason], ['bounced', 'hostunknown'])
  assert.equal(gone.verdict.isHard, true)
  assert.equal((await closed('bare.test')).result, 'bounced')
  const failing = ['broken.test', 'half.test'].map(closed)
  for (const { result, verdict, error } of await Promise.all([
    ...failing,
    silent.closed('silent.test'),
  ])) {
    assert.deepEqual([result, verdict.class, verdict.isHard], ['deferred', 'dns', false])
    assert.match(error, /SERVFAIL|time-out/)
  }
})

test('S15: a bounded number of 512 MX records is resolved', async () => {
  const mx = Array.from({ length: 512 }, (_, at): [number, string] => [at, `mx${at}.many.test`])
  const { dns, open, closed } = await setUp({
    'many.test': { MX: mx },
    'mx3.many.test': { A: ['8.8.8.8'] },
    'none.test': { MX: mx.map(([at]) => [at, `gone${at}.none.test`]) },
  })
  const route = await open('many.test')
  assert.deepEqual(route.targets, [{ host: 'mx3.many.test', address: '8.8.8.8', preference: 3 }])
  assert.equal(dns.queries.filter(({ type }) => type === 'A').length, 8)
  const none = await closed('none.test')
  assert.equal(none.result, 'deferred')
  const asked = dns.queries.filter(({ type }) => type === 'A').length
  assert.equal(asked, 8 + 24, JSON.stringify(none))
})

test('S15: a host with very many addresses yields a bounded number of them', async () => {
  const addresses = Array.from({ length: 200 }, (_, at) => `8.8.8.${at}`)
  const { open } = await setUp({ 'wide.test': { A: addresses } })
  assert.equal((await open('wide.test')).targets.length, 16)
})

test('S15: MX records that loop through CNAMEs or name an address end in a deferral', async () => {
  const { closed } = await setUp({
    'loop.test': { MX: [[10, 'x.loop.test']] },
    'x.loop.test': { CNAME: 'y.loop.test' },
    'y.loop.test': { CNAME: 'x.loop.test' },
    'number.test': { MX: [[10, '8.8.8.8']] },
  })
  assert.equal((await closed('loop.test')).result, 'deferred')
  assert.equal((await closed('number.test')).result, 'deferred')
})

test('S14: private addresses are left out, and public ones beside them are used', async () => {
  const zone = {
    'inside.test': { MX: [[10, 'mx.inside.test']] as [number, string][] },
    'mx.inside.test': { A: ['127.0.0.1', '10.0.0.7'], AAAA: ['::ffff:10.0.0.1', '64:ff9b::a00:1'] },
    'mixed.test': { A: ['192.168.0.1', '8.8.8.8'] },
  }
  const { open, closed } = await setUp(zone, { allowPrivateNetworks: false })
  const refused = await closed('inside.test')
  assert.deepEqual([refused.result, refused.verdict.isHard], ['failed', false])
  assert.match(refused.error, /delivery\.allow_private_networks/)
  assert.deepEqual(
    (await open('mixed.test')).targets.map(({ address }) => address),
    ['8.8.8.8'],
  )
  const allowed = await setUp(zone)
  assert.equal((await allowed.open('inside.test')).targets.length, 4)
})

test('S12: a listener of this server as destination is a loop, unless the domain is received here', async () => {
  const zone = { 'self.test': { A: ['127.0.0.9'] }, 'ours.test': { A: ['127.0.0.9'] } }
  const deps = {
    inboundListeners: () => [{ host: '127.0.0.9', port: 25 }],
    receivedDomains: new Set(['ours.test']),
  }
  const { open, closed } = await setUp(zone, {}, deps)
  const loop = await closed('self.test')
  assert.equal(loop.result, 'failed')
  assert.match(loop.error, /loops back/)
  assert.equal((await open('ours.test')).targets.length, 1)
})

test('a domain that is received here from now on is no loop after a minute, for any TTL', async () => {
  const taken = new Set<string>()
  const { closed, open, clock } = await setUp(
    { 'new.test': { A: ['127.0.0.9'], ttl: 3_600 } },
    {},
    {
      inboundListeners: () => [{ host: '127.0.0.9', port: 25 }],
      receivedDomains: taken,
    },
  )
  await closed('new.test')
  taken.add('new.test')
  clock.at += 61_000
  assert.equal((await open('new.test')).targets.length, 1)
})

test('a backup MX sends only to hosts with a better preference', async () => {
  const zone: DnsZone = {
    'a.test': {
      MX: [
        [10, 'mx1.a.test'],
        [20, 'us.a.test'],
        [30, 'mx3.a.test'],
      ],
    },
    'mx1.a.test': { A: ['127.0.0.2'] },
    'us.a.test': { A: ['127.0.0.9'] },
    'mx3.a.test': { A: ['127.0.0.3'] },
  }
  const deps = { inboundListeners: () => [{ host: '0.0.0.0', port: 25 }] }
  const all = await setUp(zone, {}, deps)
  assert.equal((await all.closed('a.test')).result, 'failed')
  const one = await setUp(zone, {}, { inboundListeners: () => [{ host: '127.0.0.9', port: 25 }] })
  const hosts = (await one.open('a.test')).targets.map(({ host }) => host)
  assert.deepEqual(hosts, ['mx1.a.test'])
})

test('a destination is cached as long as its records, and its site longer', async () => {
  const { dns, clock, destinations, open } = await setUp({
    'a.test': { MX: [[10, 'mx.provider.test']] },
    'mx.provider.test': { A: ['8.8.8.8'], ttl: 60 },
  })
  assert.equal(destinations.siteOf('a.test'), 'a.test')
  assert.equal(destinations.knownSiteOf('a.test'), undefined)
  assert.deepEqual([...destinations.knownSites()], [])
  assert.equal(destinations.find('a.test'), undefined)
  const route = await open('a.test')
  assert.equal(destinations.find('a.test'), route)
  assert.equal(destinations.siteOf('a.test'), 'provider.test')
  clock.at += 61_000
  assert.equal(destinations.find('a.test'), undefined)
  assert.equal(destinations.siteOf('a.test'), 'provider.test')
  assert.equal(destinations.knownSiteOf('a.test'), 'provider.test')
  assert.deepEqual([...destinations.knownSites()], [['a.test', 'provider.test']])
  await open('a.test')
  assert.equal(dns.count('a.test', 'MX'), 1)
  assert.equal(dns.count('mx.provider.test', 'A'), 2)
})

test('many messages for one new domain cause one look-up', async () => {
  const { dns, destinations } = await setUp({ 'a.test': { A: ['8.8.8.8'] } })
  await Promise.all(Array.from({ length: 30 }, () => destinations.resolve('a.test')))
  assert.equal(dns.count('a.test', 'MX'), 1)
})

test('in sandbox mode every domain goes to the sink, without DNS', async () => {
  const { dns, destinations } = await setUp({}, { mode: 'sandbox' }, { sandboxPort: 2525 })
  const route = destinations.find('anything.test')
  assert.ok(route?.kind === 'open')
  assert.deepEqual(
    [route.site, route.port, route.targets[0]?.address],
    ['sandbox', 2525, '127.0.0.1'],
  )
  assert.equal(destinations.siteOf('anything.test'), 'sandbox')
  assert.equal(dns.queries.length, 0)
})

test('in relay mode every domain goes to the smarthost, also one at a private address', async () => {
  const relay = {
    host: 'smart.test',
    port: 587,
    username: null,
    password: null,
    tls: 'starttls',
  } as const
  const zone = { 'smart.test': { A: ['10.0.0.5'] } }
  const delivery = { mode: 'relay', allowPrivateNetworks: false, relay } as const
  const { destinations, open } = await setUp(zone, delivery)
  const route = await open('anything.test')
  assert.deepEqual(route.targets, [{ host: 'smart.test', address: '10.0.0.5', preference: 0 }])
  assert.deepEqual([route.site, route.port], ['relay', 587])
  assert.equal(destinations.find('other.test'), route)
})

test('a smarthost is found by its address and by the hosts file', async () => {
  const relayTo = (host: string) => ({
    host,
    port: 25,
    username: null,
    password: null,
    tls: 'none',
  })
  const resolveSmarthost = async (host: string) => {
    const relay = relayTo(host) as Config['delivery']['relay']
    const { destinations } = await setUp({}, { mode: 'relay', relay })
    return destinations.resolve('anything.test')
  }
  const literal = await resolveSmarthost('127.0.0.1')
  assert.ok(literal.kind === 'open' && literal.targets[0]?.address === '127.0.0.1')
  const local = await resolveSmarthost('localhost')
  assert.ok(local.kind === 'open' && local.targets.length > 0)
})
