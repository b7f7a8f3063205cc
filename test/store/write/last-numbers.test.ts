import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openConnection } from '../../../src/store/connection.ts'
import { sql } from '../../../src/store/drizzle.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { makeDatabaseFolder, openTestStore } from '../test-store.ts'

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
