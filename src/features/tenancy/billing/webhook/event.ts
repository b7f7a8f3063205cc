/**
 * Reads an event of Stripe (its object, and nothing else of its content), and finds the subscription and the
 * project that the event is about. Only the metadata that a checkout of this program has set names the project:
 * a reference alone could come from a payment link, and with it from anyone.
 */
import type { Stripe } from 'stripe'
import { z } from 'zod'
import { PROJECT_KEY } from '../checkout.ts'
import type { StripeClient } from '../stripe.ts'

type StripeObjectKind = 'session' | 'subscription' | 'invoice'
type StripeObject = { kind: StripeObjectKind; id: string }

/** `object`: undefined for events of other kinds. */
export type StripeEvent = {
  id: string
  type: string
  isLive: boolean
  object: StripeObject | undefined
}

/** The types of events that have an effect, with the kind of object that each is about. */
const EVENT_TYPES: Readonly<Record<string, StripeObjectKind>> = {
  'checkout.session.completed': 'session',
  'customer.subscription.created': 'subscription',
  'customer.subscription.updated': 'subscription',
  'customer.subscription.deleted': 'subscription',
  'invoice.paid': 'invoice',
  'invoice.payment_failed': 'invoice',
  'invoice.voided': 'invoice',
  'invoice.marked_uncollectible': 'invoice',
}

const safeId = z.string().regex(/^[A-Za-z0-9_]{1,255}$/)
const shape = z.object({
  id: safeId,
  type: z.string().max(200),
  livemode: z.boolean(),
  // Accepts any id, because objects of other kinds may have ids of another form, which an operator
  // chose, or none.
  data: z.object({ object: z.object({ id: z.unknown().optional() }) }),
})

export type SubscriptionReference = { projectId: string; subscriptionId: string }

/** Parses an event; undefined if the body is no event, or if its object has no id. */
export function parseEvent(body: Buffer): StripeEvent | undefined {
  const parsed = shape.safeParse(parseJson(body))
  if (!parsed.success) return undefined
  const { id, type, livemode, data } = parsed.data
  const kind = Object.hasOwn(EVENT_TYPES, type) ? EVENT_TYPES[type] : undefined
  const event = { id, type, isLive: livemode }
  if (kind === undefined) return { ...event, object: undefined }
  const objectId = safeId.safeParse(data.object.id)
  return objectId.success ? { ...event, object: { kind, id: objectId.data } } : undefined
}

/** Finds the subscription and the project of an event. @throws StripeFault */
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

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
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
