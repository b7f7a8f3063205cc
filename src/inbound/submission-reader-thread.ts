/** The entry of the threads that parse submitted messages. */
import { parentPort, workerData } from 'node:worker_threads'
import { describeError } from '../base/errors.ts'
import {
  readSubmitted,
  type SubmissionLimits,
  type SubmissionResult,
} from '../formats/submitted/read-submitted.ts'

/** `failure`: a fault of this program; the thread can go on. */
export type SubmissionThreadResult = SubmissionResult | { failure: string }
export type FromSubmissionThread = SubmissionThreadResult | 'ready'

serve(workerData as SubmissionLimits)

function serve(limits: SubmissionLimits): void {
  parentPort?.postMessage('ready' satisfies FromSubmissionThread)
  parentPort?.on('message', (parts: readonly Uint8Array[]) => {
    read(Buffer.concat(parts), limits).then((result) => parentPort?.postMessage(result))
  })
}

async function read(raw: Uint8Array, limits: SubmissionLimits): Promise<SubmissionThreadResult> {
  try {
    return await readSubmitted(raw, limits)
  } catch (error) {
    return { failure: describeError(error) }
  }
}
