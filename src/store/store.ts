/**
 * The database: all of Pillarbox's state in one SQLite file.
 *
 *   write   every change, in transactions shared by many callers; resolves when it is durable,
 *           so that power loss cannot undo it
 *   read    point look-ups, on this thread
 *   scan    whatever grows with a project, on reader threads; page it by key, a query per page
 *
 * Other processes (the command line) may work on the same file at the same time.
 */
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Health } from '../health.ts'
import type { Log } from '../log.ts'
import { type Connection, openConnection } from './connection.ts'
import { type Db, type Statements, StoreDb } from './database.ts'
import { isBusy, openError } from './database-error.ts'
import { sql } from './drizzle.ts'
import { openDatabaseFiles, refuseSecondName } from './files/database-files.ts'
import { watchExternalChanges } from './files/external-changes.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'
import { createReaders } from './read/readers.ts'
import type { ScanCaller } from './read/scan-turns.ts'
import { createThread } from './read/thread.ts'
import { startCheckpoints } from './write/checkpoints.ts'
import type { Tx } from './write/transaction.ts'
import { createWritability } from './write/writability.ts'
import { createWriter, type WriteOptions, type Writer } from './write/writer.ts'

/** drizzle's builders and prepared statements, for queries that change nothing. */
export type Reader = Db & Statements

export type Store = {
  /**
   * Runs `fn` in a transaction and resolves when its work is durable. `fn` awaits nothing but
   * queries of its `tx`. It may run twice, when it shared the transaction with one that failed:
   * the first run then leaves no trace, so `fn` changes nothing but what `tx` undoes, and leaves
   * the rest to `tx.afterCommit`. @throws what `fn` throws; AppError DATABASE_ERROR when nothing
   * was kept. Heavy ones say so (`WriteOptions`); light and heavy ones run in no order between them.
   */
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  read: Reader
  scan: Reader
  /**
   * Runs `fn`, whose scans, and those of whatever it starts, wait in the line of `caller`: lines take
   * turns. Of a request whose line is too long already, the first scan is AppError
   * RATE_LIMIT_EXCEEDED and no later one is. What a commit sets off belongs to nobody.
   */
  scanFor<T>(caller: ScanCaller, fn: () => T): T
  /** Calls `fn` whenever this process may have committed something. `fn` does not throw. */
  onCommit(fn: () => void): () => void
  /** Calls `fn` within 200 ms after another process has written, now and then without cause. */
  onExternalChange(fn: () => void): () => void
  /** Calls `fn`, again and again, while files of the database are gone. `fn` does not throw. */
  onFilesLost(fn: () => void): () => void
  /**
   * False while files of the database are gone, and after a write that failed for lack of space or a fault of the file, until none has failed
   * so for five seconds and the store's own attempt reaches the disk.
   */
  isWritable(): boolean
  /** Size of the write-ahead log. */
  walBytes(): number
  /** Finishes queued writes, ends the threads, closes the file. */
  close(): Promise<void>
}

export type StoreOptions = {
  path: string
  log: Log
  /** Told when files of the database are gone. */
  health?: Pick<Health, 'report'>
  /** A folder of migrations in place of the program's own. */
  migrationsDir?: string
  /** The SQLite addon, where it lies beside no package. */
  nativeBinding?: string | undefined
  readerThreads?: number
  /** Whether to look for changes of other processes; one-shot commands need not. */
  watch?: boolean
}

const OPEN_TIMEOUT_MS = 5000
const READ_BUSY_TIMEOUT_MS = 1000

/**
 * Opens the file, made with mode 0600 if need be, and brings its tables up to date.
 * @throws AppError DATABASE_ERROR: a newer database, a broken or unreadable file.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { path, nativeBinding, log, health, readerThreads = 2, watch = true } = options
  const writable = await openWritable(options, readMigrations(options.migrationsDir))
  const files = openDatabaseFiles(path, { log, health })
  const settings = { path, nativeBinding }
  const reading = openConnection({
    ...settings,
    isReadOnly: true,
    busyTimeoutMs: READ_BUSY_TIMEOUT_MS,
  })
  const threads = Array.from({ length: readerThreads }, () => createThread(settings))
  const readers = createReaders(settings, threads)
  const walBytes = files.logBytes
  const areFilesLost = files.areLost
  const thread = createThread(settings)
  const checkpoints = startCheckpoints({ thread, walBytes, areFilesLost, log })
  const commitListeners = new Set([checkpoints.committed])
  const onCommit = () => {
    for (const listener of commitListeners) listener()
  }
  const writability = createWritability(() => probe(writable, writer))
  const onError = writability.failed
  const checkFiles = files.check
  const writer = createWriter({ connection: writable, log, checkFiles, onCommit, onError })
  const lossListeners = new Set<() => void>()
  if (watch) {
    files.watch(({ isLogAloneGone }) => {
      if (isLogAloneGone) rescueLog(writable, log)
      for (const listener of lossListeners) listener()
    })
  }
  const watching = watch ? watchExternalChanges(writable, log) : undefined
  if (watching !== undefined) commitListeners.add(watching.ended)
  return {
    write: writer.write,
    read: new StoreDb(reading.run) as Reader,
    scan: new StoreDb(readers.run) as Reader,
    scanFor: readers.scanFor,
    onCommit: (fn) => {
      commitListeners.add(fn)
      return () => commitListeners.delete(fn)
    },
    onExternalChange: (fn) => watching?.subscribe(fn) ?? (() => undefined),
    onFilesLost: (fn) => {
      lossListeners.add(fn)
      return () => lossListeners.delete(fn)
    },
    isWritable: () => writability.isWritable() && !files.areLost(),
    walBytes,
    async close() {
      writability.stop()
      files.stop()
      await writer.close()
      watching?.stop()
      await Promise.all([readers.stop(), checkpoints.stop()])
      reading.close()
      writable.close()
    },
  }
}

/** Writes a page that says what it said before. */
function probe(connection: Connection, writer: Writer): Promise<void> {
  return writer.write(async (tx) => {
    const version = Number(connection.value('PRAGMA user_version')())
    await tx.run(sql.raw(`PRAGMA user_version = ${version}`))
  })
}

/**
 * What was acknowledged and stands in a log without a name goes into the database, which has one: a
 * crash would lose it.
 */
function rescueLog(connection: Connection, log: Log): void {
  if (connection.isInTransaction()) return
  try {
    connection.script('PRAGMA wal_checkpoint(PASSIVE)')
  } catch (error) {
    log.error({ error }, 'the lost log could not be copied into the database')
  }
}

/** Waits for other processes: turning a new file into a WAL one does not honour busy timeouts. */
async function openWritable(options: StoreOptions, migrations: Migration[]): Promise<Connection> {
  const endsAt = performance.now() + OPEN_TIMEOUT_MS
  for (;;) {
    try {
      return setUp(options, migrations)
    } catch (error) {
      if (!isBusy(error) || performance.now() > endsAt) throw openError(error, options.path)
      await delay(10)
    }
  }
}

function setUp({ path, nativeBinding }: StoreOptions, migrations: Migration[]): Connection {
  createFile(path)
  refuseSecondName(path)
  const connection = openConnection({ path, nativeBinding, busyTimeoutMs: 0 })
  try {
    // Pages that hold a message's text without a chain, and a cache that holds the busy ones.
    connection.script('PRAGMA page_size = 8192; PRAGMA cache_size = -16384')
    connection.script('PRAGMA journal_mode = WAL')
    connection.script('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0')
    connection.script('PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY')
    migrate(connection, migrations)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** SQLite would give it the process's default mode; its log and index files copy this one's. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
