/** Reads an event of Stripe: its object, and nothing else of its content. */
import { z } from 'zod'

type StripeObjectKind = 'session' | 'subscription' | 'invoice'
export type StripeObject = { kind: StripeObjectKind; id: string }

/** `object`: undefined for events of other kinds. */
export type StripeEvent = {
  id: string
  type: string
  isLive: boolean
  object: StripeObject | undefined
}

/** The types of events that have an effect, with the kinds of their objects. */
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
  // Objects of other kinds may have ids of another form, which an operator chose, or none.
  data: z.object({ object: z.object({ id: z.unknown().optional() }) }),
})

/** Undefined if the body is no event, or its object has no id. */
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

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
