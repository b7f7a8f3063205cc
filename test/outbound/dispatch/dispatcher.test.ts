import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { silentLog } from '../../../src/base/log.ts'
import type { QueueClass } from '../../../src/base/queue-class.ts'
import type { Delivery } from '../../../src/outbound/delivery.ts'
import { createDispatcher, type DispatcherDeps } from '../../../src/outbound/dispatch/dispatcher.ts'
import type { TransferableMessage } from '../../../src/outbound/protocol.ts'
import { createSiteQueues } from '../../../src/outbound/sites/site-queues.ts'
import { createFakeThreads, tasksOf } from '../fake-threads.ts'
import { makeDelivery, makeSource } from '../harness.ts'

function open(
  t: TestContext,
  maxThreads: number,
  {
    connectionsOf = () => 1,
    connectionsFor = (site, deliveries) => Math.min(connectionsOf(site), deliveries),
    maxConnections = 40,
    standingOf = () => 'replied',
  }: Partial<
    Pick<DispatcherDeps, 'connectionsOf' | 'connectionsFor' | 'maxConnections' | 'standingOf'>
  > = {},
) {
  const now = () => 1_000
  const fakes = createFakeThreads()
  const queues = createSiteQueues(now)
  const finished: Parameters<DispatcherDeps['done']>[0][] = []
  const dispatcher = createDispatcher({
    settings: { idleMs: 60_000 } as never,
    maxThreads,
    maxConnections,
    hangMs: 1_000,
    log: silentLog(),
    now,
    queues,
    maxPerSite: 10,
    connectionsOf,
    connectionsFor,
    standingOf,
    done: (results) => void finished.push(results),
    createThreads: fakes.createThreads,
  })
  t.after(() => dispatcher.stop(0))
  /** Names and results, in order. */
  const results = () =>
    finished.flatMap((ends) => [...ends].map(([delivery, end]) => [nameOf(delivery), end]))
  return { dispatcher, queues, results, ...fakes }
}

const nameOf = ({ recipient }: { recipient: string }) => recipient.split('@')[0]

function deliveryTo(name: string, site: string, change: Partial<Delivery> = {}): Delivery {
  const pool = { key: site, site, targets: [] } as unknown as Delivery['pool']
  const source = makeSource({ id: name })
  return makeDelivery({ domain: site, recipient: `${name}@${site}`, pool, source, ...change })
}

const bulkTo = (name: string, site: string) => deliveryTo(name, site, { queueClass: 10 })

const ofContent = (id: string) => ({ source: makeSource({ id }) })

test('F10: a message that ends a delivery thread is set aside with its content, and others continue', (t) => {
  const { dispatcher, results, started } = open(t, 2)
  // Enough tasks to start a second thread; each site has one connection.
  const many = Array.from({ length: 50 }, (_, count) =>
    deliveryTo(`m${count}`, `site${count % 5}.test`),
  )
  dispatcher.add([...many, deliveryTo('x1', 'x.test', ofContent('harmful'))])
  dispatcher.add([deliveryTo('x2', 'y.test', ofContent('harmful')), deliveryTo('usual', 'y.test')])
  const thread = started.find((one) => tasksOf(one).some((task) => nameOf(task) === 'x1'))
  const other = started.find((one) => one !== thread)
  const composing = tasksOf(thread).find((task) => nameOf(task) === 'x1')?.task ?? 0
  const lost = tasksOf(thread).map(nameOf)
  thread?.end({ composing, reason: 'no memory' })
  const heavy = results().filter(
    ([, result]) => typeof result === 'object' && result.kind === 'heavy',
  )
  assert.deepEqual(heavy.find(([name]) => name === 'x1')?.[1], {
    task: composing,
    kind: 'heavy',
    reason: 'no memory',
  })
  assert.ok(
    other?.posted.some((message) => message.type === 'set aside' && message.content === 'harmful'),
  )
  // x2 has the same content, so no delivery thread gets it again.
  const given = started.slice(2).flatMap(tasksOf).map(nameOf)
  assert.ok(!given.includes('x1') && !given.includes('x2'))
  for (const name of lost) {
    if (name !== 'x1' && name !== 'x2')
      assert.ok([...given, ...tasksOf(other).map(nameOf)].includes(name))
  }
  assert.equal(results().filter(([name]) => name === 'usual').length, 0)
})

