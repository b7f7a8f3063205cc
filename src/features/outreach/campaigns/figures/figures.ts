/**
 * The figures of a campaign: how they are kept, the stats that `GET /campaigns/:id/stats` returns, and the
 * clicks of its links.
 *
 * A handler of events counts the emails that events name: the bits of `emails.figures` are the
 * figures that already include the email, the view `campaign_figures` has the bits that are right
 * now, and the differences are added to `campaign_progress` in the transaction that saves the
 * cursor. So no email is counted twice, in whatever order its events come, and a server that was
 * killed goes on where it stopped. Delivery does not know of campaigns. Clicks are also counted by
 * link. A click of a machine makes no event, so it is not counted.
 */
import type { CampaignStats, ClickedLink } from '../../../../records/campaign.ts'
import { indexedBy, jsonValue, listOf } from '../../../../store/dialect.ts'
import { desc, eq, getTableColumns, sql } from '../../../../store/drizzle.ts'
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import {
  type CampaignProgress,
  campaignLinks,
  campaignProgress,
  campaigns,
} from '../../../../store/schema/campaigns.ts'
import type { EventRow } from '../../../../store/schema/events.ts'
import { isUnfinishedOfCampaign, onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { whileAny } from '../../../../work/follower-handlers.ts'
import type { Base } from '../../../ground/base.ts'
import type { LazyHandler } from '../../../ground/event-handlers.ts'
import { MAIL_EVENTS } from '../../../ground/events/reserved.ts'
import { COUNTED_OTHERWISE } from '../../../people/contacts/write/set-subscribed.ts'
import { type BrakeDeps, brakeCampaigns } from '../brake/brake.ts'
import {
  type CampaignKey,
  campaignNotFound,
  countsOf,
  isCampaign,
  requireCampaign,
} from '../campaign.ts'

// Bits of `emails.figures`; the view `campaign_figures` has all of them.

/** The email counts as unsubscribed. */
export const UNSUBSCRIBED_FIGURE = 64

// Further bits: marks that followers set.

/** The contact unsubscribed by this email. */
const UNSUBSCRIBED_MARK = 4_096
export const HARD_BOUNCE_MARK = 8_192
/** The email was refused for the reputation of this server or for its content. */
export const REFUSAL_MARK = 16_384
/** The email was refused because its sender domain is not authenticated. */
export const AUTHENTICATION_REFUSAL_MARK = 32_768

/** The events after which an email of a campaign may belong to other figures. */
const OUTCOMES: ReadonlySet<string> = new Set([...MAIL_EVENTS, 'contact.unsubscribed'])

/** `detail`: the reason of an unsubscription. */
type OutcomeEvent = Pick<CountedEvent, 'seq' | 'name' | 'emailId' | 'detail'>

const FIGURES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
  'suppressed',
  'failed',
  'failed_unsubscribed',
] as const

const additions = FIGURES.map((name) => `${name}_count = ${name}_count + change.${name}`)
const sums = FIGURES.map((name) => `sum(${name}) as ${name}`)

const addChanges = statement<{ campaignId: string }>(
  () => sql`update campaign_progress set ${sql.raw(additions.join(', '))}
    from (
      select campaign_id, ${sql.raw(sums.join(', '))} from campaign_figures
      where id in ${listOf(parameter('ids'))} and bits <> figures group by campaign_id
    ) as change
    where campaign_progress.campaign_id = change.campaign_id
    returning campaign_progress.campaign_id as "campaignId"`,
)

const markCounted = statement(
  () => sql`update emails set figures = counted.bits from campaign_figures as counted
    where emails.id in ${listOf(parameter('ids'))} and counted.id = emails.id
      and counted.bits <> counted.figures`,
)

const markUnsubscribed = statement(
  () => sql`update emails set figures = figures | ${UNSUBSCRIBED_MARK}
    where id in ${listOf(parameter('ids'))} and campaign_id is not null`,
)

const findCampaign = statement<{ found: number }>(
  () => sql`select 1 as found from campaign_progress limit 1`,
)

const linkOf = (table: string) => jsonValue(sql.raw(`${table}.data`), 'link')

/** Only the first clicks of an email, up to this number, can add a clicker to a link. */
const MAX_CLICKS = 20

/** At most this many earlier clicks of the contact are read, which bounds the cost of one click. */
const MAX_READ = 200

/** The contact's clicks since the first click of the email; some of them may be in other mail. */
const earlierClicks = sql`(select earlier.email_id, ${linkOf('earlier')} as link
    from events as earlier ${indexedBy('events_contact')}
    where earlier.contact_id = click.contact_id and earlier.name = 'email.click'
      and earlier.created_at >= emails.clicked_at and earlier.seq < click.seq
    order by earlier.created_at limit ${sql.raw(String(MAX_READ))})`

/** The number of the click among the clicks of its email. */
const ordinal = jsonValue(sql.raw('click.data'), 'clicks')

/**
 * Counts clicks and clickers by link. A click adds a clicker if no earlier event of the contact is
 * a click on the same link of the same email.
 */
const addClicks = statement(
  () => sql`insert into campaign_links (campaign_id, url, clicks, clickers)
    select emails.campaign_id, ${linkOf('click')}, count(*), sum(case
        when ${ordinal} = 1 then 1
        when ${ordinal} > ${sql.raw(String(MAX_CLICKS))} then 0
        else (select count(*) < ${sql.raw(String(MAX_READ))}
          and coalesce(sum(earlier.email_id = click.email_id and earlier.link = ${linkOf('click')}), 0) = 0
        from ${earlierClicks} as earlier) end)
    from events as click join emails on emails.id = click.email_id
    where click.seq in ${listOf(parameter('seqs'))} and emails.campaign_id is not null
      and ${linkOf('click')} is not null
    group by 1, 2
    on conflict (campaign_id, url) do update
      set clicks = clicks + excluded.clicks, clickers = clickers + excluded.clickers`,
)

