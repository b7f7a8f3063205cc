import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendEvents } from '../../src/features/ground/events/append.ts'
import { sql } from '../../src/store/drizzle.ts'
import type { EventRow } from '../../src/store/schema/events.ts'
import { holds } from '../../src/store/schema/messages.ts'
import type { Store } from '../../src/store/store.ts'
import type { Tx } from '../../src/store/write/transaction.ts'
import type { FollowerOptions } from '../../src/work/follower.ts'
import { openTestCore, START, type TestCore } from '../core.ts'
import { pause } from '../pause.ts'
import { movableFile } from '../store/test-store.ts'
import {
  addEvents,
  cursorsOf,
  type EventHandler,
  type Followed,
  followEvents,
} from './followed-events.ts'

/** What a handler writes. */
async function markHandled(tx: Tx, events: readonly EventRow[]): Promise<void> {
  for (const { name } of events) await tx.insert(holds).values({ domain: name, heldAt: 1 })
}

const names = (events: readonly EventRow[]) => events.map(({ name }) => name)
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `e${index}`)

type Options = Partial<EventHandler> & Partial<Omit<FollowerOptions<EventRow>, 'handlers'>>

/** One handler. The batches whose transactions were committed. */
function follow(
  core: Followed,
  { rows, cursors, batch, lingerMs, clock = () => 0, ...handler }: Options = {},
) {
  const batches: string[][] = []
  const name = 'webhooks'
  const follower = followEvents(
    core,
    [
      {
        name,
        handle: async (tx, events) => tx.afterCommit(() => batches.push(names(events))),
        ...handler,
      },
    ],
    { name, clock, ...(batch && { batch }), ...(lingerMs && { lingerMs }) },
  )
  return { follower, batches }
}

test('events arrive once, in order and in batches, and the cursor is saved for who waits', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(25))
  const { follower, batches } = follow(core, { batch: 10 })
  await follower.caughtUp()
  assert.deepEqual(
    batches.map(({ length }) => length),
    [10, 10, 5],
  )
  assert.deepEqual(batches.flat(), numbered(25))
  const [cursor] = await cursorsOf(core, 'webhooks')
  assert.deepEqual(cursor, { name: 'webhooks', seq: 25, updatedAt: START })
  await follower.stop()
})

test('a follower for which no row matters passes over all without a transaction, and begins when one may', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(25))
  let mayMatter = false
  const before = core.store.writes().committed
  const asked = Promise.withResolvers<void>()
  const { follower, batches } = follow(core, {
    batch: 10,
    mayMatter: async () => {
      asked.resolve()
      return mayMatter
    },
  })
  await asked.promise
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(core.store.writes().committed, before)
  await follower.caughtUp()
  const [cursor] = await cursorsOf(core, 'webhooks')
  assert.equal(cursor?.seq, 25)
  mayMatter = true
  await addEvents(core, 'later')
  await follower.caughtUp()
  assert.deepEqual(batches, [['later']])
  await follower.stop()
})

test('a handler with names gets only the rows with them, and its cursor passes over the others', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, 'a', 'b', 'a', 'c')
  const { follower, batches } = follow(core, {
    names: new Set(['a']),
    handle: async (tx, events, endAt) => {
      endAt(events[0]!)
      tx.afterCommit(() => batches.push(names(events.slice(0, 1))))
    },
  })
  await follower.caughtUp()
  assert.deepEqual(batches, [['a'], ['a']])
  await addEvents(core, 'b', 'c')
  await follower.caughtUp()
  const [cursor] = await cursorsOf(core, 'webhooks')
  assert.equal(cursor?.seq, 6)
  assert.equal(batches.length, 2)
  await follower.stop()
})

test('a batch that took long is followed by smaller ones, down to one event, and they grow again', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(150))
  let at = 0
  let msOfEvent = 1.2
  const sizes: number[] = []
  const { follower, batches } = follow(core, {
    clock: () => at,
    handle: async (tx, events) => {
      if (sizes.length === 2) msOfEvent = 30
      if (sizes.length === 4) msOfEvent = 0.1
      at += msOfEvent * events.length
      tx.afterCommit(() => {
        sizes.push(events.length)
        batches.push(names(events))
      })
    },
  })
  await follower.caughtUp()
  assert.deepEqual(sizes, [100, 10, 10, 1, 1, 2, 4, 8, 14])
  assert.deepEqual(batches.flat(), numbered(150))
  await follower.stop()
})

