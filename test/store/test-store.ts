/** A store of its own in a temporary directory, closed and removed with the test. */
import { renameSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { type Log, silentLog } from '../../src/base/log.ts'
import { integer, sqliteTable, text } from '../../src/store/drizzle.ts'
import { openStore, type Store, type StoreOptions } from '../../src/store/store.ts'

export const notes = sqliteTable('notes', {
  id: text('id').primaryKey(),
  seq: integer('seq').notNull(),
  body: text('body').notNull().default(''),
  isDone: integer('is_done', { mode: 'boolean' }).notNull().default(false),
  data: text('data', { mode: 'json' }).$type<unknown>(),
})

const firstMigration = `
  CREATE TABLE notes (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL DEFAULT '',
    is_done INTEGER NOT NULL DEFAULT 0,
    data TEXT
  ) STRICT;
  CREATE TABLE labels (
    note_id TEXT NOT NULL REFERENCES notes (id),
    label TEXT NOT NULL
  ) STRICT;`

export type DatabaseFolder = { folder: string; path: string; migrationsDir: string }

type Cleanup = Pick<TestContext, 'after'>

export async function makeDatabaseFolder(t: Cleanup): Promise<DatabaseFolder> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'pillarbox-store-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const migrationsDir = path.join(folder, 'migrations')
  await mkdir(migrationsDir)
  await writeFile(path.join(migrationsDir, '0001_notes.sql'), firstMigration)
  return { folder, path: path.join(folder, 'test.db'), migrationsDir }
}

export async function openTestStore(
  t: Cleanup,
  options: Partial<StoreOptions> = {},
): Promise<Store & { location: DatabaseFolder }> {
  const location = await makeDatabaseFolder(t)
  const { path: file, migrationsDir } = location
  const store = await openStore({ path: file, migrationsDir, log: silentLog(), ...options })
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await store.close()
  }
  t.after(close)
  return { ...store, close, location }
}

/** A log whose entries can be looked at. */
export function recordingLog(entries: unknown[][]): Log {
  const log = silentLog()
  const keep = (...entry: unknown[]) => {
    entries.push(entry)
  }
  return Object.assign(Object.create(log), { error: keep, warn: keep })
}

/** From now on a group takes whatever waits, however slow the machine is. */
export function stopClock(t: Pick<TestContext, 'mock'>): { restore(): void } {
  const { mock } = t.mock.method(performance, 'now', () => 0)
  return { restore: () => mock.restore() }
}

/**
 * Moves the file of a database away for the rest of the group that runs, whose commit is durable then and is
 * reported as failed. Call `lose` within a closure. The clock stands still otherwise.
 */
export function movableFile(
  t: Pick<TestContext, 'mock'>,
  store: Pick<Store, 'onCommit'>,
  file: string,
) {
  let at = performance.now()
  let isAway = false
  t.mock.method(performance, 'now', () => at)
  const move = (from: string, to: string) => {
    renameSync(from, to)
    // More than the time for which the last look at the files is valid.
    at += 1_000
    isAway = !isAway
  }
  store.onCommit(() => {
    if (isAway) move(`${file}.moved`, file)
  })
  return { lose: () => move(file, `${file}.moved`) }
}