test('a message that takes too long in a delivery thread is returned once, as heavy', (t) => {
  const { dispatcher, results, started } = open(t, 1)
  dispatcher.add([deliveryTo('slow', 'a.test'), deliveryTo('quick', 'a.test')])
  const [slow] = tasksOf(started[0])
  started[0]?.say({ type: 'results', results: [{ task: slow?.task ?? 0, kind: 'heavy' }] })
  assert.deepEqual(results(), [['slow', { task: slow?.task, kind: 'heavy' }]])
  assert.equal(dispatcher.count(), 1)
})

test('a composed message is passed on unchanged, and a lost one is composed again later', (t) => {
  const { dispatcher, results, started } = open(t, 1)
  const composed: TransferableMessage = {
    octets: new Uint8Array(10),
    subject: 'x',
    needsSmtputf8: false,
    faults: [],
  }
  dispatcher.add([deliveryTo('composed', 'a.test', { composed }), deliveryTo('usual', 'a.test')])
  const [made, usual] = tasksOf(started[0])
  assert.equal(made?.making, composed)
  assert.ok(usual && 'source' in usual.making)
  started[0]?.end({ composing: made?.task ?? 0 })
  assert.deepEqual(results(), [['composed', { task: 1, kind: 'put back', delayMs: 1_000 }]])
  assert.deepEqual(tasksOf(started[1]).map(nameOf), ['usual'])
})

test('deliveries are withdrawn where they are: here at once, in a thread by a message', (t) => {
  const { dispatcher, results, started } = open(t, 1)
  const many = Array.from({ length: 650 }, (_, count) => deliveryTo(`m${count}`, 'a.test'))
  dispatcher.add(many)
  dispatcher.add([deliveryTo('w1', 'a.test'), deliveryTo('stays', 'a.test')])
  const isWithdrawn = (one: { recipient: string }) => ['m3', 'w1'].includes(nameOf(one) ?? '')
  dispatcher.withdraw(isWithdrawn)
  assert.deepEqual(results(), [['w1', { task: 651, kind: 'put back', delayMs: 0 }]])
  assert.deepEqual(started[0]?.posted.at(-1), { type: 'withdraw', tasks: [4] })
  const back = { task: 4, kind: 'put back', delayMs: 0 } as const
  started[0]?.say({ type: 'results', results: [back] })
  assert.deepEqual(results().at(-1), ['m3', back])
  assert.equal(dispatcher.count(), 650)
})

test('a withdrawn delivery whose thread has already returned it, or ended, goes to no other', (t) => {
  const { dispatcher, results, started } = open(t, 2, { connectionsOf: () => 10 })
  dispatcher.add(['heavy', 'returned', 'lost', 'sent'].map((name) => deliveryTo(name, 'a.test')))
  const [thread] = started
  const tasks = new Map(tasksOf(thread).map((one) => [nameOf(one), one.task]))
  const taskOf = (name: string) => tasks.get(name) ?? 0
  dispatcher.withdraw(() => true)
  thread?.say({ type: 'results', results: [{ task: taskOf('heavy'), kind: 'heavy' }] })
  thread?.say({ type: 'results', results: [{ task: taskOf('returned'), kind: 'put back' }] })
  thread?.end({ accepted: new Set([taskOf('sent')]) })
  const kinds = new Map(results().map(([name, end]) => [name, (end as { kind: string }).kind]))
  assert.equal(kinds.get('sent'), 'attempted')
  for (const name of ['heavy', 'returned', 'lost']) assert.equal(kinds.get(name), 'put back')
  assert.equal(dispatcher.count(), 0)
})

test('a site takes the connections of idle ones in the order in which they became idle', (t) => {
  const { dispatcher, queues, started } = open(t, 1, {
    connectionsOf: () => 10,
    maxConnections: 12,
  })
  for (const domain of ['first.test', 'second.test', 'busy.test']) {
    dispatcher.add([0, 1, 2].map((number) => deliveryTo(`${number} at ${domain}`, domain)))
    started[0]?.say({ type: 'greeted', site: domain })
  }
  const end = (domain: string) => {
    const results = tasksOf(started[0])
      .filter(({ recipient }) => recipient.endsWith(domain))
      .map(({ task }) => ({ task, kind: 'put back', delayMs: 0 }) as const)
    started[0]?.say({ type: 'results', results })
  }
  end('first.test')
  end('second.test')
  assert.equal(dispatcher.connectionsOf('first.test'), 3)
  dispatcher.add(
    Array.from({ length: 5 }, (_, number) => deliveryTo(`more ${number}`, 'busy.test')),
  )
  const released = (started[0]?.posted ?? []).flatMap((message) =>
    message.type === 'release' ? message.site : [],
  )
  assert.deepEqual(released, ['first.test'])
  assert.equal(dispatcher.connectionsOf('first.test'), 0)
  assert.equal(dispatcher.connectionsOf('second.test'), 3)
  assert.deepEqual([...queues.entries()].map(([site]) => site).sort(), ['busy.test', 'second.test'])
  // A greeting of the forgotten site that was on its way, and more mail to it.
  started[0]?.say({ type: 'greeted', site: 'first.test' })
  dispatcher.add([deliveryTo('again', 'first.test')])
  assert.equal(dispatcher.connectionsOf('first.test'), 1)
})

