import { AppError } from '../../../base/errors.ts'
import { eq } from '../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { mayBeArchived } from './archive.ts'
import { type CampaignKey, loadCampaign } from './find.ts'

const CANCEL = 'Cancel the campaign with POST /campaigns/:id/cancel first.'
const ARCHIVE = 'Archive the campaign with POST /campaigns/:id/archive.'

/** Deletes a campaign in status DRAFT. @throws AppError CAMPAIGN_NOT_FOUND, CONFLICT */
export async function deleteCampaign(
  { store }: Pick<Base, 'store'>,
  key: CampaignKey,
): Promise<void> {
  await store.write(async (tx) => deleteDraft(tx, await loadCampaign(tx, key)))
}

/** @throws AppError CONFLICT unless the campaign is a draft */
export async function deleteDraft(
  tx: Tx,
  { id, status }: Pick<Campaign, 'id' | 'status'>,
): Promise<void> {
  if (status !== 'DRAFT') {
    throw new AppError('CONFLICT', `A campaign that is ${status} cannot be deleted.`, {
      details: { resource: 'campaign', id, status },
      suggestion: mayBeArchived(status) ? ARCHIVE : `${CANCEL} ${ARCHIVE}`,
    })
  }
  await tx.delete(campaigns).where(eq(campaigns.id, id))
}
