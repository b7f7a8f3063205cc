import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { createComposing } from '../../../src/outbound/composing/composing.ts'
import { createContentHistory } from '../../../src/outbound/composing/contents.ts'
import type { Delivery } from '../../../src/outbound/delivery.ts'
import type { TransferableMessage } from '../../../src/outbound/protocol.ts'
import { createFakeThreads, tasksOf } from '../fake-threads.ts'
import { makeDelivery, makeSource } from '../harness.ts'

const MEGABYTE = 1024 * 1024

function open(t: TestContext) {
  const fakes = createFakeThreads()
  const history = createContentHistory()
  const clock = { now: 1_000_000 }
  const log: string[] = []
  const made: { delivery: Delivery; bytes: number }[] = []
  const name = ({ recipient }: Delivery) => recipient.split('@')[0]
  const composing = createComposing({
    settings: {} as never,
    log: silentLog(),
    hangMs: 1_000,
    restMs: 1_000,
    history,
    now: () => clock.now,
    composed(delivery, message) {
      log.push(`composed ${name(delivery)}`)
      made.push({ delivery, bytes: message.octets.length })
    },
    failed: (delivery, error) => log.push(`failed ${name(delivery)}: ${error}`),
    putBack: (delivery, delayMs) => log.push(`put back ${name(delivery)} ${delayMs}`),
    createThreads: fakes.createThreads,
  })
  t.after(() => composing.stop())

  /** Replies for the thread that its last message is composed. */
  function make(bytes = 10, cpuMs = 100): void {
    const thread = fakes.started.at(-1)
    const task = tasksOf(thread).at(-1)
    if (thread === undefined || task === undefined) throw new Error('nothing was given')
    thread.say({ type: 'composed', task: task.task, composed: messageOf(bytes), cpuMs })
  }

  return { composing, history, clock, log, made, make, ...fakes }
}

function messageOf(bytes: number): TransferableMessage {
  return { octets: new Uint8Array(bytes), subject: 'x', needsSmtputf8: false, faults: [] }
}

function deliveryTo(name: string, change: Partial<Delivery> & { content?: string } = {}): Delivery {
  const { content = name, ...rest } = change
  const pool = { key: 'pool', site: 'site' } as Delivery['pool']
  const own = { domain: 'a.test', recipient: `${name}@a.test`, projectId: 'p' }
  return makeDelivery({ ...own, pool, source: makeSource({ id: content }), ...rest })
}

const given = (fakes: Pick<ReturnType<typeof createFakeThreads>, 'started'>) =>
  fakes.started.flatMap(tasksOf).map(({ recipient }) => recipient.split('@')[0])

test('projects take turns, one message at a time, more urgent messages first', (t) => {
  const { composing, make, log, ...fakes } = open(t)
  for (const name of ['a1', 'a2', 'a3']) composing.add(deliveryTo(name, { projectId: 'a' }))
  composing.add(deliveryTo('b1', { projectId: 'b' }))
  composing.add(deliveryTo('c1', { projectId: 'c', queueClass: 10 }))
  assert.deepEqual(given(fakes), ['a1'])
  for (let count = 0; count < 4; count += 1) make()
  assert.deepEqual(given(fakes), ['a1', 'a2', 'b1', 'a3', 'c1'])
  assert.equal(fakes.started.length, 1)
  assert.deepEqual(log, ['composed a1', 'composed a2', 'composed b1', 'composed a3'])
})

test('a content at which the thread ended once is composed alone, without running its templates', (t) => {
  const { composing, make, log, ...fakes } = open(t)
  composing.add(deliveryTo('harmful'))
  composing.add(deliveryTo('other'))
  fakes.started[0]?.end({ composing: 1, reason: 'it took too long' })
  const [again] = tasksOf(fakes.started[1])
  assert.equal(again?.recipient, 'harmful@a.test')
  assert.ok(again && 'source' in again.making && again.making.source.isPlain === true)
  make()
  make()
  assert.deepEqual(log, ['composed harmful', 'composed other'])
})

