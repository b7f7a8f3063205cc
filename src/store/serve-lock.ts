/**
 * One server a database. The lock is a transaction on a file beside it, which the system lets go of
 * when the process dies, however it dies: so whoever holds it knows that all leases of earlier
 * servers are void.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { AppError } from '../errors.ts'
import { type Connection, openConnection } from './connection.ts'
import { isBusy, openError } from './database-error.ts'

/** A command that looks whether a server runs (`is-served.ts`) is in the way for less than that. */
const BUSY_MS = 200

/** Gives the lock back. */
export type ServeLock = { release(): void }

/** @throws AppError CONFLICT while another server holds it */
export function takeServeLock(databaseFile: string, nativeBinding?: string): ServeLock {
  const path = `${databaseFile}.serving`
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  let connection: Connection | undefined
  try {
    connection = openConnection({ path, nativeBinding, busyTimeoutMs: BUSY_MS })
    connection.script('BEGIN EXCLUSIVE')
  } catch (error) {
    connection?.close()
    if (!isBusy(error)) throw openError(error, path)
    throw new AppError('CONFLICT', 'Another server already runs on this database.')
  }
  return { release: connection.close }
}
