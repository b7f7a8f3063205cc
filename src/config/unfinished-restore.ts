/** Refuses a data folder in which a restore was interrupted (`features/operation/backup/restore`). */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from './config.ts'
import { ConfigError } from './problems.ts'

/** Below `data_dir`, while a restore runs or after it was interrupted. */
export const RESTORING_FOLDER = '.restoring'

/**
 * Removes what a restore left that ended but for this.
 * @throws ConfigError when the folder is incomplete
 */
export async function refuseUnfinishedRestore({
  dataDir,
  database,
}: Pick<Config, 'dataDir' | 'database'>): Promise<void> {
  const folder = path.join(dataDir, RESTORING_FOLDER)
  if (!existsSync(folder)) return
  // The database comes last.
  if (existsSync(database.file)) return rm(folder, { recursive: true, force: true })
  const found = 'a folder in which "pillarbox restore" runs or was interrupted'
  const expected = 'a restore that has ended: run "pillarbox restore" again'
  throw new ConfigError([{ key: 'data_dir', found, expected, where: dataDir }])
}
