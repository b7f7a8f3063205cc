/** Several handlers of one follower. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventRow } from '../../src/store/schema/events.ts'
import type { Store } from '../../src/store/store.ts'
import type { Tx } from '../../src/store/write/transaction.ts'
import { openTestCore, type TestCore } from '../core.ts'
import { countStatements } from '../counted-statements.ts'
import { addEvents, cursorsOf, type EventHandler, followEvents } from './followed-events.ts'

/** What handlers were given in transactions that were committed: pairs of a handler and names. */
type Given = [handler: string, names: string][]

function handlerOf(given: Given, name: string, more: Partial<EventHandler> = {}): EventHandler {
  return { name, handle: async (tx, rows) => note(given, tx, { name, rows }), ...more }
}

function note(given: Given, tx: Tx, { name, rows }: { name: string; rows: readonly EventRow[] }) {
  tx.afterCommit(() => given.push([name, rows.map((row) => row.name).join(' ')]))
}

async function seqOf(core: TestCore, name: string): Promise<number | undefined> {
  return (await cursorsOf(core, name))[0]?.seq
}

async function turn(): Promise<void> {
  for (let index = 0; index < 20; index += 1) await new Promise((resolve) => setImmediate(resolve))
}

const OPTIONS = { clock: () => 0 }

test('rows are read once for all handlers, and all cursors are saved by one statement', async (t) => {
  const core = await openTestCore(t)
  const counted = countStatements(core.store)
  const given: Given = []
  const handlers = ['a', 'b', 'c'].map((name) => handlerOf(given, name))
  const store = { ...core.store, write: counted.write }
  const follower = followEvents({ ...core, store }, handlers, OPTIONS)
  await addEvents(core, 'one', 'two')
  await follower.caughtUp()
  const texts = counted.take()
  assert.deepEqual(given, [
    ['a', 'one two'],
    ['b', 'one two'],
    ['c', 'one two'],
  ])
  assert.equal(texts.filter((text) => text.startsWith('select')).length, 1)
  assert.equal(texts.filter((text) => text.startsWith('insert into event_followers')).length, 1)
  for (const name of ['a', 'b', 'c']) assert.equal(await seqOf(core, name), 2)
  await follower.stop()
})

test('a handler that fails stops no other, and reads with them again, in its turn, when all is well', async (t) => {
  const core = await openTestCore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const given: Given = []
  const logged: unknown[] = []
  let isBroken = true
  const bad = handlerOf(given, 'b', {
    handle: async (tx, rows) => {
      if (isBroken && rows.some((row) => row.name === 'two')) throw new Error('not now')
      note(given, tx, { name: 'b', rows })
    },
  })
  const log = Object.assign(Object.create(core.log), {
    error: (facts: object) => logged.push(facts),
  })
  const handlers = [handlerOf(given, 'a'), bad, handlerOf(given, 'c')]
  await addEvents(core, 'one', 'two')
  const follower = followEvents({ ...core, log }, handlers, OPTIONS)
  await turn()
  await addEvents(core, 'three')
  await turn()
  assert.deepEqual(
    given.filter(([name]) => name !== 'b'),
    [
      ...[
        ['a', 'one two'],
        ['c', 'one two'],
      ],
      ...[
        ['a', 'three'],
        ['c', 'three'],
      ],
    ],
  )
  assert.deepEqual(
    given.filter(([name]) => name === 'b'),
    [['b', 'one']],
  )
  const fault = { error: 'not now', follower: 'b' }
  assert.deepEqual(logged, [
    { ...fault, afterSeq: 0, isAlone: false },
    { ...fault, afterSeq: 1, isAlone: true },
  ])
  isBroken = false
  t.mock.timers.tick(1_000)
  await follower.caughtUp()
  given.length = 0
  await addEvents(core, 'four')
  await follower.caughtUp()
  assert.deepEqual(given, [
    ['a', 'four'],
    ['b', 'four'],
    ['c', 'four'],
  ])
  await follower.stop()
})

test('a handler that is behind, or new, reads alone until it meets the others', async (t) => {
  const core = await openTestCore(t)
  const given: Given = []
  const [a, b, late] = ['a', 'b', 'late'].map((name) => handlerOf(given, name)) as [
    EventHandler,
    EventHandler,
    EventHandler,
  ]
  await addEvents(core, 'one', 'two', 'three')
  const before = followEvents(core, [a, b], OPTIONS)
  await before.caughtUp()
  await before.stop()
  given.length = 0
  await addEvents(core, 'four')
  const follower = followEvents(core, [a, late, b], { ...OPTIONS, batch: 2 })
  await follower.caughtUp()
  assert.deepEqual(
    given.filter(([name]) => name !== 'late'),
    [
      ['a', 'four'],
      ['b', 'four'],
    ],
  )
  assert.deepEqual(
    given.filter(([name]) => name === 'late'),
    [
      ['late', 'one two'],
      ['late', 'three four'],
    ],
  )
  given.length = 0
  await addEvents(core, 'five')
  await follower.caughtUp()
  assert.deepEqual(given, [
    ['a', 'five'],
    ['late', 'five'],
    ['b', 'five'],
  ])
  await follower.stop()
})

