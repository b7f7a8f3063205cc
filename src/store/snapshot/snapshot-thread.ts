/**
 * The thread that holds a snapshot of the database (`snapshot.ts`). One connection keeps a read
 * transaction open from `begin` until the thread ends.
 *
 * The transaction begins while the log is empty. SQLite then reads from the database file alone and
 * holds the lock that every checkpoint needs for its writes to that file (WAL_READ_LOCK(0)). So until
 * the transaction ends, nobody changes a byte of the file: writers append to the log.
 */
import { realpathSync, statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openConnection } from '../connection.ts'
import { toFailure } from '../read/thread-messages.ts'
import { listStoredTables, quickCheck } from './integrity.sqlite.ts'
import type { SnapshotFacts, SnapshotReply, SnapshotRequest, SnapshotSettings } from './messages.ts'

/** How long a checkpoint waits for readers. The writer waits meanwhile. */
const READER_WAIT_MS = 30
const RETRY_MS = 150

serve(workerData as SnapshotSettings)

function serve(settings: SnapshotSettings): void {
  const { path, nativeBinding } = settings
  const connection = openConnection({ path, nativeBinding, isReadOnly: true, busyTimeoutMs: 5000 })
  connection.script('PRAGMA cache_size = -8192')
  parentPort?.on('message', (request: SnapshotRequest | null) => {
    if (request !== null) return parentPort?.postMessage(answer(settings, connection, request))
    if (connection.isInTransaction()) connection.script('ROLLBACK')
    connection.close()
    parentPort?.close()
  })
}

function answer(
  settings: SnapshotSettings,
  connection: Connection,
  request: SnapshotRequest,
): SnapshotReply {
  try {
    if (request.kind === 'begin') return { result: begin(settings, connection) }
    if (request.kind === 'tables') return { result: listStoredTables(connection) }
    return { result: quickCheck(connection, request.table) }
  } catch (error) {
    return { failure: toFailure(error) }
  }
}

/** Begins the read transaction. Returns null if other connections read from the log for longer than `waitMs`. */
function begin({ path, nativeBinding, waitMs }: SnapshotSettings, connection: Connection) {
  const log = `${realpathSync(path)}-wal`
  const writable = openConnection({ path, nativeBinding, busyTimeoutMs: READER_WAIT_MS })
  try {
    writable.script('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL')
    const endsAt = performance.now() + waitMs
    while (!beginAtEmptyLog(writable, connection, log)) {
      if (performance.now() > endsAt) return null
      pause(RETRY_MS)
    }
  } finally {
    writable.close()
  }
  return factsOf(connection)
}

function beginAtEmptyLog(writable: Connection, connection: Connection, log: string): boolean {
  // Most pages are copied while the writer works, so that it waits for the rest only.
  writable.script('PRAGMA wal_checkpoint(PASSIVE)')
  const [isBusy] = writable.run('PRAGMA wal_checkpoint(TRUNCATE)', [], 'row') as unknown[]
  if (Number(isBusy) !== 0) return false
  connection.script('BEGIN')
  connection.value('SELECT count(*) FROM sqlite_schema')()
  // The log cannot be emptied while this transaction reads from it: an empty log was empty at BEGIN.
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return true
  connection.script('ROLLBACK')
  return false
}

function factsOf(connection: Connection): SnapshotFacts {
  const number = (text: string) => Number(connection.value(text)())
  return {
    pageBytes: number('PRAGMA page_size'),
    pages: number('PRAGMA page_count'),
    schema: number('PRAGMA user_version'),
    journal: String(connection.value('PRAGMA journal_mode')()),
    generation: hasTable(connection, 'generations')
      ? number('SELECT coalesce(max(number), 0) FROM generations')
      : 0,
    seq: number("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'"),
  }
}

/** Databases of older programs lack tables. */
function hasTable(connection: Connection, name: string): boolean {
  return listStoredTables(connection).includes(name)
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
