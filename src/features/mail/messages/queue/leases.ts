/** The leases of emails being sent: renewal, and recovery after a crash or a jump of the clock. */
import { HOUR_MS } from '../../../../base/clock.ts'
import { larger, listOf } from '../../../../store/dialect.ts'
import { and, eq, gt, isNotNull, lte, sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { packSteps } from '../../../../store/schema/packed-steps.ts'
import { shelfInState } from '../../../../store/shelves.ts'
import { statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

type Deps = Pick<Base, 'store' | 'config' | 'now'>

/** The row of an attempt whose process ended before it recorded an outcome. */
export const INTERRUPTED = {
  result: 'interrupted',
  error: 'the process that was sending it ended, so the outcome of that attempt is not known',
} as const

/** Extends the leases of emails in flight. */
export async function renewLeases(
  { store }: Pick<Base, 'store'>,
  ids: readonly string[],
  leaseUntil: number,
): Promise<void> {
  if (ids.length === 0) return
  await store.write(async (tx) => {
    await tx
      .update(emails)
      .set({ leaseUntil })
      .where(and(isSending(), isAmong(ids)))
  })
}

/**
 * Puts emails whose lease ended by `until` back in the queue, except those still in flight; they
 * are due at the time of their next attempt. Returns the number of emails. The attempt that the
 * lease was for may not have begun, so it is not counted; but it may have delivered the message, so
 * a row says that it was interrupted.
 */
export async function recoverLeases(
  { store, now }: Deps,
  { until, except }: { until: number; except: readonly string[] },
): Promise<number> {
  const isLost = and(
    isNotNull(emails.leaseUntil),
    lte(emails.leaseUntil, until),
    isSending(),
    sql`not ${isAmong(except)}`,
  )
  const rows = await store.write(async (tx) => {
    // `updated_at` is the time of the claim, unless the recipient has since opened a copy that an
    // earlier attempt delivered.
    await tx.run(
      sql`insert into attempts
          (email_id, at, duration_ms, result, error, is_maybe_delivered, steps)
        select id, updated_at, 0, ${INTERRUPTED.result}, ${INTERRUPTED.error}, 1, ${packSteps([])}
        from emails where ${isLost}`,
    )
    return tx
      .update(emails)
      .set({
        state: 'deferred',
        shelf: shelfInState(sql`'deferred'`),
        status: 'PENDING',
        dueAt: sql`${emails.retryAt}`,
        retryAt: null,
        leaseUntil: null,
        attemptCount: larger(0, sql`${emails.attemptCount} - 1`),
        updatedAt: now(),
      })
      .where(isLost)
      .returning({ id: emails.id })
  })
  return rows.length
}

/**
 * After the clock was set back, emails seem due far in the future. An email that would wait longer
 * than twice the longest delay becomes due at once. Returns whether any email waits.
 */
export async function correctDueTimes({ store, config, now }: Deps): Promise<boolean> {
  const last = await store.scan.find(findLastDue)
  if (last === undefined) return false
  const latest = now() + 2 * Math.max(...config.delivery.retrySchedule, MAX_HINT_MS)
  if (last.dueAt <= latest) return true
  await store.write(async (tx) => {
    const isFar = and(isNotNull(emails.dueAt), gt(emails.dueAt, latest))
    await tx.update(emails).set({ dueAt: now() }).where(isFar)
  })
  return true
}

/** The index `emails_ready` covers the query. */
const findLastDue = statement<{ dueAt: number }>(
  () =>
    sql`select due_at as "dueAt" from emails where due_at is not null order by due_at desc limit 1`,
)

/** The longest wait that a reply may ask for. */
const MAX_HINT_MS = 6 * HOUR_MS

function isSending() {
  return eq(emails.state, 'sending')
}

function isAmong(ids: readonly string[]) {
  return sql`${emails.id} in ${listOf(ids)}`
}
