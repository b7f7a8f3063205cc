import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryResult, DeliveryTask } from '../../../src/outbound/delivery.ts'
import type { Resolver } from '../../../src/outbound/dns/resolver.ts'
import type { DnsZone } from '../../fakes/dns-server.ts'
import { type SinkOptions, silence } from '../../fakes/smtp-sink.ts'
import { pause } from '../../pause.ts'
import { type Attempted, type HarnessOptions, makeTask, useOutbound } from '../harness.ts'

const { sinksOf, start: startOutbound } = useOutbound()

/** `addresses`: the address of each domain, which is its own mail server. */
async function start(
  addresses: Map<string, string>,
  options: Pick<HarnessOptions, 'delivery' | 'isClockStopped'>,
) {
  const nothing = { kind: 'nodata', expiresAt: Number.POSITIVE_INFINITY } as const
  const resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'> = {
    mx: async () => nothing,
    aaaa: async () => nothing,
    a: async (name) => ({ ...nothing, kind: 'found', records: [addresses.get(name) ?? ''] }),
  }
  return startOutbound({ ...options, deps: { resolver } })
}

/**
 * A site without a greeting is cut after a second if urgent mail waits. With a running clock a slow
 * machine would reach that second before all sessions are open, or before the good server greets.
 */
function stoppedClockAt(port: number, delivery: HarnessOptions['delivery'] = {}) {
  return { delivery: { port, ...delivery }, isClockStopped: true }
}

const neverGreets: SinkOptions['respond'] = ({ verb }) => (verb === 'CONNECT' ? silence : undefined)

/** Returns `count` domains whose mail goes to these addresses in turn. */
function domainsAt(count: number, ...addresses: string[]): Map<string, string> {
  return new Map(
    Array.from({ length: count }, (_, at) => [
      `name${at}.test`,
      addresses[at % addresses.length] as string,
    ]),
  )
}

function oneEach(addresses: Map<string, string>, task: Partial<DeliveryTask>): DeliveryTask[] {
  return [...addresses.keys()].map((domain) => makeTask({ ...task, domain }))
}

const BULK = { projectId: 'bulk-project' }
const OTHER = { projectId: 'other-project' }

test('many domains at one silent address hold as many connections as one site', async () => {
  const tarpits = domainsAt(210, '127.0.0.66')
  const [tarpit, good] = await sinksOf(
    { host: '127.0.0.66', respond: neverGreets },
    { host: '127.0.9.1' },
  )
  const { outbound, send, reports } = await start(
    new Map([...tarpits, ['good.test', '127.0.9.1']]),
    stoppedClockAt(tarpit!.port),
  )
  outbound.deliver(oneEach(tarpits, BULK))
  while (tarpit!.openCount() < 10) await pause()
  const { outcome } = await send({ ...OTHER, domain: 'good.test' })
  assert.equal(outcome.result, 'delivered')
  assert.equal(good!.acceptedCount(), 1)
  assert.equal(tarpit!.connectionCount(), 10)
  assert.equal(reports.length, 1, 'nothing of the tarpit was given up for it')
})

/** Fills the budget of one address with silent sessions; `good.test` has a server beside it. */
async function fillWith(tarpits: Map<string, string>) {
  const [tarpit] = await sinksOf(
    { host: '127.0.0.66', respond: neverGreets },
    { host: '127.0.0.9' },
  )
  const addresses = new Map([...tarpits, ['good.test', '127.0.0.9']])
  const started = await start(addresses, stoppedClockAt(tarpit!.port))
  started.outbound.deliver(oneEach(tarpits, BULK))
  while (tarpit!.openCount() < 10) await pause()
  started.clock.ahead += 1_000
  return started
}

test('mail beside a tarpit in its own network gets the connection of a silent session', async () => {
  const tarpits = domainsAt(60, '127.0.0.66')
  const { outbound, reports, reported } = await fillWith(tarpits)
  outbound.deliver([makeTask({ ...OTHER, domain: 'good.test' })])
  const good = () => attempts(reports).find(({ site }) => site === 'good.test')
  while (good() === undefined) await reported(reports.length + 1)
  assert.equal(good()?.outcome.result, 'delivered')
  const cut = reports.filter(({ site }) => site !== 'good.test')
  assert.ok(cut.length > 0 && cut.length < 10, `${cut.length} were cut`)
})