test('sites without a connection are served once for all messages of a moment', async (t) => {
  const { dispatcher, started } = open(t, 1, { connectionsOf: () => 10, maxConnections: 2 })
  dispatcher.add([deliveryTo('1', 'one.test'), deliveryTo('2', 'two.test')])
  for (const site of ['one.test', 'two.test']) started[0]?.say({ type: 'greeted', site })
  dispatcher.add([deliveryTo('3', 'three.test'), deliveryTo('4', 'four.test')])
  const given = tasksOf(started[0])
  assert.ok(given.length < 4)
  const results = given.map(({ task }) => ({ task, kind: 'put back', delayMs: 0 }) as const)
  for (const result of results) started[0]?.say({ type: 'results', results: [result] })
  assert.equal(tasksOf(started[0]).length, given.length)
  await setImmediate()
  assert.ok(tasksOf(started[0]).length > given.length)
})

test('bulk mail shares connections once half of all are in use, urgent mail does not', (t) => {
  const connectionsFor = (_: string, deliveries: number) => Math.ceil(deliveries / 4)
  const limits = { connectionsOf: () => 10, connectionsFor, maxConnections: 16 }
  const { dispatcher, started } = open(t, 1, limits)
  const add = (site: string, count: number, queueClass: QueueClass) => {
    const names = Array.from({ length: count }, (_, number) => `${number}`)
    dispatcher.add(names.map((name) => deliveryTo(name, site, { queueClass })))
    started[0]?.say({ type: 'greeted', site })
  }
  add('first.test', 9, 10)
  add('second.test', 3, 10)
  assert.equal(dispatcher.connectionsOf('first.test'), 9)
  assert.equal(dispatcher.connectionsOf('second.test'), 1)
  add('second.test', 1, 1)
  assert.ok(dispatcher.connectionsOf('second.test') > 1)
})

test('connections of a busy site move to a new thread, unless its mail shares them', (t) => {
  for (const isShared of [false, true]) {
    const connectionsFor = (_: string, count: number) => (isShared ? Math.ceil(count / 4) : 20)
    const limits = { connectionsOf: () => 20, connectionsFor, maxConnections: 30 }
    const { dispatcher, started } = open(t, 2, limits)
    const add = (count: number) =>
      dispatcher.add(Array.from({ length: count }, (_, at) => bulkTo(`${at}`, 'busy.test')))
    add(1)
    started[0]?.say({ type: 'greeted', site: 'busy.test' })
    add(19)
    assert.equal(dispatcher.connectionsOf('busy.test'), 20)
    add(30)
    assert.equal(started.length, 2)
    const posted = started[0]?.posted.filter((message) => message.type === 'allocate') ?? []
    const isLowered = posted.some(
      ({ connections }, at) => connections < (posted[at - 1]?.connections ?? 0),
    )
    assert.equal(isLowered, !isShared)
  }
})

test('a site that replied the last time is not limited as sites without a greeting are', (t) => {
  const standingOf = (site: string) => (site === 'known.test' ? 'replied' : 'new')
  const { dispatcher } = open(t, 1, { connectionsOf: () => 10, maxConnections: 20, standingOf })
  const add = (site: string) =>
    dispatcher.add(Array.from({ length: 10 }, (_, at) => bulkTo(`${at}`, site)))
  add('new.test')
  assert.equal(dispatcher.connectionsOf('new.test'), 5)
  const { projectId } = bulkTo('1', 'known.test')
  assert.equal(dispatcher.lacksConnection('other.test', projectId), true)
  assert.equal(dispatcher.lacksConnection('known.test', projectId), false)
  add('known.test')
  assert.equal(dispatcher.connectionsOf('known.test'), 10)
})
