/**
 * The figures of a campaign, as `GET /campaigns/:id/stats` returns them, and the clicks of its links.
 */
import type { CampaignStats, ClickedLink } from '../../../../records/campaign.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { desc, eq, getTableColumns, sql } from '../../../../store/drizzle.ts'
import {
  type CampaignProgress,
  campaignLinks,
  campaignProgress,
  campaigns,
} from '../../../../store/schema/campaigns.ts'
import { isUnfinishedOfCampaign, onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import {
  type CampaignKey,
  campaignNotFound,
  countsOf,
  isCampaign,
  requireCampaign,
} from '../campaign.ts'

type Figures = Omit<CampaignProgress, 'campaignId' | 'projectId' | 'begunAt'>

const isOfCampaign = sql`campaign_id = ${parameter('campaignId')}`

/** A deferred email that is being sent keeps its shelf, so it is subtracted. */
const countWaiting = statement<{ pending: number; deferred: number }>(
  () => sql`select
    (select count(*) from emails ${indexedBy('emails_campaign_shelf')}
      where ${isOfCampaign} and ${isUnfinishedOfCampaign}) as pending,
    (select count(*) from emails ${indexedBy('emails_campaign_shelf')}
      where ${isOfCampaign} and ${onShelves('deferred')})
    - (select count(*) from emails ${indexedBy('emails_leased')}
      where lease_until is not null and ${isOfCampaign} and ${onShelves('deferred')}) as deferred`,
)

/** A bound, because links that contain data of the recipient are as many as recipients. */
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
