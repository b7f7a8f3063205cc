/**
 * Suppressions that wait. The mail has bounced; the address is neither suppressed nor unsubscribed.
 *
 * | cause    | why                                  | ends by                                     |
 * |----------|--------------------------------------|---------------------------------------------|
 * | `fuse`   | too many at once (fuse.ts)           | `pillarbox suppressions confirm` or `undo`  |
 * | `domain` | DNS denies a domain that was there   | a second look after a day (recheck.ts)      |
 *
 * What puts the address on the list otherwise (suppression.ts) ends it too.
 */
import { sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { heldSuppressions } from '../../../store/schema/suppressions.ts'
import type { HeldCause } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { BounceSuppression } from './bounce-suppression.ts'

/** What is held for the fuse stays so; what is held for its domain may be taken over by the fuse. */
const insertHeld = statement((db) =>
  db
    .insert(heldSuppressions)
    .values({
      id: parameter('id'),
      projectId: parameter('projectId'),
      contactId: parameter('contactId'),
      address: parameter('address'),
      domain: parameter('domain'),
      reason: parameter('reason'),
      source: parameter('source'),
      emailId: parameter('emailId'),
      cause: parameter('cause'),
      dueAt: parameter('dueAt'),
      createdAt: parameter('at'),
    })
    .onConflictDoUpdate({
      target: [heldSuppressions.projectId, heldSuppressions.address],
      set: {
        reason: sql`excluded.reason`,
        source: sql`excluded.source`,
        emailId: sql`excluded.email_id`,
        cause: sql`excluded.cause`,
        dueAt: sql`excluded.due_at`,
        createdAt: sql`excluded.created_at`,
      },
      setWhere: sql`${heldSuppressions.cause} = 'domain' and excluded.cause = 'fuse'`,
    }),
)

/** Whether it was not held so before. `dueAt`: epoch ms of the second look; null for the fuse. */
export async function holdSuppression(
  tx: Tx,
  condemnation: BounceSuppression,
  wait: { cause: HeldCause; dueAt: number | null },
): Promise<boolean> {
  return (await tx.execute(insertHeld, { ...condemnation, ...wait, id: newId() })) === 1
}
