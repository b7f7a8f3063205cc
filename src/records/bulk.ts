/** The request that changes many records of a kind, of which each version so far only deletes. */
import { z } from 'zod'
import { id } from './fields.ts'
import { MAX_IDS_PER_REQUEST } from './limits.ts'

/** Strict, because a misspelt name must not look as if it had an effect. */
export const bulkChange = z.strictObject({
  ids: z.array(id).min(1).max(MAX_IDS_PER_REQUEST),
  delete: z.boolean().default(false),
})

export const bulkResult = z.union([
  z.object({ deleted: z.int() }),
  z.object({ updated: z.literal(0) }),
])
