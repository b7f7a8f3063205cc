import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Delivery } from '../../src/outbound/delivery.ts'
import type { DeliveryThread } from '../../src/outbound/protocol.ts'
import { createThreadCache, createThreadWork } from '../../src/outbound/thread-messages.ts'
import { makeDelivery, makeSource } from './harness.ts'

const options = {
  maxWeight: 10,
  weigh: (text: string) => text.length,
  keyOf: (text: string) => text,
}

test('a value is new only once and keeps its number', () => {
  const ledger = createThreadCache<string>(options)
  const first = ledger.use('aaa')
  assert.equal(first.isNew, true)
  assert.deepEqual(ledger.use('aaa'), { id: first.id, isNew: false })
})

test('the longest unused values are evicted first, and none in use', () => {
  const ledger = createThreadCache<string>(options)
  const [a, b, c] = ['aaaa', 'bbbb', 'cccc'].map((text) => ledger.use(text).id)
  assert.deepEqual(ledger.takeEvicted(), [])
  ledger.release(b!)
  ledger.release(a!)
  assert.deepEqual(ledger.takeEvicted(), [b])
  assert.deepEqual(ledger.takeEvicted(), [])
  assert.equal(ledger.use('bbbb').isNew, true)
  assert.deepEqual(ledger.takeEvicted(), [a])
  assert.equal(ledger.use('cccc').id, c)
})

test('a thread that its owner ends while it has no tasks is not kept in memory', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const work = createThreadWork()
  const runOneTask = () => {
    const thread: DeliveryThread = { postMessage: () => undefined }
    const pool = { key: 'pool', site: 'site' } as Delivery['pool']
    const delivery = makeDelivery({ domain: 'a.test', pool })
    work.add(thread, delivery)
    assert.equal(work.takeMessages()[0]?.thread, thread)
    assert.equal(work.count(thread), 1)
    work.release(thread, delivery)
    assert.equal(work.count(thread), 0)
    return new WeakRef(thread)
  }
  const ended = runOneTask()
  await turn()
  collectGarbage()
  assert.equal(ended.deref(), undefined)
  assert.deepEqual(work.takeMessages(), [])
})

test('what a thread forgets goes along with its next work, in one message', () => {
  const work = createThreadWork()
  const thread: DeliveryThread = { postMessage: () => undefined }
  const pool = { key: 'pool', site: 'site' } as Delivery['pool']
  const deliveryOf = (id: string) =>
    makeDelivery({ domain: 'a.test', pool, source: makeSource({ id, body: 'x'.repeat(5e6) }) })
  const send = (id: string) => {
    const delivery = deliveryOf(id)
    work.add(thread, delivery)
    const messages = work.takeMessages()
    assert.equal(messages.length, 1)
    work.release(thread, delivery)
    const [first] = messages
    assert.ok(first?.message.type === 'work')
    return first.message
  }
  const first = send('first')
  assert.deepEqual(first.forgotten, { contents: [], keys: [] })
  const again = send('first')
  assert.deepEqual([again.contents.length, again.forgotten.contents.length], [0, 0])
  assert.deepEqual(send('second').forgotten.contents, [first.contents[0]?.id])
})
