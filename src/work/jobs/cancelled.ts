/** The reason with which the signal of a job aborts that somebody asked to stop. */
export class JobCancelled extends Error {
  override readonly name = 'JobCancelled'

  constructor() {
    super('The job was cancelled.')
  }
}

/** Whether a run was aborted because somebody asked the job to stop. */
export function isCancelled({ signal }: { signal: AbortSignal }): boolean {
  return signal.aborted && signal.reason instanceof JobCancelled
}
