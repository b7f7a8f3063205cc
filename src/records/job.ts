/** Responses of routes that queue a job, and of routes that show one. */
import { z } from 'zod'

export const queuedJob = z
  .object({ message: z.string(), jobId: z.string() })
  .meta({ id: 'QueuedJob' })

const parameters = z.unknown().meta({ description: 'The parameters of the job' })

/**
 * `result`: the outcome of a completed job. `data`: the parameters of the job that may be shown.
 */
export function jobStatus(result: z.ZodType, data: z.ZodType = parameters) {
  return z.object({
    id: z.string(),
    state: z.enum(['waiting', 'active', 'completed', 'failed', 'delayed']),
    progress: z.int().min(0).max(100),
    result,
    data,
    failedReason: z.string().nullable(),
  })
}
