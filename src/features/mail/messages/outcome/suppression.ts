/**
 * The suppression list: addresses that a project does not send to, even if the contact is
 * subscribed.
 */
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { heldSuppressions, suppressions } from '../../../../store/schema/suppressions.ts'
import type { SuppressionReason } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { recordWish } from '../../../people/wishes/wishes.ts'

type NewSuppression = {
  projectId: string
  address: string
  reason: SuppressionReason
  /** The cause, as operators see it: a reply, or a command. */
  source: string
  /** Null for a suppression by the API or the command line. */
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

const deleteHeld = statement((db) =>
  db
    .delete(heldSuppressions)
    .where(
      and(
        eq(heldSuppressions.projectId, parameter('projectId')),
        eq(heldSuppressions.address, parameter('address')),
      ),
    ),
)

/** Asked before held suppressions are deleted one by one: almost always, none is held. */
const findAnyHeld = statement<{ id: string }>(() => sql`select id from held_suppressions limit 1`)

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

const findSuppression = statement<{ reason: SuppressionReason }>(
  () => sql`select reason from suppressions
    where project_id = ${parameter('projectId')} and email = ${parameter('address')}`,
)

/**
 * Puts an address on the list and drops its held suppression. Returns false if the address was on
 * the list: its first reason stays. If a bounce put the address on the list and a person suppresses
 * it now, the row stores the second reason as well, so that undoing the bounce does not undo the
 * person's decision. A complaint is a wish too, which stays when the suppression is removed.
 */
export async function suppress(tx: Tx, suppression: NewSuppression): Promise<boolean> {
  const { at, ...row } = suppression
  const { projectId, address, emailId, reason } = suppression
  await tx.execute(deleteHeld, { projectId, address })
  if (reason === 'COMPLAINT') await recordWish(tx, { projectId, address, kind: 'complaint', at })
  if ((await tx.execute(insertSuppression, { ...row, id: newId(), createdAt: at })) === 1) {
    return true
  }
  const isByPerson = emailId === null || reason === 'COMPLAINT'
  if (isByPerson) await tx.execute(setLaterReason, { projectId, address, reason })
  return false
}

/**
 * A suppression because of a bounce that another server reported, and so by no decision of a
 * person.
 */
type ReportedSuppression = NewSuppression & { reason: 'HARD_BOUNCE' | 'STRIKES'; emailId: string }

/** As `suppress`, for the bounces of many addresses. */
export async function suppressReported(
  tx: Tx,
  suppressions: readonly ReportedSuppression[],
): Promise<void> {
  if ((await tx.find(findAnyHeld)) !== undefined) await tx.executeEach(deleteHeld, suppressions)
  const rows = suppressions.map(({ at, ...row }) => ({ ...row, id: newId(), createdAt: at }))
  await tx.executeEach(insertSuppression, rows)
}

/** Whether an address is on the list; with `ignoresComplaint`, for another reason than a complaint. */
export async function isSuppressed(
  tx: Tx,
  {
    projectId,
    address,
    ignoresComplaint = false,
  }: Pick<NewSuppression, 'projectId' | 'address'> & { ignoresComplaint?: boolean },
): Promise<boolean> {
  const found = await tx.find(findSuppression, { projectId, address })
  return found !== undefined && !(ignoresComplaint && found.reason === 'COMPLAINT')
}
