/**
 * Reads the state of a project's subscription at Stripe, and changes the project accordingly in one
 * transaction.
 */
import type { Stripe } from 'stripe'
import { SECOND_MS } from '../../../../base/clock.ts'
import { and, eq, isNull, ne } from '../../../../store/drizzle.ts'
import { type Project, projects } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { findMailProjectId } from '../../accounts/platform-mail/sender.ts'
import { disableProject, enableProject } from '../../accounts/projects/disable.ts'
import { enqueueCancellation } from '../cancel.ts'
import { PROJECT_KEY } from '../checkout.ts'
import { isMarkOf, MARK_KEY } from '../mark.ts'
import type { StripeClient } from '../stripe.ts'
import { isFault } from '../stripe-fault.ts'
import type { SubscriptionReference } from './event.ts'

type SubscriptionStanding = {
  projectId: string
  /** Whether a checkout of this server began the subscription. */
  isOurs: boolean
  subscription: string
  customer: string
  currency: string
  /** When the subscription began (epoch ms). */
  startedAt: number
  /**
   * `live`: mail is charged. `over`: the subscription has ended, or Stripe has given up collecting.
   * `pending`: the first payment is still missing.
   */
  state: 'live' | 'over' | 'pending'
  /** Whether a payment after the first one has failed and is still missing. */
  isFailing: boolean
  /** The subscription that the project has already, if it is another live one; else null. */
  earlier: string | null
}

const LIVE: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due'])
/**
 * The states of a subscription in which no payment is overdue; an open invoice is still being paid.
 */
const PAID: ReadonlySet<string> = new Set(['active', 'trialing'])

type Deps = Pick<Base, 'config' | 'directory' | 'now' | 'log' | 'jobNotifier'>

/** @throws StripeFault */
export async function readStanding(
  { store, keyring }: Pick<Base, 'store' | 'keyring'>,
  stripe: StripeClient,
  { projectId, subscriptionId }: SubscriptionReference,
): Promise<SubscriptionStanding | undefined> {
  const read = await stripe.call((api) => api.subscriptions.retrieve(subscriptionId))
  if (read.metadata[PROJECT_KEY] !== projectId) return undefined
  const customer = typeof read.customer === 'string' ? read.customer : read.customer.id
  const isFailing = !PAID.has(read.status) && (await hasFailed(stripe, { customer, projectId }))
  const state = stateOf(read)
  const stored = await store.read
    .select({ subscription: projects.subscription })
    .from(projects)
    .where(and(eq(projects.id, projectId), isNull(projects.deletedAt)))
    .get()
  const other = stored?.subscription ?? null
  const isOther = state === 'live' && other !== null && other !== read.id
  const earlier = isOther && (await isLive(stripe, other)) ? other : null
  const { currency, start_date } = read
  const isOurs = isMarkOf(keyring, projectId, read.metadata[MARK_KEY])
  const facts = { subscription: read.id, customer, currency, startedAt: start_date * SECOND_MS }
  return { projectId, isOurs, ...facts, state, isFailing, earlier }
}

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
  await storeStanding(deps, tx, project, standing)
  await settlePayment(deps, tx, project, standing)
  tx.afterCommit(deps.directory.drop)
}

function stateOf({ status }: Stripe.Subscription): SubscriptionStanding['state'] {
  if (LIVE.has(status)) return 'live'
  return status === 'incomplete' ? 'pending' : 'over'
}

async function isLive(stripe: StripeClient, id: string): Promise<boolean> {
  try {
    const { status } = await stripe.call((api) => api.subscriptions.retrieve(id))
    return LIVE.has(status)
  } catch (error) {
    if (isFault(error, 'missing')) return false
    throw error
  }
}

/**
 * Whether a payment has failed. Looks only at invoices of the project's subscription; other
 * invoices of the customer do not concern this server.
 */
async function hasFailed(
  stripe: StripeClient,
  { customer, projectId }: { customer: string; projectId: string },
): Promise<boolean> {
  const params = { customer, status: 'open', limit: 100 } as const
  const { data } = await stripe.call((api) => api.invoices.list(params))
  return data.some(({ attempted, billing_reason, parent }) => {
    const isOwn = parent?.subscription_details?.metadata?.[PROJECT_KEY] === projectId
    return isOwn && attempted && billing_reason !== 'subscription_create'
  })
}

function findProject(tx: Tx, { projectId }: SubscriptionStanding): Promise<Project | undefined> {
  return tx
    .select()
    .from(projects)
    .where(and(eq(projects.id, projectId), isNull(projects.deletedAt)))
    .get()
}

/**
 * Whether the customer belongs to another project, or differs from the one that the project has
 * with this subscription: a project keeps its customer while it has a subscription.
 */
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

async function storeStanding(
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
