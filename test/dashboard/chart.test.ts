import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  labelledPoints,
  layoutBars,
  layoutLines,
  movePoint,
  summarize,
} from '../../src/dashboard/logic/chart.ts'
import { layoutShares } from '../../src/dashboard/logic/shares.ts'

const BOX = { width: 340, height: 120, top: 10, right: 0, bottom: 10, left: 40 }

test('bars stand on one another and end at the highest tick', () => {
  const series = [
    { key: 'rest', values: [100, 200, 50] },
    { key: 'campaigns', values: [0, 400, null] },
  ]
  const { bars, ticks, centers, step } = layoutBars(series, 3, BOX)
  assert.deepEqual(
    bars.map(({ series: key, index }) => `${key} ${index}`),
    ['rest 0', 'rest 1', 'rest 2', 'campaigns 1'],
  )
  const [, low, , high] = bars
  assert.equal((high?.y ?? 0) + (high?.height ?? 0), low?.y)
  assert.equal((low?.y ?? 0) + (low?.height ?? 0), 110)
  assert.equal(high?.y, 10)
  assert.deepEqual(
    ticks.map(({ value }) => value),
    [0, 200, 400, 600],
  )
  assert.equal(centers.length, 3)
  assert.ok(step > (bars[0]?.width ?? 0))
})

test('a bar of one beside one of a million can be seen', () => {
  const { bars } = layoutBars([{ key: 'a', values: [1, 1_000_000] }], 2, BOX)
  assert.equal(bars[0]?.height, 1)
})

test('a chart of nothing has an axis without halves', () => {
  const { bars, ticks } = layoutBars([{ key: 'a', values: [0, 0] }], 2, BOX)
  assert.deepEqual(bars, [])
  assert.deepEqual(
    ticks.map(({ value }) => value),
    [0, 1],
  )
})

test('a line leaves a gap where a value is unknown', () => {
  const { lines } = layoutLines([{ key: 'a', values: [0, null, 10, 5] }], 4, BOX)
  assert.equal(lines[0]?.path.split('M').length, 3)
  assert.deepEqual(lines[0]?.dots, [110, null, 10, 60])
})

test('shares make the whole', () => {
  assert.deepEqual(layoutShares([1, 3]), [
    { start: 0, size: 25 },
    { start: 25, size: 75 },
  ])
  assert.deepEqual(layoutShares([0, 0]), [])
})

test('labels have room, and the newest point has one', () => {
  assert.deepEqual(
    labelledPoints(30, 36, 60),
    [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29],
  )
  assert.deepEqual(labelledPoints(3, 100, 60), [0, 1, 2])
  assert.deepEqual(labelledPoints(7, 10, 60), [0, 6])
})

test('arrow keys walk along the points and stop at the ends', () => {
  assert.equal(movePoint('ArrowRight', 3, 5), 4)
  assert.equal(movePoint('ArrowRight', 4, 5), 4)
  assert.equal(movePoint('PageUp', 3, 5), 0)
  assert.equal(movePoint('End', 0, 5), 4)
  assert.equal(movePoint('Enter', 0, 5), undefined)
})

test('the caption has the sum and the highest point', () => {
  const series = [
    { key: 'a', values: [1, 5, null] },
    { key: 'b', values: [2, 4, 0] },
  ]
  assert.deepEqual(summarize(series, 3), { total: 12, peak: { index: 1, value: 9 } })
  assert.equal(summarize([{ key: 'a', values: [0] }], 1).peak, undefined)
})
