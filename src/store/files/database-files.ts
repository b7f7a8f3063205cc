/**
 * Whether the database, its log and its index are still the files that were opened: one that was
 * removed, moved or replaced would swallow every write, for this process goes on with the file that
 * has no name any more. Only `stat` is used: to open the database by hand would drop the locks of
 * this process.
 *
 * SQLite itself removes log and index only with the last connection of all processes, so while a
 * connection is open none of the three can change legitimately. A file that comes back (a move that
 * was undone) is well again.
 */
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../errors.ts'
import type { Health } from '../../health.ts'
import type { Log } from '../../log.ts'

export type DatabaseFiles = {
  /** Size of the write-ahead log. */
  logBytes(): number
  /** For every commit. @throws Error with an SQLite code when a file is not what was opened */
  check(): void
  areLost(): boolean
  /** Looks again and again; `onLost` hears when files are lost, and again while they are. */
  watch(onLost: (lost: LostFiles) => void, everyMs?: number): void
  stop(): void
}

export type LostFiles = {
  /** The database is in its place, and where the log was there is nothing. */
  isLogAloneGone: boolean
}

type Deps = { log: Log; health?: Pick<Health, 'report'> | undefined }
type Seen = { file: string; mark: string | undefined }

const EVERY_MS = 250
/** Commits may come faster than that is worth a look. */
const LEAST_MS = 20

/** To be called while a connection to the database is open, before anything waits. */
export function openDatabaseFiles(file: string, { log, health }: Deps): DatabaseFiles {
  const real = realpathSync(file)
  const seen: Seen[] = [file, `${real}-wal`, `${real}-shm`].map((name) => ({
    file: name,
    mark: markOf(name),
  }))
  let lost: string | null = null
  let timer: NodeJS.Timeout | undefined
  let lookedAt = performance.now()

  function look(): void {
    lookedAt = performance.now()
    const found = seen.find(hasChanged)?.file ?? null
    if (found === lost) return
    lost = found
    tell()
  }

  function tell(): void {
    if (lost === null) {
      health?.report('database-files', null)
      log.warn({ file }, 'the files of the database are back')
      return
    }
    const reason = `${lost} was removed or replaced while the server runs: nothing is taken or sent. Stop the server, put the right files in place, start again.`
    health?.report('database-files', reason)
    log.fatal({ file: lost }, 'a file of the database was removed or replaced')
  }

  const [database, wal] = seen as [Seen, Seen, Seen]
  return {
    logBytes: () => statSync(wal.file, { throwIfNoEntry: false })?.size ?? 0,
    check() {
      if (performance.now() - lookedAt >= LEAST_MS) look()
      if (lost === null) return
      const message = `${path.basename(lost)} was removed or replaced`
      throw Object.assign(new Error(message), { code: 'SQLITE_READONLY_DBMOVED' })
    },
    areLost: () => lost !== null,
    watch(onLost, everyMs = EVERY_MS) {
      timer = setInterval(() => {
        look()
        if (lost === null) return
        onLost({ isLogAloneGone: !hasChanged(database) && markOf(wal.file) === 'gone' })
      }, everyMs).unref()
    },
    stop: () => clearInterval(timer),
  }
}

/**
 * A database with two names would have two logs, of which each process sees one.
 * @throws AppError DATABASE_ERROR
 */
export function refuseSecondName(file: string): void {
  const links = statSync(file).nlink
  if (links <= 1) return
  const text = `The database ${file} cannot be opened: the file has ${links} names (hard links), and what is written by one name is lost to the other. Remove the other names.`
  throw new AppError('DATABASE_ERROR', text)
}

/** What has not been there yet may come: SQLite makes log and index when they are needed. */
function hasChanged(one: Seen): boolean {
  const mark = markOf(one.file)
  if (mark === undefined || mark === one.mark) return false
  if (one.mark !== undefined && one.mark !== 'gone') return true
  one.mark = mark
  return false
}

/** Undefined when the system does not tell: the writes themselves will. */
function markOf(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false })
    return found === undefined ? 'gone' : `${found.dev} ${found.ino}`
  } catch {
    return undefined
  }
}
