/** What the double keeps, and how Stripe shows it at the pinned version. */

export type Status =
  | 'active'
  | 'past_due'
  | 'unpaid'
  | 'canceled'
  | 'incomplete'
  | 'incomplete_expired'

type FakeCustomer = {
  id: string
  email: string | null
  balance: number
  currency: string | null
}
export type FakeSession = {
  id: string
  customer: string | null
  clientReferenceId: string | null
  currency: string
  metadata: Record<string, string>
  subscriptionMetadata: Record<string, string>
  anchor: Record<string, string>
  subscription: string | null
  status: 'open' | 'complete' | 'expired'
  expiresAt: number
}
export type FakeSubscription = {
  id: string
  customer: string
  currency: string
  status: Status
  metadata: Record<string, string>
  startDate: number
  periodStart: number
  periodEnd: number
  latestInvoice: string | null
}
export type FakeInvoice = {
  id: string
  customer: string
  subscription: string | null
  status: 'draft' | 'open' | 'paid' | 'uncollectible' | 'void'
  billingReason: string
  attempted: boolean
  /** That of the subscription when the invoice was made. */
  metadata: Record<string, string>
  amountDue: number
  created: number
  periodStart: number
  periodEnd: number
}
/** Events name the customer and the value by these keys. */
export type FakeMeter = { id: string; customerKey: string; valueKey: string }
type FakeMeterEvent = {
  /** The id of the meter that was active then. */
  meter: string
  identifier: string
  customer: string
  value: number
  timestamp: number
  /** When Stripe took it, in seconds. */
  createdAt: number
}

export type State = {
  customers: Map<string, FakeCustomer>
  sessions: Map<string, FakeSession>
  subscriptions: Map<string, FakeSubscription>
  invoices: Map<string, FakeInvoice>
  events: FakeMeterEvent[]
  /** The last one is active. */
  meters: FakeMeter[]
}

export const PRICE = 'price_credits'
export const METER = {
  id: 'mtr_emails',
  eventName: 'emails',
  customerKey: 'stripe_customer_id',
  valueKey: 'value',
}

export function toSession(session: FakeSession): object {
  return {
    id: session.id,
    object: 'checkout.session',
    client_reference_id: session.clientReferenceId,
    currency: session.currency,
    customer: session.customer,
    expires_at: session.expiresAt,
    livemode: false,
    metadata: session.metadata,
    mode: 'subscription',
    payment_status: session.status === 'complete' ? 'paid' : 'unpaid',
    status: session.status,
    subscription: session.subscription,
    url: session.status === 'open' ? `https://checkout.stripe.com/c/pay/${session.id}` : null,
  }
}

export function toSubscription(subscription: FakeSubscription): object {
  const { id, periodStart, periodEnd, startDate } = subscription
  const item = {
    id: `si_${id}`,
    object: 'subscription_item',
    created: startDate,
    current_period_start: periodStart,
    current_period_end: periodEnd,
    metadata: {},
    price: { id: PRICE, object: 'price', recurring: { meter: METER.id, usage_type: 'metered' } },
    subscription: id,
  }
  return {
    id,
    object: 'subscription',
    cancel_at_period_end: false,
    collection_method: 'charge_automatically',
    created: startDate,
    currency: subscription.currency,
    customer: subscription.customer,
    items: listOf([item], '/v1/subscription_items'),
    latest_invoice: subscription.latestInvoice,
    livemode: false,
    metadata: subscription.metadata,
    start_date: startDate,
    status: subscription.status,
  }
}

export function toInvoice(invoice: FakeInvoice): object {
  const { id, status, amountDue, subscription } = invoice
  const isPaid = status === 'paid'
  const isFinal = status !== 'draft'
  return {
    id,
    object: 'invoice',
    amount_due: amountDue,
    amount_paid: isPaid ? amountDue : 0,
    amount_remaining: isPaid ? 0 : amountDue,
    attempt_count: invoice.attempted ? 1 : 0,
    attempted: invoice.attempted,
    billing_reason: invoice.billingReason,
    collection_method: 'charge_automatically',
    created: invoice.created,
    currency: 'usd',
    customer: invoice.customer,
    due_date: null,
    hosted_invoice_url: isFinal ? `https://invoice.stripe.com/i/${id}` : null,
    invoice_pdf: isFinal ? `https://invoice.stripe.com/i/${id}/pdf` : null,
    livemode: false,
    number: isFinal ? `PB-${id.slice(-4)}` : null,
    parent:
      subscription === null
        ? null
        : {
            type: 'subscription_details',
            quote_details: null,
            subscription_details: { metadata: invoice.metadata, subscription },
          },
    period_end: invoice.periodEnd,
    period_start: invoice.periodStart,
    status,
    subtotal: amountDue,
    total: amountDue,
  }
}

export function toCustomer({ id, email, balance, currency }: FakeCustomer): object {
  const object = { id, object: 'customer', balance, currency, email, livemode: false, metadata: {} }
  return { ...object, delinquent: false }
}

export function toMeter({ id, customerKey, valueKey }: FakeMeter): object {
  return {
    id,
    object: 'billing.meter',
    created: 0,
    customer_mapping: { event_payload_key: customerKey, type: 'by_id' },
    default_aggregation: { formula: 'sum' },
    display_name: 'Emails',
    event_name: METER.eventName,
    event_time_window: null,
    livemode: false,
    status: 'active',
    value_settings: { event_payload_key: valueKey },
  }
}

export function listOf(data: readonly object[], url: string): object {
  return { object: 'list', data, has_more: false, url }
}