test('F10: a content at which the thread ended twice fails with all its emails, waiting and new', (t) => {
  const { composing, make, log, ...fakes } = open(t)
  for (const name of ['x1', 'x2', 'x3']) composing.add(deliveryTo(name, { content: 'harmful' }))
  composing.add(deliveryTo('other'))
  fakes.started[0]?.end({ reason: 'no memory' })
  assert.deepEqual(log, [])
  fakes.started[1]?.end({ reason: 'no memory' })
  assert.deepEqual(log, ['failed x1: no memory', 'failed x2: no memory', 'failed x3: no memory'])
  make()
  composing.add(deliveryTo('x4', { content: 'harmful' }))
  assert.deepEqual(log.slice(3), ['composed other', 'failed x4: no memory'])
  assert.equal(fakes.started.length, 3)
})

test('a thread that ends before it has started is no fault of a content', (t) => {
  const { composing, make, history, log, ...fakes } = open(t)
  composing.add(deliveryTo('one'))
  fakes.started[0]?.end({ hasStarted: false })
  assert.equal(history.threadEnds(makeSource({ id: 'one' }).content), 0)
  make()
  assert.deepEqual(log, ['composed one'])
})

test('a project whose composed messages wait for slow receivers delays only its own mail', (t) => {
  const { composing, make, made, log } = open(t)
  for (const name of ['a1', 'a2']) composing.add(deliveryTo(name, { projectId: 'a' }))
  composing.add(deliveryTo('b1', { projectId: 'b' }))
  make(60 * MEGABYTE)
  make(60 * MEGABYTE)
  assert.deepEqual(log, ['composed a1', 'composed b1'])
  assert.equal(composing.waiting(), 1)
  composing.release('a', made[0]?.bytes ?? 0)
  make()
  assert.deepEqual(log.slice(2), ['composed a2'])
})

test('a composed message that no server would accept is not sent', (t) => {
  const { composing, make, log } = open(t)
  composing.add(deliveryTo('huge'))
  make(129 * MEGABYTE)
  assert.match(log[0] ?? '', /^failed huge: the encoded message has 136 MB/)
})

test('deliveries refused for lack of memory are admitted again one by one', (t) => {
  const { composing, clock } = open(t)
  const add = (name: string, projectId: string) => composing.add(deliveryTo(name, { projectId }))
  for (let count = 0; count < 51; count += 1) assert.equal(add(`a${count}`, 'a'), 0)
  const delays = ['x', 'y', 'z'].map((name) => add(name, 'a'))
  assert.deepEqual(delays, [1_250, 1_500, 1_750])
  assert.equal(add('b', 'b'), 0)
  clock.now += 60_000
  assert.equal(add('w', 'a'), 1_250)
})

test('the deliveries for a site can be recalled, also while one is being composed', (t) => {
  const { composing, make, log } = open(t)
  const elsewhere = { pool: { key: 'other', site: 'other' } as Delivery['pool'] }
  for (const name of ['one', 'two']) composing.add(deliveryTo(name))
  composing.add(deliveryTo('three', elsewhere))
  composing.recall(({ pool }) => pool.site === 'site')
  assert.deepEqual(log, ['put back two 0'])
  make()
  make()
  assert.deepEqual(log.slice(1), ['put back one 0', 'composed three'])
})

test('stop puts back all waiting deliveries, and nothing is composed afterwards', async (t) => {
  const { composing, log, ...fakes } = open(t)
  for (const name of ['one', 'two']) composing.add(deliveryTo(name))
  await composing.stop()
  assert.deepEqual(log, ['put back one 0', 'put back two 0'])
  assert.equal(fakes.started.length, 1)
})

test('the thread ends after a while without work', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { composing, make, rests } = open(t)
  composing.add(deliveryTo('one'))
  make()
  t.mock.timers.tick(999)
  assert.equal(rests(), 0)
  t.mock.timers.tick(1)
  assert.equal(rests(), 1)
})
