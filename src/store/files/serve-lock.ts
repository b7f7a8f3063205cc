/**
 * Ensures that at most one server runs on a database. The lock is a transaction on a file beside
 * the database, which the system releases when the process ends. All leases of earlier servers are
 * therefore void once the lock is taken, and no lock outlives its server.
 *
 * The lock depends on the name of its file:
 *
 *   the file exists              its lock decides
 *   the file does not exist (a
 *   first start, or removed)     no other process may have the database open, by any name: SQLite's
 *                                locks belong to the file, not to the name
 *   the file is removed or
 *   replaced while it is held    the server creates it again
 */
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, hasCode } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { type Connection, openConnection } from '../connection.ts'
import { isBusy, openError } from '../database-error.ts'
import { lockFileOf } from './lock-file.ts'

/** A command that checks for a server (`is-served.ts`) holds the file for less than this. */
const BUSY_MS = 200

type ServeLock = { release(): void }

type ServeLockOptions = {
  log: Log
  nativeBinding?: string | undefined
  /** How long to wait for a command that has the database open. */
  waitMs?: number
  /** The interval between checks that the file still exists. */
  everyMs?: number
}

type TakenLock = { connection: Connection; mark: string; isNew: boolean }

const MAX_WAIT_MS = 2_000
const RETRY_MS = 20
/**
 * Until the next check the open database keeps other servers away, whatever the name of the lock's file.
 */
const CHECK_INTERVAL_MS = 1_000

/** @throws AppError CONFLICT while another server holds the lock */
export async function takeServeLock(
  databaseFile: string,
  { log, nativeBinding, waitMs = MAX_WAIT_MS, everyMs = CHECK_INTERVAL_MS }: ServeLockOptions,
): Promise<ServeLock> {
  const { database, file } = lockFileOf(databaseFile)
  let taken = hold(file, nativeBinding)
  if (taken.isNew) await refuseOthers(database, { taken, file, nativeBinding, waitMs })

  function renew(): void {
    if (markOf(file) === taken.mark) return
    try {
      const { connection } = taken
      taken = hold(file, nativeBinding)
      connection.close()
      log.warn({ file }, 'the lock of the server was removed and has been created again')
    } catch (error) {
      log.error({ error, file }, 'the lock of the server was removed and cannot be created again')
    }
  }

  const timer = setInterval(renew, everyMs).unref()
  return {
    release() {
      clearInterval(timer)
      taken.connection.close()
    },
  }
}

/** @throws AppError CONFLICT, DATABASE_ERROR */
function hold(file: string, nativeBinding: string | undefined): TakenLock {
  for (;;) {
    const isNew = makeFile(file)
    const mark = markOf(file)
    const connection = lock(file, nativeBinding)
    // An earlier holder may have removed the file by now; then this lock protects nothing.
    if (mark !== undefined && markOf(file) === mark) return { connection, mark, isNew }
    connection.close()
  }
}

function lock(file: string, nativeBinding: string | undefined): Connection {
  let connection: Connection | undefined
  try {
    connection = openConnection({ path: file, nativeBinding, busyTimeoutMs: BUSY_MS })
    connection.script('BEGIN EXCLUSIVE')
    return connection
  } catch (error) {
    connection?.close()
    if (!isBusy(error)) throw openError(error, file)
    throw new AppError('CONFLICT', 'Another server already runs on this database.', {
      suggestion: `Stop the other server first. To find its process: fuser ${file}`,
    })
  }
}

type ServerCheck = {
  taken: TakenLock
  file: string
  nativeBinding: string | undefined
  waitMs: number
}

/** Refuses to start while another process has the database open. @throws AppError CONFLICT */
async function refuseOthers(
  database: string,
  { taken, file, nativeBinding, waitMs }: ServerCheck,
): Promise<void> {
  const endsAt = performance.now() + waitMs
  while (isOpenElsewhere(database, nativeBinding)) {
    if (performance.now() < endsAt) {
      await delay(RETRY_MS)
      continue
    }
    // Removes the file before the lock ends, so that no other process mistakes it for an old lock.
    if (process.platform !== 'win32') rmSync(file, { force: true })
    taken.connection.close()
    const text =
      'Another process has this database open: a server whose lock was removed, or a command.'
    throw new AppError('CONFLICT', text)
  }
}

/** Exclusive mode fails while the database has other connections. Other errors are ignored here. */
function isOpenElsewhere(database: string, nativeBinding: string | undefined): boolean {
  const size = statSync(database, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return false
  let connection: Connection | undefined
  try {
    connection = openConnection({ path: database, nativeBinding, busyTimeoutMs: 0 })
    connection.script('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK')
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    connection?.close()
  }
}

/** Creates the file. Returns false if it existed. */
function makeFile(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

function markOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev} ${found.ino}`
}
