/**
 * A campaign: finds it, turns its row into the record of the API, words errors about its status,
 * and finds the unfinished campaigns that refer to an object.
 */
import { formatInstant, formatOptionalInstant, HOUR_MS } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'
import { contains } from '../../../store/dialect.ts'
import {
  and,
  asc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  type SQL,
  sql,
} from '../../../store/drizzle.ts'
import {
  type Campaign,
  type CampaignProgress,
  campaignProgress,
  campaigns,
} from '../../../store/schema/campaigns.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { CampaignStatus, UsageCategory } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Queries, Tx } from '../../../store/write/transaction.ts'
import type { Condition } from '../../ground/conditions/condition.ts'
import type { Reference, ReferenceQuery, ReferenceSource } from '../../ground/manifest/reference.ts'
import { doesRefer } from '../../ground/references/registry.ts'
import { categoryOf } from '../../ground/usage/categories.ts'

/** A campaign of a project. Another project's campaign counts as unknown. */
export type CampaignKey = { projectId: string; id: string }

/**
 * `progress`: null until the campaign begins to send. `segment`: null for an audience without a
 * segment.
 */
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

/** The names of the counts that both the record and the stats of a campaign have. */
const COUNTS = [
  'sentCount',
  'deliveredCount',
  'openedCount',
  'clickedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
] as const

type CampaignCounts = Record<(typeof COUNTS)[number], number>

/** By status: what a client can do with such a campaign. */
const WAYS: Readonly<Record<CampaignStatus, string>> = {
  DRAFT: 'POST /campaigns/:id/send sends or schedules a draft; DELETE /campaigns/:id deletes it.',
  SCHEDULED:
    'To move it, send it again with another scheduledFor. To have a draft again, cancel it and duplicate it: ' +
    'POST /campaigns/:id/cancel, then /duplicate.',
  SENDING:
    'POST /campaigns/:id/pause stops it for a while, /cancel for good. A duplicate is a draft.',
  SENT: 'To change it and send it again, duplicate it: POST /campaigns/:id/duplicate.',
  CANCELLED: 'To change it and send it again, duplicate it: POST /campaigns/:id/duplicate.',
}

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function loadCampaign(
  queries: Pick<Tx, 'find'>,
  key: CampaignKey,
): Promise<FoundCampaign> {
  const found = await findCampaign(queries, key)
  if (found === undefined) throw campaignNotFound(key.id)
  return found
}

