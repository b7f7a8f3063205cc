/** Reads how a project stands with Stripe. */
import type { Stripe } from 'stripe'
import { SECOND_MS } from '../../../../base/clock.ts'
import { and, eq, isNull } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { PROJECT_KEY } from '../checkout.ts'
import { isMarkOf, MARK_KEY } from '../mark.ts'
import type { StripeClient } from '../stripe.ts'
import { isFault } from '../stripe-fault.ts'
import type { SubscriptionReference } from './find-reference.ts'

export type SubscriptionStanding = {
  projectId: string
  /** Whether a checkout of this server began the subscription. */
  isOurs: boolean
  subscription: string
  customer: string
  currency: string
  /** When the subscription began, in ms. */
  startedAt: number
  /**
   * `live`: mail is charged. `over`: the subscription ended, or Stripe has given up collecting.
   * `pending`: the first payment is not made.
   */
  state: 'live' | 'over' | 'pending'
  /** Whether a payment after the first has failed and was not made up for. */
  isFailing: boolean
  /** Another subscription of the project, which is live too and was there before. */
  earlier: string | null
}

const LIVE: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due'])
/** In these states of a subscription, an open invoice is being paid. */
const PAID: ReadonlySet<string> = new Set(['active', 'trialing'])

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
 * Looks only at invoices of the project's subscription; other invoices of the customer do not
 * concern this server.
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
