/** The entry of the threads that parse submitted messages. */
import { parentPort, workerData } from 'node:worker_threads'
import { describeError } from '../errors.ts'
import {
  readSubmitted,
  type SubmissionLimits,
  type SubmissionResult,
} from '../mail/submitted/read-submitted.ts'

/** `failure`: an error of our own; the thread can go on. */
export type ThreadAnswer = SubmissionResult | { failure: string }
export type FromThread = ThreadAnswer | 'ready'

serve(workerData as SubmissionLimits)

function serve(limits: SubmissionLimits): void {
  parentPort?.postMessage('ready' satisfies FromThread)
  parentPort?.on('message', (parts: readonly Uint8Array[]) => {
    read(Buffer.concat(parts), limits).then((answer) => parentPort?.postMessage(answer))
  })
}

async function read(raw: Uint8Array, limits: SubmissionLimits): Promise<ThreadAnswer> {
  try {
    return await readSubmitted(raw, limits)
  } catch (error) {
    return { failure: describeError(error) }
  }
}
