/**
 * The request that changes many records of one kind at once. So far the only change is to delete
 * them.
 */
import { z } from 'zod'
import { id } from './fields.ts'
import { MAX_IDS_PER_REQUEST } from './limits.ts'

/** Strict, so that a misspelt name is refused instead of having no effect. */
export const bulkChange = z.strictObject({
  ids: z.array(id).min(1).max(MAX_IDS_PER_REQUEST),
  delete: z.boolean().default(false),
})

export const bulkResult = z.union([
  z.object({ deleted: z.int() }),
  z.object({ updated: z.literal(0) }),
])