test('a handler may leave rows to the next transaction', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(7))
  const { follower, batches } = follow(core, {
    handle: async (tx, events, endAt) => {
      const handled = events.slice(0, 3)
      endAt(handled.at(-1)!)
      tx.afterCommit(() => batches.push(names(handled)))
    },
  })
  await follower.caughtUp()
  assert.deepEqual(batches, [['e0', 'e1', 'e2'], ['e3', 'e4', 'e5'], ['e6']])
  await follower.stop()
})

test('a commit wakes the follower, and a commit without events calls no handler', async (t) => {
  const core = await openTestCore(t)
  const came = Promise.withResolvers<string[]>()
  const { follower } = follow(core, {
    handle: async (tx, events) => tx.afterCommit(() => came.resolve(names(events))),
  })
  await follower.caughtUp()
  await core.store.write((tx) => tx.insert(holds).values({ domain: 'a.test', heldAt: 1 }))
  await addEvents(core, 'first')
  assert.deepEqual(await came.promise, ['first'])
  await follower.stop()
})

test('a follower reads nothing while nothing is committed', async (t) => {
  const core = await openTestCore(t)
  let asked = 0
  const list: Store['read']['list'] = (...args) => {
    asked += 1
    return core.store.read.list(...args)
  }
  const read = Object.create(core.store.read, { list: { value: list } })
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const { follower } = follow({ ...core, store: { ...core.store, read } })
  await follower.caughtUp()
  await turn()
  const before = asked
  t.mock.timers.tick(3_600_000)
  await turn()
  assert.equal(asked, before)
  await follower.stop()
})

test('a follower asks nothing after a commit that adds no rows', async (t) => {
  const core = await openTestCore(t)
  let asked = 0
  const { read } = core.store
  const list: Store['read']['list'] = (...args) => {
    asked += 1
    return read.list(...args)
  }
  const write: Store['write'] = (...args) => {
    asked += 1
    return core.store.write(...args)
  }
  const store = { ...core.store, write, read: Object.create(read, { list: { value: list } }) }
  const { follower, batches } = follow({ ...core, store })
  await addEvents(core, 'a')
  await follower.caughtUp()
  const before = asked
  for (const domain of numbered(20)) {
    await core.store.write((tx) => tx.insert(holds).values({ domain, heldAt: 1 }))
  }
  await assert.rejects(
    core.store.write(async (tx) => {
      const event = { projectId: 'p', contactId: null, emailId: null, data: null, at: START }
      await appendEvents(tx, [{ ...event, name: 'rolled back' }])
      throw new Error('no')
    }),
  )
  await turn()
  assert.equal(asked, before)
  assert.deepEqual(batches, [['a']])
  await follower.stop()
})

test('a cursor is saved with what a handler writes, else after a second', async (t) => {
  const core = await openTestCore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { follower, batches } = follow(core, {
    handle: async (tx, events) => {
      if (names(events).includes('writes')) await markHandled(tx, events)
      tx.afterCommit(() => batches.push(names(events)))
    },
  })
  const savedSeq = async () => (await cursorsOf(core, 'webhooks'))[0]?.seq
  await addEvents(core, 'nothing')
  await until(() => batches.length === 1)
  await turn()
  assert.equal(await savedSeq(), undefined)
  await addEvents(core, 'writes')
  await until(() => batches.length === 2)
  assert.equal(await savedSeq(), 2)
  await addEvents(core, 'nothing')
  await until(() => batches.length === 3)
  t.mock.timers.tick(999)
  await turn()
  assert.equal(await savedSeq(), 2)
  t.mock.timers.tick(1)
  await turn()
  assert.equal(await savedSeq(), 3)
  await addEvents(core, 'nothing')
  await until(() => batches.length === 4)
  await follower.stop()
  assert.equal(await savedSeq(), 4)
})

test('after a crash only rows come again whose handler wrote nothing', async (t) => {
  const core = await openTestCore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const handled: string[] = []
  const handle = async (tx: Tx, events: readonly EventRow[]) => {
    if (names(events).some((name) => name.startsWith('write'))) await markHandled(tx, events)
    tx.afterCommit(() => handled.push(...names(events)))
  }
  // Nobody stops it: its cursor stays where it is.
  const { follower } = follow(core, { handle })
  for (const name of ['write1', 'nothing1', 'write2', 'nothing2']) {
    await addEvents(core, name)
    await until(() => handled.at(-1) === name)
  }
  const next = follow(core, { handle })
  await next.follower.caughtUp()
  assert.deepEqual(handled, ['write1', 'nothing1', 'write2', 'nothing2', 'nothing2'])
  await Promise.all([follower.stop(), next.follower.stop()])
})

