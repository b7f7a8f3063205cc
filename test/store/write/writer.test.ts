import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { HOUR_MS } from '../../../src/base/clock.ts'
import { createCounters } from '../../../src/base/counters.ts'
import { AppError } from '../../../src/base/errors.ts'
import { feedWatchdog } from '../../../src/cli/systemd/service-state.ts'
import { openConnection } from '../../../src/store/connection.ts'
import { asc, eq, sql } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { parameter, statement } from '../../../src/store/statement.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { notes, openTestStore, recordingLog, stopClock } from '../test-store.ts'

const insertNote = statement((db) =>
  db.insert(notes).values({ id: parameter('id'), seq: parameter('seq') }),
)

let lastSeq = 0
function addNote(tx: Tx, body = '') {
  lastSeq += 1
  return tx.insert(notes).values({ id: newId(), seq: lastSeq, body })
}

async function bodies(store: Store): Promise<string[]> {
  const rows = await store.read.select({ body: notes.body }).from(notes).orderBy(asc(notes.seq))
  return rows.map((row) => row.body)
}

test('the work of a closure is durable when its write resolves', async (t) => {
  const store = await openTestStore(t)
  const result = await store.write(async (tx) => {
    await addNote(tx, 'a')
    return 42
  })
  assert.equal(result, 42)
  assert.deepEqual(await bodies(store), ['a'])
})

test('work that a commit starts runs in the context of no caller', async (t) => {
  const store = await openTestStore(t)
  const names = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  store.onCommit(() => seen.push(names.getStore()))
  await names.run('a', async () => {
    await store.write(async (tx) => {
      tx.afterCommit(() => seen.push(names.getStore()))
      await addNote(tx)
    })
    assert.equal(names.getStore(), 'a')
  })
  assert.deepEqual(seen, [undefined, undefined])
})

test('a closure sees its own writes, and others see them once they are durable', async (t) => {
  const store = await openTestStore(t)
  const seen = await store.write(async (tx) => {
    await addNote(tx)
    return { inside: await tx.$count(notes), outside: await store.read.$count(notes) }
  })
  assert.deepEqual(seen, { inside: 1, outside: 0 })
})

test('callers of one turn share one transaction, in the order of their calls', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const seen = await Promise.all(
    ['a', 'b', 'c'].map((body) =>
      store.write(async (tx) => {
        await addNote(tx, body)
        return store.read.$count(notes)
      }),
    ),
  )
  assert.deepEqual(seen, [0, 0, 0])
  assert.deepEqual(await bodies(store), ['a', 'b', 'c'])
})

test('a patient write waits for the transaction of another one', async (t) => {
  const store = await openTestStore(t)
  stopClock(t)
  const patient = store.write((tx) => addNote(tx, 'patient'), { patienceMs: HOUR_MS })
  for (let turns = 0; turns < 20; turns += 1) await turn()
  assert.deepEqual([await bodies(store), store.writes().waiting], [[], 1])
  const seen = await store.write(async (tx) => {
    await addNote(tx, 'other')
    return store.read.$count(notes)
  })
  await patient
  assert.equal(seen, 0)
  assert.deepEqual(await bodies(store), ['patient', 'other'])
})

test('a patient write behind a group waits again', async (t) => {
  const store = await openTestStore(t)
  let patient: Promise<unknown> | undefined
  await store.write(async (tx) => {
    await addNote(tx, 'first')
    tx.afterCommit(() => {
      patient = store.write((other) => addNote(other, 'patient'), { patienceMs: HOUR_MS })
    })
  })
  for (let turns = 0; turns < 20; turns += 1) await turn()
  assert.deepEqual(await bodies(store), ['first'])
  await store.write((tx) => addNote(tx, 'other'))
  await patient
  assert.deepEqual(await bodies(store), ['first', 'patient', 'other'])
})

test('a patient write that nobody joins is durable when its time is over, or the store is closed', async (t) => {
  const store = await openTestStore(t)
  await store.write((tx) => addNote(tx, 'alone'), { patienceMs: 2 })
  assert.deepEqual(await bodies(store), ['alone'])
  const last = store.write((tx) => addNote(tx, 'last'), { patienceMs: HOUR_MS })
  await Promise.all([last, store.close()])
})

