/** Finds a campaign of a project with its progress. */
import { AppError } from '../../errors.ts'
import { and, eq, getTableColumns, type SQL } from '../../store/drizzle.ts'
import {
  type Campaign,
  type CampaignProgress,
  campaignProgress,
  campaigns,
} from '../../store/schema/campaigns.ts'
import { segments } from '../../store/schema/segments.ts'
import type { Tx } from '../../store/write/transaction.ts'

/** A campaign of a project. Another project's campaign counts as unknown. */
export type CampaignKey = { projectId: string; id: string }

/** `progress`: null until the campaign begins to send. `segment`: null without one. */
export type FoundCampaign = Campaign & {
  progress: CampaignProgress | null
  segment: { id: string; name: string } | null
}

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function loadCampaign(
  queries: Pick<Tx, 'select'>,
  key: CampaignKey,
): Promise<FoundCampaign> {
  const found = await findCampaign(queries, key)
  if (found === undefined) throw campaignNotFound(key.id)
  return found
}

/** Does not read the body. @throws AppError CAMPAIGN_NOT_FOUND */
export async function assertCampaign(queries: Pick<Tx, 'select'>, key: CampaignKey): Promise<void> {
  const row = await queries
    .select({ id: campaigns.id })
    .from(campaigns)
    .where(isCampaign(key))
    .get()
  if (row === undefined) throw campaignNotFound(key.id)
}

export async function findCampaign(
  queries: Pick<Tx, 'select'>,
  key: CampaignKey,
): Promise<FoundCampaign | undefined> {
  const row = await selectCampaigns(queries).where(isCampaign(key)).get()
  return row === undefined ? undefined : toFound(row)
}

/** Campaigns with their progress and segment; give each row to `toFound`. */
export function selectCampaigns(queries: Pick<Tx, 'select'>) {
  return queries
    .select({
      campaign: getTableColumns(campaigns),
      progress: getTableColumns(campaignProgress),
      segment: { id: segments.id, name: segments.name },
    })
    .from(campaigns)
    .leftJoin(campaignProgress, eq(campaignProgress.campaignId, campaigns.id))
    .leftJoin(segments, eq(segments.id, campaigns.segmentId))
}

export function toFound({
  campaign,
  progress,
  segment,
}: {
  campaign: Campaign
  progress: CampaignProgress | null
  segment: FoundCampaign['segment']
}): FoundCampaign {
  return { ...campaign, progress, segment }
}

export function isCampaign({ projectId, id }: CampaignKey): SQL | undefined {
  return and(eq(campaigns.id, id), eq(campaigns.projectId, projectId))
}

export function campaignNotFound(id: string): AppError {
  return new AppError('CAMPAIGN_NOT_FOUND', 'No campaign of this project has that id.', {
    details: { resource: 'campaign', id },
  })
}
