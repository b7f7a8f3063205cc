/** The links of a campaign that people have followed, those with most clicks first. */
import { desc, eq } from '../../../../store/drizzle.ts'
import { campaignLinks } from '../../../../store/schema/campaigns.ts'
import type { Base } from '../../../ground/base.ts'
import { assertCampaign, type CampaignKey } from '../find.ts'

/** `uniqueClickers`: recipients who followed the link. */
export type LinkClicks = { url: string; clicks: number; uniqueClickers: number }

/** Links with data of the recipient in them are as many as recipients. */
const MAX_LINKS = 1_000

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function listLinks(
  { store }: Pick<Base, 'store'>,
  key: CampaignKey,
): Promise<LinkClicks[]> {
  await assertCampaign(store.read, key)
  const { url, clicks, clickers } = campaignLinks
  return store.scan
    .select({ url, clicks, uniqueClickers: clickers })
    .from(campaignLinks)
    .where(eq(campaignLinks.campaignId, key.id))
    .orderBy(desc(clicks), desc(clickers), url)
    .limit(MAX_LINKS)
}
