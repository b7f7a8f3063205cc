/** Forgetting requests: `retention.request_log_days` after they were made. */
import { DAY_MS } from '../../clock.ts'
import { and, asc, lt, lte, sql } from '../../store/drizzle.ts'
import { apiRequests } from '../../store/schema/service.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'

/** One write, far below the 20 ms that the writer is to be held for. */
const CHUNK_ROWS = 1000

/** Up to the instant of the oldest line but 999, so that no row needs an identity of its own. */
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

/** Deletes the lines whose time is over, a chunk a transaction; resolves to how many. */
export async function deleteExpiredRequests({
  store,
  config,
  now,
}: Pick<Base, 'store' | 'config' | 'now'>): Promise<number> {
  const before = now() - config.retention.requestLogDays * DAY_MS
  for (let deleted = 0; ; ) {
    const count = await store.write((tx) => tx.execute(deleteChunk, { before }))
    deleted += count
    if (count < CHUNK_ROWS) return deleted
  }
}
