/**
 * A consistent copy of the database beside a running server, read as a stream of bytes without a second
 * copy on the disk.
 *
 * A thread holds one read transaction in which nobody may change the database file
 * (`snapshot-thread.ts`), and the bytes of the file are read meanwhile. Writers append to the log, which
 * grows until the snapshot is closed.
 *
 * Call this only in a process that ends soon, not in the server: the file stays open until the process
 * ends, because closing it would release all of the process's locks on it.
 */
import { openSync, readSync, realpathSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { AppError } from '../../base/errors.ts'
import { startThread } from '../../threads/start.ts'
import { openError } from '../database-error.ts'
import { toError } from '../read/thread-messages.ts'
import type { SnapshotFacts, SnapshotReply, SnapshotRequest, SnapshotSettings } from './messages.ts'

export type DatabaseSnapshot = SnapshotFacts & {
  /** Size of the database file. */
  bytes: number
  /** The database file from its beginning. */
  read(): AsyncGenerator<Buffer>
  /**
   * SQLite's check of every table and its indexes, as they are in the file. Returns the faults.
   * `stopped`: whether to end early.
   */
  check(stopped: () => boolean): Promise<string[]>
  close(): Promise<void>
}

type SnapshotOptions = Omit<SnapshotSettings, 'waitMs'> & { waitMs?: number }

type Thread = {
  ask(request: SnapshotRequest): Promise<SnapshotFacts | null | string[]>
  stop(): Promise<void>
}

const WAIT_MS = 60_000
const CHUNK_BYTES = 256 * 1024

/** @throws AppError CONFLICT while others read for longer than `waitMs`; DATABASE_ERROR */
export async function openSnapshot(options: SnapshotOptions): Promise<DatabaseSnapshot> {
  const { path, nativeBinding, waitMs = WAIT_MS } = options
  const file = openFile(path)
  const thread = createThread({ path, nativeBinding, waitMs })
  try {
    const facts = (await thread.ask({ kind: 'begin' })) as SnapshotFacts | null
    if (facts === null) throw tooManyReaders(waitMs)
    if (facts.journal !== 'wal') throw notInWal(path)
    const bytes = facts.pages * facts.pageBytes
    return {
      ...facts,
      bytes,
      read: () => readFile(file, bytes),
      check: (stopped) => check(thread, stopped),
      close: thread.stop,
    }
  } catch (error) {
    await thread.stop()
    throw error
  }
}

function openFile(path: string): number {
  try {
    return openSync(realpathSync(path), 'r')
  } catch (error) {
    throw new AppError('DATABASE_ERROR', `The database ${path} cannot be read.`, { cause: error })
  }
}

async function* readFile(file: number, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; ) {
    // A new buffer each time: the receiver may still hold the last one.
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, bytes - at))
    // This process has nothing else to do, and a thread would take longer to wake than the read takes.
    const bytesRead = readSync(file, buffer, 0, buffer.length, at)
    if (bytesRead === 0) throw new AppError('DATABASE_ERROR', 'The database file was cut off.')
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}

async function check(thread: Thread, stopped: () => boolean): Promise<string[]> {
  const faults: string[] = []
  for (const table of (await thread.ask({ kind: 'tables' })) as string[]) {
    if (stopped()) break
    faults.push(...((await thread.ask({ kind: 'check', table })) as string[]))
  }
  return faults
}

/** The thread of a snapshot, which takes one request at a time. */
function createThread(settings: SnapshotSettings): Thread {
  const worker = startThread('snapshot', { workerData: settings })
  let failure: unknown
  let settle: { resolve(reply: SnapshotReply): void; reject(error: unknown): void } | undefined
  worker.on('message', (reply: SnapshotReply) => settle?.resolve(reply))
  worker.on('error', (error) => {
    failure = error
    settle?.reject(openError(error, settings.path))
  })
  return {
    async ask(request) {
      if (failure !== undefined) throw openError(failure, settings.path)
      const reply = await new Promise<SnapshotReply>((resolve, reject) => {
        settle = { resolve, reject }
        worker.postMessage(request)
      })
      if (!('failure' in reply)) return reply.result
      throw toError(reply.failure, settings.path)
    },
    stop: () => endThread(worker, () => failure !== undefined),
  }
}

/** Resolves when the transaction has ended. */
async function endThread(worker: Worker, hasFailed: () => boolean): Promise<void> {
  if (hasFailed()) return
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.once('exit', () => resolve())
  worker.postMessage(null)
  await promise
}

function tooManyReaders(waitMs: number): AppError {
  const text = `Other programs have read from the database without a pause for ${waitMs / 1000} s, so no copy of it can begin.`
  return new AppError('CONFLICT', text, { suggestion: 'Try again in a few minutes.' })
}

function notInWal(path: string): AppError {
  const text = `The database ${path} has no write-ahead log: a server has not opened it yet.`
  return new AppError('CONFLICT', text, { suggestion: 'Start the server on it once.' })
}
