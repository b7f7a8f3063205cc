/**
 * Migrates a large database on a thread before it is opened, so that the program can say what it does
 * meanwhile: a line before it begins, one every five seconds and one at the end. Each migration is a
 * transaction, so a process that is killed leaves the database as it was before that migration, and the
 * next start goes on there.
 */
import { statfsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Log } from '../base/log.ts'
import { startThread } from '../threads/start.ts'
import { type Connection, openConnection } from './connection.ts'
import { openError } from './database-error.ts'
import { type Migration, schemaOf } from './migrate.ts'

export type MigrationProgress = {
  /** The number of the migration that runs, and of the last one. */
  number: number
  last: number
  elapsedMs: number
  /** What the migrations have written so far. */
  writtenBytes: number
}

export type LongMigrationOptions = {
  path: string
  nativeBinding?: string | undefined
  log: Log
  migrationsDir?: string | undefined
  /** Called when the migration begins, and then at least every five seconds. */
  onProgress?: ((progress: MigrationProgress) => void) | undefined
  /** The size from which on a database is large; for tests. */
  largeBytes?: number | undefined
}

/** What the thread gets; it reads the migrations itself. */
export type MigrateThreadSettings = Pick<
  LongMigrationOptions,
  'path' | 'nativeBinding' | 'migrationsDir'
>

export type MigrateThreadMessage = { number: number } | { failure: string }

/**
 * A database of this size or more is migrated on a thread, because a migration reads the whole database at
 * least once. A smaller database takes a few seconds at most.
 */
const LARGE_BYTES = 256 * 1024 * 1024
/** An estimate for a slow disk: a migration reads everything and makes an index. */
const MS_PER_MEGABYTE = 15
const PROGRESS_EVERY_MS = 5_000
const BUSY_TIMEOUT_MS = 5_000
const MEGABYTE = 1024 * 1024

/** Does nothing for a new, small or current database. @throws AppError DATABASE_ERROR */
export async function migrateIfLong(
  options: LongMigrationOptions,
  migrations: readonly Migration[],
): Promise<void> {
  const { largeBytes = LARGE_BYTES } = options
  const sizeBytes = sizeOf(options.path)
  if (sizeBytes < largeBytes) return
  const schema = readSchema(options)
  const last = migrations.length
  if (schema === 0 || schema >= last) return
  const facts = { from: schema, to: last, megabytes: Math.ceil(sizeBytes / MEGABYTE) }
  const seconds = Math.ceil(((last - schema) * facts.megabytes * MS_PER_MEGABYTE) / 1_000)
  options.log.warn(
    { ...facts, freeMegabytes: freeMegabytes(options.path), estimatedSeconds: seconds },
    'the database is being migrated, which takes a while: the server starts afterwards. Do not kill it; if it is killed, the next start goes on',
  )
  const startedAt = performance.now()
  await runThread(options, { number: schema + 1, last })
  const elapsedMs = Math.round(performance.now() - startedAt)
  options.log.info({ ...facts, elapsedMs }, 'the database has been migrated')
}

async function runThread(
  options: LongMigrationOptions,
  first: Pick<MigrationProgress, 'number' | 'last'>,
): Promise<void> {
  const { path: file, nativeBinding, migrationsDir, log, onProgress } = options
  const settings: MigrateThreadSettings = { path: file, nativeBinding, migrationsDir }
  const startedAt = performance.now()
  let { number } = first
  const report = () => {
    const elapsedMs = Math.round(performance.now() - startedAt)
    const progress = { number, last: first.last, elapsedMs, writtenBytes: sizeOf(`${file}-wal`) }
    log.info(progress, 'the database is being migrated')
    onProgress?.(progress)
  }
  report()
  const timer = setInterval(report, PROGRESS_EVERY_MS)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const worker = startThread('migrate', { workerData: settings })
  worker.on('message', (message: MigrateThreadMessage) => {
    if ('failure' in message) return reject(openError(new Error(message.failure), file))
    number = message.number
    report()
  })
  worker.once('error', (error) => reject(openError(error, file)))
  worker.once('exit', () => resolve())
  try {
    await promise
  } finally {
    clearInterval(timer)
    await worker.terminate()
  }
}

function readSchema({ path: file, nativeBinding }: LongMigrationOptions): number {
  let connection: Connection | undefined
  try {
    connection = openConnection({ path: file, nativeBinding, busyTimeoutMs: BUSY_TIMEOUT_MS })
    return schemaOf(connection)
  } catch (error) {
    throw openError(error, file)
  } finally {
    connection?.close()
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function freeMegabytes(file: string): number {
  const { bavail, bsize } = statfsSync(path.dirname(file))
  return Math.floor((bavail * bsize) / MEGABYTE)
}
