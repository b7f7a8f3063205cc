import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unwrapEventData } from '../../../../src/features/ground/events/non-persistent.ts'
import { isReservedEvent } from '../../../../src/features/ground/events/reserved.ts'

test('non-persistent values are unwrapped, and all other values stay unchanged', () => {
  const data = {
    code: { value: 'X1', persistent: false },
    nothing: { value: null, persistent: false },
    list: { value: [{ value: 1, persistent: false }], persistent: false },
    kept: { value: 'Y2', persistent: true },
    plain: { value: 3 },
    odd: { persistent: false },
    deep: { code: { value: 'X1', persistent: false } },
    text: 'text',
  }
  assert.deepEqual(unwrapEventData(data), {
    ...data,
    code: 'X1',
    nothing: null,
    list: [{ value: 1, persistent: false }],
  })
  assert.deepEqual(unwrapEventData(null), {})
})

test('unwrapping loses no key and makes no prototype', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
      assert.deepEqual(Object.keys(unwrapEventData(data)), Object.keys(data))
    }),
  )
  const hostile = JSON.parse('{"__proto__":{"value":{"admin":true},"persistent":false}}')
  const unwrapped = unwrapEventData(hostile)
  assert.equal(Object.getPrototypeOf(unwrapped), Object.prototype)
  assert.deepEqual(Object.entries(unwrapped), [['__proto__', { admin: true }]])
})

test('data that is not an object has no keys', () => {
  for (const data of [undefined, null, 7, 'text', [], [1]]) {
    assert.deepEqual(unwrapEventData(data), {})
  }
  assert.deepEqual(unwrapEventData({ a: [1] }), { a: [1] })
})

test('a name is reserved exactly when the service emits such events', () => {
  const reserved = ['email.', 'email.open', 'email.whatever', 'contact.subscribed']
  const more = ['contact.unsubscribed', 'segment.vip.entry', 'segment.a.exit', 'segment.entry']
  for (const name of [...reserved, ...more]) assert.ok(isReservedEvent(name), name)
  const free = ['email', 'emails.x', 'Email.open', 'contact.created', 'contact.subscribed2']
  const others = ['segment.foo', 'segments.a.entry', 'vip.entry', 'x.segment.a.exit', '']
  for (const name of [...free, ...others]) assert.ok(!isReservedEvent(name), name)
})
