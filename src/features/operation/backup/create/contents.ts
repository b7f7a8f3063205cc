/**
 * The contents of a backup besides the database: the files of `data_dir` (images, lists,
 * certificates), the configuration and its secrets. Files outside of `data_dir` that the
 * configuration names are listed, and not copied.
 */
import { createReadStream, type Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { AppError, hasCode } from '../../../../base/errors.ts'
import type { Config } from '../../../../config/config.ts'
import { readToml } from '../../../../config/layers/file.ts'
import type { LoadedConfig } from '../../../../config/load.ts'
import { type SettingKey, settingKeys, settingOf } from '../../../../config/settings.ts'
import { formatNewFile } from '../../../../config/values/toml-text.ts'
import { type BackupSecrets, ENTRY, MAX_ENTRIES, type OutsideFile } from '../archive/manifest.ts'

/** The settings of folders that the server fills itself. */
const OWN_FOLDERS: readonly SettingKey[] = ['data_dir', 'backup.dir']

type DataFile = {
  /** The name in the archive. */
  entry: string
  file: string
  bytes: number
  /** Reads the bytes of the file. A file that is gone throws ENOENT before its first byte. */
  read(): AsyncIterable<Buffer> | Iterable<Buffer>
}

type ListOptions = { withoutSecret: boolean; maxFiles?: number }

type Folder = {
  name: string
  /**
   * Whether a file of the folder no longer changes once a row names it. Such files may be large, so
   * they are read when they are archived, and not before.
   */
  isFrozen: boolean
  isSecret: boolean
}

const FOLDERS: readonly Folder[] = [
  { name: 'uploads', isFrozen: true, isSecret: false },
  { name: 'lists', isFrozen: false, isSecret: false },
  // The folder has the keys of certificates and of the account at the authority.
  { name: 'acme', isFrozen: false, isSecret: true },
]

/** The most entries of a backup besides the files of `data_dir`. */
const OTHER_ENTRIES = 1_000

/**
 * Lists regular files, sorted by name; a link is neither followed nor copied.
 * @throws AppError CONFLICT for more files than a backup may have
 */
export async function* listDataFiles(
  dataDir: string,
  { withoutSecret, maxFiles = MAX_ENTRIES - OTHER_ENTRIES }: ListOptions,
): AsyncGenerator<DataFile> {
  let count = 0
  for (const { name, isFrozen, isSecret } of FOLDERS) {
    if (withoutSecret && isSecret) continue
    const folder = { file: path.join(dataDir, name), entry: ENTRY.data + name }
    for await (const file of listFolder(folder, isFrozen)) {
      count += 1
      if (count > maxFiles) throw tooManyFiles(dataDir, maxFiles)
      yield file
    }
  }
}

function tooManyFiles(dataDir: string, maxFiles: number): AppError {
  const text = `${dataDir} has more than ${maxFiles} files, and a backup holds no more.`
  return new AppError('CONFLICT', text, {
    suggestion:
      'Delete images that no email needs, or take files of other programs out of the folder.',
  })
}

type BackedUpPath = { file: string; entry: string }

async function* listFolder(folder: BackedUpPath, isFrozen: boolean): AsyncGenerator<DataFile> {
  for (const one of await entriesOf(folder.file)) {
    const place = { entry: `${folder.entry}/${one.name}`, file: path.join(folder.file, one.name) }
    if (one.isDirectory()) yield* listFolder(place, isFrozen)
    if (!one.isFile()) continue
    const found = await (isFrozen ? readLater(place) : readNow(place)).catch(unlessMissing)
    if (found !== undefined) yield found
  }
}

/**
 * Reads only as many bytes as the file has at this moment. If a file is still being written, no row
 * of the snapshot names it, so an incomplete copy does no harm.
 */
async function readLater(place: BackedUpPath): Promise<DataFile> {
  const { size } = await stat(place.file)
  const read = () =>
    size === 0 ? [] : createReadStream(place.file, { end: size - 1, highWaterMark: 256 * 1024 })
  return { ...place, bytes: size, read }
}

async function readNow(place: BackedUpPath): Promise<DataFile> {
  const content = await readFile(place.file)
  return { ...place, bytes: content.length, read: () => [content] }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    return unlessMissing(error) ?? []
  }
}

/** Undefined for a missing file; throws any other error. */
function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error
  return undefined
}

/**
 * Reads the configuration file; undefined without one. Without its secrets, the text has the same
 * other values and no comments.
 */
export async function readConfigText(
  { file }: Pick<Config, 'file'>,
  { withoutSecret }: { withoutSecret: boolean },
): Promise<Buffer | undefined> {
  if (file === null) return undefined
  const text = await readFile(file, 'utf8')
  return Buffer.from(withoutSecret ? withoutSecrets(file, text) : text)
}

function withoutSecrets(file: string, text: string): string {
  const { given } = readToml({ file, text })
  const entriesOf = <T>(read: (key: SettingKey) => T | undefined) =>
    Object.fromEntries(
      settingKeys.flatMap((key) => {
        const value = read(key)
        return value === undefined ? [] : [[key, value]]
      }),
    )
  const open = entriesOf((key) => {
    const { kind } = settingOf(key)
    const value = given.has(key) && !kind.isSecret ? kind.read(given.get(key)?.value) : undefined
    return value === undefined ? undefined : kind.show(value)
  })
  const files = entriesOf((key) => {
    const path = given.get(`${key}_file`)?.value
    return settingOf(key).kind.isSecret && typeof path === 'string' ? path : undefined
  })
  return formatNewFile(open, files)
}

/**
 * Reads the secrets in effect. Unlike a start of the server, this makes no new secret.
 * @throws AppError CONFLICT without a secret
 */
export async function readSecrets(
  config: Pick<Config, 'secret' | 'secretPrevious' | 'dataDir'>,
): Promise<BackupSecrets> {
  const secret = config.secret ?? (await readStoredSecret(config.dataDir))
  return { secret, secretPrevious: config.secretPrevious }
}

async function readStoredSecret(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'secret')
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new AppError('CONFLICT', `There is no secret: ${file} is missing.`, {
      suggestion: 'Put the secret back, or make a backup with --without-secret.',
    })
  }
}

/** Lists the files and environment variables that a restored server needs besides the backup. */
export function listOutside({ config, values, origins }: LoadedConfig): OutsideFile[] {
  return settingKeys.flatMap((key) => {
    const [value, origin] = [values[key], origins.get(key)]
    const own = settingOf(key).kind.isPath && !OWN_FOLDERS.includes(key) && value !== null
    const place = own ? [{ key, place: String(value) }] : []
    if (origin === undefined || origin === config.file) return place
    return path.isAbsolute(origin)
      ? [...place, { key: `${key}_file`, place: origin }]
      : [...place, { key, place: `environment variable ${origin}` }]
  })
}
