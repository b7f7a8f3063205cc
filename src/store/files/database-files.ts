/**
 * Watches whether the database, its log and its index are still the files that were opened. Writes
 * to a file that was removed, moved or replaced would be lost, because this process still uses the
 * file that no longer has a name. The watch uses `stat` only: opening and closing the database here
 * would release the locks of this process.
 *
 * SQLite removes the log and the index only when the last connection of all processes closes, so
 * none of the three files can change legitimately while a connection is open. A file that comes
 * back (a move that was undone) is valid again.
 */
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../base/errors.ts'
import type { Health } from '../../base/health.ts'
import type { Log } from '../../base/log.ts'
import type { Connection } from '../connection.ts'

type DatabaseFiles = {
  /** Size of the write-ahead log. */
  logBytes(): number
  /**
   * Call this for every commit. @throws Error with an SQLite code when a file was removed or
   * replaced
   */
  check(): void
  areLost(): boolean
  /** Checks at intervals, and calls `onLost` after each check that finds files lost. */
  watch(onLost: (lost: LostFiles) => void, everyMs?: number): void
  stop(): void
}

type LostFiles = {
  /**
   * The database is in its place, but the log is gone, or an empty file is in its place: any connection
   * that is opened after the log was removed makes such a file. Nothing was written to an empty log, so
   * the index is still that of the lost one.
   */
  isLogAloneLost: boolean
}

type Deps = { log: Log; health?: Pick<Health, 'set'> | undefined }

type ObservedFile = { file: string; mark: string | undefined }

/** The interval of the watch. It finds lost files on a server without writes; a commit checks by itself. */
const EVERY_MS = 500
/** Commits within this time share one check. */
const MIN_INTERVAL_MS = 20

/**
 * Numbers of pages: in the log, and copied from there into the database. -1 while another connection
 * copies.
 */
type Checkpoint = { log: number; checkpointed: number }

/** Call this right after a connection to the database was opened. */
export function openDatabaseFiles(file: string, { log, health }: Deps): DatabaseFiles {
  const real = realpathSync(file)
  const seen: ObservedFile[] = [file, `${real}-wal`, `${real}-shm`].map((name) => ({
    file: name,
    mark: markOf(name),
  }))
  let lost: string | null = null
  let timer: NodeJS.Timeout | undefined
  let checkedAt = performance.now()

  function refresh(): void {
    checkedAt = performance.now()
    const found = seen.find(hasChanged)?.file ?? null
    if (found === lost) return
    lost = found
    announce()
  }

  function announce(): void {
    if (lost === null) {
      health?.set('database-files', null)
      log.warn({ file }, 'the files of the database are back')
      return
    }
    const reason = `${lost} was removed or replaced while the server is running: mail is neither accepted nor sent. Stop the server, put the right files in place, and start it again.`
    health?.set('database-files', reason)
    log.fatal({ file: lost }, 'a file of the database was removed or replaced')
  }

  const [database, wal] = seen as [ObservedFile, ObservedFile, ObservedFile]
  const logBytes = () => statSync(wal.file, { throwIfNoEntry: false })?.size ?? 0
  const isLogLost = () => markOf(wal.file) === 'gone' || (hasChanged(wal) && logBytes() === 0)
  return {
    logBytes,
    check() {
      if (performance.now() - checkedAt >= MIN_INTERVAL_MS) refresh()
      if (lost === null) return
      const message = `${path.basename(lost)} was removed or replaced`
      throw Object.assign(new Error(message), { code: 'SQLITE_READONLY_DBMOVED' })
    },
    areLost: () => lost !== null,
    watch(onLost, everyMs = EVERY_MS) {
      timer = setInterval(() => {
        refresh()
        if (lost === null) return
        onLost({ isLogAloneLost: !hasChanged(database) && isLogLost() })
      }, everyMs).unref()
    },
    stop: () => clearInterval(timer),
  }
}

/**
 * Refuses a database with several hard links: each name would have its own log.
 * @throws AppError DATABASE_ERROR
 */
export function refuseSecondName(file: string): void {
  const links = statSync(file).nlink
  if (links <= 1) return
  const text = `The database ${file} cannot be opened: the file has ${links} names (hard links), and data written through one name is not visible through another. Remove the other names.`
  throw new AppError('DATABASE_ERROR', text)
}

/** A file that did not exist yet may appear: SQLite creates log and index when it needs them. */
function hasChanged(one: ObservedFile): boolean {
  const mark = markOf(one.file)
  if (mark === undefined || mark === one.mark) return false
  if (one.mark !== undefined && one.mark !== 'gone') return true
  one.mark = mark
  return false
}

/**
 * The file's device and inode; undefined when `stat` fails: then the writes fail too, and report
 * the error.
 */
function markOf(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? 'gone' : `${found.dev} ${found.ino}`
  } catch {
    return undefined
  }
}

/**
 * Copies a log whose file was removed into the database. Its commits were acknowledged, and a crash
 * would lose them. Call the function again and again while the log is gone: it copies what it can, and
 * tells the log of the server when all pages are in the database, also when there were none.
 */
export function createLostLogCopy(
  connection: Pick<Connection, 'isInTransaction' | 'run'>,
  log: Log,
): () => void {
  let copied: number | undefined
  return () => {
    if (connection.isInTransaction()) return
    try {
      const [found] = connection.run(
        'PRAGMA wal_checkpoint(PASSIVE)',
        [],
        'records',
      ) as Checkpoint[]
      if (found === undefined || found.log < 0 || found.checkpointed < found.log) return
      if (found.log === copied) return
      copied = found.log
      log.warn({ pages: copied }, 'the lost log was copied into the database')
    } catch (error) {
      log.error({ error }, 'the lost log could not be copied into the database')
    }
  }
}
