/** Shows a campaign, and until when it waits because its project is new. */
import { formatOptionalInstant } from '../../clock.ts'
import type { Base } from '../base.ts'
import { findNextAllowance } from '../messages/accept/new-project-cap.ts'
import { type CampaignKey, type FoundCampaign, loadCampaign } from './find.ts'
import { type CampaignView, toCampaignView } from './view.ts'

/**
 * `limitedUntil`: when the project may send more (`limits.new_project_daily`); null unless the campaign
 * waits for that.
 */
export type ShownCampaign = CampaignView & { limitedUntil: string | null }

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'now'>

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function showCampaign(deps: Deps, key: CampaignKey): Promise<ShownCampaign> {
  const at = deps.now()
  const campaign = await loadCampaign(deps.store.read, key)
  const limitedUntil = await findLimitEnd(deps, campaign, at)
  return { ...toCampaignView(campaign, at), limitedUntil: formatOptionalInstant(limitedUntil) }
}

async function findLimitEnd(
  deps: Deps,
  { projectId, status, pausedAt, progress }: FoundCampaign,
  at: number,
): Promise<number | null> {
  const isMade = progress === null || progress.expandedAt !== null
  if (status !== 'SENDING' || pausedAt !== null || isMade) return null
  const project = await deps.directory.findProject(projectId)
  return project === undefined ? null : findNextAllowance(deps, deps.store.read, { project, at })
}
