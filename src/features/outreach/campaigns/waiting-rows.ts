/** Moves waiting emails of campaigns between states, some rows at a time. */
import { HOUR_MS } from '../../../base/clock.ts'
import {
  campaignsOnShelves,
  holdsItsMail,
  isActiveCampaign,
  isPaced,
  unfinishedCampaigns,
} from '../../../store/campaign-terms.ts'
import { indexedBy, larger, listOf, orderedJoin, rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { waitingState } from '../../../store/email-terms.ts'
import { emails } from '../../../store/schema/messages.ts'
import { isUnfinishedOfCampaign, onShelves, SHELF, shelfInState } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { isFenced } from '../../ground/fence/rows.ts'
import { endingColumns } from '../../mail/messages/outcome/end-emails.ts'
import { aside, releasedColumns } from '../../mail/messages/queue/aside.ts'

const isQueued = onShelves('queued', 'deferred')

/**
 * Selects up to `limit` emails of the campaign that are on these shelves and fulfil the condition.
 */
function some(shelves: SQL, condition: SQL): SQL {
  return sql`${rowNumber()} in (select ${rowNumber()} from emails
    ${indexedBy('emails_campaign_shelf')}
    where campaign_id = ${parameter('campaignId')} and ${shelves} and ${condition}
    limit ${parameter('limit')})`
}

export const pauseWaiting = statement((db) =>
  db
    .update(emails)
    .set(aside)
    .where(
      sql`${some(isQueued, sql`state in ('queued', 'deferred')`)}
        and exists (select 1 from campaigns where id = ${parameter('campaignId')}
          and status = 'SENDING' and paused_at is not null)`,
    )
    .returning({ id: emails.id }),
)

/**
 * Lists waiting emails that were not tried yet. The search may read every tried email, so it runs
 * on a scan thread.
 */
export const listUntried = statement<{ id: string }>(
  () => sql`select id from emails ${indexedBy('emails_campaign_shelf')}
    where campaign_id = ${parameter('campaignId')} and ${isQueued}
      and state in ('queued', 'deferred') and attempt_count = 0
    limit ${parameter('limit')}`,
)

/** Puts aside emails whose slots belong to a former pace. */
export const pauseUntried = statement((db) =>
  db
    .update(emails)
    .set(aside)
    .where(
      sql`id in ${listOf(parameter('ids'))}
        and state in ('queued', 'deferred') and attempt_count = 0
        and exists (select 1 from campaign_progress
          where campaign_id = ${parameter('campaignId')} and has_old_slots)`,
    )
    .returning({ id: emails.id }),
)

const released = {
  state: waitingState,
  shelf: shelfInState(waitingState),
  giveUpAt: sql`give_up_at + ${parameter('at')} - held_at`,
  retryAt: null,
  heldAt: null,
  updatedAt: parameter('at'),
} as const

/**
 * The due time of a released email. An email that was not tried yet does not keep the slot of a
 * former pace.
 */
const duePaused = sql`case when retry_at is null then created_at
  when retry_at > ${parameter('at')} and (${waitingState}) = 'queued' then ${parameter('at')}
  else retry_at end`

/**
 * Releases paused emails. Those of a paced campaign that were not tried yet wait for their slots
 * (`releaseUntried`).
 */
export const releasePaused = statement((db) =>
  db
    .update(emails)
    .set({ ...released, dueAt: duePaused })
    .where(
      sql`${rowNumber()} in (select ${rowNumber()} from emails ${indexedBy('emails_campaign_shelf')}
          where campaign_id = ${parameter('campaignId')}
            and shelf in (${SHELF.paused}, (
              select case when ${isPaced} then ${SHELF.paused} else ${SHELF.pausedUntried} end
              from campaigns where id = ${parameter('campaignId')}))
          limit ${parameter('limit')})
        and not exists (select 1 from campaigns where id = ${parameter('campaignId')}
          and (status = 'CANCELLED' or (status = 'SENDING' and paused_at is not null)))`,
    )
    .returning(releasedColumns),
)

const retryOfInterrupted = sql`case when (${waitingState}) = 'deferred'
  then coalesce(retry_at, 0) else 0 end`

/**
 * `maxPerHour` as an integer: numbers are bound as reals, and their quotients would not be whole.
 */
const pace = sql`cast(${parameter('maxPerHour')} as integer)`

/**
 * Gives paused emails that were not tried yet the slots from `firstAt` on, the oldest first. After an
 * interrupted attempt an email may have arrived: it also waits for the time of its retry.
 */
export const releaseUntried = statement((db) =>
  db
    .update(emails)
    .set({ ...released, dueAt: larger(sql`slots.due_at`, retryOfInterrupted) })
    .from(
      sql`(select number, ${parameter('firstAt')}
            + ((row_number() over (order by number) - 1) * ${sql.raw(String(HOUR_MS))}
              + ${pace} - 1) / ${pace} as due_at
          from (select ${rowNumber()} as number from emails ${indexedBy('emails_campaign_shelf')}
            where campaign_id = ${parameter('campaignId')} and ${onShelves('pausedUntried')}
            order by ${rowNumber()} limit ${parameter('limit')})) as slots`,
    )
    .where(sql`${rowNumber('emails')} = slots.number`)
    .returning(releasedColumns),
)

export const findUntried = statement<{ isWaiting: number }>(
  () => sql`select 1 as "isWaiting" from emails ${indexedBy('emails_campaign_shelf')}
    where campaign_id = ${parameter('campaignId')} and ${onShelves('pausedUntried')}
    limit 1`,
)

/**
 * Lists waiting emails of a cancelled campaign. A claimed email is left out: it ends when it is put
 * back.
 */
export const listCancelled = statement((db) =>
  db
    .select(endingColumns)
    .from(emails)
    .where(some(isUnfinishedOfCampaign, sql`state <> 'sending'`)),
)

/**
 * Lists the campaigns whose rows do not fit their state. `act`: what is to be done with the rows.
 */
export const listUnsettledCampaigns = statement<{
  id: string
  projectId: string
  act: 'pause' | 'cancel' | 'pace' | 'release'
}>(
  () => sql`select id, project_id as "projectId", 'pause' as act from campaigns
    where ${holdsItsMail}
      and exists (select 1 from emails ${indexedBy('emails_campaign_shelf')}
        where campaign_id = campaigns.id and ${isQueued} and state in ('queued', 'deferred'))
    union all
    select id, project_id, 'cancel' from campaigns
    where id in ${unfinishedCampaigns} and status = 'CANCELLED'
      and exists (select 1 from emails ${indexedBy('emails_campaign_shelf')}
        where campaign_id = campaigns.id and ${isUnfinishedOfCampaign} and state <> 'sending')
    union all
    select id, campaigns.project_id, 'pace' from campaigns
    ${orderedJoin()} campaign_progress on campaign_id = id and has_old_slots
    where ${isActiveCampaign} and ${isPaced} and paused_at is null
    union all
    select id, project_id, 'release' from campaigns
    where id in ${campaignsOnShelves('paused', 'pausedUntried')} and status <> 'CANCELLED' and paused_at is null
      and (status = 'SENDING' or not ${isFenced(sql`campaigns.project_id`)})
      and (not (${isPaced}) or exists (select 1 from emails ${indexedBy('emails_campaign_shelf')}
        where campaign_id = campaigns.id and ${onShelves('paused')}))
      and exists (select 1 from domains where domains.project_id = campaigns.project_id
        and domain = from_domain and is_verified)
      and exists (select 1 from projects where projects.id = campaigns.project_id
        and projects.is_disabled = 0)`,
)
