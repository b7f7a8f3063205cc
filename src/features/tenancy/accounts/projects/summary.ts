/** Projects in short, as `GET /projects` shows them. */
import { formatInstant } from '../../../../base/clock.ts'
import { displayDomain } from '../../../../formats/address/address.ts'
import type { ProjectSummary } from '../../../../records/project.ts'
import { and, desc, eq, isNull, type SQL, sql } from '../../../../store/drizzle.ts'
import { memberships, projects } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { noProject } from '../members/require-admin.ts'

/** @throws AppError RESOURCE_NOT_FOUND */
export async function getProjectSummary(
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

/** The projects of a user, the newest membership first. */
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

/** Drizzle would leave out the names of tables in a query of one table. */
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

function toSummary({ id, name, createdAt, domain }: SummaryRow): ProjectSummary {
  return {
    id,
    name,
    defaultSenderDomain: domain === null ? null : displayDomain(domain),
    createdAt: formatInstant(createdAt),
  }
}
