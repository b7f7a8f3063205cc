/**
 * The entry point of the store's threads. A thread runs scans, each in a snapshot of its own, or
 * copies the write-ahead log into the database file.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { type Connection, openConnection } from '../connection.ts'
import {
  type Checkpoint,
  type ScanQuery,
  type StoreThreadSettings,
  type ThreadRequest,
  type ThreadResult,
  toFailure,
} from './thread-messages.ts'

const BUSY_TIMEOUT_MS = 1000
/** How long a checkpoint waits for readers. The writer waits meanwhile. */
const READER_WAIT_MS = 30
/**
 * The writer adds pages during a pass. A pass that found more new pages than this is followed by
 * another.
 */
const PASS_PAGES = 500
const MAX_PASSES = 6

type ScanConnections = { [kind in ThreadRequest['kind']]?: Connection }

serve(workerData as StoreThreadSettings)

function serve(settings: StoreThreadSettings): void {
  const connections: ScanConnections = {}
  parentPort?.on('message', (request: ThreadRequest | null) => {
    if (request) return parentPort?.postMessage(handle(settings, connections, request))
    connections.query?.close()
    connections.checkpoint?.close()
    parentPort?.close()
  })
}

/** A scan reads most pages once: a small cache is enough. */
function openReader(settings: StoreThreadSettings): Connection {
  const options = { isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS }
  const connection = openConnection({ ...settings, ...options })
  connection.script('PRAGMA cache_size = -4096')
  return connection
}

function handle(
  settings: StoreThreadSettings,
  connections: ScanConnections,
  request: ThreadRequest,
): ThreadResult {
  const { id, kind } = request
  try {
    if (kind === 'query') {
      connections.query ??= openReader(settings)
      return { id, result: query(connections.query, request) }
    }
    connections.checkpoint ??= openWritable(settings)
    return { id, result: checkpoint(connections.checkpoint, request) }
  } catch (error) {
    return { id, failure: toFailure(error) }
  }
}

function query(connection: Connection, { text, params, shape }: ScanQuery): unknown {
  return connection.run(text, params, shape)
}

function openWritable(settings: StoreThreadSettings): Connection {
  const connection = openConnection({ ...settings, busyTimeoutMs: READER_WAIT_MS })
  // A checkpoint copies past the cache.
  connection.script(
    'PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = FULL; PRAGMA cache_size = -1024',
  )
  return connection
}

/**
 * Copies pages while the writer works, so that little is left when the writer has to wait. Returns whether
 * the writer waited in vain, because a reader kept the log, as a backup does.
 */
function checkpoint(
  connection: Connection,
  { isQuiet, empties, maxLogBytes, mayWait }: Checkpoint,
): boolean {
  const pageBytes = Number(connection.value('PRAGMA page_size')())
  let log = copyPages(connection)
  let found = log.pages
  for (let pass = 1; pass < MAX_PASSES && found > PASS_PAGES; pass += 1) {
    const next = copyPages(connection)
    found = next.pages - log.copied
    log = next
  }
  if (!mayWait || (!isQuiet && log.pages * pageBytes <= maxLogBytes)) return false
  const mode = empties ? 'TRUNCATE' : 'RESTART'
  const [isBusy] = connection.run(`PRAGMA wal_checkpoint(${mode})`, [], 'row') as unknown[]
  return Number(isBusy) !== 0
}

function copyPages(connection: Connection): { pages: number; copied: number } {
  const row = connection.run('PRAGMA wal_checkpoint(PASSIVE)', [], 'row') as unknown[]
  return { pages: Number(row[1]), copied: Number(row[2]) }
}
