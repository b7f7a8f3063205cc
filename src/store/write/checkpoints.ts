/**
 * Keeps the write-ahead log short, on a thread of its own (which starts once the log has grown):
 *
 *   log file under 8 MB          nothing
 *   larger, and being written    its pages are copied into the database beside the writer
 *   more than 32 MB of it used   and then the writer waits a moment, so that it starts over
 *   larger, and nobody writes    everything is copied and the file emptied
 *
 * Without the third step a constant load would never let the log start over.
 */
import type { Log } from '../../log.ts'
import type { StoreThread } from '../read/thread.ts'

export type CheckpointLimits = { intervalMs: number; smallBytes: number; maxLogBytes: number }

const usual: CheckpointLimits = {
  intervalMs: 250,
  smallBytes: 8 * 1024 * 1024,
  maxLogBytes: 32 * 1024 * 1024,
}

export type Checkpoints = {
  /** To be told of each commit. */
  committed(): void
  stop(): Promise<void>
}

type Deps = {
  thread: StoreThread
  walBytes(): number
  /** A thread that opens the files now would get others. */
  areFilesLost(): boolean
  log: Log
}

export function startCheckpoints(deps: Deps, limits: CheckpointLimits = usual): Checkpoints {
  const { thread, walBytes, areFilesLost, log } = deps
  const { intervalMs, smallBytes, maxLogBytes } = limits
  let isWritten = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  function arm(): void {
    timer ??= setTimeout(() => {
      running = tick()
    }, intervalMs).unref()
  }

  async function tick(): Promise<void> {
    const isQuiet = !isWritten
    isWritten = false
    if (!areFilesLost() && walBytes() >= smallBytes) await copy(isQuiet)
    timer = undefined
    if (isWritten || walBytes() >= smallBytes) arm()
  }

  async function copy(isQuiet: boolean): Promise<void> {
    try {
      await thread.ask({ kind: 'checkpoint', isQuiet, maxLogBytes })
    } catch (error) {
      log.warn({ error }, 'a checkpoint failed; the next one is tried')
    }
  }

  if (walBytes() >= smallBytes) arm()
  return {
    committed() {
      isWritten = true
      arm()
    },
    async stop() {
      clearTimeout(timer)
      await running
      clearTimeout(timer)
      await thread.stop()
    },
  }
}
