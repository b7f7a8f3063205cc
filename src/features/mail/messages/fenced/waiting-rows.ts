/** Finds and moves the mail that a fence holds (`features/ground/fence/rows.ts`). */
import { indexedBy, listOf, rowNumber } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { aside } from '../queue/aside.ts'

/**
 * The email belongs to a campaign that is being sent. A fence does not hold such mail: it waits
 * with its campaign, or was resumed with it.
 */
const isOfSending = sql`exists (select 1 from campaigns
  where campaigns.id = emails.campaign_id and campaigns.status = 'SENDING')`

/** The email was accepted before the fence of its project, which stands. */
export const isOlderThanFence = sql`(exists (select 1 from fences
    where fences.project_id = emails.project_id and emails.created_at <= fences.mail_until)
  and not ${isOfSending})`

/** The fence of the project is not settled yet (`settle.ts`). */
const isUnsettled = sql`exists (select 1 from fences
  where fences.project_id = emails.project_id and fences.is_settled = 0
    and emails.created_at <= fences.mail_until)`

export const findUnsettled = statement<{ found: number }>(
  () => sql`select 1 as found from fences where is_settled = 0 limit 1`,
)

/** Lists the row numbers of mail in the queue that is to be put aside. */
export const listQueuedOfFence = statement<{ number: number; projectId: string }>(
  () => sql`select ${rowNumber()} as number, project_id as "projectId"
    from emails ${indexedBy('emails_ready')}
    where due_at is not null and ${isUnsettled} and not ${isOfSending}
    limit ${parameter('limit')}`,
)

export const putAsideFenced = statement((db) =>
  db
    .update(emails)
    .set(aside)
    .where(
      sql`${rowNumber()} in ${listOf(parameter('numbers'))} and state in ('queued', 'deferred')
        and ${isUnsettled} and not ${isOfSending}`,
    ),
)

/** Finds whether mail from before the fence is being sent, which may be due again. */
export const findFencedSending = statement<{ found: number }>(
  () => sql`select 1 as found from emails ${indexedBy('emails_leased')}
    where lease_until is not null and ${isUnsettled} and not ${isOfSending} limit 1`,
)

/** `generation`: the newest fence that was looked at. */
export const setSettled = statement(
  () => sql`update fences set is_settled = 1
    where is_settled = 0 and generation = ${parameter('generation')}`,
)
