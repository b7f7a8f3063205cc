/** Refuses a data folder in which a restore was interrupted (`features/operation/backup/restore`). */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from './config.ts'
import { ConfigError } from './problems.ts'

/** A folder in `data_dir` that exists while a restore runs, and after one was interrupted. */
export const RESTORING_FOLDER = '.restoring'

/**
 * If the restore was complete, removes its folder.
 * @throws ConfigError when the folder is incomplete
 */
export async function refuseUnfinishedRestore({
  dataDir,
  database,
}: Pick<Config, 'dataDir' | 'database'>): Promise<void> {
  const folder = path.join(dataDir, RESTORING_FOLDER)
  if (!existsSync(folder)) return
  // A restore puts the database in place last, so this one was complete.
  if (existsSync(database.file)) return rm(folder, { recursive: true, force: true })
  const found = 'a folder in which "pillarbox restore" runs or was interrupted'
  const expected = 'a restore that has ended: run "pillarbox restore" again'
  throw new ConfigError([{ key: 'data_dir', found, expected, where: dataDir }])
}
