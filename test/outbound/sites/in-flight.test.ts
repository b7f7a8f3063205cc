import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInFlight, type Flight } from '../../../src/outbound/sites/in-flight.ts'

const flight = (projectId: string): Flight => ({ site: 'a.test', projectId })

test('a backlog of one project leaves a quarter of the room to others', () => {
  const inFlight = createInFlight()
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
  const inFlight = createInFlight()
  const room = inFlight.roomOf('p', 1_000)
  assert.equal(room, 750)
  for (let at = 0; at < room; at++) inFlight.enter(flight('p'))
  assert.equal(inFlight.roomOf('p', 1_000), 0)
})
