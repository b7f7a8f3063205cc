/** How much of the write-ahead log is used: its file keeps its size when the log starts over. */
import type { Connection } from '../connection.ts'

/**
 * Returns the bytes of the log with pages that the database does not have yet, and of those before them; 0 if it has
 * all pages, since the next commit starts the log over then. `connection` writes. Within a transaction of it, and
 * when the disk fails, SQLite does not tell, and `fileBytes` is the result.
 */
export function createLogUse(
  connection: Pick<Connection, 'run' | 'value' | 'isInTransaction'>,
  fileBytes: () => number,
): () => number {
  const pageBytes = Number(connection.value('PRAGMA page_size')())
  return () => {
    const log = connection.isInTransaction() ? undefined : lookAtLog(connection)
    if (log === undefined) return fileBytes()
    return log.pages > log.copied ? log.pages * pageBytes : 0
  }
}

function lookAtLog(
  connection: Pick<Connection, 'run'>,
): { pages: number; copied: number } | undefined {
  try {
    const row = connection.run('PRAGMA wal_checkpoint(NOOP)', [], 'row') as unknown[]
    const [pages, copied] = [Number(row[1]), Number(row[2])]
    // Negative if SQLite could not look.
    return pages < 0 ? undefined : { pages, copied }
  } catch {
    // The next commit meets the error and tells it.
    return undefined
  }
}