test('a session that this server ends for other mail counts neither as attempt nor as failure', async () => {
  const tarpits = domainsAt(10, '127.0.0.66')
  const { outbound, reports, reported, now } = await fillWith(tarpits)
  outbound.deliver([makeTask({ ...OTHER, domain: 'good.test' })])
  const returned = () => reports.filter((report) => report.kind === 'put back')
  while (attempts(reports).length === 0 || returned().length === 0)
    await reported(reports.length + 1)
  assert.deepEqual(
    attempts(reports).map(({ site, outcome }) => [site, outcome.result]),
    [['good.test', 'delivered']],
  )
  for (const { site, reason, retryAt } of returned()) {
    assert.match(reason ?? '', /^name\d+\.test: no greeting in \d+\.\d s, and other mail needed/)
    assert.equal(retryAt, now() + 60_000)
    const { restrictedSince, cause } = outbound.sites().find((one) => one.site === site) ?? {}
    assert.deepEqual([restrictedSince ?? null, cause ?? null], [null, null])
    assert.equal(outbound.pauseOf(site), null)
  }
})

test('silent servers in many networks hold a quarter of all connections and yield to other mail', async () => {
  const networks = Array.from({ length: 40 }, (_, at) => `127.0.${at + 20}.1`)
  const tarpits = domainsAt(200, ...networks)
  const sinks = await sinksOf(
    { host: '127.0.9.1' },
    ...networks.map((host) => ({ host, respond: neverGreets })),
  )
  const { outbound, reports, reported, clock } = await start(
    new Map([...tarpits, ['good.test', '127.0.9.1']]),
    stoppedClockAt(sinks[0]!.port, { maxConnections: 100 }),
  )
  const open = () => sinks.slice(1).reduce((sum, sink) => sum + sink.openCount(), 0)
  outbound.deliver(oneEach(tarpits, BULK))
  while (open() < 25) await pause()
  clock.ahead += 1_000
  outbound.deliver([makeTask({ ...OTHER, domain: 'good.test' })])
  const good = () => attempts(reports).find(({ site }) => site === 'good.test')
  while (good() === undefined) {
    assert.ok(open() <= 25, `${open()} sessions without a greeting`)
    await reported(reports.length + 1)
  }
  assert.equal(good()?.outcome.result, 'delivered')
})

test('a project begins few sites when no connection is free, each class for itself', async () => {
  const networks = Array.from({ length: 40 }, (_, at) => `127.0.${at + 20}.1`)
  const tarpits = domainsAt(200, ...networks)
  const sinks = await sinksOf(...networks.map((host) => ({ host, respond: neverGreets })))
  const { outbound } = await start(tarpits, stoppedClockAt(sinks[0]!.port, { maxConnections: 20 }))
  const open = () => sinks.reduce((sum, sink) => sum + sink.openCount(), 0)
  assert.equal(outbound.lacksConnection('new.test', 'bulk-project'), false)
  assert.equal(outbound.starvedCapacity({ ...BULK, queueClass: 1 }), 40)
  outbound.deliver(oneEach(tarpits, { ...BULK, queueClass: 1 }))
  while (open() < 5) await pause()
  assert.equal(outbound.lacksConnection('new.test', 'bulk-project'), true)
  assert.equal(outbound.starvedCapacity({ ...BULK, queueClass: 1 }), 0)
  assert.equal(outbound.starvedCapacity({ ...BULK, queueClass: 10 }), 20)
  assert.equal(outbound.starvedCapacity({ ...OTHER, queueClass: 1 }), 40)
  const lacking = [...tarpits.keys()].filter((site) =>
    outbound.lacksConnection(site, 'bulk-project'),
  )
  assert.equal(lacking.length, 195)
})

