/** Jobs: the answers of calls that queue one, of routes that show one, and the list of them. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { MAX_JOB_LABEL_LENGTH, MAX_JOB_PATH_LENGTH, MAX_JOB_REASON_LENGTH } from './limits.ts'
import { page, pageParameters } from './page.ts'

export const queuedJob = z
  .object({ message: z.string(), jobId: z.string() })
  .meta({ id: 'QueuedJob' })

const parameters = z.unknown().meta({ description: 'The parameters of the job' })

const state = z.enum(['waiting', 'active', 'completed', 'failed', 'cancelled', 'delayed'])

/**
 * `result`: the outcome of a completed job, and of a cancelled one what it has done. `data`: the
 * parameters of the job that may be shown.
 */
export function jobStatus(result: z.ZodType, data: z.ZodType = parameters) {
  return z.object({
    id: z.string(),
    state,
    progress: z.int().min(0).max(100),
    result,
    data,
    failedReason: z.string().nullable(),
  })
}

const optionalInstant = instant.nullable()

const MAX_KIND_LENGTH = 40

export const jobRecord = z
  .object({
    id: z.string(),
    kind: z
      .string()
      .max(MAX_KIND_LENGTH)
      .meta({ description: 'The first part of the id, such as `bulk-delete`' }),
    label: z.string().max(MAX_JOB_LABEL_LENGTH).meta({ description: 'What the job does' }),
    state: state.meta({ description: '`delayed`: waits for another attempt' }),
    progress: z.int().min(0).max(100).meta({ description: 'Percent' }),
    done: z.int().meta({ description: 'Rows, contacts, addresses or events so far' }),
    total: z.int().nullable().meta({ description: 'About how many there are; null: not known' }),
    isCancelling: z.boolean().meta({ description: 'The job stops after its step' }),
    createdAt: instant,
    startedAt: optionalInstant,
    finishedAt: optionalInstant,
    by: z
      .object({ userId: z.string(), email: z.string() })
      .nullable()
      .meta({ description: 'Who asked for the job; null for a key, and for a deleted user' }),
    failedReason: z.string().max(MAX_JOB_REASON_LENGTH).nullable(),
    statusUrl: z
      .string()
      .max(MAX_JOB_PATH_LENGTH)
      .meta({ description: 'The path that shows the job with its result' }),
  })
  .meta({ id: 'Job' })

export type JobRecord = z.output<typeof jobRecord>

export const jobPage = page(jobRecord).meta({ id: 'JobPage' })

export const jobQuery = z.object(pageParameters)

const projectId = '0199a7c0-0000-7000-8000-000000000001'
const id = `bulk-unsubscribe-${projectId}-1795339806000`

export const jobExample: JobRecord = {
  id,
  kind: 'bulk-unsubscribe',
  label: 'Unsubscribe contacts',
  state: 'completed',
  progress: 100,
  done: 1,
  total: 1,
  isCancelling: false,
  createdAt: '2026-11-22T09:30:06.000Z',
  startedAt: '2026-11-22T09:30:06.100Z',
  finishedAt: '2026-11-22T09:30:06.200Z',
  by: null,
  failedReason: null,
  statusUrl: `/contacts/bulk/${id}`,
}
