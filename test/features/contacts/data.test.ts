import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { mergeData, readData } from '../../../src/features/contacts/data.ts'

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

test('data of 64 KB of JSON is taken, one byte more is not', () => {
  assert.equal(
    refusal(() => readData(ofSize(MAX))),
    'none',
  )
  assert.equal(
    refusal(() => readData(ofSize(MAX + 1))),
    'data too_big',
  )
})

test('bytes are counted, not characters, and whatever the data is', () => {
  assert.equal(
    refusal(() => readData({ x: 'ä'.repeat(MAX / 2) })),
    'data too_big',
  )
  assert.equal(
    refusal(() => readData(['y'.repeat(MAX)])),
    'data too_big',
  )
})

test('a contact does not grow beyond 64 KB by many small changes', () => {
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

test('a locale for one call is taken, and must be a string like any other', () => {
  const { changes, variables } = readData({ locale: { value: 'de', persistent: false } })
  assert.deepEqual([changes, variables], [{}, { locale: 'de' }])
  const once = (value: unknown) => ({ locale: { value, persistent: false } })
  assert.equal(
    refusal(() => readData(once(7))),
    'data.locale invalid_type',
  )
  assert.equal(
    refusal(() => readData({ locale: { value: 'de' } })),
    'data.locale invalid_type',
  )
  assert.equal(
    refusal(() => readData(once(null))),
    'none',
  )
})
