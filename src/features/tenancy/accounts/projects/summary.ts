/**
 * Finds projects in short, as `GET /projects` shows them, and how far a project is set up, for the
 * first page of a dashboard.
 */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import { displayDomain } from '../../../../formats/address/address.ts'
import type { ProjectSummary, SetupState } from '../../../../records/project.ts'
import { and, desc, eq, isNull, type SQL, sql } from '../../../../store/drizzle.ts'
import { memberships, projects } from '../../../../store/schema/accounts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { noProject } from '../members/require-admin.ts'

/**
 * Written by hand: in a query of one table, drizzle would leave out the names of the tables, and
 * the subquery needs them.
 */
const oldestVerifiedDomain: SQL<string | null> = sql`(
  select domains.domain from domains
  where domains.project_id = projects.id and domains.is_verified = 1
  order by domains.created_at, domains.id limit 1)`

const summaryColumns = {
  id: projects.id,
  name: projects.name,
  createdAt: projects.createdAt,
  domain: oldestVerifiedDomain,
}

type SummaryRow = { id: string; name: string; createdAt: number; domain: string | null }

type SetupFacts = {
  contactCount: number
  hasSubscription: 0 | 1
  hasVerifiedDomain: 0 | 1
  hasEnabledWorkflow: 0 | 1
  hasSentEmail: 0 | 1
  lastCampaignSentAt: number | null
}

const projectId = parameter('projectId')

const selectFacts = statement<SetupFacts>(
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
export async function loadProjectSummary(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<ProjectSummary> {
  const found = await store.read
    .select(summaryColumns)
    .from(projects)
    .where(and(eq(projects.id, id), isNull(projects.deletedAt)))
    .get()
  if (found === undefined) throw noProject(id)
  return toSummary(found)
}

/** Lists the projects of a user, the newest membership first. */
export async function listProjectSummaries(
  { store }: Pick<Base, 'store'>,
  userId: string,
): Promise<ProjectSummary[]> {
  const rows = await store.read
    .select(summaryColumns)
    .from(memberships)
    .innerJoin(projects, and(eq(projects.id, memberships.projectId), isNull(projects.deletedAt)))
    .where(eq(memberships.userId, userId))
    .orderBy(desc(memberships.createdAt), desc(projects.id))
  return rows.map(toSummary)
}

/** Finds how far a project is set up. @throws AppError RESOURCE_NOT_FOUND */
export async function loadSetupState(
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

function toSummary({ id, name, createdAt, domain }: SummaryRow): ProjectSummary {
  return {
    id,
    name,
    defaultSenderDomain: domain === null ? null : displayDomain(domain),
    createdAt: formatInstant(createdAt),
  }
}
