/**
 * `systemd`: prints the unit of the service; `--install` sets it up. Systemd itself is left alone: the
 * command prints the calls of `systemctl` that are next.
 */
import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'
import { ConfigError } from '../../config/problems.ts'
import { load } from '../config.ts'
import { type CommandContext, type Input, type Result, UsageError } from '../engine/command.ts'
import { formatTable } from '../engine/text.ts'
import { type InstallStep, installService } from './install.ts'
import { BACKUP_FOLDER, formatUnit, STATE_FOLDER } from './unit.ts'

const PROGRAM_PLACE = '/usr/local/bin/pillarbox'
/** Those that every unit lets the server write. */
const OWN = [STATE_FOLDER, BACKUP_FOLDER]
const NEXT = ['systemctl daemon-reload', 'systemctl enable --now pillarbox']

export async function systemdCommand(context: CommandContext, input: Input): Promise<Result> {
  const program = chooseProgram(input)
  const { configPath, terminal } = context
  const file = configPath === undefined ? [] : ['--config', path.resolve(terminal.cwd, configPath)]
  const writable = listWritable(context)
  const unit = formatUnit({ program: [...program.command, ...file], writable })
  if (!input.has('install')) {
    if (input.text('root') !== undefined || input.has('force')) {
      throw new UsageError('--root and --force belong to --install')
    }
    return { json: { unit }, text: unit.trimEnd() }
  }
  const root = path.resolve(terminal.cwd, input.text('root') ?? '/')
  if (!existsSync(root)) throw new UsageError(`the folder ${root} does not exist`)
  const force = input.has('force')
  const steps = installService({ root, unit, program: program.copy, writable, force })
  return { json: { root, steps, next: NEXT }, text: describe(root, steps) }
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
function listWritable({ terminal, configPath, isJson }: CommandContext): string[] {
  const cwd = configPath === undefined ? '/' : terminal.cwd
  try {
    const { config } = load({ terminal: { ...terminal, cwd, env: {} }, configPath, isJson })
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

function describe(root: string, steps: readonly InstallStep[]): string {
  const rows = steps.map(({ path: name, done }) => [done, name])
  const isChanged = steps.some(({ done }) => done === 'created' || done === 'changed')
  const isUserMissing = steps.some(({ done }) => done === 'missing')
  return [
    formatTable(['DONE', root === '/' ? 'PATH' : `PATH BELOW ${root}`], rows, ''),
    ...(isChanged ? [] : ['', 'Everything is in place; nothing was changed.']),
    ...(isUserMissing
      ? ['', `${root} has no list of users: create the system user pillarbox there.`]
      : []),
    '',
    'Next:',
    ...NEXT.map((call) => `  ${call}`),
  ].join('\n')
}
