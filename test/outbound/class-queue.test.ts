import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueueClass } from '../../src/base/queue-class.ts'
import { createClassQueue } from '../../src/outbound/class-queue.ts'

type Item = { name: string; queueClass: QueueClass; projectId: string }

function queueOf(...items: [name: string, queueClass: QueueClass, projectId: string][]) {
  const queue = createClassQueue<Item>((item) => item)
  for (const [name, queueClass, projectId] of items) queue.push({ name, queueClass, projectId })
  return queue
}

function drain(queue: ReturnType<typeof queueOf>): string[] {
  const names: string[] = []
  for (let item = queue.peek(); item !== undefined; item = queue.peek()) {
    assert.equal(queue.shift(), item)
    names.push(item.name)
  }
  assert.equal(queue.size(), 0)
  return names
}

test('the most urgent class comes first, and within it the oldest item', () => {
  const queue = queueOf(['a', 10, 'p'], ['b', 1, 'p'], ['c', 5, 'p'], ['d', 1, 'p'])
  assert.deepEqual(drain(queue), ['b', 'd', 'c', 'a'])
})

test('within a class, projects take turns', () => {
  const backlog = Array.from({ length: 5 }, (_, at) => [`p${at}`, 1, 'p'] as const)
  const queue = queueOf(...backlog.map((item) => [...item] as [string, QueueClass, string]))
  queue.push({ name: 'q0', queueClass: 1, projectId: 'q' })
  queue.push({ name: 'q1', queueClass: 1, projectId: 'q' })
  assert.deepEqual(drain(queue), ['p0', 'q0', 'p1', 'q1', 'p2', 'p3', 'p4'])
})

test('all waiting items can be taken at once and searched', () => {
  const queue = queueOf(['a', 10, 'p'], ['b', 1, 'q'], ['c', 1, 'p'])
  assert.ok(queue.some(({ name }) => name === 'c'))
  assert.ok(!queue.some(({ name }) => name === 'd'))
  const names = queue.takeAll().map(({ name }) => name)
  assert.deepEqual(names, ['b', 'c', 'a'])
  assert.deepEqual([queue.size(), queue.shift()], [0, undefined])
})

test('matching items can be taken; the others keep their turns', () => {
  const queue = queueOf(['a', 10, 'p'], ['b', 1, 'q'], ['c', 1, 'p'], ['d', 1, 'q'], ['e', 1, 'r'])
  const taken = queue.take(({ name }) => 'ace'.includes(name)).map(({ name }) => name)
  assert.deepEqual(taken, ['c', 'e', 'a'])
  assert.deepEqual(drain(queue), ['b', 'd'])
})
