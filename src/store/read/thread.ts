/** One of the store's threads as the main thread sees it: started by its first request. */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../threads/start.ts'
import { databaseError, queryError } from '../database-error.ts'
import type {
  Checkpoint,
  Query,
  ThreadFailure,
  ThreadReply,
  ThreadSettings,
} from './thread-messages.ts'

export type StoreThread = {
  /** @throws AppError DATABASE_ERROR, also when the thread dies; what SQLite says. */
  ask(request: Query | Checkpoint): Promise<unknown>
  /** Requests that have no answer yet. */
  pending(): number
  isStarted(): boolean
  /** Ends the thread once it has answered everything asked before. */
  stop(): Promise<void>
}

type Waiting = { resolve(result: unknown): void; reject(error: unknown): void }

/** `start` is for tests. */
export function createThread(
  settings: ThreadSettings,
  start: () => Worker = () => startThread('scan', { workerData: settings }),
): StoreThread {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let lastId = 0

  function startListening(): Worker {
    const started = start()
    started.on('message', (reply: ThreadReply) => {
      const caller = waiting.get(reply.id)
      waiting.delete(reply.id)
      if (waiting.size === 0) started.unref()
      if ('failure' in reply) caller?.reject(thrown(reply.failure, settings.path))
      else caller?.resolve(reply.result)
    })
    started.on('error', (error) => lose(started, error))
    started.on('exit', () => lose(started, new Error('the thread has ended')))
    return started
  }

  function lose(lost: Worker, cause: Error): void {
    if (worker !== lost) return
    worker = undefined
    const callers = [...waiting.values()]
    waiting.clear()
    for (const caller of callers) caller.reject(databaseError(cause, settings.path))
  }

  return {
    async ask(request) {
      worker ??= startListening()
      lastId += 1
      const id = lastId
      worker.postMessage({ id, ...request })
      worker.ref()
      return new Promise<unknown>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
      })
    },
    pending: () => waiting.size,
    isStarted: () => worker !== undefined,
    async stop() {
      const stopping = worker
      if (!stopping) return
      stopping.ref()
      const ended = new Promise((resolve) => stopping.once('exit', resolve))
      stopping.postMessage(null)
      await ended
    },
  }
}

/** The error as SQLite threw it in the other thread. */
function thrown({ message, code }: ThreadFailure, file: string): unknown {
  const error = Object.assign(new Error(message), code === undefined ? {} : { code })
  return queryError(error, file)
}
