import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createLanes,
  type Lane,
  type Lanes,
  MAX_BYTES,
} from '../../../../../src/features/outreach/webhooks/dispatch/lanes.ts'
import type { Task } from '../../../../../src/features/outreach/webhooks/dispatch/task-source.ts'

const MB = 1024 * 1024

/** A lane with tasks; their requests take as much as given. */
function fill(lanes: Lanes<Task>, key: string, sentBytes: number, projectId = key): Lane<Task> {
  const lane = lanes.open({ key, projectId })
  const tasks = Array.from({ length: 20 }, (_, number) => ({ number, bytes: 1_000, sentBytes }))
  lanes.addReady(lane, tasks)
  return lane
}

function startAll(lanes: Lanes<Task>) {
  const started = []
  for (let next = lanes.startNext(); next !== undefined; next = lanes.startNext())
    started.push(next)
  return started
}

test('a project whose requests hang leaves room for others, however many lanes it has', () => {
  const lanes = createLanes<Task>()
  for (let count = 0; count < 30; count += 1) fill(lanes, `big ${count}`, 2 * MB, 'big')
  const big = startAll(lanes)
  const held = big.reduce((sum, { task }) => sum + task.sentBytes, 0)
  assert.ok(held <= MAX_BYTES / 2 && held >= MAX_BYTES / 4, String(held))
  const other = fill(lanes, 'other', MB)
  assert.ok(lanes.roomToRead(other) > 0)
  assert.equal(startAll(lanes).length, 10)
  assert.equal(other.active, 10)
  // The end of a request makes room again.
  for (const started of big) lanes.end(started)
  assert.ok(startAll(lanes).some(({ lane }) => lane.projectId === 'big'))
})

test('a project with nothing in flight may start a request, whatever others hold', () => {
  const lanes = createLanes<Task>()
  for (let count = 0; count < 20; count += 1) fill(lanes, `project ${count}`, 8 * MB)
  const before = startAll(lanes)
  assert.equal(new Set(before.map(({ lane }) => lane.key)).size, 20)
  const late = fill(lanes, 'late', MB)
  assert.deepEqual(
    startAll(lanes).map(({ lane }) => lane.key),
    ['late'],
  )
  assert.equal(lanes.roomToRead(late), 0)
})

test('small requests are limited by their number only', () => {
  const lanes = createLanes<Task>()
  fill(lanes, 'a', 2_000)
  fill(lanes, 'b', 2_000)
  assert.equal(startAll(lanes).length, 20)
})
