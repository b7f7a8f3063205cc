/**
 * Whether an email can be tried again. Delivery fails an email for the same reasons when it claims it
 * (`delivery/prepare.ts`), so a retry that is refused here would only fail once more.
 */
import { parseAddress } from '../../../../formats/address/address.ts'
import type { RefusalCode } from '../../../../records/reason-codes.ts'
import { listOf } from '../../../../store/dialect.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { isToOther } from '../../../../store/email-terms.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { campaigns } from '../../../../store/schema/campaigns.ts'
import { domains } from '../../../../store/schema/domains.ts'
import { contents, emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { isUnwanted } from '../delivery/prepare.ts'
import { fateOf, holdEndOf } from '../disabled/mail-fate.ts'
import { isOlderThanFence } from '../fenced/waiting-rows.ts'
import { recipientColumns } from './claim.ts'

export type Retryable = {
  /** Why the email cannot be tried again; null if it can. */
  obstacle: RefusalCode | null
  isCampaignPaused: boolean
  /**
   * `maxPerHour` of the email's campaign, if the email waits for its slot when it is paused and
   * neither a fence nor its project holds it; null if it does not.
   */
  pace: number | null
  isSenderVerified: boolean
  isOfCampaign: boolean
  /**
   * Since when and until when (epoch ms) the email is held for its project's reputation; null if it
   * is not. Mail of campaigns is held without an end.
   */
  projectHold: { since: number; until: number | null } | null
  /** Since when (epoch ms) a fence holds the email; null if none does. */
  fencedSince: number | null
}

export const RETRYABLE: Retryable = {
  obstacle: null,
  isCampaignPaused: false,
  pace: null,
  isSenderVerified: true,
  isOfCampaign: false,
  projectHold: null,
  fencedSince: null,
}

export const listRetryFacts = statement((db) =>
  db
    .select({
      id: emails.id,
      projectId: emails.projectId,
      fromAddress: emails.fromAddress,
      contentClass: emails.contentClass,
      campaignId: emails.campaignId,
      workflowExecutionId: emails.workflowExecutionId,
      isTest: emails.isTest,
      isToOther: sql<boolean>`${isToOther}`.mapWith(Boolean),
      campaignStatus: campaigns.status,
      campaignPausedAt: campaigns.pausedAt,
      maxPerHour: campaigns.maxPerHour,
      isTried: sql<boolean>`emails.attempt_count > 0`.mapWith(Boolean),
      isDisabled: projects.isDisabled,
      disabledReason: projects.disabledReason,
      disabledAt: projects.disabledAt,
      resetSince: projects.resetSince,
      deletedAt: projects.deletedAt,
      isPlatform: emails.isPlatform,
      isCleared:
        sql<boolean>`coalesce(emails.variables, emails.sealed_variables) is null or contents.body is null`.mapWith(
          Boolean,
        ),
      fencedSince: sql<number | null>`case when campaigns.status = 'SENDING'
        and campaigns.pause_reason = 'restored' then campaigns.paused_at
        else (select set_at from fences where fences.project_id = emails.project_id
          and (emails.state = 'paused' or not fences.is_settled) and ${isOlderThanFence}) end`,
      ...recipientColumns,
    })
    .from(emails)
    .leftJoin(contents, eq(contents.id, emails.contentId))
    .innerJoin(projects, eq(projects.id, emails.projectId))
    .leftJoin(campaigns, eq(campaigns.id, emails.campaignId))
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

const listVerified = statement((db) =>
  db
    .select({ projectId: domains.projectId, domain: domains.domain })
    .from(domains)
    .where(
      and(
        sql`${domains.projectId} in ${listOf(parameter('projectIds'))}`,
        eq(domains.isVerified, true),
      ),
    ),
)

/** Emails whose facts one statement reads. */
const SLICE = 100

type RetryFacts = Awaited<ReturnType<typeof listFacts>>[number]

/** Finds, by id, whether emails can be tried again. `at`: now (epoch ms). */
export async function findRetryable(
  reader: Pick<Tx, 'list'>,
  ids: readonly string[],
  at: number,
): Promise<Map<string, Retryable>> {
  if (ids.length === 0) return new Map()
  const facts = await listFacts(reader, ids)
  const verified = await findVerified(reader, facts)
  return new Map(
    facts.map((each) => {
      const isCampaignPaused = each.campaignStatus === 'SENDING' && each.campaignPausedAt !== null
      const domain = parseAddress(each.fromAddress)?.domain
      const isSenderVerified = verified.has(`${each.projectId} ${domain}`)
      const obstacle = findObstacle(each, isSenderVerified)
      const isPaced =
        each.campaignStatus === 'SENDING' && !isCampaignPaused && isSenderVerified && !each.isTried
      const pace = isPaced ? each.maxPerHour : null
      const isOfCampaign = each.campaignId !== null
      const projectHold = findProjectHold(each, at)
      const { fencedSince } = each
      const holds = { projectHold, fencedSince }
      const facts = { isCampaignPaused, pace, isSenderVerified, isOfCampaign, ...holds }
      return [each.id, { obstacle, ...facts }]
    }),
  )
}

function findProjectHold(facts: RetryFacts, at: number): Retryable['projectHold'] {
  const fate = fateOf(facts, at)
  if (fate !== 'held' && (fate !== 'over' || facts.campaignId === null)) return null
  const until = facts.campaignId === null ? holdEndOf(facts) : null
  return { since: facts.disabledAt ?? at, until }
}

/** Reads the facts in slices, because the reader may be that of the main thread. */
async function listFacts(reader: Pick<Tx, 'list'>, ids: readonly string[]) {
  const facts: Awaited<ReturnType<typeof listSlice>> = []
  for (let at = 0; at < ids.length; at += SLICE) {
    facts.push(...(await listSlice(reader, ids.slice(at, at + SLICE))))
  }
  return facts
}

function listSlice(reader: Pick<Tx, 'list'>, ids: readonly string[]) {
  return reader.list(listRetryFacts, { ids: JSON.stringify(ids) })
}

/** Finds the verified domains of the emails' projects. */
async function findVerified(
  reader: Pick<Tx, 'list'>,
  facts: readonly RetryFacts[],
): Promise<Set<string>> {
  const projectIds = JSON.stringify([...new Set(facts.map(({ projectId }) => projectId))])
  const rows = await reader.list(listVerified, { projectIds })
  return new Set(rows.map(({ projectId, domain }) => `${projectId} ${domain}`))
}

/** A campaign that is being sent is paused until its sender domain is verified. */
function findObstacle(facts: RetryFacts, isSenderVerified: boolean): RefusalCode | null {
  if (facts.isCleared) return facts.isPlatform ? 'platform_mail_not_kept' : 'content_cleared'
  if (facts.isDisabled) return 'project_disabled'
  if (facts.campaignStatus === 'CANCELLED') return 'campaign_cancelled'
  if (facts.isSuppressed) return 'suppressed'
  if (isUnwanted(facts, facts.isToOther)) return 'unsubscribed'
  return isSenderVerified || facts.campaignStatus === 'SENDING' ? null : 'sender_unverified'
}
