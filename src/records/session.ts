/** The sessions of a user in the API. */
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

export const sessionExample: SessionRecord = {
  id: '0199a7c0-0000-4000-8000-000000000c02',
  current: true,
  createdAt: '2026-11-22T09:30:00.000Z',
  lastUsedAt: '2026-11-22T09:30:00.000Z',
  expiresAt: '2026-11-29T09:30:00.000Z',
  ip: '…',
  userAgent: '…',
}
