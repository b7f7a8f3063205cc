/**
 * A thread of the store without a thread, for tests that are not about threads: its scans run in this
 * one, on a connection that all threads of the store share. A worker thread takes 45 ms of CPU to start.
 */
import { setImmediate } from 'node:timers/promises'
import { type Connection, openConnection, type Shape } from '../src/store/connection.ts'
import { createThread, type StoreThread } from '../src/store/read/thread.ts'
import type { StoreThreadSettings } from '../src/store/read/thread-messages.ts'

const BUSY_TIMEOUT_MS = 1000

type Shared = { connection?: Connection; users: number }

/** By the settings, which are one object for all threads of a store. */
const shared = new WeakMap<StoreThreadSettings, Shared>()

export function createInlineThread(settings: StoreThreadSettings): StoreThread {
  const checkpoints = createThread(settings)
  const running = new Set<Promise<unknown>>()
  const own = shared.get(settings) ?? { users: 0 }
  shared.set(settings, own)
  own.users += 1
  let isStarted = false

  /** Parameters and results are copied, as they are between threads. */
  async function scan(text: string, params: unknown[], shape: Shape): Promise<unknown> {
    const copies = structuredClone(params)
    await setImmediate()
    const options = { ...settings, isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS }
    isStarted = true
    own.connection ??= openConnection(options)
    return structuredClone(own.connection.run(text, copies, shape))
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
      own.users -= 1
      if (own.users === 0) own.connection?.close()
    },
  }
}
