/**
 * Notices that the write-ahead log was removed after a server had not ended cleanly. Then commits that were
 * acknowledged are gone. Two files stand beside the database:
 *
 *   `.log-mark`   a server uses the log, or did not end cleanly
 *   `.log-lost`   the log was missing then; stays until the fence is set (`recovery/notice-older.ts`)
 *
 * SQLite leaves the log behind when its process is killed. Only the last connection that closes removes it,
 * after it has copied the log into the database. So the mark has the time of the last change that the
 * server has made to the database file:
 *
 *   mark, and a server runs            nothing
 *   mark, and the log is in place      the mark goes: from now on the log is removed only after a copy
 *   mark, no log, file was changed     another program has copied the log; the mark goes
 *   mark, no log, file is unchanged    the log is lost
 *
 * An empty log that is another file than the marked one counts as none: whoever opens the database makes one.
 * The server renews the time after a checkpoint and each minute, never for a commit. A log of which nothing was left to copy
 * is taken for lost when a foreign program was the first to open and close the database. A loss is not seen
 * when the server was killed during a checkpoint or within a minute after a backup, or when a foreign program
 * has written since.
 */
import { readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { hasCode } from '../../base/errors.ts'
import { replaceFile } from '../../config/replace-file.ts'
import { isServed } from './is-served.ts'
import { lockFileOf } from './lock-file.ts'

/** Instants in epoch ms. What was committed after `since` may be missing. */
type LostLog = { since: number; servedAt: number }

type LogMark = {
  /** Call this when the database file may have been changed. */
  renew(): void
  /** Call this before the clean end. */
  remove(): void
}

/**
 * Times that differ by at most this count as the same: a file system rounds a time that is copied to
 * another file.
 */
const SAME_MS = 2

/** Call this when the server has opened the database. @throws errors of the file system */
export async function markLog(databaseFile: string, at: number): Promise<LogMark> {
  const { database, mark } = filesOf(databaseFile)
  await replaceFile(mark, `${at}\n${idOf(`${database}-wal`)}\n`)
  const renew = () => {
    const changed = statSync(database, { throwIfNoEntry: false })?.mtimeMs
    if (changed === undefined) return
    try {
      utimesSync(mark, changed / 1000, changed / 1000)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  renew()
  return { renew, remove: () => rmSync(mark, { force: true }) }
}

/**
 * Call this before anything opens the database, and before a command closes it.
 * @throws AppError DATABASE_ERROR; errors of the file system
 */
export function lookForLog(databaseFile: string, nativeBinding?: string): void {
  if (statSync(databaseFile, { throwIfNoEntry: false }) === undefined) return
  const { database, mark, lost } = filesOf(databaseFile)
  const found = read(mark)
  if (found === undefined || isServed(databaseFile, nativeBinding)) return
  const isUnchanged = Math.abs(statSync(database).mtimeMs - found.since) <= SAME_MS
  if (isUnchanged && isGone(`${database}-wal`, found.id)) move(mark, lost)
  else rmSync(mark, { force: true })
}

/** What `lookForLog` has found, in this process or in an earlier one. */
export function findLostLog(databaseFile: string): LostLog | undefined {
  const found = read(filesOf(databaseFile).lost)
  return found && { since: found.since, servedAt: found.servedAt }
}

/** Call this when the loss is recorded in the database. */
export function forgetLostLog(databaseFile: string): void {
  rmSync(filesOf(databaseFile).lost, { force: true })
}

function filesOf(databaseFile: string) {
  const { database } = lockFileOf(databaseFile)
  return { database, mark: `${database}.log-mark`, lost: `${database}.log-lost` }
}

/** A mark that a power cut has truncated still counts, as the mark of an unknown log. */
function read(file: string): (LostLog & { id: string }) | undefined {
  try {
    const since = statSync(file).mtimeMs
    const [servedAt, id = ''] = readFileSync(file, 'utf8').split('\n')
    return { since, servedAt: Number(servedAt), id }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function isGone(log: string, id: string): boolean {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  return size === 0 && idOf(log) !== id
}

/**
 * Two files may have the same inode number when one is made after the other was removed, but their times of
 * birth differ. The number of the device is left out, because it may change with a restart.
 */
function idOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? 'gone' : `${found.ino} ${found.birthtimeNs}`
}

/** Another process may be faster. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
