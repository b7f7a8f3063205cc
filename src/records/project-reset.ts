/** The reset of a project in the API. */
import { z } from 'zod'
import { instant } from './fields.ts'

export const resetState = z
  .object({
    state: z.enum(['idle', 'running', 'done']).meta({
      description: 'idle: never reset; running: a reset is under way; done: the last one is done',
    }),
    startedAt: instant.nullable(),
    progress: z.int().min(0).max(100).meta({ description: 'Percent of the rows' }),
    completedAt: instant.nullable(),
  })
  .meta({ id: 'ResetState' })

export type ResetState = z.output<typeof resetState>

export const resetExample: ResetState = {
  state: 'idle',
  startedAt: null,
  progress: 0,
  completedAt: null,
}
