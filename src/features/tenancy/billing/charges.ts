/**
 * What Stripe charges a project: its invoices, and what the project has used in the current period. The use is
 * what Stripe has counted, and the batches that still wait here. Amounts are in the smallest unit of the
 * currency.
 */
import type { Stripe } from 'stripe'
import { formatInstant, MINUTE_MS, SECOND_MS } from '../../../base/clock.ts'
import type {
  BillingConsumption,
  BillingInvoices,
  InvoiceRecord,
} from '../../../records/billing.ts'
import { indexedBy } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { Project } from '../accounts/rows.ts'
import { OPEN } from './metering/batches.ts'
import {
  requireCustomer,
  requireStripe,
  requireSubscription,
  type WithStripe,
} from './require-stripe.ts'
import type { StripeClient } from './stripe.ts'
import { isFault } from './stripe-fault.ts'

type Deps = WithStripe & Pick<Base, 'store' | 'now'>
/** A period of billing; both ends are in seconds. */
type Period = { start: number; end: number }

const sumWaiting = statement<{ credits: number }>(
  () => sql`select coalesce(sum(credits), 0) as credits
    from metering_batches ${indexedBy('metering_batches_open')}
    where project_id = ${parameter('projectId')} and ${OPEN}
      and occurred_at >= ${parameter('from')}`,
)

const MAX_INVOICES = 100
/** The states of unpaid invoices: open, or given up by Stripe. */
const UNPAID: ReadonlySet<string | null> = new Set(['open', 'uncollectible'])

/**
 * @throws AppError RESOURCE_NOT_FOUND without billing; BAD_REQUEST without a subscription;
 *   EXTERNAL_SERVICE_ERROR
 */
export async function showConsumption(
  deps: Deps,
  project: Pick<Project, 'id' | 'customer' | 'subscription'>,
): Promise<BillingConsumption> {
  const stripe = requireStripe(deps)
  const id = requireSubscription(project)
  const customer = requireCustomer(project)
  const subscription = await stripe.call((api) => api.subscriptions.retrieve(id))
  const period = periodOf(subscription)
  const [counted, waiting, credits, upcomingInvoice] = await Promise.all([
    readCounted(stripe, { customer, period, at: deps.now() }),
    deps.store.read.find(sumWaiting, { projectId: project.id, from: period.start * SECOND_MS }),
    readCredits(stripe, customer),
    previewInvoice(stripe, subscription),
  ])
  return {
    period: { start: instantOf(period.start), end: instantOf(period.end) },
    usage: { total: counted + (waiting?.credits ?? 0), records: [] },
    credits,
    upcomingInvoice,
  }
}

/** @throws AppError RESOURCE_NOT_FOUND without billing; EXTERNAL_SERVICE_ERROR */
export async function listInvoices(
  deps: WithStripe,
  { customer }: Pick<Project, 'customer'>,
): Promise<BillingInvoices> {
  const stripe = requireStripe(deps)
  if (customer === null) return { invoices: [], hasUnpaidInvoices: false, unpaidInvoices: [] }
  const { data } = await stripe.call((api) => api.invoices.list({ customer, limit: MAX_INVOICES }))
  const unpaid = data.filter(({ status }) => UNPAID.has(status))
  return {
    invoices: data.map(toInvoiceRecord),
    hasUnpaidInvoices: unpaid.length > 0,
    unpaidInvoices: unpaid.map(toUnpaid),
  }
}

function periodOf({ id, items, start_date }: Stripe.Subscription): Period {
  const [item] = items.data
  if (item === undefined) throw new TypeError(`the subscription ${id} has no items`)
  return { start: item.current_period_start ?? start_date, end: item.current_period_end }
}

/**
 * Reads what Stripe has counted in the period. Both ends are moved to full minutes, because
 * summaries begin and end there.
 */
async function readCounted(
  stripe: StripeClient,
  { customer, period, at }: { customer: string; period: Period; at: number },
): Promise<number> {
  const { id } = await stripe.meter()
  const minute = MINUTE_MS / SECOND_MS
  const start_time = period.start - (period.start % minute)
  const now = Math.ceil(at / MINUTE_MS) * minute
  const end_time = Math.max(now, start_time + minute)
  const params = { customer, start_time, end_time, limit: 100 }
  const { data } = await stripe.call((api) => api.billing.meters.listEventSummaries(id, params))
  return data.reduce((sum, { aggregated_value }) => sum + aggregated_value, 0)
}

/** Reads what Stripe owes the customer, which is a negative balance. */
async function readCredits(
  stripe: StripeClient,
  id: string,
): Promise<BillingConsumption['credits']> {
  const customer = await stripe.call((api) => api.customers.retrieve(id))
  if (customer.deleted) return null
  const { balance, currency = null } = customer
  const creditAmount = Math.max(0, -balance)
  return { balance, hasCredits: creditAmount > 0, creditAmount, currency }
}

async function previewInvoice(
  stripe: StripeClient,
  { id: subscription }: Stripe.Subscription,
): Promise<BillingConsumption['upcomingInvoice']> {
  try {
    const invoice = await stripe.call((api) => api.invoices.createPreview({ subscription }))
    return {
      amountDue: invoice.amount_due,
      currency: invoice.currency,
      periodStart: instantOf(invoice.period_start),
      periodEnd: instantOf(invoice.period_end),
      subtotal: invoice.subtotal,
      total: invoice.total,
    }
  } catch (error) {
    if (isFault(error) && error.stripeCode === 'invoice_upcoming_none') return null
    throw error
  }
}

function instantOf(seconds: number): string {
  return formatInstant(seconds * SECOND_MS)
}

function toInvoiceRecord(invoice: Stripe.Invoice): InvoiceRecord {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status,
    amountDue: invoice.amount_due,
    amountPaid: invoice.amount_paid,
    currency: invoice.currency,
    created: instantOf(invoice.created),
    periodStart: instantOf(invoice.period_start),
    periodEnd: instantOf(invoice.period_end),
    hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    invoicePdf: invoice.invoice_pdf ?? null,
    subtotal: invoice.subtotal,
    total: invoice.total,
    paid: invoice.status === 'paid',
  }
}

function toUnpaid(invoice: Stripe.Invoice): BillingInvoices['unpaidInvoices'][number] {
  const { id, number, amountDue, currency, hostedInvoiceUrl } = toInvoiceRecord(invoice)
  const dueDate = invoice.due_date === null ? null : instantOf(invoice.due_date)
  return { id, number, amountDue, currency, dueDate, hostedInvoiceUrl }
}
