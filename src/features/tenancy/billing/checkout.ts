/**
 * Opens the pages of Stripe: the checkout, where a subscription begins, and the portal of a
 * customer. The metadata of a checkout name the project, so that a later event about the
 * subscription finds the project (`webhook/event.ts`).
 */
import { hash } from 'node:crypto'
import type { Stripe } from 'stripe'
import { MINUTE_MS } from '../../../base/clock.ts'
import { AppError, describeError } from '../../../base/errors.ts'
import { CURRENCIES } from '../../../records/words.ts'
import type { Base } from '../../ground/base.ts'
import type { Project } from '../accounts/rows.ts'
import { MARK_KEY, markOf } from './mark.ts'
import { requireCustomer, requireStripe, type WithStripe } from './require-stripe.ts'
import type { StripeClient } from './stripe.ts'
import { isFault } from './stripe-fault.ts'

/** The name of the metadata that hold the id of a project. */
export const PROJECT_KEY = 'project_id'

type Deps = WithStripe & Pick<Base, 'config' | 'keyring' | 'now' | 'log' | 'sharedRuns'>
type Params = Stripe.Checkout.SessionCreateParams

/** The length of a time span in which all clicks of a user get the same session. */
const SAME_CLICK_MS = 5 * MINUTE_MS
const TERMS =
  'You pay for the emails that you send and receive in a month. There is no fee without use.'

/**
 * Returns the address of the checkout. `email`: the address of the user who subscribes.
 *
 * @throws AppError RESOURCE_NOT_FOUND without billing; BAD_REQUEST for another currency, and for a
 *   project with a subscription; EXTERNAL_SERVICE_ERROR
 */
export async function beginCheckout(
  deps: Deps,
  project: Pick<Project, 'id' | 'customer' | 'subscription'>,
  { currency, email }: { currency: string; email: string },
): Promise<{ url: string }> {
  const stripe = requireStripe(deps)
  refuseCurrency(currency)
  if (project.subscription !== null) {
    throw new AppError('BAD_REQUEST', 'The project has a subscription already.')
  }
  const open = async (customer: string | null) => {
    const params = { ...paramsOf(deps, stripe, project.id), currency, ...whoOf(customer, email) }
    const idempotencyKey = keyOf(params, deps.now())
    // Concurrent requests share a run, because Stripe refuses a key whose first request has not
    // ended.
    return deps.sharedRuns.take(idempotencyKey, () =>
      stripe.call((api) => api.checkout.sessions.create(params, { idempotencyKey })),
    )
  }
  try {
    return toAnswer(await openFor(open, project.customer))
  } catch (error) {
    if (!isFault(error, 'refused')) throw error
    deps.log.warn({ error: describeError(error.cause), projectId: project.id }, 'no checkout began')
    throw new AppError('BAD_REQUEST', 'The payment provider refused this subscription.', {
      cause: error,
      suggestion: 'Try another currency, or ask the operator of this server.',
    })
  }
}

type CheckoutSession = Stripe.Checkout.Session

/** A customer that was deleted at Stripe is replaced by a new one. */
async function openFor(
  open: (customer: string | null) => Promise<CheckoutSession>,
  customer: string | null,
): Promise<CheckoutSession> {
  try {
    return await open(customer)
  } catch (error) {
    const isGone = isFault(error, 'refused') && error.stripeCode === 'resource_missing'
    if (customer === null || !isGone) throw error
    return open(null)
  }
}

function toAnswer({ url }: CheckoutSession): { url: string } {
  if (url === null) throw new TypeError('Stripe made a checkout without an address')
  return { url }
}

/** @throws AppError BAD_REQUEST */
function refuseCurrency(currency: string): void {
  if (CURRENCIES.some((known) => known === currency)) return
  throw new AppError('BAD_REQUEST', `The currency must be one of: ${CURRENCIES.join(', ')}.`)
}

function paramsOf(
  { config: { baseUrl }, keyring }: Deps,
  { price }: StripeClient,
  projectId: string,
): Params {
  const metadata = { [PROJECT_KEY]: projectId, [MARK_KEY]: markOf(keyring, projectId) }
  return {
    mode: 'subscription',
    // Has no quantity: the quantity of a metered price is what its meter has counted.
    line_items: [{ price }],
    client_reference_id: projectId,
    metadata,
    subscription_data: {
      metadata,
      // Invoices are for months of the calendar, as limits are.
      billing_cycle_anchor_config: { day_of_month: 1, hour: 0, minute: 0, second: 0 },
      proration_behavior: 'none',
    },
    allow_promotion_codes: true,
    custom_text: { submit: { message: TERMS } },
    success_url: `${baseUrl}/app?checkout=done`,
    cancel_url: `${baseUrl}/app?checkout=cancelled`,
  }
}

function whoOf(customer: string | null, email: string): Params {
  return customer === null ? { customer_email: email } : { customer }
}

/** Makes the idempotency key: the same for equal requests in one time span. */
function keyOf(params: Params, at: number): string {
  const time = Math.floor(at / SAME_CLICK_MS)
  return `checkout ${hash('sha256', `${time} ${JSON.stringify(params)}`)}`
}

/**
 * Opens the pages on which a customer changes cards, reads invoices and ends the subscription.
 *
 * @throws AppError RESOURCE_NOT_FOUND without billing; BAD_REQUEST without a customer;
 *   EXTERNAL_SERVICE_ERROR
 */
export async function openPortal(
  deps: WithStripe & Pick<Base, 'config'>,
  project: Pick<Project, 'customer'>,
): Promise<{ url: string }> {
  const stripe = requireStripe(deps)
  const customer = requireCustomer(project)
  const params = { customer, return_url: `${deps.config.baseUrl}/app` }
  try {
    const { url } = await stripe.call((api) => api.billingPortal.sessions.create(params))
    return { url }
  } catch (error) {
    const isGone = isFault(error, 'refused') && error.stripeCode === 'resource_missing'
    if (!isGone) throw error
    throw new AppError('BAD_REQUEST', 'The payment provider has deleted the customer.', {
      cause: error,
    })
  }
}
