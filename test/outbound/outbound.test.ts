import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Resolver } from '../../src/outbound/dns/resolver.ts'
import { makeTasks, useOutbound } from './harness.ts'

const { sinksOf, start } = useOutbound()

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
})
const signingKeys = [
  { domain: 'sender.test', selector: 's1', algorithm: 'rsa-sha256', privateKey },
] as const

test('a message is rendered, signed and delivered to the MX, and its result is complete', async () => {
  const [sink] = await sinksOf({})
  const zone = {
    'a.test': { MX: [[10, 'mx.a.test']] as [number, string][] },
    'mx.a.test': { A: ['127.0.0.2'] },
  }
  const { outbound, send } = await start({ zone, delivery: { port: sink!.port } })
  const { outcome, subject, site } = await send({
    domain: 'a.test',
    recipient: 'ann@a.test',
    signingKeys,
  })
  assert.equal(outcome.result, 'delivered')
  assert.equal(subject, 'Hello Ann')
  assert.equal(site, 'a.test')
  assert.deepEqual([outcome.host, outcome.address, outcome.tls], ['mx.a.test', '127.0.0.2', null])
  assert.equal(outcome.reply?.code, 250)
  const [dns, ...steps] = outcome.steps
  assert.deepEqual([dns?.step, dns?.host], ['dns', 'mx.a.test'])
  assert.deepEqual(
    steps.map(({ step }) => step),
    ['connect', 'greeting', 'ehlo', 'mail', 'rcpt', 'data', 'message'],
  )
  const [message] = sink!.messages
  assert.deepEqual(message?.to, ['ann@a.test'])
  assert.match(message?.from ?? '', /^b\.token/)
  const text = message?.bytes.toString('latin1') ?? ''
  assert.match(text, /^DKIM-Signature: v=1; a=rsa-sha256;[\s\S]*d=sender\.test;/)
  assert.match(text, /Dear Ann/)
  assert.equal(outbound.inFlight(), 0)
})

test('an outcome that DNS decides needs no connection and no thread', async () => {
  const zone = {
    'null.test': { MX: [[0, '']] as [number, string][] },
    'broken.test': 'SERVFAIL' as const,
    'inside.test': { A: ['127.0.0.1'] },
  }
  const { send } = await start({ zone, delivery: { allowPrivateNetworks: false } })
  const gone = await send({ domain: 'gone.test' })
  assert.deepEqual([gone.outcome.result, gone.outcome.verdict?.reason], ['bounced', 'hostunknown'])
  const none = await send({ domain: 'null.test' })
  assert.deepEqual([none.outcome.result, none.outcome.reply?.code], ['bounced', 556])
  const broken = await send({ domain: 'broken.test' })
  assert.equal(broken.outcome.result, 'deferred')
  assert.deepEqual(broken.outcome.steps[0]?.error, broken.outcome.error)
  const inside = await send({ domain: 'inside.test' })
  assert.deepEqual([inside.outcome.result, inside.subject], ['failed', null])
})

test('deliveries beyond the capacity of a site are put back with its name, without an attempt', async () => {
  const [sink] = await sinksOf({})
  const { outbound, reported } = await start({
    zone: { 'a.test': { MX: [[10, 'mx.host.test']] }, 'mx.host.test': { A: ['127.0.0.2'] } },
    delivery: { port: sink!.port },
  })
  outbound.deliver(makeTasks(8, { domain: 'a.test', queueClass: 10 }))
  const reports = await reported(8)
  const returned = reports.filter((report) => report.kind === 'put back')
  assert.equal(returned.length, 3)
  for (const report of returned)
    assert.deepEqual([report.site, report.retryAt], ['host.test', null])
  assert.equal(sink!.acceptedCount(), 5)
  assert.equal(outbound.inFlight(), 0)
})

test('after a throttling 421 the site gets no mail for a while', async () => {
  const reply = '421 4.7.28 unusual rate of mail from your address'
  const [sink] = await sinksOf({ respond: ({ verb }) => (verb === 'MAIL' ? reply : undefined) })
  const { outbound, clock, now, send } = await start({
    zone: { 'a.test': { A: ['127.0.0.2'] } },
    delivery: { port: sink!.port },
    isClockStopped: true,
  })
  const { outcome } = await send({ domain: 'a.test' })
  assert.equal(outcome.result, 'deferred')
  assert.equal(outcome.verdict?.countsAsFailure, false)
  assert.equal(outbound.capacity('a.test', 1), 0)
  const until = outbound.blockedUntil('a.test')
  assert.ok(until > now())
  outbound.deliver(makeTasks(1, { domain: 'a.test' }))
  clock.ahead += 10_000
  assert.equal(outbound.capacity('a.test', 1), 1)
})

