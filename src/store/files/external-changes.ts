import type { Log } from '../../base/log.ts'
import type { Connection } from '../connection.ts'
import { isBusy } from '../database-error.ts'

/**
 * Within this time a running server notices what a command has written, and acts on it: the help and the
 * pages promise it.
 */
export const NOTICED_WITHIN_MS = 200

const INTERVAL_MS = NOTICED_WITHIN_MS - 50

type Watch = {
  subscribe(fn: () => void): () => void
  /** Call this when a transaction of the writer has ended. */
  ended(): void
  stop(): void
}

/**
 * Notifies listeners when another process has changed the database. On the writer's connection
 * `PRAGMA data_version` changes when another process commits, and also when a checkpoint empties the
 * log; that notice is harmless.
 */
export function watchExternalChanges(writer: Connection, log: Log): Watch {
  const version = writer.value('PRAGMA data_version')
  const listeners = new Set<() => void>()
  let seen = version()
  let isDue = false

  /** During the transaction of a heavy write the check is postponed to its end. */
  function check(): void {
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

  const timer = setInterval(check, INTERVAL_MS).unref()
  return {
    subscribe(fn) {
      listeners.add(fn)
      return () => listeners.delete(fn)
    },
    ended() {
      if (isDue) check()
    },
    stop: () => clearInterval(timer),
  }
}
