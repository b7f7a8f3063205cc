/** What routes answer that queue a job, and those that show one (contract 3.3). */
import { z } from 'zod'

export const queuedJob = z
  .object({ message: z.string(), jobId: z.string() })
  .meta({ id: 'QueuedJob' })

const askedFor = z.unknown().meta({ description: 'What was asked for' })

/** `result`: what it resolves to; `data`: what may be shown of what was asked for. */
export function jobStatus(result: z.ZodType, data: z.ZodType = askedFor) {
  return z.object({
    id: z.string(),
    state: z.enum(['waiting', 'active', 'completed', 'failed', 'delayed']),
    progress: z.int().min(0).max(100),
    result,
    data,
    failedReason: z.string().nullable(),
  })
}
