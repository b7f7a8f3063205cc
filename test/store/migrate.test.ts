import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { AppError } from '../../src/base/errors.ts'
import { silentLog } from '../../src/base/log.ts'
import { openConnection } from '../../src/store/connection.ts'
import { sql } from '../../src/store/drizzle.ts'
import { findProgramVersion, migrate, readMigrations } from '../../src/store/migrate.ts'
import { openStore } from '../../src/store/store.ts'
import { childProgram } from '../child-program.ts'
import { type DatabaseFolder, makeDatabaseFolder } from './test-store.ts'

const log = silentLog()

function addMigration(location: DatabaseFolder, name: string, text: string): Promise<void> {
  return writeFile(path.join(location.migrationsDir, name), text)
}

test('the tables of the program are made in a new file of mode 0600', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  const store = await openStore({ path: file, log })
  const names = await store.read.all<{ name: string }>(sql`select name from sqlite_schema`)
  for (const table of ['emails', 'jobs', 'contacts']) {
    assert.ok(names.some(({ name }) => name === table))
  }
  for (const suffix of ['', '-wal', '-shm']) {
    assert.equal((await stat(file + suffix)).mode & 0o777, 0o600)
  }
  await store.close()
})

test('each migration is applied once, in order', async (t) => {
  const location = await makeDatabaseFolder(t)
  const open = () => openStore({ ...location, log })
  await (await open()).close()
  await addMigration(location, '0002_add.sql', 'ALTER TABLE notes ADD COLUMN a INTEGER;')
  await addMigration(location, '0003_use.sql', "INSERT INTO notes (id, seq, a) VALUES ('x', 1, 2);")
  for (let i = 0; i < 2; i += 1) {
    const store = await open()
    assert.deepEqual(await store.read.all(sql`select id, a from notes`), [{ id: 'x', a: 2 }])
    assert.deepEqual(await store.read.get(sql`PRAGMA user_version`), { user_version: 3 })
    await store.close()
  }
})

test('a migration that fails leaves nothing behind, and the next start tries it again', async (t) => {
  const location = await makeDatabaseFolder(t)
  await addMigration(
    location,
    '0002_bad.sql',
    'CREATE TABLE b (id TEXT); INSERT INTO nowhere VALUES (1);',
  )
  await assert.rejects(openStore({ ...location, log }), /nowhere/)
  await addMigration(location, '0002_bad.sql', 'CREATE TABLE b (id TEXT);')
  const store = await openStore({ ...location, log })
  assert.deepEqual(await store.read.all(sql`select * from b`), [])
  await store.close()
})

test('a migration that leaves a dangling reference is refused', async (t) => {
  const location = await makeDatabaseFolder(t)
  const text = "INSERT INTO labels (note_id, label) VALUES ('none', 'x');"
  await addMigration(location, '0002_broken.sql', text)
  await assert.rejects(openStore({ ...location, log }), /refer to missing rows/)
})

test('a database of a newer version is refused with a text that says so', async (t) => {
  const location = await makeDatabaseFolder(t)
  await (await openStore({ ...location, log })).close()
  const connection = openConnection({ path: location.path, busyTimeoutMs: 0 })
  connection.script('PRAGMA user_version = 7')
  connection.close()
  await assert.rejects(openStore({ ...location, log }), (error) => {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'DATABASE_ERROR')
    assert.match(error.message, /newer version of this program \(schema 7; this one, [\d.]+, supp/)
    assert.match(error.message, /Start the newer version, or restore a backup/)
    return true
  })
})

/** Migrates as a version of the program does whose migrations are those in the folder now. */
async function migrateAs(location: DatabaseFolder, version: string): Promise<void> {
  const connection = openConnection({ path: location.path, busyTimeoutMs: 0 })
  try {
    migrate(connection, readMigrations(location.migrationsDir), { version })
  } finally {
    connection.close()
  }
}

test('F8: an older program refuses a newer database and names the version that fits', async (t) => {
  const location = await makeDatabaseFolder(t)
  await migrateAs(location, '0.1.0')
  await addMigration(location, '0002_add.sql', 'ALTER TABLE notes ADD COLUMN a INTEGER;')
  await migrateAs(location, '0.2.0')
  const stored = await readFile(location.path)
  await rm(path.join(location.migrationsDir, '0002_add.sql'))
  await assert.rejects(migrateAs(location, '0.1.0'), /Start version 0\.2\.0 or newer, or restore/)
  assert.deepEqual(await readFile(location.path), stored)
})

test('F8: the oldest version that has worked with a schema is the one that fits', async (t) => {
  const location = await makeDatabaseFolder(t)
  await addMigration(location, '0002_add.sql', 'ALTER TABLE notes ADD COLUMN a INTEGER;')
  for (const version of ['0.10.0', '0.9.2', '0.10.1']) await migrateAs(location, version)
  await rm(path.join(location.migrationsDir, '0002_add.sql'))
  await assert.rejects(migrateAs(location, '0.1.0'), /Start version 0\.9\.2 or newer/)
})

test('F8: a database from before versions were recorded gets its version at the next start', async (t) => {
  const location = await makeDatabaseFolder(t)
  await migrateAs(location, '0.1.0')
  const connection = openConnection({ path: location.path, busyTimeoutMs: 0 })
  connection.script('DROP TABLE program_versions')
  connection.close()
  await migrateAs(location, '0.3.0')
  const again = openConnection({ path: location.path, busyTimeoutMs: 0 })
  assert.equal(findProgramVersion(again, 1), '0.3.0')
  again.close()
})

test('a file that is no database is refused and left alone', async (t) => {
  const location = await makeDatabaseFolder(t)
  await writeFile(location.path, 'not a database, but somebody’s text'.repeat(100))
  await assert.rejects(openStore({ ...location, log }), /cannot be opened: file is not a database/)
})

test('a gap in the numbers is a TypeError', async (t) => {
  const location = await makeDatabaseFolder(t)
  await addMigration(location, '0003_late.sql', 'SELECT 1;')
  await assert.rejects(openStore({ ...location, log }), TypeError)
})

test('processes that open a new file at the same time agree', async (t) => {
  const location = await makeDatabaseFolder(t)
  await addMigration(location, '0002_row.sql', "INSERT INTO notes (id, seq) VALUES ('once', 1);")
  const child = childProgram('test/store/opening-child.ts')
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [child, location.path, location.migrationsDir], { stdio: 'inherit' }),
  )
  const codes = await Promise.all(children.map((started) => once(started, 'exit')))
  assert.deepEqual(
    codes.map(([code]) => code),
    [0, 0, 0, 0],
  )
  const store = await openStore({ ...location, log })
  assert.deepEqual(await store.read.all(sql`select id from notes`), [{ id: 'once' }])
  await store.close()
})
