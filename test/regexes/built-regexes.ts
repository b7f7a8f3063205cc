/**
 * Records the regular expressions that modules build at run time, with the line that builds each. A thread
 * of its own loads the modules, so that no other test has loaded them before.
 */
import { Worker } from 'node:worker_threads'
import type { FoundRegex } from './source-regexes.ts'

/** `files`: paths below the current folder. */
export function recordBuiltRegexes(files: readonly string[]): Promise<FoundRegex[]> {
  const recorder = new URL('./built-regexes-thread.ts', import.meta.url)
  return new Promise((resolve, reject) => {
    const worker = new Worker(recorder, { workerData: files })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}
