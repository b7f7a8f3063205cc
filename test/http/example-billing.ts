/** Billing for the examples of the API documentation: the double of Stripe, while they need it. */
import { createStripe } from '../../src/features/tenancy/billing/stripe.ts'
import { eq } from '../../src/store/drizzle.ts'
import { projects } from '../../src/store/schema/accounts.ts'
import type { TestCore } from '../core.ts'
import {
  SECRET_KEY,
  type StripeDouble,
  startStripeDouble,
  WEBHOOK_SECRET,
} from '../stripe/double.ts'
import { METER, PRICE } from '../stripe/objects.ts'

type BillingStage = { core: TestCore; projectId: string }

const doubles = new WeakMap<TestCore, StripeDouble>()

export async function openBilling({ core }: BillingStage): Promise<void> {
  const double = await startStripeDouble()
  doubles.set(core, double)
  const billing = {
    stripeSecretKey: SECRET_KEY,
    stripeWebhookSecret: WEBHOOK_SECRET,
    stripePrice: PRICE,
    stripeMeterEvent: METER.eventName,
    stripeApiBase: double.url,
    freeEmails: 1_000,
  }
  core.stripe = createStripe(billing, core)
}

/** The project has used 12,500 credits, and owes an invoice. */
export async function subscribe({ core, projectId }: BillingStage): Promise<void> {
  const double = doubles.get(core)
  if (double === undefined) throw new TypeError('billing is not open')
  const { id: subscription, customer, startDate } = double.addSubscription()
  double.state.customers.set(customer, {
    id: customer,
    email: null,
    balance: -300,
    currency: 'eur',
  })
  double.state.events.push({
    meter: METER.id,
    identifier: 'example',
    customer,
    value: 12_500,
    timestamp: startDate,
    createdAt: startDate,
  })
  double.addInvoice({ customer })
  await core.store.write((tx) =>
    tx
      .update(projects)
      .set({ customer, subscription, currency: 'eur', subscribedAt: startDate * 1000 })
      .where(eq(projects.id, projectId)),
  )
  core.directory.drop()
}

export async function closeBilling({ core, projectId }: BillingStage): Promise<void> {
  const none = { customer: null, subscription: null, currency: null, subscribedAt: null }
  await core.store.write((tx) => tx.update(projects).set(none).where(eq(projects.id, projectId)))
  core.directory.drop()
  core.stripe?.close()
  core.stripe = null
  await doubles.get(core)?.stop()
}

/** The header by which the server knows that Stripe sent the body. */
export function signAsStripe({ core }: BillingStage, body: string): Record<string, string> {
  const double = doubles.get(core)
  if (double === undefined) throw new TypeError('billing is not open')
  return { 'Stripe-Signature': double.sign(body, { at: core.now() }).signature }
}
