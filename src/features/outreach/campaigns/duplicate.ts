import type { CampaignRecord } from '../../../records/campaign.ts'
import { newId } from '../../../store/ids.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { Base } from '../../ground/base.ts'
import { copyName } from '../../ground/copy-name.ts'
import { countSoon } from './audience/total-recipients.ts'
import { type CampaignKey, loadCampaign } from './find.ts'
import { toCampaignRecord } from './view.ts'

/** What belongs to the sending of the original, not to its definition. */
const UNSENT: Partial<Campaign> = {
  status: 'DRAFT',
  version: 1,
  scheduledFor: null,
  totalRecipients: null,
  pausedAt: null,
  pauseReason: null,
  pauseDetails: null,
  sentAt: null,
  cancelledAt: null,
  archivedAt: null,
}

/** Returns the copy, a draft. @throws AppError CAMPAIGN_NOT_FOUND */
export async function duplicateCampaign(
  deps: Pick<Base, 'store' | 'sharedRuns' | 'now' | 'log'>,
  key: CampaignKey,
): Promise<CampaignRecord> {
  const at = deps.now()
  const id = newId()
  await deps.store.write(async (tx) => {
    const { progress: _, segment: __, ...original } = await loadCampaign(tx, key)
    const own = { id, name: copyName(original.name), createdAt: at, updatedAt: at }
    await tx.insert(campaigns).values({ ...original, ...UNSENT, ...own })
  })
  const copy = { ...key, id }
  await countSoon(deps, { ...copy, totalRecipients: null })
  return toCampaignRecord(await loadCampaign(deps.store.read, copy), at)
}
