import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { silentLog } from '../../../src/base/log.ts'
import { openConnection } from '../../../src/store/connection.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { createGatherer } from '../../../src/store/write/gatherer.ts'
import { createLastNumbers } from '../../../src/store/write/last-numbers.sqlite.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { type CommitPace, createCommitPace, createWriter } from '../../../src/store/write/writer.ts'
import { makeDatabaseFolder, stopClock } from '../test-store.ts'

test('after a group of many callers the next one waits for its time, or for as many', () => {
  let at = 100
  const pace = createCommitPace(() => at)
  pace.ended(10, 0)
  assert.equal(pace.waitMs(1), 5)
  at += 3
  assert.equal(pace.waitMs(7), 2)
  assert.equal(pace.waitMs(8), 0)
  at += 2
  assert.equal(pace.waitMs(1), 0)
})

test('those whom a group left waiting are expected as well as those whom it served', () => {
  const pace = createCommitPace(() => 0)
  pace.ended(10, 10)
  assert.equal(pace.waitMs(10), 5)
  assert.equal(pace.waitMs(16), 0)
})

test('a caller who writes alone, and a few, never wait', () => {
  const pace = createCommitPace(() => 0)
  assert.equal(pace.waitMs(1), 0)
  for (const callers of [0, 1, 3]) {
    pace.ended(callers, 0)
    assert.equal(pace.waitMs(1), 0)
  }
})

test('a caller who writes alone after a load waits for its first write only', () => {
  const pace = createCommitPace(() => 0)
  pace.ended(10, 0)
  assert.equal(pace.waitMs(1), 5)
  pace.ended(1, 0)
  assert.equal(pace.waitMs(1), 0)
})

/** Whatever needs no timer has run. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await turn()
}

const MANY = 1_000

/** A writer whose groups wait until so many callers are there, after one of `MANY`. */
async function openPaced(t: TestContext, callers: number) {
  stopClock(t)
  const { path } = await makeDatabaseFolder(t)
  const connection = openConnection({ path, busyTimeoutMs: 0 })
  connection.script('CREATE TABLE notes (name TEXT)')
  let last = 0
  const pace: CommitPace = {
    ended: (ended) => {
      last = ended
    },
    waitMs: (waiting) => (last === MANY && waiting < callers ? 600_000 : 0),
  }
  let commits = 0
  const onCommit = () => {
    commits += 1
  }
  const nothing = () => undefined
  const log = silentLog()
  const numbers = createLastNumbers(connection)
  const parts = { connection, log, numbers, checkFiles: nothing, onError: nothing, onCommit }
  const writer = createWriter(parts, pace)
  t.after(async () => {
    await writer.close()
    connection.close()
  })
  const add = (name: string) => (tx: Tx) => tx.run(sql`insert into notes values (${name})`)
  const stored = () =>
    connection.run('select name from notes order by rowid', [], 'rows') as string[][]
  return { writer, add, stored, commits: () => commits }
}

test('writes that come one after another share a commit once enough callers wait', async (t) => {
  const { writer, add, stored, commits } = await openPaced(t, 3)
  await writer.write(add('first'), { callers: () => MANY })
  const work: Promise<unknown>[] = []
  for (const name of ['a', 'b', 'c']) {
    await turns()
    assert.equal(commits(), 1)
    work.push(writer.write(add(name)))
  }
  await Promise.all(work)
  await turns()
  assert.equal(commits(), 2)
  assert.deepEqual(stored(), [['first'], ['a'], ['b'], ['c']])
})

test('a closure for many callers counts as many, also before it runs', async (t) => {
  const { writer, add, commits } = await openPaced(t, 5)
  await writer.write(add('first'), { callers: () => MANY })
  let callers = 1
  const gathered = writer.write(add('gathered'), { callers: () => callers })
  await turns()
  assert.equal(commits(), 1)
  callers = 4
  await Promise.all([gathered, writer.write(add('more'))])
  await turns()
  assert.equal(commits(), 2)
})

test('items that join a closure that waits end the wait once they are enough', async (t) => {
  const { writer, add, stored, commits } = await openPaced(t, 3)
  const gather = createGatherer<string, string>(writer, {
    together: async (tx, names) => {
      for (const name of names) await add(name)(tx)
      return [...names]
    },
    alone: () => assert.fail('nothing is written alone'),
  })
  await writer.write(add('first'), { callers: () => MANY })
  const work: Promise<string>[] = []
  for (const name of ['a', 'b', 'c']) {
    await turns()
    assert.equal(commits(), 1)
    work.push(gather(name, async (_, written) => written))
  }
  assert.deepEqual(await Promise.all(work), ['a', 'b', 'c'])
  await turns()
  assert.equal(commits(), 2)
  assert.deepEqual(stored(), [['first'], ['a'], ['b'], ['c']])
})

test('a heavy write, and the end of the writer, end the wait', async (t) => {
  const { writer, add, stored } = await openPaced(t, 100)
  await writer.write(add('first'), { callers: () => MANY })
  const light = writer.write(add('light'))
  await turns()
  await Promise.all([light, writer.write(add('heavy'), { heavyFor: 'a' })])
  await writer.write(add('many'), { callers: () => MANY })
  const last = writer.write(add('last'))
  await turns()
  await writer.close()
  await last
  assert.deepEqual(stored().flat().sort(), ['first', 'heavy', 'last', 'light', 'many'])
})

test('what runs again runs at once, in the context of no caller', async (t) => {
  const { writer, add, stored } = await openPaced(t, 3)
  await writer.write(add('first'), { callers: () => MANY })
  const names = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const failing = async (tx: Tx) => {
    await add('failed')(tx)
    throw new Error('as planned')
  }
  const results = await names.run('a', () =>
    Promise.allSettled([
      writer.write(async (tx) => {
        tx.afterCommit(() => seen.push(names.getStore()))
        await add('again')(tx)
      }),
      writer.write(failing),
      writer.write(add('third'), { callers: () => 3 }),
    ]),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(stored(), [['first'], ['again'], ['third']])
  assert.deepEqual(seen, [undefined])
})
