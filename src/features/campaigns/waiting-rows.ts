/**
 * Moves waiting emails of campaigns between states, some rows at a time. `retry_at` keeps the due time of a paused email: only a claim uses it otherwise.
 */

import { holdsItsMail, unfinishedCampaigns } from '../../store/campaign-terms.ts'
import { indexedBy, rowNumber } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { isUnfinished, waitingState } from '../../store/email-terms.ts'
import { emails } from '../../store/schema/messages.ts'
import { parameter, statement } from '../../store/statement.ts'

function some(condition: SQL): SQL {
  return sql`${rowNumber()} in (select ${rowNumber()} from emails
    ${indexedBy('emails_campaign_waiting')}
    where campaign_id = ${parameter('campaignId')} and ${isUnfinished} and ${condition}
    limit ${parameter('limit')})`
}

export const pauseWaiting = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'paused',
      heldAt: parameter('at'),
      retryAt: sql`${emails.dueAt}`,
      dueAt: null,
      updatedAt: parameter('at'),
    })
    .where(
      sql`${some(sql`state in ('queued', 'deferred')`)}
        and exists (select 1 from campaigns where id = ${parameter('campaignId')}
          and status = 'SENDING' and paused_at is not null)`,
    )
    .returning({ id: emails.id }),
)

/** Mail that was to go out later goes out later by the length of the pause: it keeps its pace. */
const duePaused = sql`case when retry_at is null then created_at
  when retry_at > held_at and attempt_count = 0 then retry_at + ${parameter('at')} - held_at
  else retry_at end`

export const releasePaused = statement((db) =>
  db
    .update(emails)
    .set({
      state: waitingState,
      giveUpAt: sql`give_up_at + ${parameter('at')} - held_at`,
      dueAt: duePaused,
      retryAt: null,
      heldAt: null,
      updatedAt: parameter('at'),
    })
    .where(
      sql`${some(sql`state = 'paused'`)}
        and not exists (select 1 from campaigns where id = ${parameter('campaignId')}
          and (status = 'CANCELLED' or (status = 'SENDING' and paused_at is not null)))`,
    )
    .returning({
      dueAt: emails.dueAt,
      queueClass: emails.queueClass,
      domain: emails.recipientDomain,
      projectId: emails.projectId,
    }),
)

/** What waits of a cancelled campaign; claimed mail ends when it is put back. */
export const listCancelled = statement((db) =>
  db
    .select({
      id: emails.id,
      projectId: emails.projectId,
      contactId: emails.contactId,
      recipient: emails.recipient,
      attemptCount: emails.attemptCount,
      state: emails.state,
    })
    .from(emails)
    .where(some(sql`state in ('queued', 'deferred', 'held', 'paused')`)),
)

/** Campaigns whose rows do not fit their state, and what is to be done with the rows. */
export const listUnsettled = statement<{
  id: string
  projectId: string
  act: 'pause' | 'cancel' | 'release'
}>(
  () => sql`select id, project_id as "projectId", 'pause' as act from campaigns
    where ${holdsItsMail}
      and exists (select 1 from emails where campaign_id = campaigns.id and ${isUnfinished}
        and state in ('queued', 'deferred'))
    union all
    select id, project_id, 'cancel' from campaigns
    where id in ${unfinishedCampaigns} and status = 'CANCELLED'
      and exists (select 1 from emails where campaign_id = campaigns.id and ${isUnfinished}
        and state in ('queued', 'deferred', 'held', 'paused'))
    union all
    select id, project_id, 'release' from campaigns
    where id in (${campaignsWithPaused()}) and status <> 'CANCELLED' and paused_at is null
      and exists (select 1 from domains where domains.project_id = campaigns.project_id
        and domain = from_domain and is_verified)`,
)

/** Seeks from campaign to campaign in the index; the number of emails does not matter. */
function campaignsWithPaused(): SQL {
  return sql`with recursive paused (id) as (
      select min(campaign_id) from emails where state = 'paused'
      union all
      select (select min(campaign_id) from emails
        where state = 'paused' and campaign_id > paused.id)
      from paused where paused.id is not null
    )
    select id from paused where id is not null`
}
