/**
 * Whether an email can be tried again. Delivery checks the same when it claims an email
 * (`delivery/prepare.ts`), so a retry that is refused here would only fail once more.
 */
import { parseAddress } from '../../../mail/address/address.ts'
import { listOf } from '../../../store/dialect.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { domains } from '../../../store/schema/domains.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import {
  CLEARED,
  DISABLED,
  NO_SENDER_DOMAIN,
  needsSubscription,
  UNSUBSCRIBED,
} from '../delivery/prepare.ts'

export type Retryable = {
  /** Why the email cannot be tried again: `the contact has unsubscribed`; null if it can. */
  obstacle: string | null
  isCampaignPaused: boolean
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
      campaignStatus: campaigns.status,
      campaignPausedAt: campaigns.pausedAt,
      isDisabled: projects.isDisabled,
      isCleared: sql<boolean>`${emails.variables} is null`.mapWith(Boolean),
      isSubscribed: sql<boolean>`(select subscribed from contacts
        where contacts.id = emails.contact_id)`.mapWith(Boolean),
      isSuppressed: sql<boolean>`exists (select 1 from suppressions
        where suppressions.project_id = emails.project_id
        and suppressions.email = emails.recipient)`.mapWith(Boolean),
    })
    .from(emails)
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

type RetryFacts = Awaited<ReturnType<typeof listFacts>>[number]

/** By id. */
export async function findRetryable(
  reader: Pick<Tx, 'list'>,
  ids: readonly string[],
): Promise<Map<string, Retryable>> {
  if (ids.length === 0) return new Map()
  const facts = await listFacts(reader, ids)
  const projectIds = JSON.stringify([...new Set(facts.map(({ projectId }) => projectId))])
  const rows = await reader.list(listVerified, { projectIds })
  const verified = new Set(rows.map(({ projectId, domain }) => `${projectId} ${domain}`))
  return new Map(
    facts.map((each) => {
      const isCampaignPaused = each.campaignStatus === 'SENDING' && each.campaignPausedAt !== null
      return [each.id, { obstacle: findObstacle(each, verified), isCampaignPaused }]
    }),
  )
}

function listFacts(reader: Pick<Tx, 'list'>, ids: readonly string[]) {
  return reader.list(listRetryFacts, { ids: JSON.stringify(ids) })
}

/** In the order of the checks of delivery. Mail of a campaign waits for its sender domain. */
function findObstacle(facts: RetryFacts, verified: ReadonlySet<string>): string | null {
  const { projectId, campaignId, campaignStatus, fromAddress } = facts
  if (facts.isCleared) return CLEARED
  if (facts.isDisabled) return DISABLED
  if (campaignStatus === 'CANCELLED') return 'its campaign was cancelled'
  if (facts.isSuppressed) return 'its address is on the suppression list'
  if (!facts.isSubscribed && needsSubscription(facts)) return UNSUBSCRIBED
  const domain = parseAddress(fromAddress)?.domain
  return campaignId === null && !verified.has(`${projectId} ${domain}`) ? NO_SENDER_DOMAIN : null
}
