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

test('projects take turns, and so do the lanes of a project; a lane that may not start is passed over', () => {
  const lanes = createLanes<Task>()
  const [slow] = [
    ...[fill(lanes, 'a1', 1_000, 'a'), fill(lanes, 'a2', 1_000, 'a')],
    ...[fill(lanes, 'a3', 1_000, 'a'), fill(lanes, 'b1', 1_000, 'b')],
  ]
  if (slow === undefined) throw new Error('no lane')
  slow.width = 1
  const started = startAll(lanes).map(({ lane }) => lane.key)
  assert.deepEqual(started.slice(0, 9), ['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a2', 'b1', 'a3'])
  assert.deepEqual(
    ['a1', 'a2', 'a3', 'b1'].map((key) => started.filter((each) => each === key).length),
    [1, 10, 10, 10],
  )
})

test('a lane whose tasks are dropped has no turn until it has others; no other loses its own', () => {
  const lanes = createLanes<Task>()
  const lane = fill(lanes, 'a1', 1_000, 'a')
  fill(lanes, 'a2', 1_000, 'a')
  fill(lanes, 'b1', 1_000, 'b')
  assert.equal(lanes.dropReady(lane, 2), 18)
  assert.equal(lanes.dropReady(lane, 0), 2)
  assert.equal(lanes.dropReady(lane, 0), 0)
  assert.deepEqual([lanes.startNext()?.lane.key, lanes.startNext()?.lane.key], ['a2', 'b1'])
  lanes.addReady(lane, [{ number: 100, bytes: 1_000, sentBytes: 1_000 }])
  lanes.addReady(lane, [{ number: 101, bytes: 1_000, sentBytes: 1_000 }])
  const started = startAll(lanes).filter((each) => each.lane === lane)
  assert.deepEqual(
    started.map(({ task }) => task.number),
    [100, 101],
  )
})
