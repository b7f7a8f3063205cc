/** Requires what a call about billing needs: the client of Stripe, a subscription, a customer. */
import { AppError, notFound } from '../../../base/errors.ts'
import type { StripeClient } from './stripe.ts'

export type WithStripe = { stripe: StripeClient | null }

/** @throws AppError RESOURCE_NOT_FOUND without the keys of Stripe */
export function requireStripe({ stripe }: WithStripe): StripeClient {
  if (stripe !== null) return stripe
  throw notFound('billing', 'stripe', 'This server has no billing.')
}

/** Requires that the project has a customer at Stripe. @throws AppError BAD_REQUEST */
export function requireCustomer({ customer }: { customer: string | null }): string {
  if (customer !== null) return customer
  throw new AppError('BAD_REQUEST', 'The project has never subscribed.', {
    suggestion: 'POST /users/@me/projects/:id/checkout begins a subscription.',
  })
}

/** Requires that the project has a subscription. @throws AppError BAD_REQUEST */
export function requireSubscription({ subscription }: { subscription: string | null }): string {
  if (subscription !== null) return subscription
  throw new AppError('BAD_REQUEST', 'The project has no subscription.', {
    suggestion: 'POST /users/@me/projects/:id/checkout begins one.',
  })
}
