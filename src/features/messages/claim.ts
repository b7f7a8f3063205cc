/** The two statements of a claim: the hottest of the queue. */
import { min, sql } from '../../store/drizzle.ts'
import { emails } from '../../store/schema.ts'
import { parameter, statement } from '../../store/store.ts'

/** Leases at most `limit` due emails of a lane, the earliest first, and gives their ids. */
export const claimLane = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'sending',
      status: 'SENDING',
      dueAt: null,
      retryAt: sql`${parameter('now')} + ${retryDelaySql()}`,
      leaseId: parameter('leaseId'),
      leaseUntil: parameter('leaseUntil'),
      attemptCount: sql`${emails.attemptCount} + 1`,
      updatedAt: parameter('now'),
    })
    .where(
      sql`${emails.id} in (select id from emails where due_at is not null
        and queue_class = ${parameter('queueClass')}
        and recipient_domain = ${parameter('domain')}
        and project_id = ${parameter('projectId')}
        and due_at <= ${parameter('now')}
        order by due_at limit ${parameter('limit')})`,
    )
    .returning({ id: emails.id }),
)

/** When a lane's earliest email is due. */
export const findNextDue = statement((db) =>
  db
    .select({ dueAt: min(emails.dueAt) })
    .from(emails)
    .where(
      sql`due_at is not null and queue_class = ${parameter('queueClass')}
        and recipient_domain = ${parameter('domain')}
        and project_id = ${parameter('projectId')}`,
    ),
)

/** The delay after `failure_count` failures, ±15%; `delays` is the schedule as JSON, in ms. */
function retryDelaySql() {
  return sql`cast(json_extract(${parameter('delays')},
    '$[' || min(${emails.failureCount}, json_array_length(${parameter('delays')}) - 1) || ']')
    * (85 + abs(random() % 31)) / 100 as integer)`
}
