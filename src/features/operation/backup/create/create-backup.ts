/**
 * Makes a backup beside a running server, of a database that SQLite has checked, and reads it back:
 *
 *   1. the lock: one backup of a database at a time
 *   2. a snapshot of the database, during which its file does not change (`store/snapshot`)
 *   3. the manifest: name and size of every file
 *   4. the archive, into a temporary file; meanwhile SQLite checks the snapshot
 *   5. the end of the snapshot: the server's log can shrink again
 *   6. the archive is read back: the file has the bytes that were written
 *   7. the file gets its name
 *
 * A failure, and a disk that fills up, ends the backup and removes the temporary file. A process that is
 * killed leaves the temporary file, which the next backup in the same folder removes. Nothing here
 * changes the database.
 *
 * Run it in a process of its own (`snapshot.ts`).
 */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import path from 'node:path'
import { formatInstant, type Now } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import { nativeBindingPath } from '../../../../config/addon.ts'
import type { LoadedConfig } from '../../../../config/load.ts'
import { productVersion } from '../../../../config/version.ts'
import { takeBackupLock } from '../../../../store/snapshot/backup-lock.ts'
import { type DatabaseSnapshot, openSnapshot } from '../../../../store/snapshot/snapshot.ts'
import {
  type ArchivedFile,
  type BackupManifest,
  ENTRY,
  FORMAT,
  FORMAT_VERSION,
  isPath,
} from '../archive/manifest.ts'
import {
  type Chunks,
  type Sink,
  type WrittenArchive,
  writeArchive,
} from '../archive/write-archive.ts'
import { openBackupPlace, requireFolderOf } from './backup-place.ts'
import { listDataFiles, listOutside, readConfigText, readSecrets } from './contents.ts'
import { watchSpace } from './space-watch.ts'

type BackupDeps = { loaded: LoadedConfig; now: Now }

export type BackupInput = {
  /** Absolute path of the archive; or a stream, which cannot be read back. */
  to: string | Sink
  withoutSecret: boolean
}

export type Backup = WrittenArchive & {
  databaseBytes: number
  schema: number
  generation: number
  /** The number of the newest event in the backup. */
  seq: number
  startedAt: number
  durationMs: number
  files: number
  outside: BackupManifest['outside']
}

const READ_BYTES = 1024 * 1024

/** Functions that read the files of an archive, by the names of the files in the archive. */
type Sources = Map<string, () => Chunks>

type Run = BackupDeps & BackupInput & { signal: AbortSignal; startedAt: number }

/**
 * @throws AppError BAD_REQUEST without the folder of the file; CONFLICT while another backup runs,
 *   or when the file exists; INSUFFICIENT_STORAGE below `backup.min_free_bytes`; DATABASE_ERROR
 *   when the database is damaged; those of `listDataFiles`
 */
export async function createBackup(deps: BackupDeps, input: BackupInput): Promise<Backup> {
  const { database, backup, dataDir } = deps.loaded.config
  if (!existsSync(database.file)) throw noDatabase(database.file)
  if (typeof input.to === 'string') requireFolderOf(input.to)
  const startedAt = deps.now()
  const lock = takeBackupLock(database.file, nativeBindingPath(dataDir))
  try {
    const folders = [path.dirname(database.file)]
    if (typeof input.to === 'string') folders.push(path.dirname(input.to))
    const space = await watchSpace({ folders, minFreeBytes: backup.minFreeBytes })
    try {
      return await run({ ...deps, ...input, signal: space.signal, startedAt })
    } finally {
      space.stop()
    }
  } finally {
    lock.release()
  }
}

async function run(given: Run): Promise<Backup> {
  const { to, loaded } = given
  if (typeof to !== 'string') return copy(given, to)
  const place = await openBackupPlace(to, loaded.config.database.file)
  try {
    const backup = await copy(given, place.write)
    await readBack(place.partial, backup, given.signal)
    await place.publish()
    return { ...backup, durationMs: given.now() - given.startedAt }
  } catch (error) {
    await place.discard()
    throw error
  }
}