test('a handler that takes few rows of a full batch reads alone, so the others do not wait for it', async (t) => {
  const core = await openTestCore(t)
  const given: Given = []
  const slow = handlerOf(given, 'slow', {
    handle: async (tx, [row], endAt) => {
      if (row === undefined) return
      endAt(row)
      note(given, tx, { name: 'slow', rows: [row] })
    },
  })
  const names = Array.from({ length: 12 }, (_, index) => `e${index}`)
  await addEvents(core, ...names)
  const handlers = [slow, handlerOf(given, 'quick')]
  const follower = followEvents(core, handlers, { ...OPTIONS, batch: 4 })
  await follower.caughtUp()
  const ends = given.findIndex(([, rows]) => rows.endsWith('e11'))
  assert.deepEqual(given[ends], ['quick', 'e8 e9 e10 e11'])
  const before = given.slice(0, ends).filter(([name]) => name === 'slow')
  assert.ok(before.length <= 4, `${before.length} transactions`)
  const rows = given.filter(([name]) => name === 'slow').map(([, row]) => row)
  assert.deepEqual(rows, names)
  given.length = 0
  await addEvents(core, 'last')
  await follower.caughtUp()
  assert.deepEqual(given, [
    ['slow', 'last'],
    ['quick', 'last'],
  ])
  await follower.stop()
})

test('a handler is not taken in while its own reader writes', async (t) => {
  const core = await openTestCore(t)
  const given: Given = []
  await addEvents(core, 'one')
  const first = followEvents(core, [handlerOf(given, 'fast')], OPTIONS)
  await first.caughtUp()
  await first.stop()
  // A handler's reader does not hear of its commit before the gate is open.
  const gates = new Map<string, PromiseWithResolvers<void>>()
  let acting = ''
  const write: Store['write'] = async (fn, options) => {
    const done = await core.store.write(fn, options)
    await gates.get(acting)?.promise
    return done
  }
  const close = (name: string) => void gates.set(name, Promise.withResolvers())
  const open = async (name: string) => {
    gates.get(name)?.resolve()
    gates.delete(name)
    await turn()
  }
  const add = async (name: string) => {
    await addEvents(core, name)
    await turn()
  }
  const gated = (name: string) =>
    handlerOf(given, name, {
      handle: async (tx, rows) => {
        acting = name
        note(given, tx, { name, rows })
      },
    })
  close('slow')
  const store = { ...core.store, write }
  const follower = followEvents({ ...core, store }, [gated('fast'), gated('slow')], OPTIONS)
  await turn()
  close('fast')
  await add('two')
  await open('slow')
  // 'slow' is ahead now, and writes, while the common reader hears of its second row.
  close('slow')
  await add('three')
  await open('fast')
  await open('slow')
  await follower.caughtUp()
  for (const name of ['fast', 'slow']) {
    const names = given.filter(([who]) => who === name).map(([, rows]) => rows)
    assert.deepEqual(names.join(' '), 'one two three', name)
  }
  await follower.stop()
})

test('an error of the database is no fault of the handler whose turn it is', async (t) => {
  const core = await openTestCore(t)
  const logged: { follower?: string }[] = []
  const given: Given = []
  const log = Object.assign(Object.create(core.log), {
    error: (facts: object) => logged.push(facts),
  })
  let isFull = true
  const handle: EventHandler['handle'] = async (tx, rows) => {
    if (isFull) {
      isFull = false
      throw Object.assign(new Error('full'), { code: 'DATABASE_ERROR' })
    }
    note(given, tx, { name: 'a', rows })
  }
  const handlers = [handlerOf(given, 'a', { handle }), handlerOf(given, 'b')]
  await addEvents(core, 'one', 'two')
  const follower = followEvents({ ...core, log }, handlers, OPTIONS)
  await follower.caughtUp()
  assert.deepEqual(
    logged.map((facts) => facts.follower),
    ['events'],
  )
  // Together still, row by row.
  assert.deepEqual(given, [
    ['a', 'one'],
    ['b', 'one'],
    ['a', 'two'],
    ['b', 'two'],
  ])
  await follower.stop()
})
