import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createGrants, type GrantChange } from '../../../src/outbound/sites/allocations.ts'

const threads = ['one', 'two']

test('connections spread over the threads, and no more are granted than needed', () => {
  const grants = createGrants<string>(100)
  assert.deepEqual(grants.raise({ site: 's', needs: 5, threads }), [
    { thread: 'one', site: 's', connections: 3 },
    { thread: 'two', site: 's', connections: 2 },
  ])
  assert.deepEqual(grants.raise({ site: 's', needs: 4, threads }), [])
  assert.equal(grants.total('s'), 5)
})

test('a lower grant counts only when it is confirmed', () => {
  const grants = createGrants<string>(100)
  grants.raise({ site: 's', needs: 10, threads })
  const changes = grants.lower('s', 4)
  assert.deepEqual(
    changes.map(({ connections }) => connections),
    [2, 2],
  )
  assert.deepEqual(grants.lower('s', 4), [])
  assert.equal(grants.total('s'), 10)
  for (const { thread } of changes) grants.confirm(thread, 's', 2)
  assert.equal(grants.total('s'), 4)
})

test('connections move to a thread that came later', () => {
  const grants = createGrants<string>(100)
  grants.raise({ site: 's', needs: 10, threads: ['one'] })
  assert.deepEqual(grants.rebalance('s', threads), [{ thread: 'one', site: 's', connections: 5 }])
  grants.confirm('one', 's', 5)
  grants.raise({ site: 's', needs: 10, threads })
  assert.equal(grants.total('s'), 10)
  assert.deepEqual(grants.rebalance('s', threads), [])
})

test('work goes to the thread with the least of it for each connection', () => {
  const grants = createGrants<string>(100)
  grants.raise({ site: 's', needs: 3, threads })
  const load = new Map([
    ['one', 5],
    ['two', 4],
  ])
  assert.equal(
    grants.choose('s', (thread) => load.get(thread) ?? 0),
    'one',
  )
  assert.equal(
    grants.choose('unknown', () => 0),
    undefined,
  )
})

test('the connections of a thread that ended are free', () => {
  const grants = createGrants<string>(4)
  grants.raise({ site: 's', needs: 4, threads })
  grants.drop('one')
  assert.equal(grants.total('s'), 2)
  assert.deepEqual(grants.raise({ site: 's', needs: 4, threads: ['two', 'three'] }), [
    { thread: 'three', site: 's', connections: 2 },
  ])
})

type Move = { kind: number; site: string; amount: number }

test('whatever happens, threads are never told to hold more than the limits', () => {
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
      const grants = createGrants<string>(12)
      /** The most that each thread may have open, by the messages that it was sent. */
      const held = new Map<string, number>()
      const pending: GrantChange<string>[] = []
      const tell = (changes: GrantChange<string>[]) => {
        for (const change of changes) {
          const key = `${change.thread} ${change.site}`
          assert.notEqual(change.connections, held.get(key) ?? 0, 'a change that changes nothing')
          if (change.connections < (held.get(key) ?? 0)) pending.push(change)
          else held.set(key, change.connections)
        }
      }
      for (const { kind, site, amount } of list) {
        if (kind < 2) tell(grants.raise({ site, needs: amount, threads }))
        if (kind === 2) tell(grants.lower(site, amount))
        if (kind === 3) tell(grants.lower(site, grants.total(site) - 1))
        if (kind === 4) tell(grants.rebalance(site, threads))
        const done = kind === 5 ? pending.shift() : undefined
        if (done !== undefined) {
          held.set(`${done.thread} ${done.site}`, done.connections)
          grants.confirm(done.thread, done.site, done.connections)
        }
        const total = [...held.values()].reduce((sum, count) => sum + count, 0)
        assert.ok(total <= 12, `${total} connections`)
      }
    }),
  )
})
