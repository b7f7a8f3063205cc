import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSiteQueues, type UnresolvedTask } from '../../../src/outbound/sites/site-queues.ts'

const resolving = (projectId: string): UnresolvedTask => ({ site: 'a.test', projectId })

test('a backlog of one project leaves a quarter of the capacity to others', () => {
  const queues = createSiteQueues(() => 0)
  const take = (projectId: string) => {
    let count = 0
    for (; queues.projectCapacity(projectId, 1_000) > 0; count++)
      queues.enterResolving(resolving(projectId))
    return count
  }
  assert.equal(take('bulk'), 750)
  assert.ok(take('second') > 100)
  assert.ok(queues.projectCapacity('third', 1_000) > 10)
  assert.equal(queues.projectCapacity('bulk', 1_000), 0)
  queues.leaveResolving(resolving('bulk'))
  assert.equal(queues.count('a.test'), queues.total())
})

test('the whole capacity of a site may be used at once', () => {
  const queues = createSiteQueues(() => 0)
  const capacity = queues.projectCapacity('p', 1_000)
  assert.equal(capacity, 750)
  for (let at = 0; at < capacity; at++) queues.enterResolving(resolving('p'))
  assert.equal(queues.projectCapacity('p', 1_000), 0)
})
