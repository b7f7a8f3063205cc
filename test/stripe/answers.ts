/** What Stripe does with a request whose parameters are allowed, and what it answers. */
import type { StripeRequest } from './double.ts'
import {
  type FakeInvoice,
  type FakeMeter,
  type FakeSubscription,
  listOf,
  METER,
  PRICE,
  type State,
  toCustomer,
  toInvoice,
  toMeter,
  toSession,
  toSubscription,
} from './objects.ts'
import type { FormValue } from './parameters.ts'

/** `isViolation`: no version of this program should make such a request. */
export class Refusal extends Error {
  readonly status: number
  readonly facts: Record<string, unknown>
  readonly isViolation: boolean

  constructor(
    status: number,
    text: string,
    facts: Record<string, unknown> = {},
    isViolation = false,
  ) {
    super(text)
    this.status = status
    this.facts = facts
    this.isViolation = isViolation
  }
}

type World = {
  state: State
  now: () => number
  visibleAfter: number
  newId(prefix: string): string
}

const DAY = 86_400
/** Tenths of a cent a credit. */
const PER_CREDIT = 0.1

/** @throws Refusal */
export function answer(world: World, request: StripeRequest): object {
  const { method, path, form } = request
  const [, , resource = '', id = '', part] = path.split('/')
  if (resource === 'billing') return answerMeters(world, request)
  if (path === '/v1/checkout/sessions') return createSession(world, form)
  if (resource === 'checkout')
    return toSession(get(world.state.sessions, path.split('/')[4], 'checkout.session'))
  if (resource === 'billing_portal') return createPortal(world, form)
  if (resource === 'customers') return toCustomer(get(world.state.customers, id, 'customer'))
  if (resource === 'subscriptions') {
    const subscription = get(world.state.subscriptions, id, 'subscription')
    return method === 'DELETE' ? cancel(world, subscription, form) : toSubscription(subscription)
  }
  if (path === '/v1/invoices') return listInvoices(world, form)
  if (path === '/v1/invoices/create_preview') return preview(world, form)
  if (resource === 'invoices' && part === undefined)
    return toInvoice(get(world.state.invoices, id, 'invoice'))
  throw new Refusal(404, `Unrecognized request URL (${method}: ${path}).`, {}, true)
}

function answerMeters(world: World, { method, path, form }: StripeRequest): object {
  if (path === '/v1/billing/meter_events') return createEvent(world, form)
  if (path === '/v1/billing/meters') return listOf([toMeter(activeMeter(world))], path)
  const [, , , , id = '', part] = path.split('/')
  const meter = world.state.meters.find((one) => one.id === id)
  if (meter === undefined) throw missing('billing.meter', id)
  if (part === undefined && method === 'GET') return toMeter(meter)
  return summarize(world, { path, form, meter: id })
}

function activeMeter({ state }: World): FakeMeter {
  return state.meters.at(-1) as FakeMeter
}

function createSession({ state, now, newId }: World, form: Form): object {
  const items = form.line_items as { price?: string; quantity?: string }[]
  if (items[0]?.price !== PRICE) throw missing('price', String(items[0]?.price))
  if (items[0].quantity !== undefined) {
    throw new Refusal(400, 'Quantity must not be specified with metered prices.', {}, true)
  }
  const customer = text(form.customer)
  if (customer !== null) get(state.customers, customer, 'customer', 400)
  const seconds = Math.floor(now() / 1000)
  const expiresAt = Number(form.expires_at ?? seconds + DAY)
  if (expiresAt < seconds + 1_800 || expiresAt > seconds + DAY) {
    throw new Refusal(400, 'expires_at must be between 30 minutes and 24 hours from now.', {}, true)
  }
  const data = (form.subscription_data ?? {}) as Form
  const session = {
    id: newId('cs_test'),
    customer,
    clientReferenceId: text(form.client_reference_id),
    currency: text(form.currency) ?? 'usd',
    metadata: (form.metadata ?? {}) as Record<string, string>,
    subscriptionMetadata: (data.metadata ?? {}) as Record<string, string>,
    anchor: (data.billing_cycle_anchor_config ?? {}) as Record<string, string>,
    subscription: null,
    status: 'open' as const,
    expiresAt,
  }
  state.sessions.set(session.id, session)
  return toSession(session)
}

function createPortal({ state, newId }: World, form: Form): object {
  const customer = get(state.customers, text(form.customer) ?? '', 'customer', 400)
  const id = newId('bps')
  const url = `https://billing.stripe.com/p/session/${id}`
  return { id, object: 'billing_portal.session', customer: customer.id, livemode: false, url }
}

function cancel(world: World, subscription: FakeSubscription, form: Form): object {
  const { id, customer, periodStart } = subscription
  if (subscription.status === 'canceled') throw missing('subscription', id)
  const seconds = Math.floor(world.now() / 1000)
  subscription.status = 'canceled'
  if (form.invoice_now === 'true') {
    const invoice: FakeInvoice = {
      id: world.newId('in'),
      customer,
      subscription: id,
      status: 'paid',
      billingReason: 'subscription_update',
      attempted: true,
      metadata: subscription.metadata,
      amountDue: Math.round(
        usage(world, customer, { from: periodStart, to: seconds + 60 }) * PER_CREDIT,
      ),
      created: seconds,
      periodStart,
      periodEnd: seconds,
    }
    world.state.invoices.set(invoice.id, invoice)
    subscription.latestInvoice = invoice.id
  }
  return toSubscription(subscription)
}

