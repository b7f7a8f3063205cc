/** The leases of emails being sent, and what becomes of them when the clock or a process fails. */
import { HOUR_MS } from '../../../clock.ts'
import { listOf } from '../../../store/dialect.ts'
import { and, eq, gt, isNotNull, lte, sql } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import type { Base } from '../../base.ts'

type Deps = Pick<Base, 'store' | 'config' | 'now'>

/** What is in hand stays ours until then. */
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
 * Emails whose lease ended by `until`, but for those still in hand, are due when their next attempt
 * is; how many. Nothing is on record of the attempt that was under way, and nobody knows whether
 * it began: the attempt is not counted.
 */
export async function recoverLeases(
  { store, now }: Deps,
  { until, except }: { until: number; except: readonly string[] },
): Promise<number> {
  const rows = await store.write(async (tx) =>
    tx
      .update(emails)
      .set({
        state: 'deferred',
        status: 'PENDING',
        dueAt: sql`${emails.retryAt}`,
        retryAt: null,
        leaseId: null,
        leaseUntil: null,
        attemptCount: sql`max(0, ${emails.attemptCount} - 1)`,
        updatedAt: now(),
      })
      .where(
        and(
          isNotNull(emails.leaseUntil),
          lte(emails.leaseUntil, until),
          isSending(),
          sql`not ${isAmong(except)}`,
        ),
      )
      .returning({ id: emails.id }),
  )
  return rows.length
}

/**
 * After the clock was set back, what was to be due soon seems due far in the future: nothing waits
 * longer than twice the longest delay.
 */
export async function mendClock({ store, config, now }: Deps): Promise<void> {
  const latest = now() + 2 * Math.max(...config.delivery.retrySchedule, MAX_HINT_MS)
  const condition = and(isNotNull(emails.dueAt), gt(emails.dueAt, latest))
  const far = await store.scan
    .select({ id: emails.id })
    .from(emails)
    .where(condition)
    .limit(1)
    .get()
  if (far === undefined) return
  await store.write(async (tx) => {
    await tx.update(emails).set({ dueAt: now() }).where(condition)
  })
}

/** The longest wait that a reply may ask for. */
const MAX_HINT_MS = 6 * HOUR_MS

function isSending() {
  return eq(emails.state, 'sending')
}

function isAmong(ids: readonly string[]) {
  return sql`${emails.id} in ${listOf(ids)}`
}
