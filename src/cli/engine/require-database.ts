/**
 * Checks the database before a command opens it: whether it exists, and whether a server is
 * migrating it.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { nativeBindingPath } from '../../config/addon.ts'
import type { Config } from '../../config/config.ts'
import { FILE_NAME, SYSTEM_FILE } from '../../config/layers/file.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { isServed } from '../../store/files/is-served.ts'
import { hasOlderSchema } from '../../store/snapshot/unmigrated.ts'
import { formatCommand } from './command-line.ts'
import type { Terminal } from './terminal.ts'

/** Milliseconds within which a server migrates a new or small database. */
const WAIT_MS = 2_000
const LOOK_EVERY_MS = 50

/**
 * Refuses a command that would make a new, empty database by mistake: in the present folder,
 * because `--config` was forgotten, or in a folder that `data_dir` misspells. Without a
 * configuration, only `serve`, `init` and `restore` may make a database; `user create` may also
 * make one in a missing folder that the configuration names. Environment variables count as a
 * configuration.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export function requireDatabase(
  { config, origins }: Pick<LoadedConfig, 'config' | 'origins'>,
  { cwd }: Pick<Terminal, 'cwd'>,
  { makesDataDir = false } = {},
): void {
  const { file, dataDir, database } = config
  if (existsSync(database.file)) return
  if (file !== null || origins.size > 0) {
    if (!makesDataDir && file !== null && origins.get('data_dir') === file)
      requireFolder(dataDir, file)
    return
  }
  const own = path.join(cwd, FILE_NAME)
  const text = `No configuration was found (looked for ${own} and ${SYSTEM_FILE}), and ${dataDir} has no database.`
  const suggestion =
    'Name the configuration with --config FILE, or call the command in the folder where the server was started.'
  throw new AppError('RESOURCE_NOT_FOUND', text, { suggestion })
}

/**
 * Keeps a command from migrating the database of a running server. The server may be migrating it,
 * or it may be an older version that was not restarted since its program was replaced.
 * @throws AppError CONFLICT, DATABASE_ERROR
 */
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

function requireFolder(dataDir: string, file: string): void {
  if (existsSync(dataDir)) return
  const create = formatCommand(['user', 'create', '--email', 'ADDRESS'])
  throw new AppError('RESOURCE_NOT_FOUND', `data_dir of ${file} does not exist: ${dataDir}`, {
    suggestion: `Correct data_dir. If it is right, the first start of the server makes it, or "${create}".`,
  })
}
