/** Shows a campaign. */
import type { ShownCampaign } from '../../../records/campaign.ts'
import type { Base } from '../../ground/base.ts'
import { type CampaignKey, loadCampaign } from './find.ts'
import { campaignShower } from './limit-end.ts'

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now'>

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function showCampaign(deps: Deps, key: CampaignKey): Promise<ShownCampaign> {
  const campaign = await loadCampaign(deps.store.read, key)
  return campaignShower(deps, key.projectId)(campaign)
}
