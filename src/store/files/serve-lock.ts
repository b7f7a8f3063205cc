/**
 * One server a database. The lock is a transaction on a file beside it, which the system lets go of
 * when the process dies, however it dies: so whoever holds it knows that all leases of earlier
 * servers are void, and no lock outlives its server.
 *
 * The lock is only as good as the name of its file:
 *
 *   the file is there            its lock decides
 *   it is not (a first start, or
 *   somebody removed it)         nobody else may have the database itself open, whatever name they
 *                                have for it: SQLite's locks are the file's, not the name's
 *   it is removed or replaced
 *   while the server runs        the server makes it anew
 */
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type Connection, openConnection } from '../connection.ts'
import { isBusy, openError } from '../database-error.ts'
import { lockFileOf } from './lock-file.ts'

/** A command that looks whether a server runs (`is-served.ts`) is in the way for less than that. */
const BUSY_MS = 200

/** Gives the lock back. */
export type ServeLock = { release(): void }

export type ServeLockOptions = {
  log: Log
  nativeBinding?: string | undefined
  /** How long a command that has the database open may take to end. */
  patienceMs?: number
  /** How often it is seen whether the file is still there. */
  everyMs?: number
}

type Held = { connection: Connection; mark: string; isNew: boolean }

const PATIENCE_MS = 2_000
const RETRY_MS = 20
const EVERY_MS = 250

/** @throws AppError CONFLICT while another server holds it */
export async function takeServeLock(
  databaseFile: string,
  { log, nativeBinding, patienceMs = PATIENCE_MS, everyMs = EVERY_MS }: ServeLockOptions,
): Promise<ServeLock> {
  const { database, file } = lockFileOf(databaseFile)
  let held = hold(file, nativeBinding)
  if (held.isNew) await refuseOthers(database, { held, file, nativeBinding, patienceMs })

  function renew(): void {
    if (markOf(file) === held.mark) return
    try {
      const { connection } = held
      held = hold(file, nativeBinding)
      connection.close()
      log.warn({ file }, 'the lock of the server was removed, and is made anew')
    } catch (error) {
      log.error({ error, file }, 'the lock of the server was removed and cannot be made anew')
    }
  }

  const timer = setInterval(renew, everyMs).unref()
  return {
    release() {
      clearInterval(timer)
      held.connection.close()
    },
  }
}

/** @throws AppError CONFLICT, DATABASE_ERROR */
function hold(file: string, nativeBinding: string | undefined): Held {
  for (;;) {
    const isNew = makeFile(file)
    const mark = markOf(file)
    const connection = lock(file, nativeBinding)
    // Whoever held it before may have removed it meanwhile: then it locks nobody out.
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
    throw new AppError('CONFLICT', 'Another server already runs on this database.')
  }
}

type Suspicion = {
  held: Held
  file: string
  nativeBinding: string | undefined
  patienceMs: number
}

/** Nobody else has the database open; if somebody has, all is as it was before. @throws AppError CONFLICT */
async function refuseOthers(
  database: string,
  { held, file, nativeBinding, patienceMs }: Suspicion,
): Promise<void> {
  const endsAt = performance.now() + patienceMs
  while (isOpenElsewhere(database, nativeBinding)) {
    if (performance.now() < endsAt) {
      await delay(RETRY_MS)
      continue
    }
    // While it is locked still, so that nobody takes it for an old one.
    if (process.platform !== 'win32') rmSync(file, { force: true })
    held.connection.close()
    const text =
      'Another process has this database open: a server whose lock was removed, or a command.'
    throw new AppError('CONFLICT', text)
  }
}

/** In exclusive mode SQLite wants the whole database for itself; what else is wrong shows later. */
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

/** Whether it was not there. */
function makeFile(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function markOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? undefined : `${found.dev} ${found.ino}`
}
