/**
 * Held suppressions: an email has bounced, but its address is not suppressed and its contact not
 * unsubscribed yet.
 *
 * | cause    | why                                  | ended by                                    |
 * |----------|--------------------------------------|---------------------------------------------|
 * | `fuse`   | too many at once (fuse.ts)           | `pillarbox suppressions confirm` or `undo`  |
 * | `domain` | DNS denies a domain that is known    | a recheck after a day (`recheck-domains.ts`)|
 *
 * Any other suppression of the address (`suppression.ts`) ends it too.
 */
import { sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { heldSuppressions } from '../../../store/schema/suppressions.ts'
import type { HeldCause } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { BounceSuppression } from './bounce-suppression.ts'

/** The cause `fuse` stays; the fuse may take over a suppression held for its domain. */
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

/** Returns whether it is newly held. `dueAt`: when to recheck (epoch ms); null for the fuse. */
export async function holdSuppression(
  tx: Tx,
  suppression: BounceSuppression,
  wait: { cause: HeldCause; dueAt: number | null },
): Promise<boolean> {
  return (await tx.execute(insertHeld, { ...suppression, ...wait, id: newId() })) === 1
}
