import type { Log } from '../../base/log.ts'
import type { Connection } from '../connection.ts'

/** In pages; -1 if another connection copies at the moment. */
type Checkpoint = { log: number; checkpointed: number }

/**
 * Copies a log whose file was removed into the database. Its commits were acknowledged, and a crash
 * would lose them. Call the function again and again while the log is gone: it copies what it can, and
 * tells the log of the server when all pages are in the database, also when there were none.
 */
export function createLostLogCopy(
  connection: Pick<Connection, 'isInTransaction' | 'run'>,
  log: Log,
): () => void {
  let copied: number | undefined
  return () => {
    if (connection.isInTransaction()) return
    try {
      const [found] = connection.run(
        'PRAGMA wal_checkpoint(PASSIVE)',
        [],
        'records',
      ) as Checkpoint[]
      if (found === undefined || found.log < 0 || found.checkpointed < found.log) return
      if (found.log === copied) return
      copied = found.log
      log.warn({ pages: copied }, 'the lost log was copied into the database')
    } catch (error) {
      log.error({ error }, 'the lost log could not be copied into the database')
    }
  }
}
