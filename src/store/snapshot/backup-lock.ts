/**
 * Ensures that one process at a time makes a backup of a database. The lock is a transaction on a file
 * beside the database, which the system releases when the process ends.
 */
import { closeSync, openSync } from 'node:fs'
import { AppError } from '../../base/errors.ts'
import { type Connection, openConnection } from '../connection.ts'
import { isBusy, openError } from '../database-error.ts'
import { lockFileOf } from '../files/lock-file.ts'

type BackupLock = { release(): void }

/** Whether a backup was refused because another one of the database was being made. */
export function isAnotherRunning(error: unknown): boolean {
  return error instanceof AppError && error.details?.isAnotherRunning === true
}

/** @throws AppError CONFLICT while another backup runs; DATABASE_ERROR */
export function takeBackupLock(databaseFile: string, nativeBinding?: string): BackupLock {
  const path = `${lockFileOf(databaseFile).database}.backing-up`
  let connection: Connection | undefined
  try {
    // SQLite would create the file with the default mode.
    closeSync(openSync(path, 'a', 0o600))
    connection = openConnection({ path, nativeBinding, busyTimeoutMs: 0 })
    connection.script('BEGIN EXCLUSIVE')
  } catch (error) {
    connection?.close()
    if (!isBusy(error)) throw openError(error, path)
    throw new AppError('CONFLICT', 'Another backup of this database is being made.', {
      suggestion: 'Wait until it has ended.',
      details: { isAnotherRunning: true },
    })
  }
  const lock = connection
  return { release: () => lock.close() }
}
