/**
 * The integrity of the database, which takes minutes for a large one and reads all of it. Only the
 * command does this, with a connection of its own; the server never does.
 */
import { nativeBindingPath } from '../../../config/addon.ts'
import type { Config } from '../../../config/config.ts'
import { findDamage } from '../../../store/find-damage.sqlite.ts'
import { type CheckResult, failed, ok, toResult } from './outcome.ts'

const FIX =
  'Stop the server, keep a copy of data_dir, and restore the last backup: pillarbox restore FILE'

export function checkDatabase({ config }: { config: Config }): CheckResult {
  const nativeBinding = nativeBindingPath(config.dataDir)
  const damage = findDamage({ path: config.database.file, nativeBinding })
  const outcome =
    damage.length === 0 ? ok('the database is intact') : failed(damage.join('; '), FIX)
  return toResult('database', outcome)
}
