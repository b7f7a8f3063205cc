import { newId } from '../../store/ids.ts'
import { type Campaign, campaigns } from '../../store/schema/campaigns.ts'
import type { Base } from '../base.ts'
import { copyName } from '../copy-name.ts'
import { type CampaignKey, loadCampaign } from './find.ts'
import { type CampaignView, toCampaignView } from './view.ts'

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
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: CampaignKey,
): Promise<CampaignView> {
  const at = now()
  const id = newId()
  return store.write(async (tx) => {
    const { progress: _, segment: __, ...original } = await loadCampaign(tx, key)
    const own = { id, name: copyName(original.name), createdAt: at, updatedAt: at }
    await tx.insert(campaigns).values({ ...original, ...UNSENT, ...own })
    return toCampaignView(await loadCampaign(tx, { ...key, id }), at)
  })
}