function listInvoices({ state }: World, form: Form): object {
  const found = [...state.invoices.values()].filter(
    (invoice) =>
      (form.customer === undefined || invoice.customer === form.customer) &&
      (form.subscription === undefined || invoice.subscription === form.subscription) &&
      (form.status === undefined || invoice.status === form.status),
  )
  const limit = Number(form.limit ?? 10)
  const newest = found.toSorted((a, b) => b.created - a.created).slice(0, limit)
  return listOf(newest.map(toInvoice), '/v1/invoices')
}

function preview(world: World, form: Form): object {
  const subscription = get(world.state.subscriptions, text(form.subscription) ?? '', 'subscription')
  const { customer, periodStart, periodEnd, status } = subscription
  if (status === 'canceled') {
    throw new Refusal(404, 'No upcoming invoices for customer', { code: 'invoice_upcoming_none' })
  }
  const amountDue = Math.round(
    usage(world, customer, { from: periodStart, to: periodEnd }) * PER_CREDIT,
  )
  const shown = toInvoice({
    id: 'upcoming_in_1',
    customer,
    subscription: subscription.id,
    status: 'draft',
    billingReason: 'upcoming',
    attempted: false,
    metadata: subscription.metadata,
    amountDue,
    created: periodEnd,
    periodStart,
    periodEnd,
  })
  return shown
}

function createEvent(world: World, form: Form): object {
  const { state, now } = world
  const seconds = Math.floor(now() / 1000)
  const identifier = text(form.identifier) ?? ''
  const timestamp = Number(form.timestamp ?? seconds)
  const payload = form.payload as Record<string, string>
  if (form.event_name !== METER.eventName) {
    throw new Refusal(400, `No active meter found for event name ${String(form.event_name)}`)
  }
  if (timestamp < seconds - 35 * DAY) throw timeRefusal('past', 'more than 35 calendar days ago')
  if (timestamp > seconds + 300) throw timeRefusal('future', 'more than 5 minutes in the future')
  const meter = activeMeter(world)
  if (!isPayload(payload, meter)) {
    const isOfFormer = state.meters.some((former) => isPayload(payload, former))
    throw new Refusal(400, 'The payload of the meter event is not valid.', {}, !isOfFormer)
  }
  if (identifier === '' || identifier.length > 100)
    throw new Refusal(400, 'Invalid identifier', {}, true)
  const isKnown = state.events.some(
    (event) => event.identifier === identifier && seconds - event.createdAt < DAY,
  )
  if (isKnown) throw new Refusal(400, `An event already exists with identifier ${identifier}.`)
  state.events.push({
    meter: meter.id,
    identifier,
    customer: payload[meter.customerKey] ?? '',
    value: Number(payload[meter.valueKey]),
    timestamp,
    createdAt: seconds,
  })
  const shown = { event_name: METER.eventName, identifier, payload, timestamp }
  return { object: 'billing.meter_event', created: seconds, livemode: false, ...shown }
}

function isPayload(payload: Record<string, string>, { customerKey, valueKey }: FakeMeter): boolean {
  return /^\d+$/.test(payload[valueKey] ?? '') && payload[customerKey] !== undefined
}

function timeRefusal(direction: 'past' | 'future', words: string): Refusal {
  const code = `timestamp_too_far_in_${direction}`
  return new Refusal(400, `The timestamp is ${words}.`, { code })
}

function summarize(
  world: World,
  { path, form, meter }: { path: string; form: Form; meter: string },
): object {
  const [from, to] = [Number(form.start_time), Number(form.end_time)]
  if (from % 60 !== 0 || to % 60 !== 0 || from >= to) {
    throw new Refusal(
      400,
      'start_time and end_time must be aligned with minute boundaries.',
      {},
      true,
    )
  }
  const value = usage(world, text(form.customer) ?? '', { from, to, meter })
  const summary = {
    id: `mtrusg_${from}_${to}`,
    object: 'billing.meter_event_summary',
    aggregated_value: value,
    end_time: to,
    livemode: false,
    meter,
    start_time: from,
  }
  return listOf(value === 0 ? [] : [summary], path)
}

/** `meter`: of this one only. */
function usage(
  { state, now, visibleAfter }: World,
  customer: string,
  { from, to, meter }: { from: number; to: number; meter?: string },
): number {
  const seconds = Math.floor(now() / 1000)
  return state.events
    .filter(
      (event) => event.customer === customer && event.timestamp >= from && event.timestamp < to,
    )
    .filter((event) => meter === undefined || event.meter === meter)
    .filter(({ createdAt }) => createdAt + visibleAfter <= seconds)
    .reduce((sum, { value }) => sum + value, 0)
}

type Form = { [key: string]: FormValue }

function text(value: FormValue | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function get<Value>(
  map: Map<string, Value>,
  id: string | undefined,
  kind: string,
  status = 404,
): Value {
  const found = map.get(id ?? '')
  if (found === undefined) throw missing(kind, id ?? '', status)
  return found
}

function missing(kind: string, id: string, status = 404): Refusal {
  return new Refusal(status, `No such ${kind}: '${id}'`, { code: 'resource_missing' })
}