test('what a patient write waits by choice is not measured as a wait for its turn', async (t) => {
  const waits: number[] = []
  const counters = createCounters()
  t.mock.method(counters, 'observe', (name: string, ms: number) => {
    if (name === 'pillarbox_write_wait_seconds') waits.push(ms)
  })
  const store = await openTestStore(t, { counters })
  let at = 0
  t.mock.method(performance, 'now', () => at)
  const patient = store.write((tx) => addNote(tx, 'patient'), { patienceMs: HOUR_MS })
  at = 50
  const other = store.write((tx) => addNote(tx, 'other'))
  at = 53
  await Promise.all([patient, other])
  assert.deepEqual(waits, [3])
})

test('a failing closure undoes only itself, and its caller gets the same error', async (t) => {
  const store = await openTestStore(t)
  const error = new Error('no')
  const [first, second, third] = await Promise.allSettled([
    store.write((tx) => addNote(tx, 'a')),
    store.write(async (tx) => {
      await addNote(tx, 'b')
      throw error
    }),
    store.write((tx) => addNote(tx, 'c')),
  ])
  assert.equal(first.status, 'fulfilled')
  assert.equal(second.status === 'rejected' && second.reason, error)
  assert.equal(third.status, 'fulfilled')
  assert.deepEqual(await bodies(store), ['a', 'c'])
})

test('a closure that throws before its first query fails alone', async (t) => {
  const store = await openTestStore(t)
  const [thrown, kept] = await Promise.allSettled([
    store.write(() => {
      throw new RangeError('at once')
    }),
    store.write((tx) => addNote(tx, 'kept')),
  ])
  assert.ok(thrown.status === 'rejected' && thrown.reason instanceof RangeError)
  assert.equal(kept.status, 'fulfilled')
})

test('a constraint error can be caught in the closure, and the rest is kept', async (t) => {
  const store = await openTestStore(t)
  await store.write(async (tx) => {
    await tx.execute(insertNote, { id: 'x', seq: 1 })
    await assert.rejects(tx.execute(insertNote, { id: 'x', seq: 2 }), {
      code: 'SQLITE_CONSTRAINT_PRIMARYKEY',
    })
    await tx.execute(insertNote, { id: 'y', seq: 3 })
  })
  assert.equal(await store.read.$count(notes), 2)
})

test('an error has no values of its query', async (t) => {
  const store = await openTestStore(t)
  const twice = store.write(async (tx) => {
    await tx.insert(notes).values({ id: 'secret', seq: 1 })
    await tx.insert(notes).values({ id: 'secret', seq: 1 })
  })
  await assert.rejects(twice, (error: Error) => !error.message.includes('secret'))
})

const waits: Record<string, () => Promise<unknown>> = {
  'a timer': () => delay(1),
  'the next turn': () => turn(),
  'a tick': () => new Promise((resolve) => process.nextTick(resolve)),
  'a promise that nobody settles': () => new Promise(() => undefined),
}

for (const [name, wait] of Object.entries(waits)) {
  test(`a closure that awaits ${name} fails with a TypeError and the group goes on`, async (t) => {
    const store = await openTestStore(t)
    const [late, next] = await Promise.allSettled([
      store.write(async (tx) => {
        await addNote(tx, 'late')
        await wait()
        await addNote(tx, 'later')
      }),
      store.write((tx) => addNote(tx, 'next')),
    ])
    assert.ok(late.status === 'rejected' && late.reason instanceof TypeError)
    assert.match(late.reason.message, /await nothing but its own queries/)
    assert.equal(next.status, 'fulfilled')
    await delay(2)
    assert.deepEqual(await bodies(store), ['next'])
  })
}

test('overlapping queries of one closure all run in it', async (t) => {
  const store = await openTestStore(t)
  await store.write((tx) => Promise.all(['a', 'b', 'c', 'd'].map((body) => addNote(tx, body))))
  assert.deepEqual(await bodies(store), ['a', 'b', 'c', 'd'])
})

