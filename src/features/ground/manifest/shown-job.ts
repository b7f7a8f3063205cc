/** How the jobs of a kind, which calls of the API enqueue, are shown to their project (`GET /jobs`). */
import type { CancelledEnd } from '../../../work/jobs/run.ts'

/** What of the payload of a job its label and its path name; null where the payload has no such text. */
export const JOB_FACTS = ['filename', 'key', 'name', 'endpointId', 'workflowId'] as const

export type JobFacts = Record<(typeof JOB_FACTS)[number], string | null>

export type ShownJob = CancelledEnd & {
  /** Whether the payload has one of the facts: other payloads are not read for a list. */
  hasFacts: boolean
  /** What the job does, for people. `prefix`: the first part of its id. */
  labelOf(facts: JobFacts, prefix: string): string
  /** The path of the route that shows the status of the job. */
  pathOf(id: string, facts: JobFacts): string
}
