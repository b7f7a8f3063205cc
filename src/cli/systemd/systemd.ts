/**
 * `systemd`: prints the unit of the service; `--install` sets it up. Systemd itself is left alone: the
 * command prints the calls of `systemctl` that are next.
 */
import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'
import { SYSTEM_FILE } from '../../config/layers/file.ts'
import { ConfigError } from '../../config/problems.ts'
import { type CommandContext, type Input, type Result, UsageError } from '../engine/command.ts'
import { findConfiguration } from '../engine/configuration.ts'
import { formatTable } from '../engine/text.ts'
import { type InstallStep, installService } from './install.ts'
import { listNextSteps } from './next-steps.ts'
import { runsOldProgram } from './runs-old.ts'
import { BACKUP_FOLDER, formatUnit, PROGRAM_PLACE, STATE_FOLDER } from './unit.ts'

/** Those that every unit lets the server write. */
const OWN = [STATE_FOLDER, BACKUP_FOLDER]

export async function systemdCommand(context: CommandContext, input: Input): Promise<Result> {
  const program = chooseProgram(input)
  const { configPath, terminal } = context
  const configFile = path.resolve(terminal.cwd, configPath ?? SYSTEM_FILE)
  // The service finds the usual file by itself, so that naming it here changes nothing.
  const file = configFile === SYSTEM_FILE ? [] : ['--config', configFile]
  const writable = await listWritable(context)
  const formatFor = (...words: string[]) =>
    formatUnit({ program: [...program.command, ...words], writable })
  const unit = formatFor(...file)
  if (!input.has('install')) {
    if (input.text('root') !== undefined || input.has('force')) {
      throw new UsageError('--root and --force belong to --install')
    }
    return { json: { unit }, text: unit.trimEnd() }
  }
  const root = path.resolve(terminal.cwd, input.text('root') ?? '/')
  if (!existsSync(root)) throw new UsageError(`the folder ${root} does not exist`)
  const force = input.has('force')
  const sameUnit = configFile === SYSTEM_FILE ? formatFor('--config', configFile) : undefined
  const steps = installService({ root, unit, sameUnit, program: program.copy, writable, force })
  const next = listNextSteps(steps, {
    root,
    program: program.command,
    configFile,
    runsOld: root === '/' && runsOldProgram(),
  })
  return { json: { root, steps, next }, text: describe(root, steps, next) }
}

type Program = { command: string[]; copy: { from: string; to: string } | null }

/**
 * The executable is copied to the place that the unit names, since the service sees no home folders.
 * From source, the unit names the runtime and the source file.
 */
function chooseProgram(input: Input): Program {
  const given = input.text('program')
  if (given !== undefined) {
    if (!path.isAbsolute(given)) throw new UsageError('--program: expected an absolute path')
    return { command: [given], copy: null }
  }
  const own = realpathSync(process.execPath)
  if (sea.isSea()) return { command: [PROGRAM_PLACE], copy: { from: own, to: PROGRAM_PLACE } }
  return { command: [own, path.join(import.meta.dirname, '../../main.ts')], copy: null }
}

/**
 * The folders of data and backups that the service's configuration names, outside the unit's own folders.
 * The service starts in `/` with an environment of its own, so a file in this folder does not count.
 */
async function listWritable({ terminal, configPath }: CommandContext): Promise<string[]> {
  const cwd = configPath === undefined ? '/' : terminal.cwd
  try {
    const { config } = await findConfiguration({ terminal: { cwd, env: {} }, configPath }).load()
    if (config.file === null) return []
    const folders = [config.dataDir, ...(config.backup.dir === null ? [] : [config.backup.dir])]
    return folders.filter((folder) => !OWN.some((own) => isInside(folder, own)))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    // `config check` reports it; the unit does not depend on the rest.
    return []
  }
}

function isInside(folder: string, outer: string): boolean {
  return folder === outer || folder.startsWith(`${outer}/`)
}

function describe(root: string, steps: readonly InstallStep[], next: readonly string[]): string {
  const rows = steps.map(({ path: name, done }) => [done, name])
  const isChanged = steps.some(({ done }) => done === 'created' || done === 'changed')
  const isUserMissing = steps.some(({ done }) => done === 'missing')
  return [
    formatTable(['DONE', root === '/' ? 'PATH' : `PATH BELOW ${root}`], rows, ''),
    ...(isChanged || isUserMissing ? [] : ['', 'Everything is in place; nothing was changed.']),
    ...(isUserMissing
      ? ['', `${root} has no list of users: create the system user pillarbox there.`]
      : []),
    '',
    'Next:',
    ...next.map((call) => `  ${call}`),
  ].join('\n')
}
