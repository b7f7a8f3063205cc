/** `restore`: restores a backup into a folder that no server uses. */
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { formatInstant, formatSecond, now } from '../base/clock.ts'
import { createLog } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import { FILE_NAME, readToml, SYSTEM_FILE } from '../config/layers/file.ts'
import { loadConfig } from '../config/load.ts'
import { DUTIES } from '../core/areas.ts'
import { openCore } from '../core/open-core.ts'
import type { OutsideFile } from '../features/operation/backup/archive/manifest.ts'
import { relocateConfig } from '../features/operation/backup/restore/data-folder.ts'
import {
  type RestoredBackup,
  restoreBackup,
} from '../features/operation/backup/restore/restore-backup.ts'
import type { CommandContext, Input, Result } from './engine/command.ts'
import { formatCommand } from './engine/command-line.ts'
import { asFileOwner } from './engine/file-owner.ts'
import { escapeControls } from './engine/text.ts'
import { formatFenced } from './fence.ts'
import { UNIT_FILE } from './systemd/unit.ts'
import { openArchive } from './verify.ts'

type WrittenConfig = {
  /** The configuration file that was written; null if none was. */
  file: string | null
  /** Sentences that say what the operator has to do. */
  advice: string[]
  needed: NeededFile[]
}

/**
 * `copyTo`: the place for a copy of the file, where a relative path in the written configuration
 * looks for it.
 */
type NeededFile = OutsideFile & { copyTo?: string }

export async function restoreCommand(context: CommandContext, input: Input): Promise<Result> {
  const { terminal } = context
  const [file = ''] = input.args
  const to = input.text('to')
  const folder = to === undefined ? undefined : path.resolve(terminal.cwd, to)
  const config =
    folder === undefined ? (await context.configuration.load()).config : configOf(context, folder)
  const source = openArchive(terminal, file)
  const act = async () => {
    const restored = await restoreBackup(
      { config, now, log: createLog('fatal'), tables: DUTIES.tables, openCore },
      source,
    )
    const written =
      folder === undefined ? keepConfig(restored) : await writeConfig(folder, restored)
    return { restored, written }
  }
  const isFinal = terminal.isWholeProcess
  const { restored, written } = await asFileOwner(config, act, { isFinal, makesDataDir: true })
  const at = now()
  return {
    json: toJson(config, restored, { written, at }),
    text: report(config, restored, { written, at }),
  }
}

/**
 * Returns the configuration for `--to`: the defaults in that folder, and the secret if the
 * environment has one.
 */
function configOf({ terminal, configPath }: CommandContext, folder: string): Config {
  const secret = terminal.env.PILLARBOX_SECRET
  const env = {
    PILLARBOX_DATA_DIR: folder,
    ...(secret === undefined ? {} : { PILLARBOX_SECRET: secret }),
  }
  const config = loadConfig({ cwd: folder, configPath: null, env })
  return { ...config, file: ownerFileOf({ terminal, configPath }) }
}

/**
 * Returns the file whose owner becomes the owner of a folder that root makes: the file of
 * `--config`, else the system's. A file in the present folder does not count, because it may be
 * another user's.
 */
function ownerFileOf({
  terminal,
  configPath,
}: Pick<CommandContext, 'terminal' | 'configPath'>): string | null {
  if (configPath !== undefined) return path.resolve(terminal.cwd, configPath)
  return existsSync(SYSTEM_FILE) ? SYSTEM_FILE : null
}

function keepConfig({ configText, manifest }: RestoredBackup): WrittenConfig {
  const needed = manifest.outside
  if (configText === undefined) return { file: null, advice: [], needed }
  const text = `The configuration in the backup was not used: "tar --zstd -xOf FILE ${FILE_NAME}" shows it.`
  return { file: null, advice: [text], needed }
}

/** Writes the configuration beside the restored data, never over an existing file. */
async function writeConfig(
  folder: string,
  { configText, manifest: { outside } }: RestoredBackup,
): Promise<WrittenConfig> {
  if (configText === undefined) {
    const text = `The backup has no configuration file: write one with data_dir = ${JSON.stringify(folder)}.`
    return { file: null, advice: [text], needed: outside }
  }
  const moved = relocateConfig(configText.toString('utf8'), folder)
  const name = path.join(folder, FILE_NAME)
  const isFree = moved !== undefined && !existsSync(name)
  const file = isFree ? name : await freeName(`${name}.restored`)
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(moved ?? configText)
    await handle.sync()
  } finally {
    await handle.close()
  }
  const advice = isFree
    ? []
    : [
        moved === undefined
          ? `${file} is the configuration of the backup as it was: set data_dir to ${JSON.stringify(folder)} in it before you use it.`
          : `${name} was there and was not changed: the configuration of the backup is ${file}.`,
      ]
  const needed = moved === undefined ? outside : locateNeeded(outside, { file, text: moved })
  return { file, advice, needed }
}

