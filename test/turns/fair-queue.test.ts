import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from '../../src/turns/fair-queue.ts'

function filled(waiting: readonly string[]) {
  const queue = createFairQueue<string>()
  for (const each of waiting) queue.add(each.slice(0, 1), each)
  return queue
}

function takeAll(queue: ReturnType<typeof filled>): string[] {
  const taken: string[] = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next)
  return taken
}

test('keys take turns, and the line of each is first in, first out', () => {
  const queue = filled(['a1', 'a2', 'a3', 'b1', 'c1', 'c2'])
  assert.deepEqual(takeAll(queue), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
  assert.ok(queue.isEmpty())
})

test('a key that comes anew has its turn after those that wait', () => {
  const queue = filled(['a1', 'a2', 'b1'])
  assert.equal(queue.take(), 'a1')
  queue.add('c', 'c1')
  assert.deepEqual(takeAll(queue), ['b1', 'a2', 'c1'])
})

test('entries that are taken out leave the order of the others unchanged', () => {
  const queue = filled(['a1', 'a2', 'b1', 'b2', 'c1'])
  assert.deepEqual(
    queue.takeOut((each) => ['a1', 'b2', 'c1'].includes(each)),
    ['a1', 'b2', 'c1'],
  )
  assert.deepEqual([queue.count('a'), queue.count('b'), queue.count('c')], [1, 1, 0])
  assert.deepEqual(takeAll(queue), ['a2', 'b1'])
})

test('what may not be taken is passed over and keeps its turn', () => {
  const queue = filled(['a1', 'a2', 'b1', 'b2', 'c1'])
  assert.equal(
    queue.take((each) => each.startsWith('d')),
    undefined,
  )
  assert.equal(
    queue.take((each) => each !== 'a1' && !each.startsWith('b')),
    'a2',
  )
  assert.equal(
    queue.take((each) => each !== 'b1'),
    'b2',
  )
  assert.equal(queue.countAll(), 3)
  // The turn of a key is over with what was taken, though it was not the first of its line.
  assert.deepEqual(takeAll(queue), ['c1', 'a1', 'b1'])
  assert.equal(queue.countAll(), 0)
})

test('all lines are counted together, whatever is added, taken and taken out', () => {
  const queue = filled(['a1', 'a2', 'b1'])
  assert.equal(queue.countAll(), 3)
  queue.take()
  assert.equal(queue.countAll(), 2)
  queue.takeOut((each) => each === 'a2')
  assert.equal(queue.countAll(), 1)
  queue.add('a', 'a3')
  assert.deepEqual([queue.countAll(), takeAll(queue)], [2, ['b1', 'a3']])
  assert.ok(queue.isEmpty())
})
