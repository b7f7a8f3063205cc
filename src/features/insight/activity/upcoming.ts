/**
 * Lists scheduled activity, soonest first, merged from all sources whose activity is not stored as
 * events: scheduled campaigns, scheduled emails of workflows, active executions. Active executions
 * fill only the places that scheduled sends leave, so they never hide a send.
 */
import { DAY_MS, formatInstant } from '../../../base/clock.ts'
import type { ActivityRecord } from '../../../records/activity.ts'
import { isActiveCampaign } from '../../../store/campaign-terms.ts'
import { and, asc, eq, gt, lte } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { Base } from '../../ground/base.ts'
import { listActiveExecutions } from './active-executions.ts'
import { listUpcomingWorkflowEmails } from './scheduled-workflow-emails.ts'
import type { UpcomingSource } from './upcoming-source.ts'

/** Lists the scheduled campaigns of a project. */
const listUpcomingCampaigns: UpcomingSource = async (
  { store },
  { projectId, from, until, limit },
) => {
  const { id, name, subject, scheduledFor, totalRecipients, audienceType } = campaigns
  const rows = await store.scan
    .select({
      ...{ id, name, subject, scheduledFor, totalRecipients, audienceType },
      segmentName: segments.name,
    })
    .from(campaigns)
    .leftJoin(segments, eq(segments.id, campaigns.segmentId))
    .where(
      and(
        isActiveCampaign,
        eq(campaigns.projectId, projectId),
        eq(campaigns.status, 'SCHEDULED'),
        gt(campaigns.scheduledFor, from),
        lte(campaigns.scheduledFor, until),
      ),
    )
    .orderBy(asc(scheduledFor), asc(id))
    .limit(limit)
  return rows.map((campaign) => ({
    id: `campaign_${campaign.id}_scheduled`,
    type: 'campaign.scheduled',
    timestamp: formatInstant(campaign.scheduledFor ?? 0),
    metadata: {
      campaignId: campaign.id,
      campaignName: campaign.name,
      subject: campaign.subject,
      totalRecipients: campaign.totalRecipients ?? 0,
      segmentName: campaign.segmentName,
      audienceType: campaign.audienceType,
    },
  }))
}
/**
 * The tables whose records are activity but not events, with the functions that list it.
 * `test/features/ground/references/registry.test.ts` fails while the schema has such a table that
 * is missing here.
 */
export const ACTIVITY_SOURCES: readonly ActivitySource[] = [
  { table: 'campaigns', listUpcoming: listUpcomingCampaigns },
  {
    table: 'workflow_executions',
    listUpcoming: listUpcomingWorkflowEmails,
    listActive: listActiveExecutions,
  },
  { table: 'workflow_step_executions' },
]

const UPCOMING_SOURCES = ACTIVITY_SOURCES.flatMap(({ listUpcoming }) => listUpcoming ?? [])
const ACTIVE_SOURCES = ACTIVITY_SOURCES.flatMap(({ listActive }) => listActive ?? [])

type UpcomingRange = { limit: number; daysAhead: number }

type ActivitySource = {
  /** The name of the table in the database. */
  table: string
  /** Lists sends that are scheduled. */
  listUpcoming?: UpcomingSource
  /** Lists activity that is going on and is no scheduled send. */
  listActive?: UpcomingSource
}

export async function listUpcoming(
  deps: Pick<Base, 'store' | 'now'>,
  projectId: string,
  {
    limit,
    daysAhead,
    sources = UPCOMING_SOURCES,
    activeSources = ACTIVE_SOURCES,
  }: UpcomingRange & Partial<Record<'sources' | 'activeSources', readonly UpcomingSource[]>>,
): Promise<ActivityRecord[]> {
  const from = deps.now()
  const query = { projectId, from, until: from + daysAhead * DAY_MS, limit }
  const lists = await Promise.all(sources.map((source) => source(deps, query)))
  const sends = lists.flat().sort(soonestFirst).slice(0, limit)
  const room = limit - sends.length
  if (room === 0) return sends
  const active = await Promise.all(
    activeSources.map((source) => source(deps, { ...query, limit: room })),
  )
  const [undated, dated] = partition(active.flat().slice(0, room))
  return [...[...sends, ...dated].sort(soonestFirst), ...undated]
}

/** Splits activities into those without a time and those with a time. */
function partition(activities: readonly ActivityRecord[]): [ActivityRecord[], ActivityRecord[]] {
  const isUndated = ({ metadata }: ActivityRecord) => metadata.dueAt === null
  return [activities.filter(isUndated), activities.filter((each) => !isUndated(each))]
}

/** Timestamps have one format, so they compare as text. */
function soonestFirst(one: ActivityRecord, other: ActivityRecord): number {
  const [left, right] = [`${one.timestamp} ${one.id}`, `${other.timestamp} ${other.id}`]
  if (left === right) return 0
  return left < right ? -1 : 1
}