test('sites that wait for one silent server leave others to be begun, up to a limit', async () => {
  for (const [count, expected] of [
    [60, 20],
    [130, 0],
  ] as const) {
    const tarpits = domainsAt(count, '127.0.9.1').set('last.test', '127.0.10.1')
    const [first, second] = await sinksOf(
      { host: '127.0.9.1', respond: neverGreets },
      { host: '127.0.10.1', respond: neverGreets },
    )
    const options = { maxConnections: 20, maxConnectionsPerSite: 4 }
    const { outbound, stop } = await start(tarpits, stoppedClockAt(first!.port, options))
    const owner = { ...BULK, queueClass: 10 } as const
    outbound.deliver(oneEach(tarpits, owner))
    while (first!.openCount() + second!.openCount() < 5) await pause()
    assert.equal(outbound.lacksConnection('new.test', 'bulk-project'), true)
    assert.equal(outbound.starvedCapacity(owner), expected)
    await stop()
    await Promise.all([first!.stop(), second!.stop()])
  }
})

test('domains that are looked up count as sites that may have to wait, each class for itself', async () => {
  const { promise, resolve } = Promise.withResolvers<never>()
  const resolver = { mx: () => promise, a: () => promise, aaaa: () => promise }
  const { outbound } = await startOutbound({ deps: { resolver } })
  const owner = { ...BULK, queueClass: 10 } as const
  const domains = domainsAt(50, '')
  outbound.deliver([...oneEach(domains, owner), ...oneEach(domains, owner)])
  assert.equal(outbound.starvedCapacity(owner), 10)
  assert.equal(outbound.starvedCapacity({ ...BULK, queueClass: 1 }), 40)
  assert.equal(outbound.starvedCapacity({ ...OTHER, queueClass: 10 }), 20)
  resolve({ kind: 'nodata', expiresAt: 0 } as never)
})

test('mail of another project overtakes a backlog, at another server and at the same one', async () => {
  const order: string[] = []
  const respond: SinkOptions['respond'] = ({ verb, line }) => {
    if (verb === 'RCPT') order.push(line.includes('bulk') ? 'bulk' : 'other')
    return undefined
  }
  const [sink] = await sinksOf({ host: '127.0.9.1', respond }, { host: '127.0.10.1', respond })
  const backlog = domainsAt(60, '127.0.9.1')
  const { outbound, sendAll, toTask } = await start(
    new Map([...backlog, ['good.test', '127.0.10.1']]),
    { delivery: { port: sink!.port, maxConnections: 20 } },
  )
  const tasks = Array.from({ length: 10 }, () => oneEach(backlog, BULK)).flat()
  const bulk = tasks.map((task, at) => ({ ...task, recipient: `bulk${at}@${task.domain}` }))
  const sending = sendAll(bulk)
  while (order.length < 100) await pause()
  assert.equal(outbound.projectCapacity(BULK.projectId, 1) < 1_000, true)
  assert.ok(outbound.projectCapacity(OTHER.projectId, 1) > 100)
  const before = order.length
  outbound.deliver(['good.test', 'name0.test'].map((domain) => toTask({ ...OTHER, domain })))
  while (order.filter((name) => name === 'other').length < 2) await pause()
  const between = order.length - before
  assert.ok(between < 300, `${between} of the backlog went first`)
  await sending
})

test('the queue of a full site admits the first message of another project', async () => {
  let isHolding = false
  const respond: SinkOptions['respond'] = ({ verb }) =>
    verb === 'MAIL' && isHolding ? silence : undefined
  const [sink] = await sinksOf({ host: '127.0.9.1', respond })
  const zone = {
    'bulk.test': { MX: [[10, 'mx.big.test']] },
    'other.test': { MX: [[10, 'mx.big.test']] },
    'mx.big.test': { A: ['127.0.9.1'] },
  } satisfies DnsZone
  const { outbound, send, reports, reported } = await startOutbound({
    zone,
    delivery: { port: sink!.port },
  })
  const { site } = await send({ ...BULK, domain: 'bulk.test' })
  isHolding = true
  while (outbound.capacity(site, 1) > 0) {
    outbound.deliver([makeTask({ ...BULK, domain: 'bulk.test', site })])
  }
  const [first, second] = [0, 1].map(() => makeTask({ ...OTHER, domain: 'other.test' }))
  outbound.deliver([first!, second!])
  await reported(2)
  assert.deepEqual(
    reports.slice(1).map(({ kind, emailId }) => [kind, emailId]),
    [['put back', second!.emailId]],
  )
})

function attempts(reports: readonly DeliveryResult[]): Attempted[] {
  return reports.filter((report) => report.kind === 'attempted')
}
