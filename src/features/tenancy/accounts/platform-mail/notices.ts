/**
 * Plans the mail that tells the members of a project what has become of it, each in their language. An
 * address that is not proven gets none: it may belong to a stranger.
 */
import { displayDomain } from '../../../../formats/address/address.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, type Project, projects, users } from '../../../../store/schema/accounts.ts'
import type { UsageNotice } from '../../../ground/base.ts'
import { monthOf } from '../../../ground/usage/month.ts'
import { isProvenUser } from '../users/proof.ts'
import type { ToMessage } from './compose.ts'
import { type PlanDeps, type PlannedMail, type PlannedWork, planOne } from './plan.ts'
import type { UsableSender } from './sender.ts'

export async function planDisabled(
  deps: PlanDeps,
  sender: UsableSender,
  { projectId }: { projectId: string },
): Promise<PlannedWork | undefined> {
  const project = await findProject(deps, projectId)
  if (project === undefined || project.disabledReason === null) return undefined
  const isReputation = project.disabledReason === 'EMAIL_REPUTATION'
  return planForMembers(deps, sender, {
    projectId,
    toMessage: ({ disabled }) => ({
      subject: disabled.subject,
      text: isReputation ? disabled.reputation : disabled.other,
      values: { project: project.name },
    }),
  })
}

export async function planDomainLost(
  deps: PlanDeps,
  sender: UsableSender,
  { projectId, domain }: { projectId: string; domain: string },
): Promise<PlannedWork | undefined> {
  const project = await findProject(deps, projectId)
  if (project === undefined) return undefined
  return planForMembers(deps, sender, {
    projectId,
    toMessage: ({ domainLost }) => ({
      ...domainLost,
      values: { project: project.name, domain: displayDomain(domain) },
    }),
  })
}

/** A month that is over has no limit any more. */
export async function planUsageLimit(
  deps: PlanDeps,
  sender: UsableSender,
  { projectId, startsAt, category, percent, limit, used }: UsageNotice,
): Promise<PlannedWork | undefined> {
  const project = await findProject(deps, projectId)
  if (project === undefined || startsAt !== monthOf(deps.now())) return undefined
  return planForMembers(deps, sender, {
    projectId,
    toMessage: ({ usage }, language) => ({
      subject: percent === 100 ? usage.reached : usage.warning,
      text: joinSentences(usage.text, usage.atLimit[category]),
      values: {
        project: project.name,
        category: usage.categories[category],
        used: used.toLocaleString(language),
        limit: limit.toLocaleString(language),
      },
    }),
  })
}

/** Sentences of Chinese and Japanese have no space between them. */
function joinSentences(first: string, second: string): string {
  return first.endsWith('。') ? first + second : `${first} ${second}`
}

function findProject({ store }: Pick<PlanDeps, 'store'>, id: string): Promise<Project | undefined> {
  return store.read
    .select()
    .from(projects)
    .where(and(eq(projects.id, id), isNull(projects.deletedAt)))
    .get()
}

async function planForMembers(
  deps: PlanDeps,
  sender: UsableSender,
  { projectId, toMessage }: { projectId: string; toMessage: ToMessage },
): Promise<PlannedWork> {
  const members = await deps.store.read
    .select({ address: users.address, language: users.language })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.projectId, projectId), isProvenUser()))
    .orderBy(memberships.createdAt)
  const plans: PlannedMail[] = []
  for (const to of members) {
    plans.push(...(await planOne(deps, sender, { to, isAskedFor: false, toMessage })))
  }
  return { plans }
}
