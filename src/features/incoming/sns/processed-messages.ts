/**
 * Ensures that each SNS message takes effect once: its id is written in the transaction of its
 * effects.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { eq } from '../../../store/drizzle.ts'
import { snsNotifications } from '../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { oldRows, type Retention } from '../../../work/retention.ts'
import type { Base } from '../../ground/base.ts'

/**
 * How long the id of a processed message is kept: much longer than the age at which a message is
 * refused.
 */
const RETENTION_MS = 3 * DAY_MS

const findId = statement((db) =>
  db
    .select({ id: snsNotifications.id })
    .from(snsNotifications)
    .where(eq(snsNotifications.id, parameter('id'))),
)

const insertId = statement((db) =>
  db
    .insert(snsNotifications)
    .values({ id: parameter('id'), receivedAt: parameter('at') })
    .onConflictDoNothing(),
)

/** Runs `work` and returns true, or returns false when the message was processed before. */
export function processOnce(
  { store, now }: Pick<Base, 'store' | 'now'>,
  messageId: string,
  work: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  return store.write(async (tx) => {
    if ((await tx.execute(insertId, { id: messageId, at: now() })) === 0) return false
    await work(tx)
    return true
  })
}

export async function isProcessed(
  { store }: Pick<Base, 'store'>,
  messageId: string,
): Promise<boolean> {
  return (await store.read.find(findId, { id: messageId })) !== undefined
}

/**
 * Deletes ids of processed messages. A message of that age is refused anyway, so its id is no
 * longer needed.
 */
export const NOTIFICATIONS: Retention = {
  name: 'delete-expired-notifications',
  schedule: '40 3 * * *',
  keptMs: RETENTION_MS,
  deletions: [
    oldRows({
      ...{ table: 'sns_notifications', key: 'id', column: 'received_at' },
      index: 'sns_notifications_age',
    }),
  ],
  pace: { first: 500, max: 2_000, batchMs: 4, rest: { times: 2 } },
}
