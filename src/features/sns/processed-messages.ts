/** Each message of SNS counts once: its id is written in the transaction of what it led to. */
import { DAY_MS } from '../../clock.ts'
import { eq, lt } from '../../store/drizzle.ts'
import { snsNotifications } from '../../store/schema/inbound.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'

/** Far longer than a message of that age would be believed. */
const KEPT_MS = 3 * DAY_MS

const findKnown = statement((db) =>
  db
    .select({ id: snsNotifications.id })
    .from(snsNotifications)
    .where(eq(snsNotifications.id, parameter('id'))),
)

const insertKnown = statement((db) =>
  db
    .insert(snsNotifications)
    .values({ id: parameter('id'), receivedAt: parameter('at') })
    .onConflictDoNothing(),
)

/** Runs `work` unless the message was taken before; false then. */
export function processOnce(
  { store, now }: Pick<Base, 'store' | 'now'>,
  messageId: string,
  work: (tx: Tx) => Promise<void>,
): Promise<boolean> {
  return store.write(async (tx) => {
    if ((await tx.execute(insertKnown, { id: messageId, at: now() })) === 0) return false
    await work(tx)
    return true
  })
}

export async function isProcessed(
  { store }: Pick<Base, 'store'>,
  messageId: string,
): Promise<boolean> {
  return (await store.read.find(findKnown, { id: messageId })) !== undefined
}

/** Forgets the ids of messages that would be too old by now. */
export async function deleteExpiredNotifications({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<void> {
  const before = now() - KEPT_MS
  await store.write(async (tx) => {
    await tx.delete(snsNotifications).where(lt(snsNotifications.receivedAt, before))
  })
}
