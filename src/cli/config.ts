/**
 * `config check` and `config show`: print whether the configuration is valid, its warnings and its
 * effective values.
 */
import { existsSync, statSync } from 'node:fs'
import { now } from '../base/clock.ts'
import { nativeBindingPath } from '../config/addon.ts'
import { listCertificateFaults } from '../config/certificates/faults.ts'
import { describeOrdered } from '../config/certificates/ordered.ts'
import type { Config } from '../config/config.ts'
import { describeUnreadable, giveTo, isRefused } from '../config/file-access.ts'
import type { LoadedConfig } from '../config/load.ts'
import { settingKeys } from '../config/settings.ts'
import type { TomlValue } from '../config/values/kinds.ts'
import { formatEffective, showSetting } from '../config/values/toml-text.ts'
import { listWarnings } from '../config/warnings.ts'
import type { OpenCore } from '../core/open-core.ts'
import { type CommandContext, type Result, withCoreAsIs } from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'
import { asFileOwner, findOtherOwner } from './engine/file-owner.ts'
import { listOtherPlaces } from './engine/other-places.ts'
import { escapeControls } from './engine/text.ts'

export async function checkConfigCommand(context: CommandContext): Promise<Result> {
  // The files are read as the user who owns them, because the server's user may not read all that
  // root can.
  const isFinal = context.terminal.isWholeProcess
  const { config } = await context.configuration.load({ isQuiet: true })
  const loaded = await asFileOwner(config, context.configuration.check, { isFinal })
  const { file } = loaded.config
  const warnings = [
    ...(await listAllWarnings(context, loaded)),
    ...warnOfMissing(loaded),
    // These faults are no general warnings, because a running server watches its certificates and
    // logs them itself.
    ...listCertificateFaults(loaded.config, now()),
  ]
  const head = `${file ?? 'Defaults and environment (no file)'}: the configuration is valid.`
  const { acme } = loaded.config
  const serves = describeOrdered(loaded.config)
  const certificate = acme && { domains: acme.domains, directory: acme.directoryUrl, serves }
  const lines = [head, ...describeCertificate(certificate)]
  lines.push(...warnings.map((warning) => `Warning: ${warning}`))
  const ordered = certificate === null ? {} : { certificate }
  return { json: { file, ...ordered, warnings }, text: lines.map(escapeControls).join('\n') }
}

type Ordered = { domains: readonly string[]; directory: string; serves: readonly string[] }

function describeCertificate(ordered: Ordered | null): string[] {
  if (ordered === null || ordered.serves.length === 0) return []
  const { domains, directory, serves } = ordered
  return [
    `Certificate for ${domains.join(', ')}, ordered from ${new URL(directory).host}: ${serves.join(', ')}.`,
  ]
}

export async function showConfigCommand(context: CommandContext): Promise<Result> {
  const { config, values, origins } = await context.configuration.load()
  const shown = Object.fromEntries(settingKeys.map((key) => [key, showSetting(key, values)]))
  const head = `# ${escapeControls(config.file ?? 'Defaults and environment (no file)')}`
  const text = `${head}\n${formatEffective(values, origins).trimEnd()}`
  return { json: { file: config.file, values: nest(shown) }, text }
}

export async function listAllWarnings(
  context: CommandContext,
  loaded: LoadedConfig,
): Promise<string[]> {
  const { config } = loaded
  return [
    ...listWarnings(loaded),
    ...(context.configPath === undefined ? listOtherPlaces(loaded, context.terminal) : []),
    ...warnOfRoot(config),
    ...(await findLeftovers(context, config)),
    ...(await findMailFault(context, config)),
  ]
}

/**
 * Warns of configured folders that this user cannot look at, or that do not exist and may be
 * misspelt.
 */
function warnOfMissing({ values, origins }: LoadedConfig): string[] {
  return (['data_dir', 'backup.dir'] as const).flatMap((key) => {
    const folder = values[key]
    if (folder === null || !origins.has(key)) return []
    try {
      if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return []
    } catch (error) {
      const refused = isRefused(error) && describeUnreadable(folder).found
      return [`${key} is ${refused || 'a path that cannot be used'}: ${folder}`]
    }
    return [`${key} does not exist yet: ${folder}. If it is right, the server makes it`]
  })
}

/**
 * Warns of a `data_dir` that belongs to root although the configuration is another user's. A server
 * of root leaves files there that the service cannot open later.
 */
function warnOfRoot(config: Config): string[] {
  const owner = findOtherOwner(config)
  if (owner === undefined) return []
  const call = giveTo(owner.uid, config.dataDir)
  return [
    `data_dir belongs to root, but the configuration file does not: a server of its owner cannot use data_dir. To repair it: ${call}`,
  ]
}

/** Warns about users and keys that the sandbox created, because the other modes refuse them. */
async function findLeftovers(context: CommandContext, config: Config): Promise<string[]> {
  if (config.delivery.mode === 'sandbox') return []
  const { sandboxLeftovers } = await import(
    '../features/tenancy/accounts/projects/sandbox-project.ts'
  )
  const found = await judgeDatabase(context, config, sandboxLeftovers)
  if (found === undefined) return []
  const { users, projects } = found
  const { configPath } = context
  return [
    ...users.map(
      ({ address }) =>
        `the user ${address} was created by the sandbox and is refused; run ${formatCommand(['user', 'password', '--email', address], configPath)}`,
    ),
    ...projects.map(
      ({ id, name }) =>
        `the keys of project ${name} were created by the sandbox and are refused; run ${formatCommand(['project', 'keys', id, '--regenerate'], configPath)}`,
    ),
  ]
}

/** Warns if the project of `accounts.mail_project` cannot send. */
async function findMailFault(context: CommandContext, config: Config): Promise<string[]> {
  if (config.accounts.mailProject === null) return []
  const { judgeSender } = await import('../features/tenancy/accounts/platform-mail/sender.ts')
  const sender = await judgeDatabase(context, config, judgeSender)
  return sender?.kind === 'unusable' ? [sender.reason] : []
}

/**
 * Runs `judge` on the database. Undefined if there is no database, or if its schema is of another
 * version. Opening such a database would migrate it, which only the server should do: it holds the
 * lock and reports the progress.
 */
async function judgeDatabase<T>(
  context: CommandContext,
  config: Config,
  judge: (core: OpenCore) => Promise<T>,
): Promise<T | undefined> {
  const { file } = config.database
  if (!existsSync(file)) return undefined
  const { hasCurrentSchema } = await import('../store/snapshot/unmigrated.ts')
  const isCurrent = async () => hasCurrentSchema(file, nativeBindingPath(config.dataDir))
  const isFinal = context.terminal.isWholeProcess
  if (!(await asFileOwner(config, isCurrent, { isFinal }))) return undefined
  return withCoreAsIs(context, judge)
}

/** Turns keys such as `http.listen` into nested objects. */
function nest(flat: Record<string, TomlValue | null>): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(flat)) {
    const path = key.split('.')
    const name = path.pop() ?? ''
    let table = root
    for (const part of path) {
      table[part] ??= {}
      table = table[part] as Record<string, unknown>
    }
    table[name] = value
  }
  return root
}
