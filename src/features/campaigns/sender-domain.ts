/** The domain that a campaign is sent from. */
import { displayDomain } from '../../mail/address/address.ts'
import type { Campaign } from '../../store/schema/campaigns.ts'
import type { Base } from '../base.ts'
import { type SenderDomain, unverifiedSender } from '../directory.ts'

/** @throws AppError FORBIDDEN unless the domain is verified for the project */
export async function requireSenderDomain(
  { directory }: Pick<Base, 'directory'>,
  { projectId, fromDomain }: Pick<Campaign, 'projectId' | 'fromDomain'>,
): Promise<SenderDomain> {
  const domain = await directory.findSenderDomain(projectId, fromDomain)
  if (domain === undefined) throw unverifiedSender(displayDomain(fromDomain))
  return domain
}
