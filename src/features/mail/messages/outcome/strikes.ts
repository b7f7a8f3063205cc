/**
 * Strikes: refusals that do not suppress an address by themselves, such as a full or disabled
 * mailbox or an unexplained 5xx. Three strikes over at least 14 days, without a delivery after the
 * first, suppress the address. One email is one strike, even if it is reported several times.
 */
import { DAY_MS } from '../../../../base/clock.ts'
import { and, eq, gte, sql } from '../../../../store/drizzle.ts'
import { strikes } from '../../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { oldRows, type Retention } from '../../../../work/retention.ts'

type NewStrike = {
  projectId: string
  contactId: string
  /** The address as the email's row stores it. */
  address: string
  emailId: string
  /** The reason of the refusal, as `bounce inspect` prints it. */
  reason: string
  at: number
}

const MIN_STRIKES = 3
const SPAN_MS = 14 * DAY_MS
/** Strikes are deleted at this age. */
const RETENTION_MS = 180 * DAY_MS

const insertStrike = statement((db) =>
  db
    .insert(strikes)
    .values({
      projectId: parameter('projectId'),
      address: parameter('address'),
      emailId: parameter('emailId'),
      reason: parameter('reason'),
      at: parameter('at'),
    })
    .onConflictDoNothing(),
)

/**
 * Finds the last delivery to a contact. An email that bounced after its 250 has another status, so
 * it does not count.
 */
export const findLastDelivery = statement<{ at: number }>(
  () => sql`select delivered_at as at from emails
    where contact_id = ${parameter('contactId')}
      and status in ('DELIVERED', 'OPENED', 'CLICKED') and delivered_at is not null
    order by created_at desc limit 1`,
)

export const summariseStrikes = statement<{ count: number; first: number; last: number }>(
  () => sql`select count(*) as count, min(at) as first, max(at) as last from strikes
    where project_id = ${parameter('projectId')} and email = ${parameter('address')}
      and at > ${parameter('after')}`,
)

const deleteAll = statement((db) =>
  db
    .delete(strikes)
    .where(
      and(eq(strikes.projectId, parameter('projectId')), eq(strikes.address, parameter('address'))),
    ),
)

const deleteSince = statement((db) =>
  db
    .delete(strikes)
    .where(
      and(
        eq(strikes.projectId, parameter('projectId')),
        eq(strikes.address, parameter('address')),
        gte(strikes.at, parameter('since')),
      ),
    ),
)

/** Returns a line for operators about all strikes if this one suppresses the address. */
export async function recordStrike(tx: Tx, strike: NewStrike): Promise<string | undefined> {
  if ((await tx.execute(insertStrike, strike)) === 0) return undefined
  const { projectId, contactId, address } = strike
  const delivery = await tx.find(findLastDelivery, { contactId })
  const sum = await tx.find(summariseStrikes, { projectId, address, after: delivery?.at ?? 0 })
  if (sum === undefined || sum.count < MIN_STRIKES || sum.last - sum.first < SPAN_MS) {
    return undefined
  }
  const days = Math.floor((sum.last - sum.first) / DAY_MS)
  return `${sum.count} refusals over ${days} days, the last: ${strike.reason}`
}

/** Whether an email to the contact was delivered after an instant. */
export async function hasDeliveredSince(
  tx: Tx,
  { contactId, since }: { contactId: string; since: number },
): Promise<boolean> {
  return ((await tx.find(findLastDelivery, { contactId }))?.at ?? 0) > since
}

/** Deletes the strikes that an address got at an instant or later. */
export async function deleteStrikesSince(
  tx: Tx,
  scope: { projectId: string; address: string; since: number },
): Promise<void> {
  await tx.execute(deleteSince, scope)
}

/** Deletes the strikes of an address that is removed from the suppression list. */
export async function deleteStrikesOf(
  tx: Tx,
  scope: { projectId: string; address: string },
): Promise<void> {
  await tx.execute(deleteAll, scope)
}

export const STRIKES: Retention = {
  name: 'delete-expired-strikes',
  schedule: '50 3 * * *',
  keptMs: RETENTION_MS,
  deletions: [oldRows({ table: 'strikes', key: 'id', column: 'at', index: 'strikes_age' })],
  pace: { rows: 500, rest: 'event loop' },
}
