/**
 * Use is counted by the calendar month, in UTC. The use of an owner's deleted projects stays: a
 * user who deletes a project and makes another one has no more free emails in the month.
 */
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

const OWNER = sql`(select user_id from memberships
  where project_id = ${parameter('projectId')} and role = 'OWNER')`

const addDeleted = statement(
  () => sql`insert into owner_months (user_id, starts_at, emails)
    select memberships.user_id, used.starts_at,
      used.transactional + used.campaigns + used.workflows + used.inbound
    from memberships
    join projects on projects.id = memberships.project_id and projects.subscription is null
    join usage_months used on used.project_id = projects.id
      and used.starts_at = ${parameter('startsAt')}
    where memberships.project_id = ${parameter('projectId')} and memberships.role = 'OWNER'
    on conflict (user_id, starts_at) do update set emails = emails + excluded.emails`,
)

const deleteEarlier = statement(
  () => sql`delete from owner_months
    where user_id = ${OWNER} and starts_at < ${parameter('startsAt')}`,
)

/** The beginning of the month of an instant (epoch ms). */
export function monthOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** The beginning of the next month (epoch ms). */
export function nextMonthOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

/**
 * Keeps the use of a project that is being deleted. Call it while the project still has its owner
 * and its subscription.
 */
export async function keepUseOfDeleted(
  tx: Tx,
  { projectId, at }: { projectId: string; at: number },
): Promise<void> {
  const values = { projectId, startsAt: monthOf(at) }
  await tx.execute(deleteEarlier, values)
  await tx.execute(addDeleted, values)
}
