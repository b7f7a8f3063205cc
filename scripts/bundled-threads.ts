/**
 * Loaded before a test file: the threads that the program starts from source come from its bundle
 * (`bundle-for-tests.ts`) instead, where a thread is a few files, not some hundred.
 */
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import workerThreads, { type WorkerOptions } from 'node:worker_threads'

const root = path.join(import.meta.dirname, '..')
const bundle = process.env.TEST_PROGRAM
const { Worker } = workerThreads

class BundledWorker extends Worker {
  constructor(file: string | URL, options: WorkerOptions = {}) {
    // A thread starts no threads, and so needs no flags to load this file.
    super(inBundle(file), { execArgv: [], ...options })
  }
}

/** The place in the bundle of a file in `src`; other files and code stay as they are. */
function inBundle(file: string | URL): string | URL {
  if (bundle === undefined || typeof file !== 'string' || !path.isAbsolute(file)) return file
  const place = path.relative(root, file)
  return place.startsWith(`src${path.sep}`) ? path.join(bundle, '..', '..', place) : file
}

workerThreads.Worker = BundledWorker
syncBuiltinESMExports()