test('a batch whose commit was heard of too late does not come again', async (t) => {
  const core = await openTestCore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isHeard = false
  const write: Store['write'] = async (fn, options) => {
    const result = await core.store.write(fn, options)
    if (isHeard) return result
    isHeard = true
    throw new Error('the files were away for a moment')
  }
  const handle = markHandled
  const { follower } = follow({ ...core, store: { ...core.store, write } }, { handle })
  await addEvents(core, 'a', 'b')
  await until(() => isHeard)
  await addEvents(core, 'c')
  // A row that came twice would break the key of its mark.
  await follower.caughtUp()
  assert.equal((await cursorsOf(core, 'webhooks'))[0]?.seq, 3)
  await follower.stop()
})

test('no row comes twice after a commit that was durable but reported as failed', async (t) => {
  const core = await openTestCore(t, { isNew: true })
  const { lose } = movableFile(t, core.store, core.config.database.file)
  const handled: string[] = []
  let isDue = true
  let adding: Promise<unknown> | undefined
  // These rows are added in the transaction in which they are handled.
  core.store.onCommit(() => {
    adding ??= assert.rejects(addEvents(core, 'b', 'c', 'd'), { code: 'DATABASE_ERROR' })
  })
  const { follower } = follow(core, {
    handle: async (tx, events) => {
      await markHandled(tx, events)
      handled.push(...names(events))
      if (isDue) lose()
      isDue = false
    },
  })
  await addEvents(core, 'a')
  await until(() => !isDue)
  await adding
  await follower.caughtUp()
  assert.deepEqual(handled, ['a', 'b', 'c', 'd'])
  assert.equal((await cursorsOf(core, 'webhooks'))[0]?.seq, 4)
  await addEvents(core, 'e')
  await follower.caughtUp()
  assert.deepEqual(handled, ['a', 'b', 'c', 'd', 'e'])
  await follower.stop()
})

test('a cursor does not go back to a number that is only not known yet', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, 'a', 'b')
  const first = follow(core, { handle: markHandled })
  await first.follower.caughtUp()
  await first.follower.stop()
  let isOld = true
  const lastNumber: Store['lastNumber'] = (table) => (isOld ? 1 : core.store.lastNumber(table))
  const write: Store['write'] = async (fn, options) => {
    const result = await core.store.write(fn, options)
    isOld = false
    return result
  }
  const handled: string[] = []
  const second = follow(
    { ...core, store: { ...core.store, lastNumber, write } },
    { handle: async (_, events) => void handled.push(...names(events)) },
  )
  await second.follower.caughtUp()
  await addEvents(core, 'c')
  await second.follower.caughtUp()
  assert.deepEqual(handled, ['c'])
  await second.follower.stop()
})

test('a follower that stops saves no cursor that is older than the stored one', async (t) => {
  const core = await openTestCore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isHeard = true
  const write: Store['write'] = async (fn, options) => {
    const result = await core.store.write(fn, options)
    if (!isHeard) throw new Error('the files were away for a moment')
    return result
  }
  const handled: string[] = []
  const { follower } = follow(
    { ...core, store: { ...core.store, write } },
    {
      batch: 1,
      handle: async (tx, events) => {
        if (names(events).includes('writes')) await markHandled(tx, events)
        tx.afterCommit(() => handled.push(...names(events)))
      },
    },
  )
  await addEvents(core, 'nothing')
  await until(() => handled.length === 1)
  isHeard = false
  await addEvents(core, 'writes')
  await until(() => handled.length === 2)
  isHeard = true
  await follower.stop()
  assert.equal((await cursorsOf(core, 'webhooks'))[0]?.seq, 2)
})

test('a follower that lingers does so again after each batch that was not full', async (t) => {
  const core = await openTestCore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { follower, batches } = follow(core, { lingerMs: 20, batch: 4 })
  t.mock.timers.tick(20)
  for (let round = 0; round < 3; round += 1) {
    for (const name of numbered(3)) {
      await addEvents(core, name)
      await turn()
    }
    assert.equal(batches.length, round)
    t.mock.timers.tick(20)
    await until(() => batches.length === round + 1)
  }
  await addEvents(core, ...numbered(6))
  await turn()
  t.mock.timers.tick(20)
  await until(() => batches.length === 5)
  assert.deepEqual(
    batches.map(({ length }) => length),
    [3, 3, 3, 4, 2],
  )
  await follower.stop()
})

