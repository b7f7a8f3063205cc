import type { Log } from '../../log.ts'
import type { Connection } from '../connection.ts'
import { isBusy } from '../database-error.ts'

/** Well under the 200 ms within which commands take effect on a running server. */
const INTERVAL_MS = 100

export type Watch = {
  subscribe(fn: () => void): () => void
  /** To be called when a transaction of the writer's has ended. */
  ended(): void
  stop(): void
}

/**
 * Tells when another process has changed the database. `PRAGMA data_version` moves on the writer's
 * connection only when others commit; a checkpoint that empties the log moves it too, which costs a
 * needless look.
 */
export function watchExternalChanges(writer: Connection, log: Log): Watch {
  const version = writer.value('PRAGMA data_version')
  const listeners = new Set<() => void>()
  let seen = version()
  let isDue = false

  /** A heavy write holds its transaction over turns of the loop: the look is made at its end. */
  function look(): void {
    isDue = writer.isInTransaction()
    if (isDue) return
    try {
      const current = version()
      if (current === seen) return
      seen = current
    } catch (error) {
      if (!isBusy(error)) log.warn({ error }, 'the database cannot be watched for changes')
      return
    }
    for (const listener of listeners) notify(listener)
  }

  function notify(listener: () => void): void {
    try {
      listener()
    } catch (error) {
      log.error({ error }, 'a listener for changes of other processes failed')
    }
  }

  const timer = setInterval(look, INTERVAL_MS).unref()
  return {
    subscribe(fn) {
      listeners.add(fn)
      return () => listeners.delete(fn)
    },
    ended() {
      if (isDue) look()
    },
    stop: () => clearInterval(timer),
  }
}
