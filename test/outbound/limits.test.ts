import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Sink, silence } from '../fakes/smtp-sink.ts'
import { type HarnessOptions, makeTasks, useOutbound } from './harness.ts'

const { sinksOf, start } = useOutbound()

test('a connection carries as many messages as its limit allows', async () => {
  const [sink] = await sinksOf({})
  const { sendAll } = await start({
    zone: { 'a.test': { A: ['127.0.0.2'] } },
    delivery: { port: sink!.port, maxConnectionsPerSite: 1, messagesPerConnection: 10 },
  })
  const attempts = await sendAll(makeTasks(25, { domain: 'a.test' }))
  assert.ok(attempts.every(({ outcome }) => outcome.result === 'delivered'))
  assert.equal(sink!.connectionCount(), 3)
  const perConnection = [1, 2, 3].map(
    (number) => sink!.messages.filter(({ connection }) => connection === number).length,
  )
  assert.deepEqual(perConnection, [10, 10, 5])
})

/**
 * Sinks that count the most connections open at once: to each, and to all. Each sink is in a network
 * of its own, because a network has as many connections as a site. They count until `isOver`.
 */
async function countingSinks(count: number, isOver = () => false) {
  const most = { each: 0, all: 0 }
  // A connection that ended before another began may be seen to end after it.
  const onOpened = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    if (isOver()) return
    const open = sinks.map((sink) => sink.openCount())
    most.each = Math.max(most.each, ...open)
    most.all = Math.max(
      most.all,
      open.reduce((sum, one) => sum + one),
    )
  }
  const hosts = Array.from({ length: count }, (_, at) => `127.0.${at}.2`)
  const sinks: Sink[] = await sinksOf(...hosts.map((host) => ({ host, onOpened })))
  return { sinks, most }
}

test('the limit of a site holds for all threads together', async () => {
  const { sinks, most } = await countingSinks(1)
  const { sendAll } = await start({
    zone: { 'a.test': { A: ['127.0.0.2'] } },
    delivery: { port: sinks[0]!.port, maxConnectionsPerSite: 3, messagesPerConnection: 7 },
    deps: { deliveryThreads: 2 },
  })
  await sendAll(makeTasks(300, { domain: 'a.test' }))
  assert.equal(sinks[0]!.acceptedCount(), 300)
  assert.equal(most.each, 3)
})

test('domains of one provider share its limit', async () => {
  const { sinks, most } = await countingSinks(1)
  const zone = Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [`${name}.test`, { MX: [[10, `${name}.mx.host.test`]] }]),
  ) as HarnessOptions['zone']
  const hosts = Object.fromEntries(
    ['a', 'b', 'c'].map((name) => [`${name}.mx.host.test`, { A: ['127.0.0.2'] }]),
  )
  const { outbound, sendAll } = await start({
    zone: { ...zone, ...hosts },
    delivery: { port: sinks[0]!.port, maxConnectionsPerSite: 2, messagesPerConnection: 5 },
  })
  const tasks = ['a', 'b', 'c'].flatMap((name) => makeTasks(20, { domain: `${name}.test` }))
  await sendAll(tasks)
  assert.equal(outbound.siteOf('a.test'), 'host.test')
  assert.equal(outbound.siteOf('c.test'), 'host.test')
  assert.equal(sinks[0]!.acceptedCount(), 60)
  assert.equal(most.each, 2)
})

test('the total number of connections is limited, and every site gets its turn', async () => {
  // A site without mail gives its connections away before its thread has ended their sessions.
  let wasOneIdle = false
  const { sinks, most } = await countingSinks(3, () => wasOneIdle)
  const zone = Object.fromEntries(
    sinks.map(({ host }, at) => [`site${at}.test`, { A: [host] }]),
  ) as HarnessOptions['zone']
  const { outbound, sendAll } = await start({
    zone: zone!,
    delivery: { port: sinks[0]!.port, maxConnections: 2, maxConnectionsPerSite: 2 },
    deps: { deliveryThreads: 2 },
    onReports() {
      wasOneIdle ||= outbound.sites().some(({ inFlight }) => inFlight === 0)
    },
  })
  await sendAll(sinks.flatMap((_, at) => makeTasks(40, { domain: `site${at}.test` })))
  assert.deepEqual(
    sinks.map((sink) => sink.acceptedCount()),
    [40, 40, 40],
  )
  assert.equal(most.all, 2)
})

test('throttling puts back the waiting deliveries of the site', async () => {
  const [sink] = await sinksOf({
    respond({ verb, count }) {
      if (verb !== 'MAIL' || count === 1) return undefined
      return count === 2 ? '421 4.7.28 unusual rate of mail from your address' : silence
    },
  })
  const { outbound, reports, reported, send } = await start({
    zone: { 'a.test': { A: ['127.0.0.2'] } },
    delivery: { port: sink!.port, maxConnectionsPerSite: 1 },
  })
  await send({ domain: 'a.test' })
  outbound.deliver(makeTasks(10, { domain: 'a.test' }))
  const isRecalled = () =>
    reports.some((report) => report.kind === 'put back' && report.retryAt !== null)
  while (!isRecalled()) await reported(reports.length + 1)
  assert.equal(outbound.capacity('a.test', 1), 0)
  assert.equal(sink!.acceptedCount(), 1)
})