test('a follower continues from the cursor of its name; a new name starts from the beginning', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, 'a', 'b')
  const first = follow(core)
  await first.follower.caughtUp()
  await first.follower.stop()
  await addEvents(core, 'c')
  const second = follow(core)
  const other = follow(core, { name: 'workflows' })
  await Promise.all([second.follower.caughtUp(), other.follower.caughtUp()])
  assert.deepEqual(first.batches, [['a', 'b']])
  assert.deepEqual(second.batches, [['c']])
  assert.deepEqual(other.batches, [['a', 'b', 'c']])
  await Promise.all([second.follower.stop(), other.follower.stop()])
})

test('a follower that starts with the newest event never receives earlier ones', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, 'old')
  const first = follow(core, { beginsAt: 'newest' })
  await first.follower.caughtUp()
  await first.follower.stop()
  await addEvents(core, 'new')
  const second = follow(core, { beginsAt: 'newest' })
  await second.follower.caughtUp()
  assert.deepEqual([first.batches, second.batches], [[], [['new']]])
  await second.follower.stop()
})

test('a failing event is tried again alone, and no later event overtakes it', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, 'a', 'b', 'bad', 'c')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const failed: string[][] = []
  const { follower, batches } = follow(core, {
    handle: async (tx, events) => {
      await markHandled(tx, events)
      if (names(events).includes('bad') && failed.length < 4) {
        failed.push(names(events))
        throw new Error('not now')
      }
      tx.afterCommit(() => batches.push(names(events)))
    },
  })
  for (const [index, pauseMs] of [1_000, 2_000, 4_000].entries()) {
    await until(() => failed.length === index + 2)
    t.mock.timers.tick(pauseMs - 1)
    await turn()
    assert.equal(failed.length, index + 2)
    t.mock.timers.tick(1)
  }
  await follower.caughtUp()
  assert.deepEqual(failed, [['a', 'b', 'bad', 'c'], ['bad'], ['bad'], ['bad']])
  assert.deepEqual(batches, [['a'], ['b'], ['bad'], ['c']])
  const kept = await core.store.read.select({ domain: holds.domain }).from(holds)
  assert.deepEqual(kept.map(({ domain }) => domain).sort(), ['a', 'b', 'bad', 'c'])
  await follower.stop()
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause()
  await pause()
}

/** Waits until everything has run that needs no timer. */
async function turn(): Promise<void> {
  for (let index = 0; index < 20; index += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('stopping ends a pause and rejects the waiting callers', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, 'bad')
  const { follower } = follow(core, {
    handle: async () => {
      throw new Error('never')
    },
  })
  const waiting = assert.rejects(follower.caughtUp(), /stopped/)
  await turn()
  await follower.stop()
  await waiting
  await assert.rejects(follower.caughtUp(), /stopped/)
  assert.deepEqual(await cursorsOf(core, 'webhooks'), [])
})

test('events that are deleted before they are followed do not block the follower', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, 'a', 'b')
  const { follower, batches } = follow(core)
  await follower.caughtUp()
  await core.store.write(async (tx) => {
    const event = { projectId: 'p', contactId: null, emailId: null, data: null, at: START }
    await appendEvents(tx, [{ ...event, name: 'c' }])
    await tx.run('delete from events')
  })
  await follower.caughtUp()
  await addEvents(core, 'd')
  await follower.caughtUp()
  assert.deepEqual(batches.flat(), ['a', 'b', 'd'])
  await follower.stop()
})

test('a follower that lingers handles many commits at once, and at once for somebody who waits', async (t) => {
  const core = await openTestCore(t)
  const { follower, batches } = follow(core, { lingerMs: 60_000 })
  for (const name of numbered(5)) await addEvents(core, name)
  await follower.caughtUp()
  assert.deepEqual(batches, [numbered(5)])
  await addEvents(core, 'late')
  await follower.stop()
  assert.deepEqual(batches, [numbered(5)])
})

