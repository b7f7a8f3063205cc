/** Finds the unfinished campaigns that refer to an object. */

import { contains } from '../../../store/dialect.ts'
import { and, asc, eq, inArray, isNotNull, type SQL, sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { Queries } from '../../../store/write/transaction.ts'
import type { Condition } from '../../ground/conditions/condition.ts'
import type { Reference, ReferenceQuery, ReferenceSource } from '../../ground/manifest/reference.ts'
import { doesRefer } from '../../ground/references/registry.ts'

export const CAMPAIGN_REFERENCES: readonly ReferenceSource[] = [
  {
    column: 'campaigns.audience_condition',
    label: 'campaigns',
    refersTo: ['segment', 'event', 'data field', 'standard field'],
    find: findCampaignsByCondition,
  },
  {
    column: 'campaigns.segment_id',
    label: 'campaigns',
    refersTo: ['segment'],
    find: (queries, query) =>
      query.referent.kind === 'segment'
        ? findCampaigns(queries, query, eq(campaigns.segmentId, query.referent.id))
        : Promise.resolve([]),
  },
  {
    column: 'campaigns.from_domain',
    label: 'campaigns',
    refersTo: ['sending domain'],
    find: (queries, query) =>
      query.referent.kind === 'sending domain'
        ? findCampaigns(queries, query, eq(campaigns.fromDomain, query.referent.domain))
        : Promise.resolve([]),
  },
]

/** A campaign that was sent or cancelled uses nothing any more. */
const isUnfinished = inArray(campaigns.status, ['DRAFT', 'SCHEDULED', 'SENDING'])

async function findCampaigns(
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

async function findCampaignsByCondition(
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
