/** The domain that a campaign is sent from. */
import type { Campaign } from '../../../store/schema/campaigns.ts'
import type { Base } from '../../ground/base.ts'
import type { SenderDomain } from '../../ground/directory.ts'
import { unverifiedSender } from '../../mail/domains/unverified-sender.ts'

/** @throws AppError FORBIDDEN unless the domain is verified for the project */
export async function requireSenderDomain(
  { directory, store }: Pick<Base, 'directory' | 'store'>,
  { projectId, fromDomain }: Pick<Campaign, 'projectId' | 'fromDomain'>,
): Promise<SenderDomain> {
  const domain = await directory.findSenderDomain(projectId, fromDomain)
  if (domain === undefined)
    throw await unverifiedSender(store.read, { projectId, domain: fromDomain })
  return domain
}
