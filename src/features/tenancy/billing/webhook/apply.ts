/** Brings a project in line with how it stands with Stripe, in one transaction. */
import { and, eq, isNull, ne } from '../../../../store/drizzle.ts'
import { type Project, projects } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { findMailProjectId } from '../../accounts/platform-mail/mail-project.ts'
import { disableProject, enableProject } from '../../accounts/projects/disable.ts'
import { enqueueCancellation } from '../cancel.ts'
import type { SubscriptionStanding } from './read-standing.ts'

type Deps = Pick<Base, 'config' | 'directory' | 'now' | 'log' | 'jobNotifier'>

export async function applyStanding(
  deps: Deps,
  tx: Tx,
  standing: SubscriptionStanding,
): Promise<void> {
  const project = await findProject(tx, standing)
  const facts = { projectId: standing.projectId, subscription: standing.subscription }
  if (project === undefined) {
    if (!standing.isOurs || standing.state === 'over') {
      return note(deps, tx, facts, 'a subscription belongs to no project of this server')
    }
    await enqueueCancellation(deps, tx, { ...standing, billsUse: false })
    return note(deps, tx, facts, 'a subscription of a deleted project is cancelled')
  }
  if (await isOfOther(tx, project, standing)) {
    return note(deps, tx, facts, 'the customer of a subscription is not that of its project')
  }
  if (standing.earlier !== null) {
    await enqueueCancellation(deps, tx, { ...standing, billsUse: false })
    return note(deps, tx, facts, 'a second subscription of a project is cancelled')
  }
  await store(deps, tx, project, standing)
  await settlePayment(deps, tx, project, standing)
  tx.afterCommit(deps.directory.drop)
}

function findProject(tx: Tx, { projectId }: SubscriptionStanding): Promise<Project | undefined> {
  return tx
    .select()
    .from(projects)
    .where(and(eq(projects.id, projectId), isNull(projects.deletedAt)))
    .get()
}

/** A project keeps its customer while it has a subscription. */
async function isOfOther(
  tx: Tx,
  project: Project,
  { customer, subscription }: SubscriptionStanding,
): Promise<boolean> {
  const isReplaced = project.customer !== null && project.customer !== customer
  if (isReplaced && project.subscription === subscription) return true
  const owner = await tx
    .select({ id: projects.id })
    .from(projects)
    .where(and(eq(projects.customer, customer), ne(projects.id, project.id)))
    .get()
  return owner !== undefined
}

async function store(
  { now }: Deps,
  tx: Tx,
  project: Project,
  { state, subscription, customer, currency, startedAt }: SubscriptionStanding,
): Promise<void> {
  const isOwn = project.subscription === subscription
  const change =
    state === 'live'
      ? { customer, subscription, currency, subscribedAt: startedAt }
      : { subscription: null, subscribedAt: null }
  if (state !== 'live' && !isOwn) return
  await tx
    .update(projects)
    .set({ ...change, updatedAt: now() })
    .where(eq(projects.id, project.id))
}

/**
 * Disables the project when a payment fails, and enables it when the payment is made up for. A
 * payment of another customer than the project's is ignored, unless the subscription is live. The
 * project that sends the mail of this server stays enabled: without it no message could reach a
 * user.
 */
async function settlePayment(
  deps: Deps,
  tx: Tx,
  { id: projectId, isDisabled, disabledReason, customer }: Project,
  standing: SubscriptionStanding,
): Promise<void> {
  const at = deps.now()
  const isStranger = customer !== null && customer !== standing.customer
  if (isStranger && standing.state !== 'live') return
  if (!standing.isFailing) {
    if (disabledReason !== 'PAYMENT_FAILED') return
    await enableProject(deps, tx, { projectId, at, keepsReputation: true })
    return note(deps, tx, { project: projectId }, 'a project was enabled, because it has paid')
  }
  if (isDisabled && disabledReason !== null) return
  if (projectId === (await findMailProjectId(deps, tx))) {
    return note(deps, tx, { project: projectId }, 'a payment of the project of this server failed')
  }
  await disableProject(deps, tx, { projectId, reason: 'PAYMENT_FAILED', at })
  tx.afterCommit(() => deps.jobNotifier.notify())
  note(deps, tx, { project: projectId }, 'a project was disabled, because a payment failed')
}

function note({ log }: Deps, tx: Tx, facts: object, text: string): void {
  tx.afterCommit(() => log.warn(facts, text))
}
