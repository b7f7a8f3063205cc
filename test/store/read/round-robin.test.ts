import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoundRobin } from '../../../src/store/read/round-robin.ts'

function filled(waiting: readonly string[]) {
  const lines = createRoundRobin<string>()
  for (const each of waiting) lines.add(each.slice(0, 1), each)
  return lines
}

function takeAll(lines: ReturnType<typeof filled>): string[] {
  const taken: string[] = []
  for (let next = lines.take(); next !== undefined; next = lines.take()) taken.push(next)
  return taken
}

test('queues are served in turn, each first in, first out', () => {
  const lines = filled(['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
  assert.deepEqual(takeAll(lines), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  assert.ok(lines.isEmpty())
})

test('a queue that was empty comes after the waiting queues', () => {
  const lines = filled(['a1', 'a2', 'b1'])
  assert.equal(lines.take(), 'a1')
  lines.add('c', 'c1')
  assert.deepEqual(takeAll(lines), ['b1', 'a2', 'c1'])
})

test('entries that are taken out leave the order of the others unchanged', () => {
  const lines = filled(['a1', 'a2', 'b1', 'b2', 'c1'])
  assert.deepEqual(
    lines.takeOut((each) => ['a1', 'b2', 'c1'].includes(each)),
    ['a1', 'b2', 'c1'],
  )
  assert.deepEqual([lines.count('a'), lines.count('b'), lines.count('c')], [1, 1, 0])
  assert.deepEqual(takeAll(lines), ['a2', 'b1'])
})