test('the numbers of deleted rows are not given again; if they are by hand, the cursor goes back', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(5))
  const { follower, batches } = follow(core)
  await follower.caughtUp()
  await core.store.write((tx) => tx.run(sql`delete from events where seq > 2`))
  await follower.caughtUp()
  assert.equal((await cursorsOf(core, 'webhooks'))[0]?.seq, 5)
  await core.store.write((tx) => tx.run(sql`update sqlite_sequence set seq = 2`))
  await follower.caughtUp()
  assert.equal((await cursorsOf(core, 'webhooks'))[0]?.seq, 2)
  await addEvents(core, 'again')
  await follower.caughtUp()
  assert.deepEqual(batches, [numbered(5), ['again']])
  await follower.stop()
})

test('a follower that is far behind writes heavy and rests, unless somebody waits for it', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(25))
  const heavy: unknown[] = []
  let first = Promise.withResolvers<void>()
  const write: Store['write'] = async (fn, options) => {
    heavy.push(options?.heavyFor)
    const done = await core.store.write(fn, options)
    first.resolve()
    return done
  }
  const slow = { batch: 10, restTimes: () => 1, clock: createSlowClock() }
  const handled: string[] = []
  const handle = async (tx: Tx, events: readonly EventRow[]) => {
    await markHandled(tx, events)
    tx.afterCommit(() => handled.push(...names(events)))
  }
  const start = () => follow({ ...core, store: { ...core.store, write } }, { ...slow, handle })
  const { follower } = start()
  await first.promise
  // It rests for a second, which the stop ends.
  await follower.stop()
  assert.deepEqual(handled, numbered(10))
  first = Promise.withResolvers()
  const next = start()
  await first.promise
  assert.deepEqual(handled, numbered(20))
  await next.follower.caughtUp()
  assert.deepEqual(handled, numbered(25))
  await next.follower.stop()
  // Not the first of each: nothing is known yet.
  assert.deepEqual([...new Set(heavy.slice(0, 2))], [undefined])
  assert.deepEqual([...new Set(heavy.slice(2))], ['webhooks'])
})

/** A minute passes between two looks. */
test('a follower that cannot read pauses, and lets others run', async (t) => {
  const core = await openTestCore(t)
  await core.store.write((tx) => tx.run(sql`alter table event_followers rename to away`))
  let failures = 0
  const error = () => {
    failures += 1
  }
  const log = { ...core.log, error } as unknown as TestCore['log']
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { follower } = follow({ ...core, log })
  // The first failure may be one of a single event, so the next read follows at once.
  for (const [index, pauseMs] of [1_000, 2_000].entries()) {
    await until(() => failures >= index + 2)
    assert.equal(failures, index + 2)
    t.mock.timers.tick(pauseMs - 1)
    await turn()
    assert.equal(failures, index + 2)
    t.mock.timers.tick(1)
  }
  await until(() => failures >= 4)
  await follower.stop()
})

test('a slow commit does not make the batches small', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(6_000))
  let at = 0
  const sizes: number[] = []
  const write: Store['write'] = async (fn, options) => {
    const done = await core.store.write(fn, options)
    at += 20
    return done
  }
  const { follower } = follow(
    { ...core, store: { ...core.store, write } },
    {
      ...{ batch: 1_000, restTimes: () => 0.01, clock: () => at },
      handle: async (_, events) => {
        at += events.length / 50
        sizes.push(events.length)
      },
    },
  )
  const handled = () => sizes.reduce((sum, size) => sum + size, 0)
  while (handled() < 6_000) await pause()
  await follower.stop()
  // The queries of 300 events take 6 ms.
  assert.deepEqual(
    sizes.slice(0, -1).filter((size) => size < 300),
    [],
  )
})

test('after a failed batch the follower does not rest between events', async (t) => {
  const core = await openTestCore(t)
  await addEvents(core, ...numbered(30))
  let fails = true
  const handled: string[] = []
  const heavy: unknown[] = []
  const write: Store['write'] = (fn, options) => {
    heavy.push(options?.heavyFor)
    return core.store.write(fn, options)
  }
  const { follower } = follow(
    { ...core, store: { ...core.store, write } },
    {
      ...{ batch: 10, restTimes: () => 1, clock: createSlowClock() },
      handle: async (tx, events) => {
        if (fails) {
          fails = false
          throw new Error('once')
        }
        tx.afterCommit(() => handled.push(...names(events)))
      },
    },
  )
  await until(() => handled.length >= 10)
  await follower.stop()
  assert.deepEqual(handled.slice(0, 10), numbered(10))
  // The failed batch, and each of its events.
  assert.deepEqual([...new Set(heavy.slice(0, 11))], [undefined])
})

function createSlowClock(): () => number {
  let at = 0
  return () => {
    at += 60_000
    return at
  }
}