/** Requires that a campaign exists, without reading its body. @throws AppError CAMPAIGN_NOT_FOUND */
export async function requireCampaign(
  queries: Pick<Tx, 'select'>,
  key: CampaignKey,
): Promise<void> {
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

/**
 * Returns a campaign as the API shows it. Where clients use two names for a field, the record has
 * both. `now`: epoch ms.
 */
export function toCampaignRecord(campaign: FoundCampaign, now: number): CampaignRecord {
  const { progress } = campaign
  const scheduledFor = formatOptionalInstant(campaign.scheduledFor)
  const endAt = estimateEnd(campaign, now)
  return {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description,
    subject: campaign.subject,
    body: campaign.body,
    from: campaign.fromAddress,
    fromName: campaign.fromName,
    replyTo: campaign.replyTo,
    type: campaign.type,
    audienceType: campaign.audienceType,
    audienceCondition: campaign.audienceCondition,
    audienceFilter: campaign.audienceCondition,
    segmentId: campaign.segmentId,
    segment: campaign.segment,
    templateId: campaign.templateId,
    status: campaign.status,
    scheduledFor,
    scheduledAt: scheduledFor,
    maxPerHour: campaign.maxPerHour,
    version: campaign.version,
    totalRecipients: campaign.totalRecipients ?? 0,
    ...countsOf(progress),
    pausedAt: formatOptionalInstant(campaign.pausedAt),
    pauseReason: campaign.pauseReason,
    pauseDetails: campaign.pauseDetails,
    estimatedEndAt: endAt === undefined ? null : formatInstant(endAt),
    archived: campaign.archivedAt !== null,
    archivedAt: formatOptionalInstant(campaign.archivedAt),
    projectId: campaign.projectId,
    sentAt: formatOptionalInstant(campaign.sentAt),
    createdAt: formatInstant(campaign.createdAt),
    updatedAt: formatInstant(campaign.updatedAt),
  }
}

/**
 * Estimates when the last email will be sent (epoch ms), from the rate since the campaign began or
 * was resumed, or from `maxPerHour` if that is slower.
 */
function estimateEnd(campaign: FoundCampaign, now: number): number | undefined {
  const { status, progress, pausedAt, maxPerHour, totalRecipients } = campaign
  if (status !== 'SENDING' || pausedAt !== null || progress === null) return undefined
  const sent = progress.sentCount - (progress.brakeBase?.sent ?? 0)
  const elapsedMs = now - (progress.resumedAt ?? progress.begunAt)
  if (sent <= 0 || elapsedMs <= 0) return undefined
  const total = Math.max(totalRecipients ?? 0, progress.rowsMade)
  const failed = progress.failedCount + progress.failedUnsubscribedCount
  const left = Math.max(0, total - progress.sentCount - progress.suppressedCount - failed)
  const leftMs = (left * elapsedMs) / sent
  const pacedMs = maxPerHour === null ? 0 : (left * HOUR_MS) / maxPerHour
  return Math.round(now + Math.max(leftMs, pacedMs))
}

/** Returns the counts. `progress`: null until the campaign begins to send. */
export function countsOf(progress: CampaignProgress | null): CampaignCounts {
  const counts = COUNTS.map((name) => [name, progress?.[name] ?? 0])
  return Object.fromEntries(counts) as CampaignCounts
}

/** Returns the error for a campaign whose status forbids the call. `cannot`: `be paused` */
export function wrongStatus(status: CampaignStatus, cannot: string): AppError {
  const text = `A campaign that is ${status} cannot ${cannot}.`
  return new AppError('BAD_REQUEST', text, { suggestion: WAYS[status] })
}

/** Returns the usage category of a campaign's emails: those of a TRANSACTIONAL campaign are transactional. */
export function usageCategoryOf({ type }: Pick<Campaign, 'type'>): UsageCategory {
  return categoryOf(type === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : 'CAMPAIGN')
}

export const CAMPAIGN_REFERENCES: readonly ReferenceSource[] = [
  {
    column: 'campaigns.audience_condition',
    label: 'campaigns',
    refersTo: ['segment', 'event', 'data field', 'standard field'],
    find: findReferringByCondition,
  },
  {
    column: 'campaigns.segment_id',
    label: 'campaigns',
    refersTo: ['segment'],
    find: (queries, query) =>
      query.referent.kind === 'segment'
        ? findReferring(queries, query, eq(campaigns.segmentId, query.referent.id))
        : Promise.resolve([]),
  },
  {
    column: 'campaigns.from_domain',
    label: 'campaigns',
    refersTo: ['sending domain'],
    find: (queries, query) =>
      query.referent.kind === 'sending domain'
        ? findReferring(queries, query, eq(campaigns.fromDomain, query.referent.domain))
        : Promise.resolve([]),
  },
]

/** A campaign that was sent or cancelled no longer uses any object. */
const isUnfinished = inArray(campaigns.status, ['DRAFT', 'SCHEDULED', 'SENDING'])

async function findReferring(
  queries: Queries,
  { projectId, limit }: ReferenceQuery,
  condition: SQL,
): Promise<Reference[]> {
  return queries
    .select({ id: campaigns.id, name: campaigns.name })
    .from(campaigns)
    .where(and(eq(campaigns.projectId, projectId), isUnfinished, condition))
    .orderBy(asc(campaigns.createdAt), asc(campaigns.id))
    .limit(limit ?? Number.MAX_SAFE_INTEGER)
}

async function findReferringByCondition(
  queries: Queries,
  { projectId, referent, limit }: ReferenceQuery,
): Promise<Reference[]> {
  const rows = await queries
    .select({ id: campaigns.id, name: campaigns.name, condition: campaigns.audienceCondition })
    .from(campaigns)
    .where(
      and(
        eq(campaigns.projectId, projectId),
        isUnfinished,
        isNotNull(campaigns.audienceCondition),
        referent.kind === 'segment'
          ? contains(sql`lower(${campaigns.audienceCondition})`, referent.id)
          : undefined,
      ),
    )
    .orderBy(asc(campaigns.createdAt), asc(campaigns.id))
  return rows
    .filter(({ condition }) => doesRefer(condition as Condition, referent))
    .slice(0, limit)
    .map(({ id, name }) => ({ id, name }))
}
