/**
 * Keeps the write-ahead log short, on a thread that starts once the log has grown:
 *
 *   less than 8 MB of it used    nothing
 *   more, during writes          its pages are copied into the database beside the writer
 *   more than 32 MB of it used   in addition, the writer waits a moment, so that the log starts over
 *   more, without writes         all pages are copied and the log starts over; a file of more than 64 MB is emptied
 *
 * Without the third step the log would never start over under constant load. The file keeps its size otherwise:
 * a commit that makes it grow takes the kernel a third longer, and the disk twice as long. While another process
 * reads from the log for long, as a backup does, the writer would wait in vain each time: after such a wait, the
 * third and the fourth step pause, for a second at first, at most for ten.
 */
import type { Counters } from '../../base/counters.ts'
import type { Log } from '../../base/log.ts'
import type { Connection } from '../connection.ts'
import type { StoreThread } from '../read/thread.ts'

export type CheckpointLimits = {
  intervalMs: number
  smallBytes: number
  maxLogBytes: number
  /** The largest file of the log that stays as it is when there are no writes. */
  maxKeptBytes: number
}

const DEFAULT_LIMITS: CheckpointLimits = {
  intervalMs: 250,
  smallBytes: 8 * 1024 * 1024,
  maxLogBytes: 32 * 1024 * 1024,
  maxKeptBytes: 64 * 1024 * 1024,
}
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 10_000

type Checkpoints = {
  /** Call this after each commit. */
  committed(): void
  stop(): Promise<void>
}

type Deps = {
  thread: StoreThread
  /** The size of the file. */
  walBytes(): number
  /** How much of the log is used (`createLogUse`). */
  usedBytes(): number
  /** Whether the files were removed or replaced: a thread would open the wrong ones. */
  areFilesLost(): boolean
  /** Called after each copy, also after one that failed. Must not throw. */
  onCopy?(): void
  log: Log
  counters?: Pick<Counters, 'observe'> | undefined
}

export function startCheckpoints(
  deps: Deps,
  limits: CheckpointLimits = DEFAULT_LIMITS,
): Checkpoints {
  const { thread, walBytes, usedBytes, areFilesLost, onCopy, log, counters } = deps
  const { intervalMs, smallBytes, maxLogBytes, maxKeptBytes } = limits
  let isWritten = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let pauseMs = 0
  let pausedUntil = 0

  function isLarge(): boolean {
    const bytes = walBytes()
    return bytes > maxKeptBytes || (bytes >= smallBytes && usedBytes() >= smallBytes)
  }

  function startTimer(): void {
    timer ??= setTimeout(() => {
      running = tick()
    }, intervalMs).unref()
  }

  async function tick(): Promise<void> {
    const isQuiet = !isWritten
    isWritten = false
    if (!areFilesLost() && isLarge()) await copy(isQuiet)
    timer = undefined
    if (isWritten || isLarge()) startTimer()
  }

  async function copy(isQuiet: boolean): Promise<void> {
    const from = performance.now()
    try {
      const mayWait = performance.now() >= pausedUntil
      const empties = isQuiet && walBytes() > maxKeptBytes
      const request = { kind: 'checkpoint', isQuiet, empties, maxLogBytes, mayWait } as const
      const isBusy = (await thread.ask(request)) === true
      if (mayWait) pause(isBusy)
      counters?.observe('pillarbox_checkpoint_duration_seconds', performance.now() - from)
    } catch (error) {
      log.warn({ error }, 'a checkpoint failed and will be tried again')
    }
    onCopy?.()
  }

  function pause(isBusy: boolean): void {
    pauseMs = isBusy ? Math.min(MAX_PAUSE_MS, pauseMs * 2 || FIRST_PAUSE_MS) : 0
    pausedUntil = performance.now() + pauseMs
  }

  if (isLarge()) startTimer()
  return {
    committed() {
      isWritten = true
      startTimer()
    },
    async stop() {
      clearTimeout(timer)
      await running
      clearTimeout(timer)
      await thread.stop()
    },
  }
}

/**
 * Measures how much of the write-ahead log is used: its file keeps its size when the log starts over.
 *
 * The result is the bytes of the log up to the last page that the database lacks; 0 if the database has all
 * pages, because the next commit then starts the log over. `connection` is the writer's. Within its transaction,
 * and when the disk fails, SQLite does not tell, and `fileBytes` is the result.
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
    // The numbers are negative if SQLite could not look.
    return pages < 0 ? undefined : { pages, copied }
  } catch {
    // The next commit meets the same error and reports it.
    return undefined
  }
}
