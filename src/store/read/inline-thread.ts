/**
 * A thread of the store without a thread, for a process that serves nobody: its scans run in this one, on
 * a connection that all of them share. To start a worker thread takes 45 ms of processor time.
 */
import { setImmediate } from 'node:timers/promises'
import { type Connection, openConnection, type Shape } from '../connection.ts'
import { createThread } from './thread.ts'

const BUSY_TIMEOUT_MS = 1000

/** Makes the threads of one store. The last one that stops closes the connection. `connect` is for tests. */
export function createInlineThreads(connect = openConnection): typeof createThread {
  let connection: Connection | undefined
  let users = 0

  return (settings, start, counters) => {
    const checkpoints = createThread(settings, start, counters)
    const running = new Set<Promise<unknown>>()
    let isStarted = false
    users += 1

    /** Parameters and results are copied, as they are between threads. */
    async function scan(text: string, params: unknown[], shape: Shape): Promise<unknown> {
      const copies = structuredClone(params)
      await setImmediate()
      isStarted = true
      const options = { ...settings, isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS }
      connection ??= connect(options)
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
      isStarted: () => isStarted || checkpoints.isStarted(),
      async stop() {
        await Promise.allSettled([...running, checkpoints.stop()])
        users -= 1
        if (users === 0) connection?.close()
      },
    }
  }
}
