/**
 * Writes the mail that a job asks for. The mail, the token in its link and the mark that the job is
 * done share one transaction, so that a job which runs twice writes its mail once. A mail that has
 * become pointless is not sent: because the address is verified, the invitation is revoked, or the
 * project works again.
 *
 * Notices go to all members of a project, each in the member's language. A member whose address is
 * not proven gets none: the address may belong to a stranger.
 *
 * While the mail project cannot send, the job fails and is tried again (`work/jobs/run.ts`).
 */
import { displayDomain } from '../../../../formats/address/address.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, type Project, projects, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { loadProgress, saveProgress } from '../../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import type { Base, UsageNotice } from '../../../ground/base.ts'
import { monthOf } from '../../../ground/usage/month.ts'
import { acceptEmails } from '../../../mail/messages/accept/accept-emails.ts'
import { isProvenUser } from '../users/proof.ts'
import type { ToMessage } from './compose.ts'
import type { PlatformMail } from './enqueue.ts'
import { planInvitation, planReset, planVerification } from './links.ts'
import { type PlanDeps, type PlannedMail, type PlannedWork, planOne } from './plan.ts'
import { findPlatformSender, type UsableSender } from './sender.ts'

type SendDeps = PlanDeps & Pick<Base, 'health'>

type Job = Pick<RunningJob, 'id' | 'leaseId' | 'signal' | 'payload'>

/** Writes the mail of a job. @throws Error when the mail project cannot send at the moment */
export async function sendPlatformMail(deps: SendDeps, job: Job): Promise<void> {
  if ((await loadProgress(deps.store.read, job.id)) !== undefined) return
  const sender = await findPlatformSender(deps)
  if (sender.kind === 'none') return
  if (sender.kind === 'unusable') throw new Error(sender.reason)
  const work = await plan(deps, sender, job.payload as PlatformMail)
  if (work === undefined) return
  const write = async (tx: Tx) => {
    const isDue = (await work.prepare?.(tx)) ?? true
    if (isDue) for (const each of work.plans) await acceptEmails(deps, tx, each)
    await saveProgress(tx, job, { state: { isWritten: isDue }, at: deps.now() })
  }
  await deps.store.write(write, { heavyFor: sender.project.id })
}

/** Plans the mail of a job; undefined if the mail has become pointless. */
function plan(
  deps: SendDeps,
  sender: UsableSender,
  mail: PlatformMail,
): Promise<PlannedWork | undefined> {
  switch (mail.kind) {
    case 'verify-email':
      return planVerification(deps, sender, mail)
    case 'reset-password':
      return planReset(deps, sender, mail)
    case 'invitation':
      return planInvitation(deps, sender, mail)
    case 'project-disabled':
      return planDisabled(deps, sender, mail)
    case 'domain-lost':
      return planDomainLost(deps, sender, mail)
    case 'usage-limit':
      return planUsageLimit(deps, sender, mail)
  }
}

async function planDisabled(
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

async function planDomainLost(
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

/**
 * Plans the notice about a limit; undefined after the end of the month, when the limit has no
 * effect any more.
 */
async function planUsageLimit(
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

/** Joins two sentences. In Chinese and Japanese there is no space between sentences. */
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
