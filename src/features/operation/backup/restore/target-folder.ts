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
import { AppError } from '../../../../base/errors.ts'
import { syncFolder } from '../../../../config/sync-folder.ts'
import { RESTORING_FOLDER } from '../../../../config/unfinished-restore.ts'
import { ENTRY } from '../archive/manifest.ts'

export type Place = { dataDir: string; databaseFile: string }

export type Staging = {
  /** Becomes the content of `data_dir`. */
  folder: string
  /** Becomes the database. */
  databaseFile: string
}

/** What a restore may put into `data_dir`. */
const NAMES = ['secret', 'secret_previous', 'uploads', 'lists', 'acme'] as const
/** What a restore replaces: the mark of the database that was there before. */
const REPLACED_NAMES = ['generation']

export function stagingOf({ dataDir, databaseFile }: Place): Staging {
  return {
    folder: path.join(dataDir, RESTORING_FOLDER),
    databaseFile: `${databaseFile}.restoring`,
  }
}

/** @throws AppError CONFLICT for a folder in use. Changes nothing. */
export function refuseUsed({ dataDir, databaseFile }: Place): void {
  const found = [databaseFile, `${databaseFile}-wal`].find(existsSync)
  if (found !== undefined) throw inUse(`${found} is there`)
  // These belong to a restore that was interrupted.
  if (existsSync(stagingOf({ dataDir, databaseFile }).folder)) return
  const other = NAMES.map((name) => path.join(dataDir, name)).find(isThere)
  if (other !== undefined) throw inUse(`${other} is there`)
}

/** Call this with the lock. Removes what an interrupted restore left. */
export async function makeStaging(place: Place): Promise<Staging> {
  const staging = stagingOf(place)
  if (existsSync(staging.folder)) await clearInterrupted(place, staging)
  await mkdir(staging.folder, { mode: 0o700 })
  await syncFolder(place.dataDir)
  return staging
}

async function clearInterrupted({ dataDir }: Place, staging: Staging): Promise<void> {
  // Before it, none of these was there.
  for (const name of NAMES) await rm(path.join(dataDir, name), { recursive: true, force: true })
  await removeDatabase(staging)
  await rm(staging.folder, { recursive: true })
}

/** Takes everything back: nothing of the restore is left. */
export async function discardStaging(place: Place, staging: Staging): Promise<void> {
  await clearInterrupted(place, staging)
  await syncFolder(place.dataDir)
}

/**
 * Moves everything into place, the database last; then the restore has ended. Every file must be durable.
 */
export async function publishStaging(
  { dataDir, databaseFile }: Place,
  staging: Staging,
): Promise<void> {
  const known: readonly string[] = [...NAMES, ...REPLACED_NAMES]
  for (const name of await readdir(staging.folder)) {
    if (known.includes(name))
      await rename(path.join(staging.folder, name), path.join(dataDir, name))
  }
  await syncFolder(dataDir)
  await rename(staging.databaseFile, databaseFile)
}

/** Call this once the restore has ended. Until it resolves, a power cut may undo the end. */
export async function removeStaging(
  { dataDir, databaseFile }: Place,
  staging: Staging,
): Promise<void> {
  await syncFolder(path.dirname(databaseFile))
  // A command that starts now removes it, too.
  await rm(staging.folder, { recursive: true, force: true })
  await syncFolder(dataDir)
}

/** The place of a file of the archive. @throws AppError BAD_REQUEST */
export function placeOf(staging: Staging, entry: string): string {
  const [first = ''] = entry.slice(ENTRY.data.length).split('/')
  const isKnown = ['uploads', 'lists', 'acme'].includes(first)
  if (entry.startsWith(ENTRY.data) && isKnown) {
    return path.join(staging.folder, ...entry.slice(ENTRY.data.length).split('/'))
  }
  throw new AppError('BAD_REQUEST', `The archive has an unknown entry: ${entry}.`)
}

async function removeDatabase({ databaseFile }: Staging): Promise<void> {
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
