/** Sessions of users in the API. */
import { z } from 'zod'
import { instant } from './fields.ts'

export const sessionRecord = z
  .object({
    id: z.string(),
    current: z.boolean().meta({ description: 'The session of this request' }),
    createdAt: instant,
    lastUsedAt: instant.meta({ description: 'To the minute' }),
    expiresAt: instant,
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
  })
  .meta({ id: 'Session' })

export type SessionRecord = z.output<typeof sessionRecord>
