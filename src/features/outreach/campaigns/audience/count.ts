/** Counts the audience of a campaign: the contacts that it is meant for, and those who would get it. */
import type { CampaignAudienceRecord } from '../../../../records/campaign.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { Campaign } from '../../../../store/schema/campaigns.ts'
import { type Template, templates } from '../../../../store/schema/messages.ts'
import type { ContentClass } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { isTemplateOf } from '../../../mail/templates/templates.ts'
import { countContacts } from '../../../people/contacts/list/count.ts'
import { andAll, type ContactScope, scopeClause } from '../../../people/contacts/list/scope.ts'
import { walkContacts } from '../../../people/contacts/list/walk.ts'
import type { CampaignChanges } from '../validate.ts'
import { audienceScope, type CampaignAudience, recipientScope } from './scope.ts'

type Deps = Pick<Base, 'store' | 'now'>
type CountedCampaign = CampaignAudience & Pick<Campaign, 'type'>

export type AudienceCount = Omit<CampaignAudienceRecord, 'sample' | 'asOf'>

const SAMPLE = 10
/** One query reads at most this many suppressions, in some ten milliseconds. */
const STRETCH = 10_000

type Draft = Pick<CampaignChanges, 'type' | 'templateId'> & Pick<Template, 'projectId'>

type SuppressedPage = [matching: number, subscribed: number, suppressions: number, last: string]

/** @throws AppError BAD_REQUEST for a segment that does not exist */
export async function viewAudience(
  deps: Deps,
  campaign: CountedCampaign,
): Promise<CampaignAudienceRecord> {
  const asOf = new Date(deps.now()).toISOString()
  const scope = await audienceScope(deps, campaign)
  const counted = await countScope(deps, scope, campaign.type)
  return { ...counted, sample: await findSample(deps, recipientScope(scope, campaign.type)), asOf }
}

/**
 * Returns how many contacts would get the campaign now.
 * @throws AppError BAD_REQUEST for a segment that does not exist
 */
export async function countRecipients(deps: Deps, campaign: CountedCampaign): Promise<number> {
  const scope = await audienceScope(deps, campaign)
  const suppressed = await countSuppressed(deps, scope)
  if (campaign.type === 'TRANSACTIONAL') {
    return Math.max(0, (await countContacts(deps, scope)) - suppressed.all)
  }
  const subscribed = await countContacts(deps, { ...scope, subscribed: true })
  return Math.max(0, subscribed - suppressed.subscribed)
}

/** @throws AppError BAD_REQUEST for a segment that does not exist */
export async function countAudience(deps: Deps, campaign: CountedCampaign): Promise<AudienceCount> {
  return countScope(deps, await audienceScope(deps, campaign), campaign.type)
}

/**
 * Counts the contacts of a scope in several queries. Contacts that change between the queries may
 * make a count wrong by a few, but never negative.
 */
async function countScope(
  deps: Deps,
  scope: ContactScope,
  type: Campaign['type'],
): Promise<AudienceCount> {
  const suppressed = await countSuppressed(deps, scope)
  const all = await countContacts(deps, scope)
  const isForAll = type === 'TRANSACTIONAL'
  const subscribed = await countContacts(deps, { ...scope, subscribed: true })
  const wanted = Math.max(0, subscribed - suppressed.subscribed)
  const allowed = Math.max(wanted, all - suppressed.all)
  const willReceive = isForAll ? allowed : wanted
  return {
    matching: allowed + suppressed.all,
    unsubscribed: allowed - willReceive,
    suppressed: suppressed.all,
    willReceive,
    unsubscribedRecipients: willReceive - wanted,
  }
}

/** Counts the contacts of the scope whose address is suppressed, stretch by stretch of the list. */
async function countSuppressed(
  { store }: Deps,
  scope: ContactScope,
): Promise<{ all: number; subscribed: number }> {
  const count = { all: 0, subscribed: 0 }
  for (let after = ''; ; ) {
    const [page] = await store.scan.values<SuppressedPage>(sql`
      select count(contacts.id), coalesce(sum(contacts.subscribed), 0), count(*), max(listed.email)
      from (select email from suppressions
        where project_id = ${scope.projectId} and email > ${after}
        order by email limit ${STRETCH}) as listed
      left join contacts on contacts.project_id = ${scope.projectId}
        and contacts.email = listed.email${andAll(scopeClause(scope))}`)
    const [all = 0, subscribed = 0, suppressions = 0, last = ''] = page ?? []
    count.all += all
    count.subscribed += subscribed
    if (suppressions < STRETCH) return count
    after = last
  }
}

async function findSample(
  deps: Deps,
  scope: ContactScope,
): Promise<CampaignAudienceRecord['sample']> {
  for await (const page of walkContacts(deps, scope, { size: SAMPLE })) {
    return page.map(({ id, address: email }) => ({ id, email }))
  }
  return []
}

/**
 * Returns the type that a campaign would have if it were created: the given type, else the type of
 * the template.
 */
export async function findDraftType(
  queries: Pick<Tx, 'select'>,
  { projectId, type, templateId }: Draft,
): Promise<ContentClass> {
  if (type !== undefined || templateId == null) return type ?? 'MARKETING'
  const row = await queries
    .select({ type: templates.type })
    .from(templates)
    .where(isTemplateOf({ projectId, id: templateId }))
    .get()
  return row?.type ?? 'MARKETING'
}
