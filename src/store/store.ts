/**
 * The database: all state of Pillarbox in one SQLite file.
 *
 *   write   all changes, in transactions shared by many callers; resolves when the change is durable,
 *           so that power loss cannot undo it
 *   read    point look-ups, on this thread
 *   scan    queries whose cost grows with a project, on scan threads; page them by key
 *
 * Other processes (the command line) may use the same file at the same time.
 */
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Counters } from '../base/counters.ts'
import { hasCode } from '../base/errors.ts'
import type { Health } from '../base/health.ts'
import type { Log } from '../base/log.ts'
import { type AddressDigest, type Connection, openConnection } from './connection.ts'
import { type Db, type Statements, StoreDb } from './database.ts'
import { isBusy, openError } from './database-error.ts'
import { sql } from './drizzle.ts'
import { createLostLogCopy, openDatabaseFiles, refuseSecondName } from './files/database-files.ts'
import { watchExternalChanges } from './files/external-changes.ts'
import { type LongMigrationOptions, migrateIfLong } from './long-migration.ts'
import { type Migration, migrate, readMigrations } from './migrate.ts'
import { createReaders, type ScanLoad, spareEmptyScans } from './read/readers.ts'
import { createThread } from './read/thread.ts'
import { createLogUse, startCheckpoints } from './write/checkpoints.ts'
import { createLastNumbers } from './write/last-numbers.sqlite.ts'
import type { Tx } from './write/transaction.ts'
import { createWritability } from './write/writability.ts'
import { createWriter, type WriteCounts, type WriteOptions, type Writer } from './write/writer.ts'

/** drizzle's builders and prepared statements, for queries that only read. */
export type Reader = Db & Statements

