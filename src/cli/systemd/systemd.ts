/**
 * `systemd`: prints the unit of the service; `--install` sets it up. Systemd itself is left alone: the
 * command prints the calls of `systemctl` that are next.
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
const OWN = [STATE_FOLDER, BACKUP_FOLDER]

type Program = { command: string[]; copy: { from: string; to: string } | null }

type Installed = {
  /** `/`, or the root of another system. */
  root: string
  /** The executable and its first arguments, as in the unit. */
  program: readonly string[]
  /** The configuration file of the service, as the unit's system sees it. */
  configFile: string
  /** Whether the service runs an executable that was replaced since. */
  runsOld: boolean
}

/** The control group of the service, in the hierarchy of today and in the one before. */
const GROUPS = ['sys/fs/cgroup', 'sys/fs/cgroup/systemd'].map((folder) =>
  path.join(folder, 'system.slice/pillarbox.service/cgroup.procs'),
)
/** Linux appends this to the name of an executable whose file is gone. */
const GONE = ' (deleted)'

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

/**
 * Lists the next commands after the set-up of the service, in their order. A service without a configuration
 * cannot start, so `init` comes first. After an upgrade the old program runs on until the service starts again.
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
  // Without a restart since an earlier run, systemd may not have read the unit of that run either.
  const reload = isUnitChanged || !isProgramChanged ? ['systemctl daemon-reload'] : []
  const enable = isEnabled(root) ? [] : ['systemctl enable pillarbox']
  return [...reload, ...enable, 'systemctl restart pillarbox']
}

/**
 * Whether the service has a configuration. A file of `--config` may be a file of this system; the usual file
 * is below the root.
 */
function isConfigured(root: string, configFile: string): boolean {
  const isOfThisSystem = configFile !== SYSTEM_FILE && existsSync(configFile)
  return isOfThisSystem || existsSync(path.join(root, configFile))
}

/** Whether the system starts the service when it boots. The link leads to a place below the root. */
function isEnabled(root: string): boolean {
  return lstatSync(path.join(root, ENABLED_LINK), { throwIfNoEntry: false }) !== undefined
}

function callOf(program: readonly string[]): string {
  return program.map((word) => (word === PROGRAM_PLACE ? 'pillarbox' : quoteWord(word))).join(' ')
}

/**
 * Whether the service runs an executable that an upgrade has replaced, by the files of Linux, without asking
 * systemd. `root` is the root of the running system; tests give another.
 */
export function runsOldProgram(root = '/'): boolean {
  const processes = GROUPS.flatMap((file) =>
    read(() => readFileSync(path.join(root, file), 'utf8')),
  )
  return processes
    .flatMap((text) => text.match(/\d+/g) ?? [])
    .flatMap((id) => read(() => readlinkSync(path.join(root, 'proc', id, 'exe'))))
    .some((executable) => executable.endsWith(GONE))
}

/** Empty where the file cannot be read: no service runs, or its processes are another user's. */
function read(file: () => string): string[] {
  try {
    return [file()]
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return []
    throw error
  }
}
