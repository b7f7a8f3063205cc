/**
 * The format of a backup: a tar archive, compressed with zstd, of regular files.
 *
 *   manifest.json          the first entry: versions, and name and size of each file
 *   secrets.json           the secret and the previous one, unless left out
 *   pillarbox.toml         the configuration file, if there is one
 *   database/pillarbox.db  the database
 *   data/…                 files of `data_dir` by their paths: images, lists, certificates
 *   end.json               the last entry: SHA-256 of each file; which ones were deleted meanwhile
 *
 * So every file is read once, and its digest is known when it has been written.
 *
 * An archive comes from outside, like a request: every name, size and digest in it is checked.
 */
import { AppError } from '../../../../base/errors.ts'

export const FORMAT = 'pillarbox-backup'
export const FORMAT_VERSION = 1

export const ENTRY = {
  manifest: 'manifest.json',
  secrets: 'secrets.json',
  config: 'pillarbox.toml',
  database: 'database/pillarbox.db',
  data: 'data/',
  end: 'end.json',
} as const

/** The folders of `data_dir` that a backup has. */
const DATA_FOLDERS = ['uploads', 'lists', 'acme']

export type ArchivedFile = { path: string; bytes: number }

/** A file that the configuration names and that is not in the archive. */
export type OutsideFile = { key: string; place: string }

export type BackupManifest = {
  format: typeof FORMAT
  formatVersion: number
  /** The version of the program that made the archive. */
  version: string
  /** The number of the database's last migration. */
  schema: number
  /** The generation of the database: how often it has been restored. */
  generation: number
  /** The number of the newest event. */
  seq: number
  /** When the archive was made, in ISO 8601. */
  createdAt: string
  hostname: string
  withoutSecret: boolean
  files: ArchivedFile[]
  outside: OutsideFile[]
}

export type ArchiveEnd = {
  /** SHA-256 of each file, by its path. */
  sha256: Record<string, string>
  /** The paths of files of the manifest that were deleted before they were read. */
  deleted: string[]
}

export type BackupSecrets = { secret: string; secretPrevious: string | null }

/** The most entries of a backup, and the most files that it names without holding them. */
export const MAX_ENTRIES = 1_000_000
/** The most bytes of the manifest; a list of a million images is smaller. */
export const MAX_MANIFEST_BYTES = 256 * 1024 * 1024
/**
 * The most characters `,`, `[` and `{` of a manifest, each of which begins a value in JSON: two in
 * an entry, one between entries, and 1,000 in the rest.
 */
const MAX_MARKS = 3 * MAX_ENTRIES + 1_000
const MAX_PATH_LENGTH = 255
const MAX_PATH_DEPTH = 8
/** A part of a path: a name that every file system takes, without the separators of Windows. */
const PATH_PART = /^(?!\.{1,2}$)[\w.@+=~*-]+$/

/** The error for a fault of an archive. Its text is for operators. */
export function archiveFault(text: string, cause?: unknown): AppError {
  return new AppError('BAD_REQUEST', text, cause === undefined ? {} : { cause })
}

/** @throws AppError BAD_REQUEST for a name that a backup never has: absolute, with `..`, too long */
export function checkPath(path: string): void {
  if (isPath(path)) return
  const shown = JSON.stringify(path.slice(0, MAX_PATH_LENGTH))
  throw archiveFault(`The archive has an entry with the forbidden name ${shown}.`)
}

/** Whether a backup may have a file of this name. */
export function isPath(path: string): boolean {
  const parts = path.split('/')
  const isKnown =
    path === ENTRY.secrets ||
    path === ENTRY.config ||
    path === ENTRY.database ||
    DATA_FOLDERS.some((folder) => path.startsWith(`${ENTRY.data}${folder}/`))
  return (
    isKnown &&
    path.length <= MAX_PATH_LENGTH &&
    parts.length <= MAX_PATH_DEPTH &&
    parts.every((part) => PATH_PART.test(part))
  )
}

