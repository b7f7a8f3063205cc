/** Emails that leave the delivery without having been tried: no attempt is counted. */
import { and, eq, sql } from '../../store/drizzle.ts'
import { emails } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { isDomainHeld } from './operate.ts'

const released = { retryAt: null, leaseId: null, leaseUntil: null, status: 'PENDING' as const }

const makeDue = statement((db) =>
  db
    .update(emails)
    .set({
      ...released,
      state: sql`case when ${emails.attemptCount} > 1 then 'deferred' else 'queued' end`,
      dueAt: parameter('dueAt'),
      attemptCount: sql`${emails.attemptCount} - 1`,
    })
    .where(
      sql`${emails.id} in (select value from json_each(${parameter('ids')}))
        and ${emails.state} = 'sending'`,
    )
    .returning({
      queueClass: emails.queueClass,
      domain: emails.recipientDomain,
      projectId: emails.projectId,
    }),
)

/** They are due again at `dueAt`. */
export async function returnEmails(
  { bell }: Pick<Core, 'bell'>,
  tx: Tx,
  { ids, dueAt }: { ids: readonly string[]; dueAt: number },
): Promise<void> {
  const lanes = await tx.list(makeDue, { ids: JSON.stringify(ids), dueAt })
  tx.afterCommit(() => {
    for (const lane of lanes) bell.ring({ ...lane, dueAt })
  })
}

/**
 * An email whose recipient domain is held back waits for its release, and its give-up clock stops;
 * if the hold is over by now, it is due at once.
 */
export async function holdEmail(
  deps: Pick<Core, 'bell'>,
  tx: Tx,
  { id, domain, at }: { id: string; domain: string; at: number },
): Promise<void> {
  if (!(await isDomainHeld(tx, domain))) return returnEmails(deps, tx, { ids: [id], dueAt: at })
  await tx
    .update(emails)
    .set({
      ...released,
      state: 'held',
      heldAt: at,
      dueAt: null,
      attemptCount: sql`${emails.attemptCount} - 1`,
      updatedAt: at,
    })
    .where(and(eq(emails.id, id), eq(emails.state, 'sending')))
}
