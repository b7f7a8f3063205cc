/** How far a project is set up, for the first page of a dashboard. */
import { formatOptionalInstant } from '../../../../base/clock.ts'
import type { SetupState } from '../../../../records/project.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { noProject } from '../members/require-admin.ts'

type Facts = {
  contactCount: number
  hasSubscription: 0 | 1
  hasVerifiedDomain: 0 | 1
  hasEnabledWorkflow: 0 | 1
  hasSentEmail: 0 | 1
  lastCampaignSentAt: number | null
}

const projectId = parameter('projectId')

const selectFacts = statement<Facts>(
  () => sql`select contact_count as contactCount, subscription is not null as hasSubscription,
    exists (select 1 from domains
      where project_id = projects.id and is_verified = 1) as hasVerifiedDomain,
    exists (select 1 from workflows
      where project_id = projects.id and enabled = 1 and deleted_at is null) as hasEnabledWorkflow,
    exists (select 1 from emails
      where project_id = projects.id and sent_at is not null) as hasSentEmail,
    (select max(sent_at) from campaigns where project_id = projects.id) as lastCampaignSentAt
    from projects where id = ${projectId} and deleted_at is null`,
)

/** @throws AppError RESOURCE_NOT_FOUND */
export async function getSetupState(
  { store, config }: Pick<Base, 'store' | 'config'>,
  id: string,
): Promise<SetupState> {
  const facts = await store.scan.find(selectFacts, { projectId: id })
  if (facts === undefined) throw noProject(id)
  const { contactCount, lastCampaignSentAt } = facts
  return {
    hasSubscription: facts.hasSubscription === 1,
    hasVerifiedDomain: facts.hasVerifiedDomain === 1,
    contactCount,
    hasContacts: contactCount > 0,
    lastCampaignSentAt: formatOptionalInstant(lastCampaignSentAt),
    hasEnabledWorkflow: facts.hasEnabledWorkflow === 1,
    hasSentEmail: facts.hasSentEmail === 1,
    deliveryMode: config.delivery.mode,
  }
}
