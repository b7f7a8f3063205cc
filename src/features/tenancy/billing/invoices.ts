/** The invoices of a project, as Stripe has them. Amounts are in the smallest unit of the currency. */
import type { Stripe } from 'stripe'
import { formatInstant, SECOND_MS } from '../../../base/clock.ts'
import type { BillingInvoices, InvoiceRecord } from '../../../records/billing.ts'
import type { Project } from '../accounts/rows.ts'
import { requireStripe, type WithStripe } from './require-stripe.ts'

const MAX_INVOICES = 100
/** Open invoices, and invoices that Stripe has given up collecting. */
const UNPAID: ReadonlySet<string | null> = new Set(['open', 'uncollectible'])

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

export function instantOf(seconds: number): string {
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