/** Returns the folders of a path: `a` and `a/b` for `a/b/c`. */
function foldersOf(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** @throws AppError BAD_REQUEST for another format, a newer format, a malformed manifest or too many entries */
export function parseManifest(bytes: Buffer): BackupManifest {
  const value = parseObject(bytes, ENTRY.manifest)
  if (value.format !== FORMAT) throw archiveFault('The file is no backup of Pillarbox.')
  if (value.formatVersion !== FORMAT_VERSION) {
    const text = `The backup has the format ${String(value.formatVersion).slice(0, 20)}, which version ${String(value.version).slice(0, 40)} of Pillarbox wrote; this version reads format ${FORMAT_VERSION}.`
    throw archiveFault(text)
  }
  if (!isManifest(value)) throw archiveFault('The manifest of the backup is malformed.')
  requireFewEntries(value.files.length + value.outside.length, ENTRY.manifest)
  const paths = new Set<string>()
  for (const { path } of value.files) {
    checkPath(path)
    // On some file systems, names that differ in case only are one file.
    const name = path.toLowerCase()
    if (paths.has(name)) throw archiveFault(`The manifest names ${path} twice.`)
    paths.add(name)
  }
  for (const { path } of value.files) {
    const folder = foldersOf(path.toLowerCase()).find((one) => paths.has(one))
    if (folder !== undefined) {
      throw archiveFault(`The manifest has ${folder} as a file and as the folder of another.`)
    }
  }
  if (!paths.has(ENTRY.database)) throw archiveFault('The backup has no database.')
  return value
}

/** @throws AppError BAD_REQUEST */
export function parseEnd(bytes: Buffer): ArchiveEnd {
  const { sha256, deleted } = parseObject(bytes, ENTRY.end)
  if (!isListOf(deleted, isText) || !isDigests(sha256)) {
    throw archiveFault(`${ENTRY.end} is malformed.`)
  }
  requireFewEntries(Object.keys(sha256).length + deleted.length, ENTRY.end)
  return { sha256, deleted }
}

/** @throws AppError BAD_REQUEST */
function requireFewEntries(count: number, name: string): void {
  if (count > MAX_ENTRIES) throw archiveFault(`${name} names more than ${MAX_ENTRIES} files.`)
}

/** @throws AppError BAD_REQUEST */
export function parseSecrets(bytes: Buffer): BackupSecrets {
  const { secret, secretPrevious } = parseObject(bytes, ENTRY.secrets)
  if (isText(secret) && (secretPrevious === null || isText(secretPrevious))) {
    return { secret, secretPrevious }
  }
  throw archiveFault(`${ENTRY.secrets} is malformed.`)
}

function parseObject(bytes: Buffer, name: string): Record<string, unknown> {
  requireFewMarks(bytes, name)
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    if (isObject(value)) return value
  } catch (error) {
    throw archiveFault(`${name} is not JSON.`, error)
  }
  throw archiveFault(`${name} is malformed.`)
}

/**
 * Refuses JSON with too many values. Call it before the JSON parser, which needs many bytes of
 * memory for each value: a manifest of 256 MB could have 80 million values. Paths have none of the
 * counted characters, so no entry counts twice.
 */
function requireFewMarks(bytes: Buffer, name: string): void {
  let marks = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) marks += 1
  }
  if (marks > MAX_MARKS) throw archiveFault(`${name} names more than ${MAX_ENTRIES} files.`)
}

function isManifest(value: Record<string, unknown>): value is BackupManifest {
  const { version, createdAt, hostname, withoutSecret, files, outside } = value
  const numbers = [value.schema, value.generation, value.seq]
  return (
    [version, createdAt, hostname].every(isText) &&
    Number.isFinite(Date.parse(String(createdAt))) &&
    numbers.every(isCount) &&
    typeof withoutSecret === 'boolean' &&
    isListOf(files, isFile) &&
    isListOf(outside, isOutside)
  )
}

function isFile(value: unknown): value is ArchivedFile {
  if (!isObject(value)) return false
  return isText(value.path) && isCount(value.bytes)
}

function isDigests(value: unknown): value is Record<string, string> {
  const isDigest = (one: unknown) => isText(one) && /^[0-9a-f]{64}$/.test(one)
  return isObject(value) && Object.values(value).every(isDigest)
}

function isOutside(value: unknown): value is OutsideFile {
  return isObject(value) && isText(value.key) && isText(value.place)
}

function isListOf<T>(value: unknown, isOne: (one: unknown) => one is T): value is T[] {
  return Array.isArray(value) && value.every(isOne)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
