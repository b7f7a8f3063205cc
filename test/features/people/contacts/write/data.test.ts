import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../../src/base/errors.ts'
import { mergeData, parseData } from '../../../../../src/features/people/contacts/write/data.ts'

const MAX = 64 * 1024
/** An object whose JSON has that many bytes. */
const ofSize = (bytes: number) => ({ x: 'y'.repeat(bytes - '{"x":""}'.length) })

function refusal(act: () => unknown): string {
  try {
    act()
    return 'none'
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.equal(error.status, 422)
    return (error.fields ?? []).map(({ field, code }) => `${field} ${code}`).join()
  }
}

test('data of 64 KB of JSON is accepted, and one byte more is refused', () => {
  assert.equal(
    refusal(() => parseData(ofSize(MAX))),
    'none',
  )
  assert.equal(
    refusal(() => parseData(ofSize(MAX + 1))),
    'data too_big',
  )
})

test('the limit counts bytes instead of characters, for any kind of data', () => {
  assert.equal(
    refusal(() => parseData({ x: 'ä'.repeat(MAX / 2) })),
    'data too_big',
  )
  assert.equal(
    refusal(() => parseData(['y'.repeat(MAX)])),
    'data too_big',
  )
})

test('many small changes do not grow a contact beyond 64 KB', () => {
  const stored = { ...ofSize(MAX - 100) }
  assert.equal(
    refusal(() => mergeData(stored, { more: 'z'.repeat(50) })),
    'none',
  )
  assert.equal(
    refusal(() => mergeData(stored, { more: 'z'.repeat(100) })),
    'data too_big',
  )
  assert.equal(
    refusal(() => mergeData(stored, { x: null, more: 'z'.repeat(100) })),
    'none',
  )
})

test('a locale for one call is accepted, and must be a string', () => {
  const { changes, variables } = parseData({ locale: { value: 'de', persistent: false } })
  assert.deepEqual([changes, variables], [{}, { locale: 'de' }])
  const once = (value: unknown) => ({ locale: { value, persistent: false } })
  assert.equal(
    refusal(() => parseData(once(7))),
    'data.locale invalid_type',
  )
  assert.equal(
    refusal(() => parseData({ locale: { value: 'de' } })),
    'data.locale invalid_type',
  )
  assert.equal(
    refusal(() => parseData(once(null))),
    'none',
  )
})

/** `levels` objects, one in another. */
const nest = (levels: number): unknown => (levels === 0 ? 1 : { a: nest(levels - 1) })
const keys = (count: number, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, at]))

for (const [name, data, expected] of [
  ['twenty levels', nest(20), 'none'],
  ['one level more', nest(21), `data.${'a.'.repeat(19)}a too_big`],
  ['lists, which nest too', { x: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]] }, deepList()],
  ['lists deeper than the stack', { x: [stackBreaker()] }, deepList()],
  ['a key of 255 characters', { ['k'.repeat(255)]: 1 }, 'none'],
  ['a longer key', { ['k'.repeat(256)]: 1 }, `data.${'k'.repeat(60)}… too_big`],
  [
    'a longer key further in',
    { a: [{ ['k'.repeat(256)]: 1 }] },
    `data.a.0.${'k'.repeat(60)}… too_big`,
  ],
  ['an empty key', { '': 1 }, 'data too_small'],
  ['a key with a NUL', { 'a\0b': 1 }, 'data.a\0b invalid_string'],
  ['one further in', { a: [{ 'x\ny': 1 }] }, 'data.a.0.x\ny invalid_string'],
  ['one that would delete', { '\x7f': null }, 'data.\x7f invalid_string'],
  ['a key with half a character', { '\ud800': 1 }, 'data.\ud800 invalid_string'],
  ['such characters in values', { a: '\0\n\ud800' }, 'none'],
  ['a number that JSON cannot keep', { a: { b: JSON.parse('1e999') } }, 'data.a.b invalid_type'],
  [
    'one for this call only',
    { a: { value: JSON.parse('-1e999'), persistent: false } },
    'data.a.value invalid_type',
  ],
  ['no object', ['x', 1], 'none'],
] as const) {
  test(`${name}: ${expected === 'none' ? 'accepted' : 'refused at its path'}`, () => {
    assert.equal(
      refusal(() => parseData(data)),
      expected,
    )
  })
}

function stackBreaker(): unknown {
  return JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
}

function deepList(): string {
  return `data.x${'.0'.repeat(19)} too_big`
}

test('a contact has at most 500 keys, in one change or in many', () => {
  assert.equal(
    refusal(() => mergeData(null, keys(500))),
    'none',
  )
  assert.equal(
    refusal(() => mergeData(null, keys(501))),
    'data too_big',
  )
  assert.equal(
    refusal(() => mergeData(keys(500), { more: 1 })),
    'data too_big',
  )
  assert.equal(
    refusal(() => mergeData(keys(500), { k0: null, more: 1 })),
    'none',
  )
  assert.equal(
    refusal(() => mergeData(keys(500), { k0: 'other' })),
    'none',
  )
})

test('names of prototypes are ordinary keys and change no prototype', () => {
  const text = '{"__proto__":{"polluted":1},"constructor":{"x":1},"prototype":2,"toString":3}'
  const { changes, variables } = parseData(JSON.parse(text))
  assert.deepEqual(Object.keys(changes), ['__proto__', 'constructor', 'prototype', 'toString'])
  const data = mergeData(mergeData(null, changes), { hasOwnProperty: 1, constructor: null })
  assert.equal(
    JSON.stringify(data),
    '{"__proto__":{"polluted":1},"prototype":2,"toString":3,"hasOwnProperty":1}',
  )
  for (const object of [changes, variables, data]) {
    assert.equal(Object.getPrototypeOf(object), Object.prototype)
  }
  assert.equal(Reflect.get({}, 'polluted'), undefined)
  assert.equal(mergeData(null, { __proto__: null }), null)
})

test('a new contact has the values of its changes, and none of the keys that they delete', () => {
  assert.deepEqual(mergeData(null, { name: 'Ada', city: null, seats: 5 }), {
    name: 'Ada',
    seats: 5,
  })
  assert.equal(mergeData(null, { city: null }), null)
  assert.equal(mergeData(null, {}), null)
})