test('a query that a closure did not await cannot run in the next closure', async (t) => {
  const store = await openTestStore(t)
  let forgotten: Promise<unknown> = Promise.resolve()
  const unawaited = async (tx: Tx) => {
    for (let i = 0; i < 20; i += 1) await addNote(tx, 'forgotten')
  }
  await Promise.all([
    store.write(async (tx) => {
      forgotten = unawaited(tx)
      forgotten.catch(() => undefined)
    }),
    store.write(async (tx) => {
      const before = await tx.$count(notes)
      for (let i = 0; i < 50; i += 1) await null
      assert.equal(await tx.$count(notes), before)
    }),
  ])
  await assert.rejects(forgotten, TypeError)
})

test('a handle and its builders cannot be used after its closure has settled', async (t) => {
  const store = await openTestStore(t)
  let kept: Tx | undefined
  const builder = await store.write(async (tx) => {
    kept = tx
    return { query: addNote(tx, 'too late') }
  })
  assert.ok(kept)
  await assert.rejects(async () => builder.query, TypeError)
  await assert.rejects(kept.execute(insertNote, { id: 'x', seq: 1 }), TypeError)
  await assert.rejects(async () => kept?.run(sql`delete from notes`), TypeError)
  assert.throws(() => kept?.afterCommit(() => undefined), TypeError)
  assert.equal(await store.read.$count(notes), 0)
})

test('store.write inside a closure is a TypeError, not a deadlock', async (t) => {
  const store = await openTestStore(t)
  await store.write(async (tx) => {
    await assert.rejects(
      store.write((inner) => addNote(inner)),
      TypeError,
    )
    await addNote(tx, 'outer')
    await assert.rejects(
      store.write((inner) => addNote(inner)),
      TypeError,
    )
  })
  assert.deepEqual(await bodies(store), ['outer'])
})

