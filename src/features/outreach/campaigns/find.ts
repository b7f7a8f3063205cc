/** Finds a campaign of a project with its progress. */
import { AppError } from '../../../base/errors.ts'
import { and, eq, getTableColumns, type SQL } from '../../../store/drizzle.ts'
import {
  type Campaign,
  type CampaignProgress,
  campaignProgress,
  campaigns,
} from '../../../store/schema/campaigns.ts'
import { segments } from '../../../store/schema/segments.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** A campaign of a project. Another project's campaign counts as unknown. */
export type CampaignKey = { projectId: string; id: string }

/** `progress`: null until the campaign begins to send. `segment`: null without one. */
export type FoundCampaign = Campaign & {
  progress: CampaignProgress | null
  segment: { id: string; name: string } | null
}

const selectCampaign = statement((db) =>
  db
    .select({
      campaign: getTableColumns(campaigns),
      progress: getTableColumns(campaignProgress),
      segment: { id: segments.id, name: segments.name },
    })
    .from(campaigns)
    .leftJoin(campaignProgress, eq(campaignProgress.campaignId, campaigns.id))
    .leftJoin(segments, eq(segments.id, campaigns.segmentId))
    .where(isCampaign({ id: parameter('id'), projectId: parameter('projectId') })),
)

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function loadCampaign(
  queries: Pick<Tx, 'find'>,
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
  queries: Pick<Tx, 'find'>,
  { projectId, id }: CampaignKey,
): Promise<FoundCampaign | undefined> {
  const row = await queries.find(selectCampaign, { projectId, id })
  return row && { ...row.campaign, progress: row.progress, segment: row.segment }
}

export function isCampaign({ projectId, id }: Record<keyof CampaignKey, string | SQL>) {
  return and(eq(campaigns.id, id), eq(campaigns.projectId, projectId))
}

export function campaignNotFound(id: string): AppError {
  return new AppError('CAMPAIGN_NOT_FOUND', 'No campaign of this project has that id.', {
    details: { resource: 'campaign', id },
  })
}
