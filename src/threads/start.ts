/** Starts worker threads, from source or from inside the executable. */
import sea from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { assetSource, readAsset } from '../config/assets.ts'

export type ThreadName =
  | 'scan'
  | 'migrate'
  | 'snapshot'
  | 'delivery'
  | 'composing'
  | 'submission'
  | 'reader'

/** The entry file of each worker thread in the repository. */
export const THREAD_SOURCES: Record<ThreadName, string> = {
  scan: 'src/store/read/scan-thread.ts',
  migrate: 'src/store/migrate-thread.ts',
  snapshot: 'src/store/snapshot/snapshot-thread.ts',
  delivery: 'src/outbound/thread/delivery-thread.ts',
  composing: 'src/outbound/composing/composing-thread.ts',
  reader: 'src/inbound/inbound-reader-thread.ts',
  submission: 'src/inbound/submission-reader-thread.ts',
}

/** Starts a worker thread; the caller listens to its messages and terminates it. */
export function startThread(name: ThreadName, options: WorkerOptions = {}): Worker {
  if (!sea.isSea()) return new Worker(assetSource(THREAD_SOURCES[name]), { name, ...options })
  // The last line gives the file its name in stack traces.
  const code = `${readAsset(`${name}.cjs`).toString('utf8')}\n//# sourceURL=${name}.cjs`
  return new Worker(code, { name, ...options, eval: true })
}
