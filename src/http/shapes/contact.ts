/** A contact in responses. */
import { z } from 'zod'
import { instant } from './fields.ts'

/** The data of a contact, by key. */
export const contactData = z.record(z.string(), z.unknown())

export const contactRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    subscribed: z.boolean(),
    data: contactData.nullable(),
    projectId: z.string(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Contact' })
