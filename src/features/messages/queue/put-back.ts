/**
 * Emails that leave the delivery without having been tried, or never come to it because their site
 * takes nothing: no attempt is counted. Why the site takes nothing is kept with an email that has
 * no answer of its own yet, and is not written again.
 */
import { listOf, rowNumber, unseen } from '../../../store/dialect.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { isDomainHeld } from './holds.ts'
import type { QueueLane, QueueNotifier } from './notifier.ts'

const released = { retryAt: null, leaseId: null, leaseUntil: null, status: 'PENDING' as const }

const makeDue = statement((db) =>
  db
    .update(emails)
    .set({
      ...released,
      state: sql`case when ${emails.attemptCount} > 1 or ${parameter('reason')} is not null
        then 'deferred' else 'queued' end`,
      error: sql`coalesce(${emails.error}, ${parameter('reason')})`,
      dueAt: parameter('dueAt'),
      attemptCount: sql`${emails.attemptCount} - 1`,
    })
    .where(
      sql`${emails.id} in ${listOf(parameter('ids'))}
        and ${emails.state} = 'sending'`,
    )
    .returning({
      queueClass: emails.queueClass,
      domain: emails.recipientDomain,
      projectId: emails.projectId,
    }),
)

/** They are due again at `dueAt`. `reason`: why their site takes nothing. */
export async function putBackEmails(
  { queueNotifier }: { queueNotifier: QueueNotifier },
  tx: Tx,
  { ids, dueAt, reason }: { ids: readonly string[]; dueAt: number; reason?: string | undefined },
): Promise<void> {
  const rows = { ids: JSON.stringify(ids), dueAt, reason: reason ?? null }
  const lanes = await tx.list(makeDue, rows)
  tx.afterCommit(() => {
    for (const lane of lanes) queueNotifier.notify({ ...lane, dueAt })
  })
}

/** Covered by `emails_ready` but for the rows that it changes. */
export const deferLane = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'deferred',
      error: sql`coalesce(${emails.error}, ${parameter('reason')})`,
      updatedAt: parameter('at'),
    })
    .where(
      sql`${rowNumber()} in (select ${rowNumber()} from emails where due_at is not null
        and queue_class = ${unseen(parameter('queueClass'))}
        and recipient_domain = ${unseen(parameter('domain'))}
        and project_id = ${unseen(parameter('projectId'))}
        and due_at >= ${unseen(parameter('from'))}
        and due_at <= ${unseen(parameter('at'))} and state = 'queued'
        order by due_at limit ${unseen(parameter('limit'))})`,
    )
    .returning({ dueAt: emails.dueAt }),
)

type Waiting = {
  lane: QueueLane
  reason: string
  /** What was due before has been told. */
  from: number
  at: number
  limit: number
}

/**
 * Due mail of a lane whose site takes nothing, the earliest `limit` of it: how many emails, and up to
 * when all has been told, null when that is all of the lane.
 */
export async function deferWaiting(
  tx: Tx,
  { lane, ...rest }: Waiting,
): Promise<{ count: number; told: number | null }> {
  const deferred = await tx.list(deferLane, { ...lane, ...rest })
  const count = deferred.length
  if (count < rest.limit) return { count, told: null }
  return { count, told: Math.max(...deferred.map(({ dueAt }) => dueAt ?? rest.from)) }
}

/**
 * An email whose recipient domain is held back waits for its release, and its give-up clock stops;
 * if the hold is over by now, it is due at once.
 */
export async function holdEmail(
  deps: { queueNotifier: QueueNotifier },
  tx: Tx,
  { id, domain, at }: { id: string; domain: string; at: number },
): Promise<void> {
  if (!(await isDomainHeld(tx, domain))) return putBackEmails(deps, tx, { ids: [id], dueAt: at })
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
