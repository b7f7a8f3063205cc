/** A database of an earlier version. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { silentLog } from '../../src/base/log.ts'
import { readMigrations } from '../../src/store/migrate.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { makeDatabaseFolder } from './test-store.ts'

/** Opens a new database whose migrations are those with smaller numbers. */
export async function openBefore(
  t: Pick<TestContext, 'after'>,
  number: number,
): Promise<{ before: Store; file: string }> {
  const { folder, path: file } = await makeDatabaseFolder(t)
  const migrationsDir = path.join(folder, 'before')
  await mkdir(migrationsDir)
  for (const { name, sql } of readMigrations().slice(0, number - 1)) {
    await writeFile(path.join(migrationsDir, name), sql)
  }
  return { before: await openStore({ path: file, log: silentLog(), migrationsDir }), file }
}
