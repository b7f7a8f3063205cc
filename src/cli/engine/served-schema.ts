/**
 * Keeps a command from migrating the database of a running server. This server may be migrating the database
 * itself, or it may be of the version before and not yet restarted since its program was replaced.
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { nativeBindingPath } from '../../config/addon.ts'
import type { Config } from '../../config/config.ts'
import { isServed } from '../../store/files/is-served.ts'
import { hasOlderSchema } from '../../store/snapshot/unmigrated.ts'

/** Within this time a server migrates a new or small database. */
const WAIT_MS = 2_000
const LOOK_EVERY_MS = 50

/** @throws AppError CONFLICT, DATABASE_ERROR */
export async function waitForServedSchema({
  dataDir,
  database,
}: Pick<Config, 'dataDir' | 'database'>): Promise<void> {
  const { file } = database
  if (!existsSync(file)) return
  const nativeBinding = nativeBindingPath(dataDir)
  const giveUpAt = performance.now() + WAIT_MS
  while (isServed(file, nativeBinding) && hasOlderSchema(file, nativeBinding)) {
    if (performance.now() > giveUpAt) {
      const text = 'The database has an older schema, and a server runs on it.'
      const suggestion =
        'If the server migrates it, wait until it is ready. If the server is of an older version, restart it.'
      throw new AppError('CONFLICT', text, { suggestion })
    }
    await sleep(LOOK_EVERY_MS)
  }
}
