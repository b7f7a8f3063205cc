import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createTaskLines,
  MAX_TASK_BYTES,
  type RequestTask,
  type TaskLine,
  type TaskLines,
} from '../../../../../src/features/outreach/webhooks/dispatch/tasks.ts'

const MB = 1024 * 1024

/** A line with tasks; their requests take as much as given. */
function fill(
  lines: TaskLines<RequestTask>,
  key: string,
  sentBytes: number,
  projectId = key,
): TaskLine<RequestTask> {
  const line = lines.open({ id: key, projectId })
  const tasks = Array.from({ length: 20 }, (_, number) => ({ number, bytes: 1_000, sentBytes }))
  lines.addReady(line, tasks)
  return line
}

function startAll(lines: TaskLines<RequestTask>) {
  const started = []
  for (let next = lines.startNext(); next !== undefined; next = lines.startNext())
    started.push(next)
  return started
}

test('a project whose requests hang leaves room for others, however many lines it has', () => {
  const lines = createTaskLines<RequestTask>()
  for (let count = 0; count < 30; count += 1) fill(lines, `big ${count}`, 2 * MB, 'big')
  const big = startAll(lines)
  const held = big.reduce((sum, { task }) => sum + task.sentBytes, 0)
  assert.ok(held <= MAX_TASK_BYTES / 2 && held >= MAX_TASK_BYTES / 4, String(held))
  const other = fill(lines, 'other', MB)
  assert.ok(lines.roomToRead(other) > 0)
  assert.equal(startAll(lines).length, 10)
  assert.equal(other.active, 10)
  // The end of a request makes room again.
  for (const started of big) lines.end(started)
  assert.ok(startAll(lines).some(({ line }) => line.projectId === 'big'))
})

test('a project with nothing in flight may start a request, whatever others hold', () => {
  const lines = createTaskLines<RequestTask>()
  for (let count = 0; count < 20; count += 1) fill(lines, `project ${count}`, 8 * MB)
  const before = startAll(lines)
  assert.equal(new Set(before.map(({ line }) => line.id)).size, 20)
  const late = fill(lines, 'late', MB)
  assert.deepEqual(
    startAll(lines).map(({ line }) => line.id),
    ['late'],
  )
  assert.equal(lines.roomToRead(late), 0)
})

test('small requests are limited by their number only', () => {
  const lines = createTaskLines<RequestTask>()
  fill(lines, 'a', 2_000)
  fill(lines, 'b', 2_000)
  assert.equal(startAll(lines).length, 20)
})

test('projects take turns, and so do the lines of a project; a line that may not start is passed over', () => {
  const lines = createTaskLines<RequestTask>()
  const [slow] = [
    ...[fill(lines, 'a1', 1_000, 'a'), fill(lines, 'a2', 1_000, 'a')],
    ...[fill(lines, 'a3', 1_000, 'a'), fill(lines, 'b1', 1_000, 'b')],
  ]
  if (slow === undefined) throw new Error('no line')
  slow.width = 1
  const started = startAll(lines).map(({ line }) => line.id)
  assert.deepEqual(started.slice(0, 9), ['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a2', 'b1', 'a3'])
  assert.deepEqual(
    ['a1', 'a2', 'a3', 'b1'].map((key) => started.filter((each) => each === key).length),
    [1, 10, 10, 10],
  )
})

test('a line whose tasks are dropped has no turn until it has others; no other loses its own', () => {
  const lines = createTaskLines<RequestTask>()
  const line = fill(lines, 'a1', 1_000, 'a')
  fill(lines, 'a2', 1_000, 'a')
  fill(lines, 'b1', 1_000, 'b')
  assert.equal(lines.dropReady(line, 2), 18)
  assert.equal(lines.dropReady(line, 0), 2)
  assert.equal(lines.dropReady(line, 0), 0)
  assert.deepEqual([lines.startNext()?.line.id, lines.startNext()?.line.id], ['a2', 'b1'])
  lines.addReady(line, [{ number: 100, bytes: 1_000, sentBytes: 1_000 }])
  lines.addReady(line, [{ number: 101, bytes: 1_000, sentBytes: 1_000 }])
  const started = startAll(lines).filter((each) => each.line === line)
  assert.deepEqual(
    started.map(({ task }) => task.number),
    [100, 101],
  )
})
