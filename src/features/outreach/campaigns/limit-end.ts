/** Until when campaigns wait because their project is new (`limits.new_project_daily`). */

import { formatOptionalInstant } from '../../../base/clock.ts'
import type { ShownCampaign } from '../../../records/campaign.ts'
import type { Base } from '../../ground/base.ts'
import { findNextAllowance } from '../../mail/messages/accept/new-project-cap.ts'
import type { FoundCampaign } from './find.ts'
import { toCampaignRecord } from './view.ts'

/**
 * `limitedUntil`: when the project may send more; null unless the campaign waits for that.
 */
type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now'>

/** Returns a function that shows campaigns of the project as of now. It counts for the limit once at most. */
export function campaignShower(
  deps: Deps,
  projectId: string,
): (campaign: FoundCampaign) => Promise<ShownCampaign> {
  const at = deps.now()
  let limitEnd: Promise<string | null> | undefined

  async function findLimitEnd(): Promise<string | null> {
    const project = await deps.directory.findProject(projectId)
    if (project === undefined) return null
    return formatOptionalInstant(await findNextAllowance(deps, deps.store.read, { project, at }))
  }

  return async (campaign) => {
    const view = toCampaignRecord(campaign, at)
    if (!mayWait(campaign)) return { ...view, limitedUntil: null }
    limitEnd ??= findLimitEnd()
    return { ...view, limitedUntil: await limitEnd }
  }
}

function mayWait({ status, pausedAt, progress }: FoundCampaign): boolean {
  const isMade = progress === null || progress.expandedAt !== null
  return status === 'SENDING' && pausedAt === null && !isMade
}
