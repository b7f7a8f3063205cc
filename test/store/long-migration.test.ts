import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { silentLog } from '../../src/base/log.ts'
import { sql } from '../../src/store/drizzle.ts'
import type { MigrationProgress } from '../../src/store/long-migration.ts'
import { openStore } from '../../src/store/store.ts'
import { childProgram } from '../child-program.ts'
import { type DatabaseFolder, makeDatabaseFolder } from './test-store.ts'

const addMigration = (location: DatabaseFolder, name: string, text: string) =>
  writeFile(path.join(location.migrationsDir, name), text)

/** A log whose lines can be read, with their level. */
function readableLog() {
  const lines: [level: string, facts: Record<string, number>, text: string][] = []
  const keep =
    (level: string) =>
    (...[facts, text]: [Record<string, number>, string]) =>
      void lines.push([level, facts, text])
  const log = Object.assign(Object.create(silentLog()), { warn: keep('warn'), info: keep('info') })
  return { log, lines }
}

test('a large database says so before it is migrated, and while it is', async (t) => {
  const location = await makeDatabaseFolder(t)
  await (await openStore({ ...location, log: silentLog() })).close()
  await addMigration(location, '0002_add.sql', 'ALTER TABLE notes ADD COLUMN a INTEGER;')
  await addMigration(location, '0003_use.sql', "INSERT INTO notes (id, seq, a) VALUES ('x', 1, 2);")
  const { log, lines } = readableLog()
  const progress: MigrationProgress[] = []
  const onMigration = (each: MigrationProgress) => void progress.push(each)
  const store = await openStore({ ...location, log, largeBytes: 1, onMigration })
  assert.deepEqual(await store.read.all(sql`select id, a from notes`), [{ id: 'x', a: 2 }])
  await store.close()
  const [first, ...rest] = lines
  assert.equal(first?.[0], 'warn')
  assert.match(first?.[2] ?? '', /the database is being migrated, which takes a while/)
  assert.deepEqual([first?.[1].from, first?.[1].to], [1, 3])
  assert.ok(Number(first?.[1].estimatedSeconds) >= 1)
  assert.match(rest.at(-1)?.[2] ?? '', /has been migrated/)
  assert.deepEqual(
    progress.map(({ number, last }) => [number, last]),
    [
      [2, 3],
      [2, 3],
      [3, 3],
    ],
  )
})

test('a new, small or current database is opened without a word', async (t) => {
  const location = await makeDatabaseFolder(t)
  const { log, lines } = readableLog()
  const onMigration = () => assert.fail('it is not long')
  await (await openStore({ ...location, log, largeBytes: 1, onMigration })).close()
  await (await openStore({ ...location, log, largeBytes: 1, onMigration })).close()
  await addMigration(location, '0002_add.sql', 'ALTER TABLE notes ADD COLUMN a INTEGER;')
  await (await openStore({ ...location, log, onMigration })).close()
  assert.deepEqual(lines, [])
})

test('a migration that fails on its thread is the error of the start', async (t) => {
  const location = await makeDatabaseFolder(t)
  await (await openStore({ ...location, log: silentLog() })).close()
  await addMigration(location, '0002_bad.sql', 'INSERT INTO nowhere VALUES (1);')
  const opened = openStore({ ...location, log: silentLog(), largeBytes: 1 })
  await assert.rejects(opened, /nowhere/)
})

test('F8: a kill during a migration leaves a database that the next start migrates', async (t) => {
  const location = await makeDatabaseFolder(t)
  await (await openStore({ ...location, log: silentLog() })).close()
  const endless =
    'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO notes (id, seq) SELECT i, i FROM n;'
  await addMigration(location, '0002_add.sql', "INSERT INTO notes (id, seq) VALUES ('x', 1);")
  await addMigration(location, '0003_endless.sql', endless)
  const child = spawn(
    process.execPath,
    [childProgram('test/store/migrating-child.ts'), location.path, location.migrationsDir],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  t.after(() => child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'migrating 3') break
  }
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  await addMigration(location, '0003_endless.sql', 'ALTER TABLE notes ADD COLUMN a INTEGER;')
  const store = await openStore({ ...location, log: silentLog(), largeBytes: 1 })
  assert.deepEqual(await store.read.all(sql`select id, a from notes`), [{ id: 'x', a: null }])
  assert.deepEqual(await store.read.get(sql`PRAGMA user_version`), { user_version: 3 })
  await store.close()
})
