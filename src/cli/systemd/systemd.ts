/**
 * `systemd`: prints the unit of the service; `--install` sets up the service. The command does not
 * call `systemctl`, but prints the calls that are next.
 */
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'
import { SYSTEM_FILE } from '../../config/layers/file.ts'
import { ConfigError } from '../../config/problems.ts'
import { quoteWord } from '../../config/shell-word.ts'
import { type CommandContext, type Input, type Result, UsageError } from '../engine/command.ts'
import { findConfiguration } from '../engine/configuration.ts'
import { formatTable } from '../engine/text.ts'
import { type InstallStep, installService } from './install.ts'
import {
  BACKUP_FOLDER,
  ENABLED_LINK,
  formatUnit,
  PROGRAM_PLACE,
  STATE_FOLDER,
  UNIT_FILE,
} from './unit.ts'

/** The folders that every unit lets the server write. */
const WRITABLE_FOLDERS = [STATE_FOLDER, BACKUP_FOLDER]

type Program = { command: string[]; copy: { from: string; to: string } | null }

type Installed = {
  /** The root folder: `/`, or the root of another system. */
  root: string
  /** The executable and its first arguments, as the unit has them. */
  program: readonly string[]
  /** The path of the service's configuration file, as the installed system sees it. */
  configFile: string
  /** Whether the running service uses an executable that has been replaced. */
  runsOld: boolean
}

/**
 * The files that list the processes of the service's control group, in version 2 and in version 1
 * of control groups.
 */
const UNIT_CGROUPS = ['sys/fs/cgroup', 'sys/fs/cgroup/systemd'].map((folder) =>
  path.join(folder, 'system.slice/pillarbox.service/cgroup.procs'),
)
/** The text that Linux appends to the name of an executable whose file is gone. */
const DELETED_MARK = ' (deleted)'

export async function systemdCommand(context: CommandContext, input: Input): Promise<Result> {
  const program = chooseProgram(input)
  const { configPath, terminal } = context
  const configFile = path.resolve(terminal.cwd, configPath ?? SYSTEM_FILE)
  // The service finds the usual file by itself, so the unit need not name it.
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

/**
 * Returns the program that the unit runs. An executable is copied to its usual place, because the
 * service cannot see home folders. From source, the unit names the runtime and the source file.
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
 * Lists the folders of data and backups in the service's configuration that are outside the unit's
 * own folders. The service starts in `/` with an environment of its own, so a configuration in the
 * present folder does not count.
 */
async function listWritable({ terminal, configPath }: CommandContext): Promise<string[]> {
  const cwd = configPath === undefined ? '/' : terminal.cwd
  try {
    const { config } = await findConfiguration({ terminal: { cwd, env: {} }, configPath }).load()
    if (config.file === null) return []
    const folders = [config.dataDir, ...(config.backup.dir === null ? [] : [config.backup.dir])]
    return folders.filter((folder) => !WRITABLE_FOLDERS.some((own) => isInside(folder, own)))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    // The fault is left to `config check`, because the rest of the unit does not depend on the
    // configuration.
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

/**
 * Lists the commands to type after the service is set up, in order. A service without a
 * configuration cannot start, so `init` comes first. After an upgrade, the old program runs until
 * the service is restarted.
 */
export function listNextSteps(
  steps: readonly InstallStep[],
  { root, program, configFile, runsOld }: Installed,
): string[] {
  const isUnitChanged = steps.some((step) => step.path === UNIT_FILE && step.done === 'changed')
  const isProgramChanged = steps.some(
    (step) => step.path === PROGRAM_PLACE && step.done === 'changed',
  )
  const start = 'systemctl enable --now pillarbox'
  if (!isConfigured(root, configFile)) {
    return [
      `${callOf(program)} --config ${quoteWord(configFile)} init`,
      'systemctl daemon-reload',
      start,
    ]
  }
  if (!isUnitChanged && !isProgramChanged && !runsOld) return ['systemctl daemon-reload', start]
  // If the service was not restarted since an earlier run, systemd may not have read the unit of
  // that run, either.
  const reload = isUnitChanged || !isProgramChanged ? ['systemctl daemon-reload'] : []
  const enable = isEnabled(root) ? [] : ['systemctl enable pillarbox']
  return [...reload, ...enable, 'systemctl restart pillarbox']
}

/**
 * Whether the service has a configuration. The file of `--config` may be one of this system; the
 * usual file is below the root.
 */
function isConfigured(root: string, configFile: string): boolean {
  const isOfThisSystem = configFile !== SYSTEM_FILE && existsSync(configFile)
  return isOfThisSystem || existsSync(path.join(root, configFile))
}

/**
 * Whether the system starts the service when it boots: the link exists. Where the link leads is not
 * checked, because it is a path below the root.
 */
function isEnabled(root: string): boolean {
  return lstatSync(path.join(root, ENABLED_LINK), { throwIfNoEntry: false }) !== undefined
}

function callOf(program: readonly string[]): string {
  return program.map((word) => (word === PROGRAM_PLACE ? 'pillarbox' : quoteWord(word))).join(' ')
}

/**
 * Whether the service runs an executable that an upgrade has replaced. It reads the files of Linux
 * and does not ask systemd. `root`: the root of the running system; tests give another.
 */
export function runsOldProgram(root = '/'): boolean {
  const processes = UNIT_CGROUPS.flatMap((file) =>
    read(() => readFileSync(path.join(root, file), 'utf8')),
  )
  return processes
    .flatMap((text) => text.match(/\d+/g) ?? [])
    .flatMap((id) => read(() => readlinkSync(path.join(root, 'proc', id, 'exe'))))
    .some((executable) => executable.endsWith(DELETED_MARK))
}

/**
 * Returns the file's content as the only item; empty if the file cannot be read, because no service
 * runs or its processes are another user's.
 */
function read(file: () => string): string[] {
  try {
    return [file()]
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return []
    throw error
  }
}
