/**
 * What is not kept for ever: bodies after `retention.body_days` since their last use (the email's
 * own record stays), used idempotency keys, sandbox mail over its number.
 */

import { inArray, sql } from '../../store/drizzle.ts'
import { contents } from '../../store/schema.ts'
import { rowsChanged } from '../../store/store.ts'
import type { Core } from '../core.ts'

const DAY_MS = 86_400_000
const CHUNK = 200

/** Clears old bodies and attachments, in short transactions; how many were cleared. */
export async function clearOldBodies({
  store,
  config,
  now,
}: Pick<Core, 'store' | 'config' | 'now'>): Promise<number> {
  const before = now() - config.retention.bodyDays * DAY_MS
  let total = 0
  for (;;) {
    const cleared = await store.write(async (tx) =>
      rowsChanged(
        await tx
          .update(contents)
          .set({ body: null, attachments: null })
          .where(inArray(contents.id, oldContentIds(before))),
      ),
    )
    total += cleared
    if (cleared < CHUNK) return total
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Old, and no email that still waits needs it. */
function oldContentIds(before: number) {
  return sql`(select id from contents where body is not null and last_used_at < ${before}
    and not exists (select 1 from emails where emails.content_id = contents.id
      and emails.state in ('queued', 'deferred', 'held', 'sending'))
    limit ${CHUNK})`
}
