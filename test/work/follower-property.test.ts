/** Random rows, crashes, failures and upgrades: each handler gets each row once and in order. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { sql } from '../../src/store/drizzle.ts'
import type { EventRow } from '../../src/store/schema/events.ts'
import type { Store } from '../../src/store/store.ts'
import type { Tx } from '../../src/store/write/transaction.ts'
import type { Follower } from '../../src/work/follower.ts'
import { openTestCore, type TestCore } from '../core.ts'
import { addEvents, cursorsOf, type EventHandler, followEvents } from './followed-events.ts'

const RUNS = 60
const NAMES = ['first', 'second', 'picky', 'new'] as const
type Name = (typeof NAMES)[number]

const name = fc.constantFrom(...NAMES)
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('add'), count: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('wait', 'stop', 'begin', 'care') }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('die'), after: fc.nat(3), isDurable: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fail'),
      name,
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fall back'),
      name,
      rows: fc.integer({ min: 1, max: 15 }),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

test('each handler gets each row once and in order, whatever happens to it and to others', async (t) => {
  const core = await openTestCore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const steps = fc.array(step, { minLength: 5, maxLength: 30 })
  const property = fc.asyncProperty(steps, fc.integer({ min: 1, max: 8 }), async (all, batch) => {
    await begin(core)
    const world = createWorld(t, core, batch)
    for (const each of all) await act(world, each)
    await world.finish()
    for (const each of NAMES) {
      assert.deepEqual(await seenBy(core, each), await world.wantedBy(each), each)
      const [cursor] = await cursorsOf(core, each)
      assert.equal(cursor?.seq, core.store.lastNumber('events'), each)
    }
  })
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true })
})

/** Empties the tables; the numbers of rows go on. */
async function begin({ store }: TestCore): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`create table if not exists seen (
      place integer primary key autoincrement, handler text not null, seq integer not null)`)
    for (const table of ['seen', 'events', 'event_followers']) {
      await tx.run(sql.raw(`delete from ${table}`))
    }
  })
}

async function seenBy({ store }: TestCore, handler: Name): Promise<number[]> {
  const rows = await store.read.all<{ seq: number }>(
    sql`select seq from seen where handler = ${handler} order by place`,
  )
  return rows.map(({ seq }) => seq)
}

/** What a handler does with a row: some rows mean nothing to it, so its cursor is saved late. */
function matters(handler: Name, seq: number): boolean {
  return (seq + NAMES.indexOf(handler)) % 3 !== 0
}

function createWorld(t: TestContext, core: TestCore, batch: number) {
  /** How often a handler will still fail. */
  const faults = new Map<Name, number>()
  let hasNew = false
  /** `picky` cares for rows behind this number. */
  let careAfter = Number.POSITIVE_INFINITY
  let life = createLife(core.store)
  let follower: Follower | undefined

  async function see(tx: Tx, handler: Name, { seq }: EventRow): Promise<void> {
    if (handler === 'picky' && seq <= careAfter) return
    if (matters(handler, seq)) {
      await tx.run(sql`insert into seen (handler, seq) values (${handler}, ${seq})`)
    }
    const left = faults.get(handler) ?? 0
    if (left === 0 || seq % 2 === 0) return
    faults.set(handler, left - 1)
    throw new Error('not now')
  }

  const handlerOf = (handler: Name): EventHandler => ({
    name: handler,
    async handle(tx, rows, endAt) {
      // The second one takes few rows at a time.
      const taken = handler === 'second' ? rows.slice(0, 3) : rows
      for (const row of taken) await see(tx, handler, row)
      const end = taken.at(-1)
      if (end !== undefined) endAt(end)
    },
    ...(handler === 'picky' && { mayMatter: async () => careAfter < Number.POSITIVE_INFINITY }),
  })

  function start(): void {
    life = createLife(core.store)
    const handlers = NAMES.filter((each) => hasNew || each !== 'new').map(handlerOf)
    follower = followEvents({ ...core, store: life.store }, handlers, { batch, clock: () => 0 })
  }

  async function stop(): Promise<void> {
    await follower?.stop()
    follower = undefined
  }

  /** Lets time pass until all is handled; false if the follower has died. */
  async function wait(): Promise<boolean> {
    let isOver = false
    const caughtUp = follower?.caughtUp().finally(() => {
      isOver = true
    })
    caughtUp?.catch(() => undefined)
    while (!isOver && !life.isOver()) {
      t.mock.timers.tick(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return !life.isOver()
  }

  return {
    core,
    faults,
    start,
    stop,
    wait,
    isRunning: () => follower !== undefined,
    addNew: () => {
      hasNew = true
    },
    care: () => {
      careAfter = Math.min(careAfter, core.store.lastNumber('events'))
    },
    die: (after: number, isDurable: boolean) => life.endAfter(after, isDurable),
    /** All that is left happens without faults. */
    async finish(): Promise<void> {
      await stop()
      faults.clear()
      hasNew = true
      start()
      assert.ok(await wait())
      await stop()
    },
    async wantedBy(handler: Name): Promise<number[]> {
      const rows = await core.store.read.all<{ seq: number }>(
        sql`select seq from events order by seq`,
      )
      const seqs = rows.map(({ seq }) => seq).filter((seq) => matters(handler, seq))
      return handler === 'picky' ? seqs.filter((seq) => seq > careAfter) : seqs
    },
  }
}

/** A store whose process dies after some writes. The last one is durable, or not, and nobody hears of it. */
function createLife(store: Store) {
  let left = Number.POSITIVE_INFINITY
  let isDurable = false
  const write: Store['write'] = async (fn, options) => {
    if (left < 0) throw new Error('dead')
    const isLast = left === 0
    left -= 1
    const done = await store.write(async (tx) => {
      const value = await fn(tx)
      if (isLast && !isDurable) throw new Error('dead')
      return value
    }, options)
    if (isLast) throw new Error('dead')
    return done
  }
  return {
    store: { ...store, write },
    isOver: () => left < 0,
    endAfter(writes: number, isLastDurable: boolean): void {
      left = Math.min(left, writes)
      isDurable = isLastDurable
    },
  }
}

async function act(world: ReturnType<typeof createWorld>, each: Step): Promise<void> {
  const { core, faults } = world
  if (!world.isRunning() && each.kind !== 'add' && each.kind !== 'fall back') world.start()
  switch (each.kind) {
    case 'add':
      await addAtOnce(core, each.count)
      break
    case 'wait':
      if (!(await world.wait())) await world.stop()
      break
    case 'care':
      world.care()
      break
    case 'begin':
      await world.stop()
      world.addNew()
      break
    case 'stop':
      await world.stop()
      break
    case 'die':
      world.die(each.after, each.isDurable)
      break
    case 'fail':
      faults.set(each.name, each.times)
      break
    default:
      await world.stop()
      await fallBack(core, each)
  }
}

/** In several transactions, while the follower handles the first of them. */
async function addAtOnce(core: TestCore, count: number): Promise<void> {
  for (let index = 0; index < count; index += 2) {
    const adding = addEvents(core, `e${index}`, 'more')
    if (index % 3 === 0) await adding
    else await new Promise((resolve) => setImmediate(resolve))
  }
  await addEvents(core, 'last')
}

/** As if the handler had run less far than the others. */
async function fallBack(
  { store }: TestCore,
  { name: handler, rows }: { name: Name; rows: number },
): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`update event_followers set seq = seq - ${rows} where name = ${handler}`)
    await tx.run(sql`delete from seen where handler = ${handler}
      and seq > (select seq from event_followers where name = ${handler})`)
  })
}
