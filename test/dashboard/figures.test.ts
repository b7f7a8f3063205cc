import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareFigures } from '../../src/dashboard/logic/figures.ts'

const NONE = { sent: 0, deliveryRate: 0, openRate: 0, clickRate: 0, complaintRate: 0 }
const BEFORE = { sent: 200, deliveryRate: 98.7, openRate: 38, clickRate: 6.4, complaintRate: 0.02 }
const NOW = { sent: 224, deliveryRate: 98.6, openRate: 41, clickRate: 6.4, complaintRate: 0.05 }

const round = (value: number | undefined) =>
  value === undefined ? undefined : Math.round(value * 100) / 100

test('counts change by percent, rates by points', () => {
  const shown = compareFigures(NOW, BEFORE).map(({ figure, value, change, mood }) => [
    ...[figure, value, round(change), mood],
  ])
  assert.deepEqual(shown, [
    ['sent', 224, 12, 'good'],
    ['delivered', 98.6, -0.1, 'bad'],
    ['opened', 41, 3, 'good'],
    ['clicked', 6.4, 0, 'same'],
    ['complained', 0.05, 0.03, 'bad'],
  ])
})

test('a rate of nothing is unknown, and nothing is compared with nothing', () => {
  const [sent, ...rates] = compareFigures(NONE, BEFORE)
  assert.equal(sent?.value, 0)
  assert.equal(sent?.change, -100)
  for (const { value, change } of rates) assert.deepEqual([value, change], [undefined, undefined])
  for (const { change } of compareFigures(NOW, NONE)) assert.equal(change, undefined)
})
