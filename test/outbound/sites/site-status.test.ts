import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '../../../src/base/clock.ts'
import type { SiteStatus } from '../../../src/outbound/sites/site-status.ts'
import { type SinkOptions, silence } from '../../fakes/smtp-sink.ts'
import { makeTask, makeTasks, useOutbound } from '../harness.ts'

const { sinksOf, start } = useOutbound()

async function startAt(options: SinkOptions, connectionsPerSite = 10) {
  const [sink] = await sinksOf(options)
  const harness = await start({
    zone: {
      'a.test': { MX: [[10, 'mx.host.test']] },
      'b.test': { MX: [[10, 'mx.host.test']] },
      'mx.host.test': { A: ['127.0.0.2'] },
    },
    delivery: { port: sink!.port, maxConnectionsPerSite: connectionsPerSite },
    deps: { random: () => 0.5 },
  })
  const status = (site = 'host.test'): SiteStatus | undefined =>
    harness.outbound.sites().find((one) => one.site === site)
  return { sink: sink!, ...harness, status }
}

test('a site that accepts mail is shown with its connections and no restriction', async () => {
  const { outbound, send, status } = await startAt({})
  assert.deepEqual(outbound.sites(), [])
  await send({ domain: 'a.test' })
  assert.deepEqual(status(), {
    site: 'host.test',
    connections: 1,
    maxConnections: 10,
    limited: null,
    messagesPerMinute: null,
    rateUntil: null,
    inFlight: 0,
    restrictedSince: null,
    blockedUntil: null,
    cause: null,
  })
  assert.deepEqual(outbound.siteStatus('host.test'), status())
  const unknown = outbound.siteStatus('never-heard-of.test')
  assert.deepEqual([unknown.restrictedSince, unknown.blockedUntil], [null, null])
  assert.equal(outbound.sites().length, 1)
  assert.equal(outbound.liftSite('host.test'), false)
  assert.equal(outbound.liftSite('never-heard-of.test'), false)
})

test('a site that throttles is shown with its rate and the reply that caused it', async () => {
  const { outbound, send, status, clock } = await startAt({
    respond: ({ verb }) => (verb === 'MAIL' ? '421 4.7.28 unusual rate\x07 of mail' : undefined),
  })
  const before = Date.now()
  await send({ domain: 'a.test' })
  const found = status()
  assert.equal(found?.messagesPerMinute, 10)
  assert.ok((found?.rateUntil ?? 0) > before + 30 * MINUTE_MS)
  assert.equal(found?.maxConnections, 1)
  assert.equal(found?.blockedUntil, null)
  assert.equal(found?.cause?.text, '421 4.7.28 unusual rate\\x07 of mail')
  assert.ok(found?.cause !== null && found!.cause.at >= before)
  assert.equal(found?.restrictedSince, found?.cause?.at)
  clock.ahead += 2 * 3_600_000
  assert.equal(status()?.messagesPerMinute, null)
  assert.equal(status()?.cause?.text, found?.cause?.text, 'one connection is still less than ten')
  assert.ok(outbound.liftSite('host.test'))
  assert.equal(status()?.cause, null)
})

test('an unreachable site is shown as blocked until its pause ends, and gets mail again when it is lifted', async () => {
  let isDead = true
  const { outbound, clock, send, status } = await startAt({
    respond: ({ verb }) => (isDead && verb === 'CONNECT' ? (socket) => socket.end() : undefined),
  })
  for (let at = 0; at < 5; at++) await send({ domain: 'a.test' })
  const found = status()
  assert.equal(found?.blockedUntil, outbound.blockedUntil('host.test'))
  assert.ok(found?.cause?.text.includes('the server closed the connection'))
  clock.ahead += 2 * MINUTE_MS
  assert.equal(status()?.blockedUntil, null, 'never in the past')
  assert.equal(status()?.restrictedSince, found?.restrictedSince, 'it is probed yet')
  await send({ domain: 'a.test' })
  assert.ok((status()?.blockedUntil ?? 0) > (found?.blockedUntil ?? 0))
  assert.ok((status()?.cause?.at ?? 0) > (found?.cause?.at ?? 0), 'the probe failed too')
  assert.equal(status()?.restrictedSince, found?.restrictedSince)
  isDead = false
  assert.equal(outbound.capacity('host.test', 1), 0)
  assert.equal(outbound.liftSite('host.test'), true)
  assert.equal(outbound.liftSite('host.test'), false)
  assert.equal(status()?.blockedUntil, null)
  assert.equal(outbound.capacity('host.test', 10), 5)
  assert.equal((await send({ domain: 'a.test' })).outcome.result, 'delivered')
})

