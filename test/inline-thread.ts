/**
 * A thread of the store without a thread, for tests that are not about threads: its scans run in this
 * one, on a connection of their own. A worker thread takes 45 ms of CPU to start.
 */
import { setImmediate } from 'node:timers/promises'
import { type Connection, openConnection, type Shape } from '../src/store/connection.ts'
import { createThread, type StoreThread } from '../src/store/read/thread.ts'
import type { StoreThreadSettings } from '../src/store/read/thread-messages.ts'

const BUSY_TIMEOUT_MS = 1000

export function createInlineThread(settings: StoreThreadSettings): StoreThread {
  const checkpoints = createThread(settings)
  const running = new Set<Promise<unknown>>()
  let connection: Connection | undefined

  /** Parameters and results are copied, as they are between threads. */
  async function scan(text: string, params: unknown[], shape: Shape): Promise<unknown> {
    const copies = structuredClone(params)
    await setImmediate()
    const options = { ...settings, isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS }
    connection ??= openConnection(options)
    return structuredClone(connection.run(text, copies, shape))
  }

  return {
    ask(request) {
      if (request.kind === 'checkpoint') return checkpoints.ask(request)
      const result = scan(request.text, request.params, request.shape)
      running.add(result)
      const ended = () => void running.delete(result)
      result.then(ended, ended)
      return result
    },
    pending: () => running.size + checkpoints.pending(),
    isStarted: () => connection !== undefined || checkpoints.isStarted(),
    async stop() {
      await Promise.allSettled([...running, checkpoints.stop()])
      connection?.close()
    },
  }
}
