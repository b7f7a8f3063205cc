/**
 * The folder that a backup is restored to. Everything is unpacked below `<data_dir>/.restoring` and beside
 * the database's place, and moved into place at the end, the database last:
 *
 *   `.restoring` is there, the database is not   the restore has not ended: no server and no command
 *                                                opens the folder (`config/unfinished-restore.ts`), and
 *                                                the next restore begins anew
 *   the database is there                        the restore has ended
 *
 * The lock of the server (`serve-lock.ts`) keeps servers and other restores out meanwhile.
 */
import { existsSync, lstatSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { AppError, describeError } from '../../../../base/errors.ts'
import { readToml } from '../../../../config/layers/file.ts'
import { syncFolder } from '../../../../config/sync-folder.ts'
import { RESTORING_FOLDER } from '../../../../config/unfinished-restore.ts'
import { formatNewFile } from '../../../../config/values/toml-text.ts'
import { ENTRY } from '../archive/manifest.ts'

const TABLE = /^\s*\[/
const DATA_DIR = /^\s*(?:data_dir|"data_dir"|'data_dir')\s*=/
const DATABASE_URL = /^\s*(?:database\s*\.\s*)?url\s*=/

export type RestorePlace = { dataDir: string; databaseFile: string }

export type StagingFolder = {
  /** The folder that becomes the content of `data_dir`. */
  folder: string
  /** The file that becomes the database. */
  databaseFile: string
}

/** The names that a restore may add to `data_dir`. */
const NAMES = ['secret', 'secret_previous', 'uploads', 'lists', 'acme'] as const
/**
 * The names that a restore replaces in `data_dir`. `generation` belongs to the database that was
 * there before.
 */
const REPLACED_NAMES = ['generation']

function stagingOf({ dataDir, databaseFile }: RestorePlace): StagingFolder {
  return {
    folder: path.join(dataDir, RESTORING_FOLDER),
    databaseFile: `${databaseFile}.restoring`,
  }
}

/** Requires that the folder is not in use, and changes nothing. @throws AppError CONFLICT */
export function refuseUsed({ dataDir, databaseFile }: RestorePlace): void {
  const found = [databaseFile, `${databaseFile}-wal`].find(existsSync)
  if (found !== undefined) throw inUse(`${found} is there`)
  // Beside a staging folder, the other names come from an interrupted restore.
  if (existsSync(stagingOf({ dataDir, databaseFile }).folder)) return
  const other = NAMES.map((name) => path.join(dataDir, name)).find(isThere)
  if (other !== undefined) throw inUse(`${other} is there`)
}

/**
 * Makes the staging folder, and removes what an interrupted restore left. Call it with the lock.
 */
export async function makeStaging(place: RestorePlace): Promise<StagingFolder> {
  const staging = stagingOf(place)
  if (existsSync(staging.folder)) await clearInterrupted(place, staging)
  await mkdir(staging.folder, { mode: 0o700 })
  await syncFolder(place.dataDir)
  return staging
}

async function clearInterrupted({ dataDir }: RestorePlace, staging: StagingFolder): Promise<void> {
  // The interrupted restore has made all of these: none was there before.
  for (const name of NAMES) await rm(path.join(dataDir, name), { recursive: true, force: true })
  await deleteDatabaseFile(staging)
  await rm(staging.folder, { recursive: true })
}

/** Removes all that the restore has made. */
export async function discardStaging(place: RestorePlace, staging: StagingFolder): Promise<void> {
  await clearInterrupted(place, staging)
  await syncFolder(place.dataDir)
}

/**
 * Moves everything into place, the database last, and thereby ends the restore. Every file must be
 * durable.
 */
export async function publishStaging(
  { dataDir, databaseFile }: RestorePlace,
  staging: StagingFolder,
): Promise<void> {
  const known: readonly string[] = [...NAMES, ...REPLACED_NAMES]
  for (const name of await readdir(staging.folder)) {
    if (known.includes(name))
      await rename(path.join(staging.folder, name), path.join(dataDir, name))
  }
  await syncFolder(dataDir)
  await rename(staging.databaseFile, databaseFile)
}

/**
 * Removes the staging folder; call it after `publishStaging`. Until this resolves, a power cut may
 * undo the end of the restore.
 */
export async function deleteStaging(
  { dataDir, databaseFile }: RestorePlace,
  staging: StagingFolder,
): Promise<void> {
  await syncFolder(path.dirname(databaseFile))
  // The folder may be gone: a command that starts at this moment removes it too.
  await rm(staging.folder, { recursive: true, force: true })
  await syncFolder(dataDir)
}

/**
 * Returns the place of a file of the archive in the staging folder.
 * @throws AppError BAD_REQUEST
 */
export function stagedPathOf(staging: StagingFolder, entry: string): string {
  const [first = ''] = entry.slice(ENTRY.data.length).split('/')
  const isKnown = ['uploads', 'lists', 'acme'].includes(first)
  if (entry.startsWith(ENTRY.data) && isKnown) {
    return path.join(staging.folder, ...entry.slice(ENTRY.data.length).split('/'))
  }
  throw new AppError('BAD_REQUEST', `The archive has an unknown entry: ${entry}.`)
}

async function deleteDatabaseFile({ databaseFile }: StagingFolder): Promise<void> {
  for (const end of ['', '-wal', '-shm', '-journal']) await rm(databaseFile + end, { force: true })
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined
}

function inUse(why: string): AppError {
  return new AppError('CONFLICT', `The folder is in use: ${why}. Nothing was changed.`, {
    suggestion: 'Restore into another folder with --to, or move what is there away.',
  })
}

/**
 * Changes the configuration file of a backup for the folder that it was restored to: sets
 * `data_dir` to this folder and puts the database there; all other lines stay. Undefined when the
 * file cannot be changed line by line.
 * @throws nothing
 */
export function relocateConfig(text: string, dataDir: string): string | undefined {
  const before = valuesOf(text)
  if (before === undefined) return undefined
  const line = firstLineOf(formatNewFile({ data_dir: dataDir }))
  const lines = text.split('\n')
  const tables = lines.findIndex((one) => TABLE.test(one))
  const end = tables === -1 ? lines.length : tables
  const known = lines.findIndex((one, index) => index < end && DATA_DIR.test(one))
  if (known === -1) lines.splice(0, 0, line)
  else lines[known] = line
  const changed = before.has('database.url') ? withoutDatabaseUrl(lines) : lines
  const result = changed.join('\n')
  return isOnlyMoved(before, valuesOf(result), dataDir) ? result : undefined
}

function withoutDatabaseUrl(lines: string[]): string[] {
  let section = ''
  return lines.map((line) => {
    if (TABLE.test(line)) section = line.replace(/[\s[\]]/g, '')
    const isUrl = DATABASE_URL.test(line) && (section === 'database') !== /database/.test(line)
    return isUrl ? `# ${line}` : line
  })
}

function firstLineOf(text: string): string {
  return text.split('\n').find((line) => DATA_DIR.test(line)) ?? ''
}

function isOnlyMoved(
  before: Map<string, unknown>,
  after: Map<string, unknown> | undefined,
  dataDir: string,
): boolean {
  if (after === undefined || after.get('data_dir') !== dataDir || after.has('database.url')) {
    return false
  }
  const keys = new Set([...before.keys(), ...after.keys()])
  return [...keys]
    .filter((key) => key !== 'data_dir' && key !== 'database.url')
    .every((key) => JSON.stringify(before.get(key)) === JSON.stringify(after.get(key)))
}

/** Returns the values of a TOML text by key; undefined when the text is no TOML. */
function valuesOf(text: string): Map<string, unknown> | undefined {
  try {
    const { given } = readToml({ file: path.sep, text })
    return new Map([...given].map(([key, { value }]) => [key, value]))
  } catch (error) {
    if (describeError(error) === '') throw error
    return undefined
  }
}
