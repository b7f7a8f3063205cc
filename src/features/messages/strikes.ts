/**
 * Refusals that do not condemn an address by themselves: a full or disabled mailbox, a 5xx that
 * says no more. Three of them over at least 14 days, with nothing delivered after the first, do
 * (contract section 0). One email is one strike, however often it is reported.
 */
import { and, eq, sql } from '../../store/drizzle.ts'
import { strikes } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'
import { setSubscribed } from '../contacts/upsert.ts'
import type { Core } from '../core.ts'
import { suppress } from './suppression.ts'

export type NewStrike = {
  projectId: string
  contactId: string
  /** As the email's row has it. */
  email: string
  emailId: string
  /** As `bounce inspect` names reasons. */
  reason: string
  at: number
}

const STRIKES = 3
const DAY_MS = 86_400_000
const SPAN_MS = 14 * DAY_MS
/** What nothing was added to for so long says nothing of today. */
const KEPT_MS = 180 * DAY_MS
const CHUNK = 500

const insertStrike = statement((db) =>
  db
    .insert(strikes)
    .values({
      projectId: parameter('projectId'),
      email: parameter('email'),
      emailId: parameter('emailId'),
      reason: parameter('reason'),
      at: parameter('at'),
    })
    .onConflictDoNothing(),
)

/** An email that bounced later is no longer one of these, so that its 250 proves nothing. */
export const findProofOfLife = statement<{ at: number }>(
  () => sql`select delivered_at as at from emails
    where contact_id = ${parameter('contactId')}
      and status in ('DELIVERED', 'OPENED', 'CLICKED') and delivered_at is not null
    order by created_at desc limit 1`,
)

export const summariseStrikes = statement<{ count: number; first: number; last: number }>(
  () => sql`select count(*) as count, min(at) as first, max(at) as last from strikes
    where project_id = ${parameter('projectId')} and email = ${parameter('email')}
      and at > ${parameter('after')}`,
)

const deleteStrikes = statement((db) =>
  db
    .delete(strikes)
    .where(
      and(eq(strikes.projectId, parameter('projectId')), eq(strikes.email, parameter('email'))),
    ),
)

const deleteOld = statement((db) =>
  db
    .delete(strikes)
    .where(
      sql`${strikes.id} in (select id from strikes where at < ${parameter('before')} limit ${CHUNK})`,
    ),
)

/** Whether this one is what suppresses the address. */
export async function recordStrike(tx: Tx, strike: NewStrike): Promise<boolean> {
  if ((await tx.execute(insertStrike, strike)) === 0) return false
  const { projectId, contactId, email, emailId, at } = strike
  const alive = await tx.find(findProofOfLife, { contactId })
  const sum = await tx.find(summariseStrikes, { projectId, email, after: alive?.at ?? 0 })
  if (sum === undefined || sum.count < STRIKES || sum.last - sum.first < SPAN_MS) return false
  const days = Math.floor((sum.last - sum.first) / DAY_MS)
  const source = `${sum.count} refusals over ${days} days, the last: ${strike.reason}`
  await suppress(tx, { projectId, email, reason: 'STRIKES', source, emailId, at })
  await setSubscribed(tx, contactId, { subscribed: false, at, reason: 'bounce', emailId })
  return true
}

/** What an address that is taken off the list starts anew without. */
export async function forgetStrikes(
  tx: Tx,
  address: { projectId: string; email: string },
): Promise<void> {
  await tx.execute(deleteStrikes, address)
}

/** How many. */
export async function deleteOldStrikes({
  store,
  now,
}: Pick<Core, 'store' | 'now'>): Promise<number> {
  const before = now() - KEPT_MS
  for (let total = 0; ; ) {
    const deleted = await store.write((tx) => tx.execute(deleteOld, { before }))
    total += deleted
    if (deleted < CHUNK) return total
    await new Promise((resolve) => setImmediate(resolve))
  }
}