test('an unreachable site is probed by one message, and other sites are not affected', async () => {
  const [sink, other] = await sinksOf({}, {})
  const { outbound, clock, now, send, sendAll } = await start({
    zone: { 'down.test': { A: ['127.0.0.2'] }, 'good.test': { A: ['127.0.0.3'] } },
    delivery: { port: sink!.port },
    isClockStopped: true,
  })
  await sink!.stop()
  for (let at = 0; at < 5; at++)
    assert.equal((await send({ domain: 'down.test' })).outcome.verdict?.class, 'network')
  assert.equal(outbound.capacity('down.test', 1), 0)
  assert.ok(outbound.blockedUntil('down.test') > now())
  await sendAll(makeTasks(10, { domain: 'good.test' }))
  assert.equal(other!.acceptedCount(), 10)
  clock.ahead += 80_000
  assert.equal(outbound.capacity('down.test', 1), 1)
  await sinksOf({ port: sink!.port })
  assert.equal((await send({ domain: 'down.test' })).outcome.result, 'delivered')
  assert.equal(outbound.blockedUntil('down.test'), 0)
  // A probed site has a capacity of one; how much more depends on the time that a message takes.
  assert.ok(outbound.capacity('down.test', 1) > 1)
})

test('a server with the name of this server is a loop', async () => {
  const [sink] = await sinksOf({ name: 'mta.sender.test' })
  const zone = { 'a.test': { A: ['127.0.0.2'] }, 'ours.test': { A: ['127.0.0.2'] } }
  const { send } = await start({
    zone,
    delivery: { port: sink!.port },
    deps: { receivedDomains: new Set(['ours.test']) },
  })
  const { outcome } = await send({ domain: 'a.test' })
  assert.equal(outcome.result, 'failed')
  assert.match(outcome.error ?? '', /loop/)
  assert.equal((await send({ domain: 'ours.test' })).outcome.result, 'delivered')
})

test('a message whose destination could not be resolved is put back for later', async () => {
  const fail = () => Promise.reject(new TypeError('a mistake of ours'))
  const { outbound, now, toTask, reported } = await start({
    deps: { resolver: { mx: fail, a: fail, aaaa: fail } },
    isClockStopped: true,
  })
  outbound.deliver([toTask({ domain: 'example.test' })])
  const [report] = await reported(1)
  assert.ok(report?.kind === 'put back' && report.retryAt !== null)
  assert.ok(report.retryAt > now() + 30_000)
  assert.equal(outbound.inFlight(), 0)
})

test('an attempt starts with its own look-up, and one with an earlier look-up after it', async () => {
  const lookupMs = 200
  const [sink] = await sinksOf({})
  const nothing = { kind: 'nodata', expiresAt: Number.POSITIVE_INFINITY } as const
  const records = ['127.0.0.2']
  const resolver: Pick<Resolver, 'mx' | 'a' | 'aaaa'> = {
    mx: async (name) => {
      await sleep(lookupMs)
      return name === 'gone.test' ? { ...nothing, kind: 'nxdomain' } : nothing
    },
    a: async () => ({ ...nothing, kind: 'found', records }),
    aaaa: async () => nothing,
  }
  const { send } = await start({ delivery: { port: sink!.port }, deps: { resolver } })
  for (const [domain, result] of [
    ['a.test', 'delivered'],
    ['gone.test', 'bounced'],
  ] as const) {
    for (const isOwn of [true, false]) {
      const before = Date.now()
      const { outcome, startedAt } = await send({ domain })
      const after = Date.now()
      assert.equal(outcome.result, result)
      assert.deepEqual([outcome.steps[0]?.step, outcome.steps[0]?.at], ['dns', 0])
      assert.equal((outcome.steps[0]?.durationMs ?? 0) >= lookupMs - 1, isOwn, domain)
      assert.ok(outcome.durationMs >= (outcome.steps[0]?.durationMs ?? 0))
      assert.ok(startedAt >= before, `${domain} starts ${before - startedAt} ms too early`)
      const endedAt = startedAt + outcome.durationMs
      assert.ok(endedAt <= after, `${domain} ends ${endedAt - after} ms too late`)
    }
  }
})

