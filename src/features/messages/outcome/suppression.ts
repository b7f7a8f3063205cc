/** The list of addresses that a project does not send to: our refusal, not the contact's wish. */
import { and, eq, sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { heldSuppressions, suppressions } from '../../../store/schema/suppressions.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export type NewSuppression = {
  projectId: string
  address: string
  reason: SuppressionReason
  /** What led to it, for people: a reply, an operator. */
  source: string
  /** Null where people say so. */
  emailId: string | null
  at: number
}

const insertSuppression = statement((db) =>
  db
    .insert(suppressions)
    .values({
      id: parameter('id'),
      projectId: parameter('projectId'),
      address: parameter('address'),
      reason: parameter('reason'),
      source: parameter('source'),
      emailId: parameter('emailId'),
      createdAt: parameter('createdAt'),
    })
    .onConflictDoNothing(),
)

const dropHeld = statement((db) =>
  db
    .delete(heldSuppressions)
    .where(
      and(
        eq(heldSuppressions.projectId, parameter('projectId')),
        eq(heldSuppressions.address, parameter('address')),
      ),
    ),
)

const setLaterReason = statement((db) =>
  db
    .update(suppressions)
    .set({ laterReason: parameter('reason') })
    .where(
      sql`${suppressions.projectId} = ${parameter('projectId')}
        and ${suppressions.address} = ${parameter('address')}
        and ${suppressions.emailId} is not null and ${suppressions.laterReason} is null
        and ${suppressions.reason} in ('HARD_BOUNCE', 'STRIKES')`,
    ),
)

const findSuppression = statement<{ id: string }>(
  () => sql`select id from suppressions
    where project_id = ${parameter('projectId')} and email = ${parameter('address')}`,
)

/**
 * Puts an address on the list; one that stands there already keeps its first reason. Whether it did
 * not. What was held of the address is decided with it. Where a verdict of ours put it there and
 * now people do, that is noted: taking back the verdict must not take back their word.
 */
export async function suppress(tx: Tx, suppression: NewSuppression): Promise<boolean> {
  const { at, ...row } = suppression
  const { projectId, address, emailId, reason } = suppression
  await tx.execute(dropHeld, { projectId, address })
  if ((await tx.execute(insertSuppression, { ...row, id: newId(), createdAt: at })) === 1) {
    return true
  }
  const isOfPeople = emailId === null || reason === 'COMPLAINT'
  if (isOfPeople) await tx.execute(setLaterReason, { projectId, address, reason })
  return false
}

/** Whether an address is on the list. */
export async function isSuppressed(
  tx: Tx,
  { projectId, address }: Pick<NewSuppression, 'projectId' | 'address'>,
): Promise<boolean> {
  return (await tx.find(findSuppression, { projectId, address })) !== undefined
}
