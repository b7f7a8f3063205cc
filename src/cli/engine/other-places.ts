/**
 * The places that a command without `--config` does not use: the system's configuration, if the
 * present folder has a configuration, too; and the database of a trial in the present folder, if
 * the command uses the system's configuration.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { FILE_NAME, SYSTEM_FILE } from '../../config/layers/file.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { quoteWord } from '../../config/shell-word.ts'
import type { Terminal } from './terminal.ts'

type CliPlace = Pick<Terminal, 'cwd' | 'systemFile'>

/** Returns one sentence for each place that the command does not use. */
export function listOtherPlaces(
  { config }: Pick<LoadedConfig, 'config'>,
  place: CliPlace,
): string[] {
  const { file, database } = config
  const hidden = findHidden(place)
  if (hidden !== undefined && file === path.join(place.cwd, FILE_NAME)) {
    return [
      `This command uses ${file}, which hides ${hidden}. For that server: --config ${quoteWord(hidden)}`,
    ]
  }
  const trial = path.join(place.cwd, 'data', path.basename(database.file))
  if (file !== systemFileOf(place) || trial === database.file || !existsSync(trial)) return []
  return [
    `This command uses ${file}, not ${trial}. For that database: --config with a file that has data_dir = ${quoteWord(path.dirname(trial))}.`,
  ]
}

/**
 * Returns the system's configuration file, if a configuration file in the present folder hides it
 * or would hide it.
 */
export function findHidden(place: CliPlace): string | undefined {
  const system = systemFileOf(place)
  return system !== path.join(place.cwd, FILE_NAME) && existsSync(system) ? system : undefined
}

function systemFileOf({ systemFile = SYSTEM_FILE }: CliPlace): string {
  return systemFile
}