test('in sandbox mode everything goes to the sink', async () => {
  const [sink] = await sinksOf({ host: '127.0.0.1', name: 'mta.sender.test' })
  const { dns, send } = await start({
    delivery: { mode: 'sandbox', allowPrivateNetworks: false },
    deps: { sandboxPort: sink!.port },
  })
  const { outcome, site } = await send({ domain: 'anywhere.test' })
  assert.deepEqual([outcome.result, site], ['delivered', 'sandbox'])
  assert.equal(dns.queries.length, 0)
})

test('a smarthost without an address is not tried for a while, and costs no more attempts', async () => {
  const host = `${'x'.repeat(64)}.test`
  const relay = { host, port: 25, username: null, password: null, tls: 'none' }
  const { outbound, reported, clock, now } = await start({
    delivery: { mode: 'relay', relay: relay as never },
    deps: { random: () => 0.5 },
    isClockStopped: true,
  })
  outbound.deliver(makeTasks(9, { domain: 'a.test', site: 'relay' }))
  const reports = await reported(9)
  const attempted = reports.filter((report) => report.kind === 'attempted')
  assert.equal(attempted.length, 5)
  assert.ok(attempted.every(({ outcome }) => outcome.verdict?.class === 'dns'))
  const returned = reports.filter((report) => report.kind === 'put back')
  const until = outbound.blockedUntil('relay')
  assert.ok(until > now() + 50_000)
  const { reason } = outbound.pauseOf('relay') ?? {}
  assert.match(reason ?? '', /^relay accepts no mail now: no address for the smarthost x+\.test$/)
  assert.deepEqual(
    returned.map((report) => [report.retryAt, report.reason]),
    Array(4).fill([null, reason]),
  )
  assert.equal(outbound.capacity('relay', 1), 0)
  clock.ahead += 60_000
  assert.equal(outbound.capacity('relay', 1), 1)
  outbound.deliver(makeTasks(2, { domain: 'a.test', site: 'relay' }))
  await reported(11)
  assert.deepEqual(
    reports.slice(9).map(({ kind }) => kind),
    ['attempted', 'put back'],
  )
  assert.ok(outbound.blockedUntil('relay') > now() + 100_000)
})

test('in relay mode everything goes to the smarthost', async () => {
  const [sink] = await sinksOf({ host: '127.0.0.1' })
  const relay = { host: '127.0.0.1', port: sink!.port, username: null, password: null, tls: 'none' }
  const { send, sendAll } = await start({
    delivery: { mode: 'relay', relay: relay as never, allowPrivateNetworks: false },
  })
  const { outcome, site } = await send({ domain: 'anywhere.test' })
  assert.deepEqual([outcome.result, site], ['relayed', 'relay'])
  await sendAll(makeTasks(10, { domain: 'elsewhere.test' }))
  assert.equal(sink!.acceptedCount(), 11)
})

test('one recipient refused for the reputation of this server does not slow the others', async () => {
  const [sink] = await sinksOf({
    respond: ({ verb, count }) =>
      verb === 'RCPT' && count === 3 ? '554 5.7.1 rejected: poor reputation' : undefined,
  })
  const { sendAll, outbound } = await start({
    zone: { 'a.test': { A: ['127.0.0.2'] } },
    delivery: { port: sink!.port },
  })
  const attempts = await sendAll(makeTasks(40, { domain: 'a.test' }))
  const refused = attempts.filter(({ outcome }) => outcome.result !== 'delivered')
  assert.deepEqual(
    refused.map(({ outcome }) => [outcome.verdict?.class, outcome.verdict?.site]),
    [['block', 'block']],
  )
  assert.equal(sink!.acceptedCount(), 39)
  const [site] = outbound.sites()
  assert.equal(site?.messagesPerMinute, null)
  assert.equal(site?.blockedUntil, null)
  assert.equal(site?.maxConnections, 5)
  assert.equal(site?.cause?.text, '554 5.7.1 rejected: poor reputation')
})
