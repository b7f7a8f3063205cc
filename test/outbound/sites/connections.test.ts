import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createAllocations } from '../../../src/outbound/sites/connections.ts'

const threads = ['one', 'two']

type Changes = ReturnType<ReturnType<typeof createAllocations<string>>['lower']>

test('connections spread over the threads, and no more are allocated than needed', () => {
  const allocations = createAllocations<string>(100)
  assert.deepEqual(allocations.raise({ site: 's', needs: 5, threads }), [
    { thread: 'one', site: 's', connections: 3 },
    { thread: 'two', site: 's', connections: 2 },
  ])
  assert.deepEqual(allocations.raise({ site: 's', needs: 4, threads }), [])
  assert.equal(allocations.total('s'), 5)
})

test('a lower allocation counts only when it is confirmed', () => {
  const allocations = createAllocations<string>(100)
  allocations.raise({ site: 's', needs: 10, threads })
  const changes = allocations.lower('s', 4)
  assert.deepEqual(
    changes.map(({ connections }) => connections),
    [2, 2],
  )
  assert.deepEqual(allocations.lower('s', 4), [])
  assert.equal(allocations.total('s'), 10)
  for (const { thread } of changes) allocations.confirm(thread, 's', 2)
  assert.equal(allocations.total('s'), 4)
})

test('an idle site releases its connections at once, and a late confirmation changes nothing', () => {
  const allocations = createAllocations<string>(4)
  allocations.raise({ site: 'idle', needs: 4, threads })
  allocations.lower('idle', 3)
  assert.deepEqual(allocations.release('idle'), ['one', 'two'])
  assert.equal(allocations.total('idle'), 0)
  assert.equal(allocations.raise({ site: 'busy', needs: 3, threads }).length, 2)
  assert.equal(allocations.raise({ site: 'idle', needs: 1, threads }).length, 1)
  for (const thread of threads) assert.equal(allocations.confirm(thread, 'idle', 0), false)
  assert.equal(allocations.total('idle'), 1)
})

test('connections move to a thread that came later', () => {
  const allocations = createAllocations<string>(100)
  allocations.raise({ site: 's', needs: 10, threads: ['one'] })
  assert.deepEqual(allocations.rebalance('s', threads), [
    { thread: 'one', site: 's', connections: 5 },
  ])
  allocations.confirm('one', 's', 5)
  allocations.raise({ site: 's', needs: 10, threads })
  assert.equal(allocations.total('s'), 10)
  assert.deepEqual(allocations.rebalance('s', threads), [])
})

test('a task goes to the thread with the fewest tasks per connection', () => {
  const allocations = createAllocations<string>(100)
  allocations.raise({ site: 's', needs: 3, threads })
  const load = new Map([
    ['one', 5],
    ['two', 4],
  ])
  assert.equal(
    allocations.choose('s', (thread) => load.get(thread) ?? 0),
    'one',
  )
  assert.equal(
    allocations.choose('unknown', () => 0),
    undefined,
  )
})

test('the connections of an ended thread are free', () => {
  const allocations = createAllocations<string>(4)
  allocations.raise({ site: 's', needs: 4, threads })
  allocations.drop('one')
  assert.equal(allocations.total('s'), 2)
  assert.deepEqual(allocations.raise({ site: 's', needs: 4, threads: ['two', 'three'] }), [
    { thread: 'three', site: 's', connections: 2 },
  ])
})

type Move = { kind: number; site: string; amount: number }

test('allocations of all threads together never exceed the limits', () => {
  const moves = fc.array(
    fc.record({
      kind: fc.integer({ min: 0, max: 5 }),
      site: fc.constantFrom('a', 'b', 'c'),
      amount: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(moves, (list: Move[]) => {
      const allocations = createAllocations<string>(12)
      /** The most connections that each thread may have open by its messages. */
      const held = new Map<string, number>()
      const pending: Changes = []
      const apply = (changes: Changes) => {
        for (const change of changes) {
          const key = `${change.thread} ${change.site}`
          assert.notEqual(change.connections, held.get(key) ?? 0, 'a change that changes nothing')
          if (change.connections < (held.get(key) ?? 0)) pending.push(change)
          else held.set(key, change.connections)
        }
      }
      for (const { kind, site, amount } of list) {
        if (kind < 2) apply(allocations.raise({ site, needs: amount, threads }))
        if (kind === 2) apply(allocations.lower(site, amount))
        if (kind === 3) apply(allocations.lower(site, allocations.total(site) - 1))
        if (kind === 4) apply(allocations.rebalance(site, threads))
        const done = kind === 5 ? pending.shift() : undefined
        if (done !== undefined) {
          held.set(`${done.thread} ${done.site}`, done.connections)
          allocations.confirm(done.thread, done.site, done.connections)
        }
        const total = [...held.values()].reduce((sum, count) => sum + count, 0)
        assert.ok(total <= 12, `${total} connections`)
      }
    }),
  )
})
