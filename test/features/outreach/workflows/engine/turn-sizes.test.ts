import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurnSizes } from '../../../../../src/features/outreach/workflows/engine/turn-sizes.ts'

const ID = 'workflow'

test('a workflow that is not known begins with four, and more follow while more are due', () => {
  const sizes = createTurnSizes()
  const first = sizes.next(ID, 1)
  assert.deepEqual(first, { limit: 4, isHeavy: false })
  sizes.ended(ID, { ...first, walked: 4, tookMs: 1, isAll: false })
  const second = sizes.next(ID, 1)
  assert.deepEqual(second, { limit: 8, isHeavy: false })
  sizes.ended(ID, { ...second, walked: 8, tookMs: 2, isAll: false })
  const third = sizes.next(ID, 1)
  assert.deepEqual(third, { limit: 16, isHeavy: false })
  sizes.ended(ID, { ...third, walked: 16, tookMs: 4, isAll: false })
  assert.deepEqual(sizes.next(ID, 1), { limit: 32, isHeavy: true })
})

test('a heavy turn takes no more than what fits into its time', () => {
  const sizes = createTurnSizes()
  sizes.ended(ID, { limit: 40, isHeavy: true, walked: 40, tookMs: 20, isAll: false })
  assert.deepEqual(sizes.next(ID, 1), { limit: 24, isHeavy: true })
})

test('after a pause a turn is light, and turns at the same time are so together', () => {
  const sizes = createTurnSizes()
  sizes.ended(ID, { limit: 40, isHeavy: true, walked: 40, tookMs: 8, isAll: true })
  assert.deepEqual(sizes.next(ID, 1), { limit: 20, isHeavy: false })
  assert.deepEqual(sizes.next(ID, 4), { limit: 5, isHeavy: false })
})

test('a long turn that walks nothing is no measure', () => {
  const sizes = createTurnSizes()
  sizes.ended(ID, { limit: 4, isHeavy: false, walked: 0, tookMs: 6, isAll: true })
  assert.deepEqual(sizes.next(ID, 1), { limit: 4, isHeavy: false })
})

test('a slow first execution is forgotten after a quick one', () => {
  const sizes = createTurnSizes()
  sizes.ended(ID, { limit: 4, isHeavy: false, walked: 1, tookMs: 30, isAll: true })
  sizes.ended(ID, { limit: 1, isHeavy: false, walked: 1, tookMs: 1, isAll: true })
  assert.deepEqual(sizes.next(ID, 1), { limit: 4, isHeavy: false })
})

test('slow executions are taken one by one, and what one costs alone is no measure for many', () => {
  const sizes = createTurnSizes()
  sizes.ended(ID, { limit: 20, isHeavy: false, walked: 1, tookMs: 2, isAll: true })
  assert.deepEqual(sizes.next(ID, 1), { limit: 4, isHeavy: false })
  sizes.ended(ID, { limit: 4, isHeavy: false, walked: 1, tookMs: 30, isAll: true })
  assert.deepEqual(sizes.next(ID, 1), { limit: 1, isHeavy: false })
})
