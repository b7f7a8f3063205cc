/**
 * Refuses a command that would make a new, empty database by mistake: in the present folder, because
 * `--config` was forgotten, or in a folder that `data_dir` misspells. Without a configuration only `serve`,
 * `init` and `restore` make a database; `user create` also makes one in a missing folder that the
 * configuration names.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../base/errors.ts'
import { FILE_NAME, SYSTEM_FILE } from '../../config/layers/file.ts'
import type { Loaded } from '../../config/load.ts'
import { formatCommand } from './command-line.ts'
import type { Terminal } from './terminal.ts'

/** Variables of the environment are a configuration too. @throws AppError RESOURCE_NOT_FOUND */
export function requireDatabase(
  { config, origins }: Pick<Loaded, 'config' | 'origins'>,
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

function requireFolder(dataDir: string, file: string): void {
  if (existsSync(dataDir)) return
  const create = formatCommand(['user', 'create', '--email', 'ADDRESS'])
  throw new AppError('RESOURCE_NOT_FOUND', `data_dir of ${file} does not exist: ${dataDir}`, {
    suggestion: `Correct data_dir. If it is right, the first start of the server makes it, or "${create}".`,
  })
}
