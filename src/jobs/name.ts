import type { Tx } from '../store/store.ts'
import { enqueueJob, type NewJob } from './enqueue.ts'

export type NamedJob = Omit<NewJob, 'id' | 'uniqueKey' | 'projectId'> & {
  /** What the id begins with: `import`, `bulk-delete`. */
  prefix: string
  projectId: string
}

/**
 * `enqueueJob` under the id that people are shown: `<prefix>-<projectId>-<epoch ms>`, the next free
 * millisecond where another has it.
 */
export async function enqueueNamed(tx: Tx, { prefix, ...job }: NamedJob): Promise<string> {
  for (let at = job.now; ; at += 1) {
    const made = await enqueueJob(tx, { ...job, id: `${prefix}-${job.projectId}-${at}` })
    if (made.isNew) return made.id
  }
}
