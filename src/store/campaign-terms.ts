/**
 * Conditions on campaigns that partial indexes have. They are literal, because SQLite does not match
 * a parameter with the term of an index.
 */
import { indexedBy } from './dialect.ts'
import { type SQL, sql } from './drizzle.ts'
import { isUnfinished } from './email-terms.ts'

/** The campaign waits for its time or is being sent; the term of `campaigns_active`. */
export const isActive = sql.raw("campaigns.status in ('SCHEDULED', 'SENDING')")

/**
 * Its emails wait until it is resumed. What becomes of those of a disabled project is decided by
 * `features/messages/disabled`.
 */
export const holdsItsMail: SQL = sql`${isActive} and campaigns.status = 'SENDING'
  and campaigns.paused_at is not null and campaigns.pause_reason <> 'project_disabled'`

/** Its emails go out in slots under `maxPerHour`. */
export const isPaced = sql.raw(
  "campaigns.status = 'SENDING' and campaigns.max_per_hour is not null",
)

/** The term of `campaigns_uncounted`. */
export const isUncounted = sql.raw(
  "campaigns.total_recipients is null and campaigns.status in ('DRAFT', 'SCHEDULED', 'SENDING')",
)

/**
 * The ids of the campaigns with emails that wait or are being sent. Seeks from campaign to campaign
 * in the index: neither the number of emails nor that of campaigns which have ended matters.
 */
export const unfinishedCampaigns: SQL = sql`(with recursive unfinished (id) as (
    select min(campaign_id) from emails ${indexedBy('emails_campaign_waiting')}
      where campaign_id is not null and ${isUnfinished}
    union all
    select (select min(campaign_id) from emails ${indexedBy('emails_campaign_waiting')}
      where campaign_id > unfinished.id and ${isUnfinished})
    from unfinished where unfinished.id is not null
  )
  select id from unfinished where id is not null)`