async function copy(given: Run, sink: Sink): Promise<Backup> {
  const { loaded, now, signal, startedAt } = given
  const { dataDir, database } = loaded.config
  const snapshot = await openSnapshot({
    path: database.file,
    nativeBinding: nativeBindingPath(dataDir),
  })
  try {
    const sources: Sources = new Map()
    const manifest = await describe(given, snapshot, sources)
    const read = (file: ArchivedFile) => sources.get(file.path)?.() ?? []
    const written = await writeChecked(snapshot, { manifest, read }, { sink, signal })
    const { seq, schema, bytes: databaseBytes } = snapshot
    return {
      ...written,
      ...{ databaseBytes, schema, seq, startedAt },
      generation: manifest.generation,
      durationMs: now() - startedAt,
      files: manifest.files.length,
      outside: manifest.outside,
    }
  } finally {
    await snapshot.close()
  }
}

/** Writes the archive while SQLite checks the snapshot. The failure of one ends both. */
async function writeChecked(
  snapshot: DatabaseSnapshot,
  content: Parameters<typeof writeArchive>[0],
  { sink, signal }: { sink: Sink; signal: AbortSignal },
): Promise<WrittenArchive> {
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const checking = snapshot
    .check(() => stop.aborted)
    .then((faults) => {
      if (faults.length > 0) throw damaged(faults)
    })
  const parts = [checking, writeArchive(content, sink, stop)] as const
  for (const part of parts) part.catch((error: unknown) => failed.abort(error))
  const [checked, written] = await Promise.allSettled(parts)
  if (stop.aborted) throw stop.reason
  if (checked.status === 'rejected') throw checked.reason
  if (written.status === 'rejected') throw written.reason
  return written.value
}

async function describe(
  { loaded, withoutSecret, startedAt }: Run,
  snapshot: DatabaseSnapshot,
  sources: Sources,
): Promise<BackupManifest> {
  const { config } = loaded
  const files: ArchivedFile[] = []
  const add = (path: string, bytes: number, read: () => Chunks) => {
    sources.set(path, read)
    files.push({ path, bytes })
  }
  if (!withoutSecret) {
    const text = Buffer.from(`${JSON.stringify(await readSecrets(config))}\n`)
    add(ENTRY.secrets, text.length, () => [text])
  }
  const configText = await readConfigText(config, { withoutSecret })
  if (configText !== undefined) add(ENTRY.config, configText.length, () => [configText])
  add(ENTRY.database, snapshot.bytes, () => snapshot.read())
  // Files are listed after the snapshot, so every row in the snapshot has its file, unless the file was deleted since.
  const outside = listOutside(loaded)
  for await (const one of listDataFiles(config.dataDir, { withoutSecret })) {
    // The server writes no name that an archive forbids, so such a file belongs to another program.
    if (isPath(one.entry)) add(one.entry, one.bytes, one.read)
    else outside.push({ key: 'data_dir', place: one.file })
  }
  const { schema, seq, generation } = snapshot
  return {
    ...{ format: FORMAT, formatVersion: FORMAT_VERSION, version: productVersion() },
    ...{ schema, generation, seq },
    createdAt: formatInstant(startedAt),
    hostname: config.delivery.hostname,
    withoutSecret,
    files,
    outside,
  }
}

/**
 * Compares the bytes on the disk with those that were written. Unpacking the archive would take as
 * long as making it, so only `verify` does that.
 */
async function readBack(file: string, written: WrittenArchive, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES })) {
    signal.throwIfAborted()
    hash.update(chunk as Buffer)
  }
  if (hash.digest('hex') === written.sha256) return
  throw new AppError('INTERNAL_SERVER_ERROR', 'The backup on the disk is not what was written.', {
    suggestion: 'Check the disk, and write the backup to another one.',
  })
}

function noDatabase(file: string): AppError {
  return new AppError('CONFLICT', `There is no database at ${file}.`, {
    suggestion: 'Name the configuration of the server with --config.',
  })
}

function damaged(faults: readonly string[]): AppError {
  const text = `The database is damaged, and was not backed up: ${faults.slice(0, 3).join('; ')}.`
  return new AppError('DATABASE_ERROR', text, {
    suggestion: 'Keep the last backup. The guide says how to go on.',
  })
}
