/**
 * Conditions on campaigns that partial indexes have. They are literal, because SQLite does not match
 * a parameter with the term of an index.
 */
import { indexedBy } from './dialect.ts'
import { type SQL, sql } from './drizzle.ts'
import { SHELF, type Shelf, UNFINISHED_SHELVES } from './shelves.ts'

/**
 * Whether the campaign waits for its time or is being sent; the condition of the index `campaigns_active`.
 */
export const isActiveCampaign = sql.raw("campaigns.status in ('SCHEDULED', 'SENDING')")

/**
 * Whether the campaign's emails wait until the campaign is resumed. `features/mail/messages/disabled`
 * decides what becomes of emails of a disabled project.
 */
export const holdsItsMail: SQL = sql`${isActiveCampaign} and campaigns.status = 'SENDING'
  and campaigns.paused_at is not null and campaigns.pause_reason <> 'project_disabled'`

/** Whether the campaign's emails go out in slots, because it has a `maxPerHour`. */
export const isPaced = sql.raw(
  "campaigns.status = 'SENDING' and campaigns.max_per_hour is not null",
)

/** The condition of the index `campaigns_uncounted`. */
export const isUncounted = sql.raw(
  "campaigns.total_recipients is null and campaigns.status in ('DRAFT', 'SCHEDULED', 'SENDING')",
)

/** The ids of the campaigns with emails that wait or are being sent. */
export const unfinishedCampaigns: SQL = campaignsOnShelves(...UNFINISHED_SHELVES)

/**
 * The ids of the campaigns with emails on any of these shelves, some more than once. Seeks from campaign to
 * campaign in the index: neither the number of emails nor that of other campaigns matters.
 */
export function campaignsOnShelves(...shelves: readonly Shelf[]): SQL {
  const rows = sql.raw(shelves.map((shelf) => `(${SHELF[shelf]})`).join(', '))
  return sql`(with recursive found (shelf, id) as (
    select wanted.shelf, (select min(campaign_id) from emails ${indexedBy('emails_campaign_shelf')}
      where emails.shelf = wanted.shelf and campaign_id is not null)
    from (select column1 as shelf from (values ${rows})) as wanted
    union all
    select found.shelf, (select min(campaign_id) from emails ${indexedBy('emails_campaign_shelf')}
      where emails.shelf = found.shelf and campaign_id > found.id)
    from found where found.id is not null
  )
  select id from found where id is not null)`
}
