/** Emails that leave the delivery without having been tried. */
import { and, eq, inArray, sql } from '../../store/drizzle.ts'
import { emails } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import type { Core } from '../core.ts'

/** Puts back what was claimed but never tried: no attempt is counted. */
export async function returnEmails(
  core: Pick<Core, 'store' | 'now' | 'bell'>,
  ids: readonly string[],
  dueAt: number,
): Promise<void> {
  if (ids.length === 0) return
  await core.store.write(async (tx) => {
    const rows = await tx
      .update(emails)
      .set({
        state: sql`case when ${emails.attemptCount} > 1 then 'deferred' else 'queued' end`,
        status: 'PENDING',
        dueAt,
        retryAt: null,
        leaseId: null,
        leaseUntil: null,
        attemptCount: sql`${emails.attemptCount} - 1`,
      })
      .where(and(inArray(emails.id, [...ids]), eq(emails.state, 'sending')))
      .returning({
        queueClass: emails.queueClass,
        domain: emails.recipientDomain,
        projectId: emails.projectId,
      })
    tx.afterCommit(() => {
      for (const lane of rows) core.bell.ring(lane)
    })
  })
}

/** An email whose recipient domain is held back: its give-up clock stops until the release. */
export async function holdEmail(tx: Tx, id: string, at: number): Promise<void> {
  await tx
    .update(emails)
    .set({
      state: 'held',
      status: 'PENDING',
      heldAt: at,
      dueAt: null,
      retryAt: null,
      leaseId: null,
      leaseUntil: null,
      attemptCount: sql`${emails.attemptCount} - 1`,
      updatedAt: at,
    })
    .where(and(eq(emails.id, id), eq(emails.state, 'sending')))
}
