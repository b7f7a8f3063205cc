import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { silentLog } from '../../../src/base/log.ts'
import { openConnection } from '../../../src/store/connection.ts'
import { sql } from '../../../src/store/drizzle.ts'
import type { Store } from '../../../src/store/store.ts'
import { createLastNumbers } from '../../../src/store/write/last-numbers.sqlite.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { createWriter } from '../../../src/store/write/writer.ts'
import { makeDatabaseFolder, movableFile, openTestStore } from '../test-store.ts'

const tables = `
  CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE) STRICT;
  CREATE TABLE attempts (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT;
  CREATE TRIGGER second AFTER INSERT ON attempts BEGIN
    INSERT INTO events (name) VALUES ('of attempt ' || NEW.id);
  END;`

type Numbered = { store: Store; file: string; migrationsDir: string }

async function openNumbered(t: TestContext, watch = false): Promise<Numbered> {
  const { migrationsDir } = await makeDatabaseFolder(t)
  await writeFile(path.join(migrationsDir, '0002_events.sql'), tables)
  const store = await openTestStore(t, { migrationsDir, watch })
  return { store, file: store.location.path, migrationsDir }
}

const add = (name: string) => (tx: Tx) => tx.run(sql`insert into events (name) values (${name})`)

test('the last number is known when a write resolves, and to its afterCommit', async (t) => {
  const { store } = await openNumbered(t)
  const seen: number[] = []
  const note = () => seen.push(store.lastNumber('events'))
  note()
  store.onCommit(note)
  await store.write(async (tx) => {
    tx.afterCommit(note)
    await add('a')(tx)
    await add('b')(tx)
    note()
  })
  note()
  await turn()
  assert.deepEqual(seen, [0, 0, 2, 2, 2])
})

test('what is rolled back has no number, and what runs again has its last one', async (t) => {
  const { store } = await openNumbered(t)
  const failing = async (tx: Tx) => {
    await add('failed')(tx)
    throw new Error('as planned')
  }
  const results = await Promise.allSettled([
    store.write(add('a')),
    store.write(failing),
    store.write(add('b')),
  ])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.equal(store.lastNumber('events'), 2)
  await assert.rejects(store.write(failing))
  assert.equal(store.lastNumber('events'), 2)
})

test('rows that a trigger adds count, and deleted rows take no number away', async (t) => {
  const { store } = await openNumbered(t)
  await store.write((tx) => tx.run(sql`insert into attempts default values`))
  assert.deepEqual([store.lastNumber('events'), store.lastNumber('attempts')], [1, 1])
  await store.write((tx) => tx.run(sql`delete from events`), { heavyFor: 'a' })
  assert.equal(store.lastNumber('events'), 1)
})

test('rows of another process are known when listeners are told of it', async (t) => {
  const { store, file } = await openNumbered(t, true)
  const told = new EventTarget()
  const seen: number[] = []
  store.onExternalChange(() => {
    seen.push(store.lastNumber('events'))
    if (seen.at(-1) === 1) told.dispatchEvent(new Event('told'))
  })
  const isTold = once(told, 'told')
  const other = openConnection({ path: file, busyTimeoutMs: 1_000 })
  other.script("INSERT INTO events (name) VALUES ('other')")
  other.close()
  await isTold
  assert.equal(store.lastNumber('events'), 1)
})

test('a database knows the numbers of before', async (t) => {
  const { store, file, migrationsDir } = await openNumbered(t)
  await store.write(add('a'))
  await store.close()
  const again = await openTestStore(t, { path: file, migrationsDir })
  assert.equal(again.lastNumber('events'), 1)
})

test('the rows of a commit are known that was durable but reported as failed', async (t) => {
  const { store, file } = await openNumbered(t)
  await store.write(add('a'))
  await turn()
  const { lose } = movableFile(t, store, file)
  const seen: number[] = []
  store.onCommit(() => seen.push(store.lastNumber('events')))
  const failed = store.write(async (tx) => {
    await add('b')(tx)
    lose()
  })
  await assert.rejects(failed, { code: 'DATABASE_ERROR' })
  await turn()
  assert.deepEqual(seen, [2])
  assert.equal((await store.read.all(sql`select seq from events`)).length, 2)
})

test('numbers that could not be read after a failure are read with the next group', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  const real = openConnection({ path: file, busyTimeoutMs: 0 })
  real.script(tables)
  let fails = false
  const run: typeof real.run = (...args) => {
    if (fails && args[0].includes('sqlite_sequence')) throw new Error('an I/O error')
    return real.run(...args)
  }
  const connection = { ...real, run }
  const numbers = createLastNumbers(connection)
  const nothing = () => undefined
  let checks = 0
  const checkFiles = () => {
    checks += 1
    // The second one comes after the commit.
    fails = checks === 2
    if (fails) throw new Error('the files are gone')
  }
  const parts = { connection, numbers, checkFiles, onError: nothing, onCommit: nothing }
  const writer = createWriter({ ...parts, log: silentLog() })
  await assert.rejects(writer.write(add('a')), { code: 'DATABASE_ERROR' })
  assert.equal(numbers.of('events'), 0)
  await writer.write((tx) => tx.all(sql`select 1`))
  assert.equal(numbers.of('events'), 1)
  await writer.close()
  real.close()
})
