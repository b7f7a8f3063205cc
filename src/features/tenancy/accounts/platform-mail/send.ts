/**
 * Writes the mail that a job asks for. The mail, the token in its link and the mark that the job is done
 * share one transaction, so that a job which runs twice writes its mail once. What has become
 * pointless by now is left out: the address is verified, the invitation is revoked, the project works
 * again.
 *
 * While the mail project cannot send, the job fails and is tried again (`work/jobs/run.ts`).
 */
import type { Tx } from '../../../../store/write/transaction.ts'
import { loadProgress, saveProgress } from '../../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../../work/jobs/run.ts'
import type { Base } from '../../../ground/base.ts'
import { acceptEmails } from '../../../mail/messages/accept/accept-emails.ts'
import type { PlatformMail } from './enqueue.ts'
import { planInvitation, planReset, planVerification } from './links.ts'
import { planDisabled, planDomainLost, planUsageLimit } from './notices.ts'
import type { PlanDeps, PlannedWork } from './plan.ts'
import { findPlatformSender, type UsableSender } from './sender.ts'

type SendDeps = PlanDeps & Pick<Base, 'health'>

type Job = Pick<RunningJob, 'id' | 'leaseId' | 'signal' | 'payload'>

/** @throws Error when the mail project cannot send at the moment */
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

/** Undefined if the mail has become pointless. */
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
