/**
 * Scans: queries whose cost grows with a project, away from the event loop. A few threads at most,
 * each started when all others are busy; every query sees the database as of its own beginning.
 */
import type { Run } from './database.ts'
import { createThread, type StoreThread } from './thread.ts'
import type { ThreadSettings } from './thread-messages.ts'

export type Readers = { run: Run; stop(): Promise<void> }

export function createReaders(settings: ThreadSettings, maxThreads: number): Readers {
  const threads: StoreThread[] = Array.from({ length: maxThreads }, () => createThread(settings))
  return {
    run: (text, params, shape) => choose(threads).ask({ kind: 'query', text, params, shape }),
    async stop() {
      await Promise.all(threads.map((thread) => thread.stop()))
    },
  }
}

/** An idle thread that runs, else one that does not run yet, else the least busy one. */
function choose(threads: StoreThread[]): StoreThread {
  const ranked = [...threads].sort((a, b) => rank(a) - rank(b))
  const [first] = ranked
  if (!first) throw new TypeError('Scans need at least one thread.')
  return first
}

function rank(thread: StoreThread): number {
  return thread.isStarted() ? thread.pending() : 0.5
}