export type Store = {
  /**
   * Runs `fn` in a transaction and resolves when its work is durable. `fn` may await only queries of
   * its `tx`. `fn` may run twice, when another closure of the shared transaction fails: the first run
   * is rolled back, so `fn` changes the database only, and defers other effects to `tx.afterCommit`.
   * A heavy write sets `heavyFor` (`WriteOptions`); light and heavy writes have no defined order.
   * @throws errors of `fn`; AppError DATABASE_ERROR when the work was not committed
   */
  write<T>(fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Call this when a write that waits has more `callers` (`WriteOptions`): they may be enough for a commit. */
  recountCallers(): void
  read: Reader
  /**
   * For queries whose cost grows with the project. Scans of requests and jobs wait in the lines of their
   * projects (`turns/owner.ts`), which are served in turn. When a line is too long, the first scan of a
   * request fails with AppError RATE_LIMIT_EXCEEDED, but no later one.
   */
  scan: Reader
  /** Calls `fn` after each transaction of this process, committed or not. `fn` must not throw. */
  onCommit(fn: () => void): () => void
  /** Calls `fn` within `NOTICED_WITHIN_MS` after another process has written, and sometimes without cause. */
  onExternalChange(fn: () => void): () => void
  /**
   * The last number that a table has given to a row; known without a read. It is never too large, and exact
   * when `onCommit` and `onExternalChange` call. `table`: a table that gives no number twice.
   */
  lastNumber(table: 'events' | 'attempts'): number
  /** Calls `fn` after pages of the log were copied into the database file. `fn` must not throw. */
  onCheckpoint(fn: () => void): () => void
  /** Calls `fn` repeatedly while files of the database are gone. `fn` must not throw. */
  onFilesLost(fn: () => void): () => void
  /**
   * False while files of the database are gone. Also false after a write failed for lack of space or a
   * fault of the file, until no write has failed for five seconds and a write of the store succeeds.
   */
  isWritable(): boolean
  scanLoad(): ScanLoad
  /** Size of the write-ahead log. */
  walBytes(): number
  /** How many writes of this process were committed so far, and how many wait for their commit. */
  writes(): WriteCounts
  /** Finishes queued writes, ends the threads, closes the file. */
  close(): Promise<void>
}

export type StoreOptions = {
  path: string
  log: Log
  /** Degraded while files of the database are gone. */
  health?: Pick<Health, 'set'>
  counters?: Counters | undefined
  /** A folder of migrations instead of the program's own. */
  migrationsDir?: string
  /** The file of the SQLite addon; by default the package's own. */
  nativeBinding?: string | undefined
  /** Digests addresses for statements of `write` and `read`; without it, those statements fail. */
  addressDigest?: AddressDigest | undefined
  readerThreads?: number
  /** Called in place of the function that starts the store's worker threads. */
  createThread?: typeof createThread
  /** Called in place of the function that opens connections; for tests. */
  connect?: typeof openConnection | undefined
  /**
   * Whether to watch for changes by other processes and for lost files; one-shot commands need not.
   */
  watch?: boolean
  /** Called while a large database is migrated. */
  onMigration?: LongMigrationOptions['onProgress'] | undefined
  /** From which size on a database counts as large; for tests. */
  largeBytes?: number
}

const OPEN_TIMEOUT_MS = 5000
const READ_BUSY_TIMEOUT_MS = 1000
/** Each commit empties this cache, so a larger one would not be full for long. */
const READ_CACHE = 'PRAGMA cache_size = -4096'

/**
 * Opens the database, creates the file with mode 0600 if it does not exist, and migrates it.
 * @throws AppError DATABASE_ERROR for a newer database, and for a broken or unreadable file
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { path, nativeBinding, log, health, counters, readerThreads = 2, watch = true } = options
  const { createThread: makeThread = createThread, connect = openConnection } = options
  const migrations = readMigrations(options.migrationsDir)
  await migrateIfLong({ ...options, onProgress: options.onMigration }, migrations)
  const writable = await openWritable(options, migrations)
  const files = openDatabaseFiles(path, { log, health })
  const settings = { path, nativeBinding }
  const reading = connect({
    ...settings,
    addressDigest: options.addressDigest,
    isReadOnly: true,
    busyTimeoutMs: READ_BUSY_TIMEOUT_MS,
  })
  reading.script(READ_CACHE)
  const startThread = () => makeThread(settings, undefined, counters)
  const threads = Array.from({ length: readerThreads }, startThread)
  const readers = createReaders(settings, threads)
  const walBytes = files.logBytes
  const usedBytes = createLogUse(writable, walBytes)
  const areFilesLost = files.areLost
  const thread = startThread()
  const copyListeners = new Set<() => void>()
  const onCopy = () => {
    for (const listener of copyListeners) listener()
  }
  const checkpoints = startCheckpoints({
    ...{ thread, walBytes, usedBytes, areFilesLost, onCopy, log, counters },
  })
  const commitListeners = new Set([checkpoints.committed])
  const onCommit = () => {
    for (const listener of commitListeners) listener()
  }
  const writability = createWritability(() => probe(writable, writer))
  const onError = writability.failed
  const checkFiles = files.check
  const numbers = createLastNumbers(writable)
  const writer = createWriter({
    ...{ connection: writable, log, counters, numbers, checkFiles, onCommit, onError },
  })
  const lossListeners = new Set<() => void>()
  if (watch) {
    const copyLostLog = createLostLogCopy(writable, log)
    files.watch(({ isLogAloneLost }) => {
      if (isLogAloneLost) copyLostLog()
      for (const listener of lossListeners) listener()
    })
  }
  const watching = watch ? watchExternalChanges(writable, log) : undefined
  if (watching !== undefined) commitListeners.add(watching.ended)
  watching?.subscribe(() => numbers.set(numbers.read()))
  const scan = watch ? spareEmptyScans(readers.run, stateOf(writable)) : readers.run
  return {
    write: writer.write,
    recountCallers: writer.recountCallers,
    read: new StoreDb(reading.run) as Reader,
    scan: new StoreDb(scan) as Reader,
    onCommit: (fn) => {
      commitListeners.add(fn)
      return () => commitListeners.delete(fn)
    },
    onExternalChange: (fn) => watching?.subscribe(fn) ?? (() => undefined),
    lastNumber: numbers.of,
    onCheckpoint: (fn) => {
      copyListeners.add(fn)
      return () => copyListeners.delete(fn)
    },
    onFilesLost: (fn) => {
      lossListeners.add(fn)
      return () => lossListeners.delete(fn)
    },
    isWritable: () => writability.isWritable() && !files.areLost(),
    scanLoad: readers.load,
    walBytes,
    writes: writer.counts,
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

/**
 * Returns a function whose text changes with the rows; its result is undefined while rows may be changing,
 * and when the database cannot be read.
 */
function stateOf(connection: Connection): () => string | undefined {
  // Changes when another connection commits.
  const version = connection.value('PRAGMA data_version')
  return () => {
    if (connection.isInTransaction()) return undefined
    try {
      return `${connection.changes()} ${version()}`
    } catch {
      return undefined
    }
  }
}

/** Tests whether a write succeeds: writes a number of the file's header as it is. */
function probe(connection: Connection, writer: Writer): Promise<void> {
  return writer.write(async (tx) => {
    const version = Number(connection.value('PRAGMA user_version')())
    await tx.run(sql.raw(`PRAGMA user_version = ${version}`))
  })
}

/**
 * Retries while other processes hold the lock, because SQLite ignores busy timeouts while it
 * switches a new file to WAL mode.
 */
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

function setUp(options: StoreOptions, migrations: Migration[]): Connection {
  const { path, nativeBinding, addressDigest, connect = openConnection } = options
  createFile(path)
  refuseSecondName(path)
  const connection = connect({ path, nativeBinding, addressDigest, busyTimeoutMs: 0 })
  try {
    // Pages large enough for a message's text without overflow, and a cache for the busy ones.
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

/** SQLite would create the file with the default mode; log and index take the mode of this file. */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}
