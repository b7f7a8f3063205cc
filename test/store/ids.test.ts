import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createIdSource, idTime, isUuid, newId } from '../../src/store/ids.ts'

test('an id is a UUIDv7 of the present', () => {
  const before = Date.now()
  const id = newId()
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.ok(isUuid(id))
  assert.ok(idTime(id) >= before && idTime(id) <= Date.now())
})

test('ids are unique and sort in the order of creation', () => {
  const ids = Array.from({ length: 50_000 }, newId)
  assert.equal(new Set(ids).size, ids.length)
  assert.deepEqual(ids, [...ids].sort())
})

test('ids increase even when the clock steps back', () => {
  const steps = fc.array(fc.integer({ min: -3_600_000, max: 3_600_000 }), { maxLength: 50 })
  const property = fc.property(steps, fc.integer({ min: 1, max: 200 }), (moves, times) => {
    let at = 1_700_000_000_000
    const next = createIdSource(() => at)
    const ids: string[] = []
    for (const move of moves) {
      at += move
      for (let i = 0; i < times; i += 1) ids.push(next())
    }
    assert.deepEqual(ids, [...new Set(ids)].sort())
  })
  fc.assert(property, { numRuns: 20 })
})

test('more ids than one millisecond can count run ahead of the clock', () => {
  const next = createIdSource(() => 1000)
  const ids = Array.from({ length: 5000 }, next)
  assert.deepEqual(ids, [...new Set(ids)].sort())
  assert.ok(idTime(ids.at(-1) ?? '') > 1000)
})

test('the example of RFC 9562 is read', () => {
  assert.equal(idTime('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), 1_645_557_742_000)
})

for (const text of [
  '',
  'x',
  '017f22e2-79b0-7cc3-98c4-dc0c0c07398',
  '017F22E2-79B0-7CC3-98C4-DC0C0C07398F',
  '../../etc/passwd',
  '017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n',
]) {
  test(`${JSON.stringify(text)} is no id`, () => {
    assert.equal(isUuid(text), false)
    assert.throws(() => idTime(text), TypeError)
  })
}

test('a UUID of another version has no time', () => {
  assert.throws(() => idTime('919108f7-52d1-4320-9bac-f847db4148a8'), TypeError)
})