test('an accepting reply is never shown as the cause of a restriction', async () => {
  let isDead = true
  const { clock, send, status } = await startAt({
    respond: ({ verb }) => (isDead && verb === 'CONNECT' ? (socket) => socket.end() : undefined),
  })
  for (let at = 0; at < 5; at++) await send({ domain: 'a.test' })
  clock.ahead += 2 * MINUTE_MS
  isDead = false
  await send({ domain: 'a.test' })
  assert.equal(status()?.maxConnections, 2)
  assert.match(status()?.cause?.text ?? '', /closed the connection/)
})

test('deliveries in progress are counted by site, before and after their destination is known', async () => {
  const { outbound, sink, status } = await startAt({
    respond: ({ verb }) => (verb === 'MAIL' ? silence : undefined),
  })
  outbound.deliver(makeTasks(3, { domain: 'a.test' }))
  assert.equal(status('a.test')?.inFlight, 3)
  while (!sink.lines.some((line) => line.startsWith('MAIL'))) await turn()
  assert.equal(status('a.test'), undefined)
  assert.equal(status()?.inFlight, 3)
})

test('the current step of a delivery is known at each step', async () => {
  const silentAt = { verb: '' }
  const { outbound, sink } = await startAt(
    { respond: ({ verb }) => (verb === silentAt.verb ? silence : undefined), ehlo: [] },
    20,
  )
  const steps = [
    ['CONNECT', 'greeting'],
    ['EHLO', 'ehlo'],
    ['MAIL', 'mail'],
    ['RCPT', 'rcpt'],
    ['DATA', 'data'],
    ['MESSAGE', 'final-dot'],
  ] as const
  for (const [verb, step] of steps) {
    silentAt.verb = verb
    const seen = sink.lines.length + sink.connectionCount()
    const before = Date.now()
    const task = makeTask({ domain: 'a.test', site: outbound.siteOf('a.test') })
    outbound.deliver([task])
    let progress = await outbound.progressOf(task.emailId)
    while (progress?.step !== step) {
      assert.ok(progress !== undefined, `gone before ${step}`)
      await turn()
      progress = await outbound.progressOf(task.emailId)
    }
    assert.ok(sink.lines.length + sink.connectionCount() > seen)
    assert.deepEqual(progress.peer, { host: 'mx.host.test', address: '127.0.0.2' })
    assert.equal(progress.site, 'host.test')
    assert.ok(progress.since >= before && progress.since <= Date.now())
  }
})

test('replies that come one by one to pipelined commands advance the step', async () => {
  const { outbound } = await startAt({
    respond: ({ verb }) => (verb === 'RCPT' || verb === 'DATA' ? silence : undefined),
  })
  const task = makeTask({ domain: 'a.test' })
  outbound.deliver([task])
  while ((await outbound.progressOf(task.emailId))?.step !== 'rcpt') await turn()
})

test('a delivery shows that it waits for DNS or a connection; an unknown one shows nothing', async () => {
  const { outbound, reported } = await startAt(
    { respond: ({ verb, count }) => (verb === 'MAIL' && count === 2 ? silence : undefined) },
    1,
  )
  const [first, second, third] = makeTasks(3, { domain: 'a.test' }) as [Task, Task, Task]
  outbound.deliver([first])
  const routed = await outbound.progressOf(first.emailId)
  assert.equal(routed?.step, 'dns')
  assert.equal(routed?.peer, null)
  await reported(1)
  assert.equal(await outbound.progressOf(first.emailId), undefined)
  assert.equal(await outbound.progressOf('unknown'), undefined)
  outbound.deliver([second, third])
  while ((await outbound.progressOf(second.emailId))?.step !== 'mail') await turn()
  const waiting = await outbound.progressOf(third.emailId)
  assert.equal(waiting?.step, 'waiting')
  assert.equal(waiting?.peer, null)
  assert.ok(waiting!.since > 0 && waiting!.since <= Date.now())
})

test('the caller gets the state of the main thread when a busy thread does not respond', async () => {
  const { outbound, send } = await startAt({})
  await send({ domain: 'a.test' })
  const task = makeTask({ domain: 'a.test', site: 'host.test' })
  const slow = '{% for a in (1..3000) %}{% for b in (1..3000) %}{% endfor %}{% endfor %}x'
  task.source = { ...task.source, content: { ...task.source.content, id: 'slow', body: slow } }
  outbound.deliver([task])
  const progress = await outbound.progressOf(task.emailId)
  assert.ok(progress === undefined || progress.step === 'waiting')
})

type Task = ReturnType<typeof makeTask>

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