test('other code that a closure wakes may write', async (t) => {
  const store = await openTestStore(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  const other = promise.then(() => store.write((tx) => addNote(tx, 'other')))
  await store.write(async (tx) => {
    resolve()
    await addNote(tx, 'one')
  })
  await other
  assert.deepEqual(await bodies(store), ['one', 'other'])
})

test('builders cannot open a transaction by hand', async (t) => {
  const store = await openTestStore(t)
  await store.write(async (tx) => {
    const whole = tx as unknown as { transaction(): void }
    assert.throws(() => whole.transaction(), TypeError)
  })
  assert.throws(() => store.read.transaction(async () => undefined), TypeError)
})

test('afterCommit runs once the work is durable, and not after a rollback', async (t) => {
  const store = await openTestStore(t)
  const calls: string[] = []
  const kept = store.write(async (tx) => {
    tx.afterCommit(() => calls.push('kept'))
    await addNote(tx)
    calls.push('closure')
  })
  const undone = store.write(async (tx) => {
    tx.afterCommit(() => calls.push('undone'))
    throw new Error('no')
  })
  await Promise.allSettled([kept.then(() => calls.push('caller')), undone])
  assert.deepEqual(calls, ['closure', 'kept', 'caller'])
})

test('an afterCommit callback may write', async (t) => {
  const store = await openTestStore(t)
  const { promise, resolve } = Promise.withResolvers<unknown>()
  await store.write(async (tx) => {
    tx.afterCommit(() => resolve(store.write((next) => addNote(next, 'next'))))
    await addNote(tx, 'first')
  })
  await promise
  assert.deepEqual(await bodies(store), ['first', 'next'])
})

test('an error of an afterCommit callback is logged and has no other effect', async (t) => {
  const entries: unknown[][] = []
  const store = await openTestStore(t, { log: recordingLog(entries) })
  const calls: string[] = []
  await store.write(async (tx) => {
    tx.afterCommit(() => {
      throw new Error('callback')
    })
    tx.afterCommit(() => calls.push('second'))
  })
  assert.deepEqual(calls, ['second'])
  assert.equal(entries.length, 1)
})

test('the event loop turns between groups', async (t) => {
  const store = await openTestStore(t)
  let turns = 0
  let isDone = false
  const count = async () => {
    for (; !isDone; turns += 1) await turn()
  }
  const counting = count()
  const writes = Array.from({ length: 1000 }, (_, seq) =>
    store.write((tx) => tx.execute(insertNote, { id: newId(), seq })),
  )
  await Promise.all(writes)
  isDone = true
  await counting
  assert.ok(turns >= 3, `${turns} turns`)
})

test('a write waits for the lock of another process without blocking', async (t) => {
  const store = await openTestStore(t)
  const other = openConnection({ path: store.location.path, busyTimeoutMs: 0 })
  other.script('BEGIN IMMEDIATE')
  const write = store.write((tx) => addNote(tx, 'after'))
  await delay(20)
  assert.equal(await store.read.$count(notes), 0)
  other.script('COMMIT')
  await write
  other.close()
  assert.deepEqual(await bodies(store), ['after'])
})

test('a write that waits too long for the lock gets DATABASE_ERROR, and nothing is written', async (t) => {
  const store = await openTestStore(t)
  const other = openConnection({ path: store.location.path, busyTimeoutMs: 0 })
  other.script('BEGIN IMMEDIATE')
  t.mock.method(performance, 'now', slowedClock())
  await assert.rejects(
    store.write((tx) => addNote(tx)),
    (error) => error instanceof AppError && error.code === 'DATABASE_ERROR',
  )
  other.script('ROLLBACK')
  other.close()
  await store.write((tx) => addNote(tx, 'then'))
  assert.deepEqual(await bodies(store), ['then'])
})

/** A clock on which every look is a second later. */
function slowedClock(): () => number {
  let at = performance.now()
  return () => {
    at += 1000
    return at
  }
}

test('close finishes queued writes and refuses later ones', async (t) => {
  const store = await openTestStore(t)
  const write = store.write((tx) => addNote(tx, 'queued'))
  const closing = store.close()
  await assert.rejects(
    store.write((tx) => addNote(tx)),
    TypeError,
  )
  await write
  await closing
})

test("drizzle's builders delete, update and return rows", async (t) => {
  const store = await openTestStore(t)
  await store.write(async (tx) => {
    await tx.insert(notes).values({ id: 'a', seq: 1, data: { deep: [1] } })
    const [row] = await tx.update(notes).set({ isDone: true }).where(eq(notes.id, 'a')).returning()
    assert.deepEqual(row, { id: 'a', seq: 1, body: '', isDone: true, data: { deep: [1] } })
    assert.deepEqual(await tx.delete(notes).returning({ id: notes.id }), [{ id: 'a' }])
  })
  assert.equal(await store.read.$count(notes), 0)
})

test('the store counts the writes that were committed, and those that wait', async (t) => {
  const store = await openTestStore(t)
  const { committed: before } = store.writes()
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  const slow = store.write(async (tx) => {
    await addNote(tx, 'slow')
    entered.resolve()
    await gate
  })
  const refused = assert.rejects(
    store.write(() => Promise.reject(new AppError('CONFLICT', 'No.'))),
    { code: 'CONFLICT' },
  )
  assert.deepEqual(store.writes(), { committed: before, waiting: 2 })
  await entered.promise
  assert.equal(store.writes().committed, before, 'nothing counts before it is durable')
  open()
  await Promise.all([slow, refused])
  // A write that was refused made no commit, and waits no longer.
  assert.deepEqual(store.writes(), { committed: before + 1, waiting: 0 })
})

test('a write that hangs starves the watchdog; an idle store and one that commits feed it', async (t) => {
  const store = await openTestStore(t)
  const sent: string[] = []
  t.mock.timers.enable({ apis: ['setInterval'] })
  const notifier = { send: (...texts: string[]) => void sent.push(...texts) }
  const env = { WATCHDOG_USEC: '3000000' }
  t.after(feedWatchdog({ env, notifier, writes: store.writes }))
  const fedBy = (looks: number) => {
    sent.splice(0)
    t.mock.timers.tick(looks * 1_000)
    return sent.length
  }
  assert.equal(fedBy(10), 10, 'idle')
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const hanging = store.write(async (tx) => {
    await addNote(tx)
    await gate
  })
  assert.equal(fedBy(60), 0, 'nothing is committed and a write waits')
  open()
  await hanging
  assert.equal(fedBy(1), 1)
  // The look sees a write that waits each time, and one that was committed since the last.
  for (let look = 0; look < 5; look += 1) {
    await store.write((tx) => addNote(tx))
    const next = store.write((tx) => addNote(tx))
    assert.equal(store.writes().waiting, 1)
    assert.equal(fedBy(1), 1)
    await next
  }
})