/**
 * `mayMatter` of handlers: events cannot matter before the first campaign has begun, because there
 * is no mail of campaigns.
 */
export const whileCampaigns = whileAny(findCampaign)

export function figuresHandler(deps: BrakeDeps): LazyHandler {
  return {
    name: 'campaign-figures',
    names: OUTCOMES,
    mayMatter: whileCampaigns,
    handle: (tx, events) => countOutcomes(deps, tx, events),
  }
}

async function countOutcomes(
  deps: BrakeDeps,
  tx: Tx,
  events: readonly OutcomeEvent[],
): Promise<void> {
  const outcomes = events.filter(({ emailId }) => emailId !== null)
  if (outcomes.length === 0) return
  const unsubscribed = outcomes.filter(isUnsubscription)
  if (unsubscribed.length > 0) await tx.execute(markUnsubscribed, { ids: idsOf(unsubscribed) })
  const ids = idsOf(outcomes)
  const changed = await tx.list(addChanges, { ids })
  if (changed.length > 0) await tx.execute(markCounted, { ids })
  await countClicks(tx, outcomes)
  await brakeCampaigns(
    deps,
    tx,
    changed.map(({ campaignId }) => campaignId),
  )
}

function isUnsubscription({ name, detail }: OutcomeEvent): boolean {
  return name === 'contact.unsubscribed' && !COUNTED_OTHERWISE.has(detail)
}

function idsOf(events: readonly OutcomeEvent[]): string {
  return JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
}

async function countClicks(
  tx: Tx,
  events: readonly Pick<EventRow, 'seq' | 'name'>[],
): Promise<void> {
  const clicks = events.filter(({ name }) => name === 'email.click')
  if (clicks.length === 0) return
  await tx.execute(addClicks, { seqs: JSON.stringify(clicks.map(({ seq }) => seq)) })
}

type Figures = Omit<CampaignProgress, 'campaignId' | 'projectId' | 'begunAt'>

const isOfCampaign = sql`campaign_id = ${parameter('campaignId')}`

/**
 * Counts waiting emails. A deferred email that is being sent is still on its shelf, so it is
 * subtracted.
 */
const countWaiting = statement<{ pending: number; deferred: number }>(
  () => sql`select
    (select count(*) from emails ${indexedBy('emails_campaign_shelf')}
      where ${isOfCampaign} and ${isUnfinishedOfCampaign}) as pending,
    (select count(*) from emails ${indexedBy('emails_campaign_shelf')}
      where ${isOfCampaign} and ${onShelves('deferred')})
    - (select count(*) from emails ${indexedBy('emails_leased')}
      where lease_until is not null and ${isOfCampaign} and ${onShelves('deferred')}) as deferred`,
)

/**
 * At most this many links are listed: if links contain data of the recipient, there are as many
 * links as recipients.
 */
const MAX_LINKS = 1_000

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function viewStats(
  { store }: Pick<Base, 'store'>,
  key: CampaignKey,
): Promise<CampaignStats> {
  const found = await store.read
    .select({
      totalRecipients: campaigns.totalRecipients,
      progress: getTableColumns(campaignProgress),
    })
    .from(campaigns)
    .leftJoin(campaignProgress, eq(campaignProgress.campaignId, campaigns.id))
    .where(isCampaign(key))
    .get()
  if (found === undefined) throw campaignNotFound(key.id)
  const { totalRecipients, progress } = found
  const waiting = await store.scan.find(countWaiting, { campaignId: key.id })
  const { pending, deferred } = waiting ?? { pending: 0, deferred: 0 }
  const count = (name: keyof Figures) => Number(progress?.[name] ?? 0)
  const sentCount = count('sentCount')
  const rate = (name: keyof Figures) =>
    sentCount === 0 ? 0 : Math.round((10_000 * count(name)) / sentCount) / 100
  return {
    totalRecipients: totalRecipients ?? 0,
    ...countsOf(progress),
    failedCount: count('failedCount'),
    openRate: rate('openedCount'),
    clickRate: rate('clickedCount'),
    bounceRate: rate('bouncedCount'),
    deliveryRate: rate('deliveredCount'),
    complaintRate: rate('complainedCount'),
    unsubscribeRate: rate('unsubscribedCount'),
    skipped: {
      suppressed: count('suppressedCount'),
      unsubscribed: count('skippedUnsubscribed') + count('failedUnsubscribedCount'),
      deleted: count('skippedDeleted'),
    },
    pending,
    deferred,
    machineOpens: count('machineOpens'),
    machineClicks: count('machineClicks'),
  }
}

/**
 * Lists the links of a campaign that people have followed, those with most clicks first.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function listClickedLinks(
  { store }: Pick<Base, 'store'>,
  key: CampaignKey,
): Promise<ClickedLink[]> {
  await requireCampaign(store.read, key)
  const { url, clicks, clickers } = campaignLinks
  return store.scan
    .select({ url, clicks, uniqueClickers: clickers })
    .from(campaignLinks)
    .where(eq(campaignLinks.campaignId, key.id))
    .orderBy(desc(clicks), desc(clickers), url)
    .limit(MAX_LINKS)
}
