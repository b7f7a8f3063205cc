/** Reads an event of Stripe: what it is about, and nothing else of what it says. */
import { z } from 'zod'

export type TargetKind = 'session' | 'subscription' | 'invoice'
export type Target = { kind: TargetKind; id: string }

/** `target`: undefined for events of other kinds. */
export type StripeEvent = { id: string; type: string; isLive: boolean; target: Target | undefined }

/** The kinds of events that have an effect, and what their objects are. */
export const EVENT_TYPES: Readonly<Record<string, TargetKind>> = {
  'checkout.session.completed': 'session',
  'customer.subscription.created': 'subscription',
  'customer.subscription.updated': 'subscription',
  'customer.subscription.deleted': 'subscription',
  'invoice.paid': 'invoice',
  'invoice.payment_failed': 'invoice',
  'invoice.voided': 'invoice',
  'invoice.marked_uncollectible': 'invoice',
}

const id = z.string().regex(/^[A-Za-z0-9_]{1,255}$/)
const shape = z.object({
  id,
  type: z.string().max(200),
  livemode: z.boolean(),
  data: z.object({ object: z.object({ id: id.optional() }) }),
})

/** Undefined if the body is no event. */
export function parseEvent(body: Buffer): StripeEvent | undefined {
  const parsed = shape.safeParse(parseJson(body))
  if (!parsed.success) return undefined
  const { id, type, livemode, data } = parsed.data
  const kind = Object.hasOwn(EVENT_TYPES, type) ? EVENT_TYPES[type] : undefined
  const objectId = data.object.id
  const target = kind === undefined || objectId === undefined ? undefined : { kind, id: objectId }
  return { id, type, isLive: livemode, target }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
