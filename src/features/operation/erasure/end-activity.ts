/**
 * Ends what works on a project's rows, in the transaction from which on the project is erased. That the
 * project is disabled stops its mail. What follows here stops the rest: nothing reads a workflow or an
 * endpoint that is marked as deleted, and nothing sends a draft. A running job loses its lease, so it
 * cannot commit another batch (`work/jobs/progress.ts`).
 */
import { unindexed } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

const isOwn = sql`project_id = ${parameter('projectId')}`
const AT = parameter('at')

const endJobs = statement(
  () => sql`update jobs set state = 'failed', error = 'The data of the project was deleted.',
      lease_id = null, lease_until = null, completed_at = ${AT}, updated_at = ${AT}
    where ${isOwn} and state in ('waiting', 'active')`,
)

const endWorkflows = statement(
  () => sql`update workflows set enabled = 0, next_fire_at = null, is_cancelling = 0, deleted_at = ${AT}
    where ${isOwn} and deleted_at is null`,
)

const endEndpoints = statement(
  () => sql`update webhook_endpoints set enabled = 0, deleted_at = ${AT}
    where ${isOwn} and deleted_at is null`,
)

/** Found by their states, because a project may have many campaigns with large bodies. */
const endCampaigns = statement(
  () => sql`update campaigns set status = 'DRAFT', scheduled_for = null, paused_at = null
    where ${unindexed(sql`project_id`)} = ${parameter('projectId')}
      and status in ('SCHEDULED', 'SENDING')`,
)

const endMembershipEvents = statement(
  () => sql`update segments set track_membership = 0 where ${isOwn} and track_membership = 1`,
)

const ENDS = [endJobs, endWorkflows, endEndpoints, endCampaigns, endMembershipEvents]

export async function endActivity(
  tx: Tx,
  project: { projectId: string; at: number },
): Promise<void> {
  for (const end of ENDS) await tx.execute(end, project)
}