/**
 * Adds `copyTo` to the files that the configuration names by a relative path, which counts from the
 * folder of the configuration.
 */
function locateNeeded(
  outside: readonly OutsideFile[],
  written: { file: string; text: string },
): NeededFile[] {
  const { given } = readToml(written)
  const named = outside.map((one) => {
    const value = given.get(one.key)?.value
    const isReplaced = outside.some(({ key, place }) => key === one.key && !path.isAbsolute(place))
    if (isReplaced || typeof value !== 'string' || path.isAbsolute(value)) return one
    return { ...one, copyTo: path.resolve(path.dirname(written.file), value) }
  })
  // A setting without a value may use another setting's file: submission may use the certificate of
  // `inbound`.
  return named.map((one) =>
    given.has(one.key) ? one : { ...named.find(({ place }) => place === one.place), ...one },
  )
}

async function freeName(name: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const file = number === 1 ? name : `${name}.${number}`
    if (!existsSync(file)) return file
  }
}

/**
 * Returns the command that starts the server. `config`: the file that `serve` uses; the service
 * always uses the system's file.
 */
export function describeStart(
  serve: string,
  { config, hasUnit }: { config: string | null; hasUnit: boolean },
): string {
  if (!hasUnit) return serve
  const start = 'systemctl start pillarbox'
  return config === SYSTEM_FILE
    ? start
    : `${serve}     or, with this configuration in ${SYSTEM_FILE}: ${start}`
}

function toJson(
  { dataDir }: Config,
  { manifest, generation, held, newestWishAt, secrets }: RestoredBackup,
  { written, at }: { written: WrittenConfig; at: number },
) {
  const { createdAt, version } = manifest
  const outside = written.needed
  const gapMs = Math.max(0, at - Date.parse(createdAt))
  const common = { folder: dataDir, config: written.file, createdAt, version, gapMs, generation }
  const wishAt = newestWishAt === null ? null : formatInstant(newestWishAt)
  return { ...common, held, newestWishAt: wishAt, outside, withoutSecret: secrets === null }
}

function report(
  { dataDir, file }: Config,
  { manifest, generation, held, newestWishAt, secrets }: RestoredBackup,
  { written, at }: { written: WrittenConfig; at: number },
): string {
  const { createdAt, hostname } = manifest
  const { needed } = written
  const config = written.file ?? file
  const call = (...words: string[]) => formatCommand(words, config ?? undefined)
  const lines = [
    `The backup of ${hostname} was restored to ${dataDir}, as generation ${generation}.`,
    '',
    `Everything between ${formatSecond(Date.parse(createdAt))} and now (${formatSecond(at)}) is lost:`,
    'mail and events of that time, and also unsubscriptions, complaints, suppressions and changes of keys.',
    newestWishAt === null
      ? 'The backup knows of nobody who unsubscribed or complained.'
      : `The last person who unsubscribed or complained, as far as the backup knows, did so at ${formatSecond(newestWishAt)}: newer wishes are lost.`,
    'Take over from elsewhere what you know of them before mail goes out again.',
    '',
    `Held: ${formatFenced(held)}.`,
    'Keys, links in mail and return paths work. All sessions, invitations and links for one use have ended.',
    ...written.advice,
    ...(secrets?.secretPrevious == null
      ? []
      : [
          `The previous secret is in ${path.join(dataDir, 'secret_previous')}: set secret_previous_file to it.`,
        ]),
    ...(needed.length > 0 ? ['', 'Not inside the backup, and needed:'] : []),
    ...needed.map(({ key, place, copyTo }) =>
      copyTo === undefined ? `  ${key}  ${place}` : `  ${key}  copy ${place} to ${copyTo}`,
    ),
    '',
    'Next:',
    `  ${call('config', 'check')}`,
    `  ${describeStart(call('serve'), { config, hasUnit: existsSync(UNIT_FILE) })}`,
    `  ${call('queue', 'release', '--restored')}     when what is held may go out`,
  ]
  return lines.map(escapeControls).join('\n')
}
