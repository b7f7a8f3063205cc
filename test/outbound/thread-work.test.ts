import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThreadCache } from '../../src/outbound/thread-work.ts'

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
