import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInFlight, type Flight } from '../../src/outbound/in-flight.ts'

const flight = (projectId: string, { id = 'c', bytes = 10 } = {}): Flight => ({
  site: 'a.test',
  projectId,
  content: { id, subject: '', body: 'x'.repeat(bytes), isText: false, attachments: [] },
})

test('a backlog of one project leaves a quarter of the room to others', () => {
  const inFlight = createInFlight(1e6)
  const take = (projectId: string) => {
    let count = 0
    for (; inFlight.roomOf(projectId, 1_000) > 0; count++) inFlight.enter(flight(projectId))
    return count
  }
  assert.equal(take('bulk'), 750)
  assert.ok(take('second') > 100)
  assert.ok(inFlight.roomOf('third', 1_000) > 10)
  assert.equal(inFlight.roomOf('bulk', 1_000), 0)
  inFlight.leave(flight('bulk'))
  assert.equal(inFlight.of('a.test'), inFlight.total())
})

test('the whole room that is told may be taken at once', () => {
  const inFlight = createInFlight(1e6)
  const room = inFlight.roomOf('p', 1_000)
  assert.equal(room, 750)
  for (let at = 0; at < room; at++) inFlight.enter(flight('p'))
  assert.equal(inFlight.roomOf('p', 1_000), 0)
})

test('large contents of one project leave memory to others', () => {
  const inFlight = createInFlight(1_000)
  inFlight.enter(flight('large', { id: 'one', bytes: 600 }))
  assert.equal(inFlight.roomOf('large', 100), 0)
  assert.ok(inFlight.roomOf('other', 100) > 0)
  inFlight.enter(flight('large', { id: 'one', bytes: 600 }))
  inFlight.leave(flight('large', { id: 'one', bytes: 600 }))
  assert.equal(inFlight.roomOf('large', 100), 0, 'one of two uses is left')
  inFlight.leave(flight('large', { id: 'one', bytes: 600 }))
  assert.ok(inFlight.roomOf('large', 100) > 0)
  assert.deepEqual([inFlight.total(), inFlight.sites()], [0, []])
})

test('who has nothing under way may begin until memory is full', () => {
  const inFlight = createInFlight(1_000)
  inFlight.enter(flight('a', { id: 'a', bytes: 900 }))
  inFlight.enter(flight('b', { id: 'b', bytes: 900 }))
  assert.equal(inFlight.isFull(), false)
  assert.ok(inFlight.roomOf('small', 100) > 0)
  inFlight.enter(flight('c', { id: 'c', bytes: 900 }))
  assert.equal(inFlight.isFull(), true)
})
