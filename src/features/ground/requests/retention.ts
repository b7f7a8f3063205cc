/** Deletes lines of the request log after `retention.request_log_days`. */
import { DAY_MS } from '../../../base/clock.ts'
import { and, asc, lt, lte, sql } from '../../../store/drizzle.ts'
import { apiRequests } from '../../../store/schema/service.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Retention } from '../../../work/retention.ts'

/** The rows of one write, which takes far less than 20 ms. */
const CHUNK_ROWS = 1000

/** Deletes up to the instant of the 1,000th oldest line, so that rows need no key. */
const deleteChunk = statement((db) => {
  const isOld = lt(apiRequests.createdAt, parameter('before'))
  const last = db
    .select({ createdAt: apiRequests.createdAt })
    .from(apiRequests)
    .where(isOld)
    .orderBy(asc(apiRequests.createdAt))
    .limit(1)
    .offset(CHUNK_ROWS - 1)
  const reach = sql`coalesce((${last}), ${parameter('before')})`
  return db.delete(apiRequests).where(and(isOld, lte(apiRequests.createdAt, reach)))
})

export const REQUESTS: Retention = {
  name: 'delete-expired-requests',
  schedule: '0 3 * * *',
  keptMs: ({ requestLogDays }) => requestLogDays * DAY_MS,
  deletions: [{ statement: deleteChunk, index: 'api_requests_age' }],
  pace: { rows: CHUNK_ROWS, rest: 'none' },
}
