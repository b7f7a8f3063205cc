/**
 * Finds the subscription and the project that an event is about. Only the metadata that a checkout of this
 * program has set names the project: a reference alone could come from a payment link, and with it from
 * anyone.
 */
import type { Stripe } from 'stripe'
import { PROJECT_KEY } from '../checkout.ts'
import type { StripeClient } from '../stripe.ts'
import type { StripeObject } from './event.ts'

export type SubscriptionReference = { projectId: string; subscriptionId: string }

/** @throws StripeFault */
export async function findReference(
  stripe: StripeClient,
  { kind, id }: StripeObject,
): Promise<SubscriptionReference | undefined> {
  switch (kind) {
    case 'session': {
      const session = await stripe.call((api) => api.checkout.sessions.retrieve(id))
      const projectId = session.metadata?.[PROJECT_KEY]
      if (projectId === undefined || session.client_reference_id !== projectId) return undefined
      return toReference(projectId, session.subscription)
    }
    case 'subscription': {
      const { metadata } = await stripe.call((api) => api.subscriptions.retrieve(id))
      return toReference(metadata[PROJECT_KEY], id)
    }
    case 'invoice': {
      const { parent } = await stripe.call((api) => api.invoices.retrieve(id))
      const details = parent?.subscription_details
      return toReference(details?.metadata?.[PROJECT_KEY], details?.subscription ?? null)
    }
  }
}

function toReference(
  projectId: string | undefined,
  subscription: string | Stripe.Subscription | null,
): SubscriptionReference | undefined {
  const subscriptionId = typeof subscription === 'string' ? subscription : subscription?.id
  if (projectId === undefined || subscriptionId === undefined) return undefined
  return { projectId, subscriptionId }
}
