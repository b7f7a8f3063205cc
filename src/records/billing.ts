/** Billing in the API: the limits of a project and their use, and what Stripe says of its subscription. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { MAX_BILLING_LIMIT } from './limits.ts'
import { CURRENCIES } from './words.ts'

const givenLimit = z
  .int()
  .min(1)
  .max(MAX_BILLING_LIMIT)
  .nullable()
  .meta({ description: 'Emails in a calendar month (UTC); null: no limit' })

export const newBillingLimits = z.object({
  workflows: givenLimit,
  campaigns: givenLimit,
  transactional: givenLimit,
  inbound: givenLimit.meta({
    description: 'Received emails in a calendar month (UTC); they are counted and never refused',
  }),
})

const use = z
  .object({
    limit: z.int().nullable().meta({ description: 'Emails in this month; null: no limit' }),
    usage: z.int().min(0).meta({ description: 'Emails in this month that did not fail' }),
    percentage: z
      .number()
      .min(0)
      .meta({ description: 'Of the limit, rounded down to a tenth; 0 without one' }),
    isWarning: z.boolean().meta({ description: 'Whether 80% is reached' }),
    isBlocked: z.boolean().meta({ description: 'Whether the limit is reached' }),
  })
  .meta({ id: 'LimitUse' })

export const billingLimits = z
  .object({
    workflows: use,
    campaigns: use,
    transactional: use,
    inbound: use,
    currency: z.string().nullable().meta({ description: 'Of the subscription, such as `usd`' }),
  })
  .meta({ id: 'BillingLimits' })

export type LimitUse = z.output<typeof use>
export type BillingLimits = z.output<typeof billingLimits>

export const billingAddress = z.object({
  url: z.string().meta({ description: 'Where the browser goes' }),
})

const amount = z.int().meta({ description: 'In the smallest unit of the currency' })
const currency = z.string().meta({ description: 'In small letters, such as `usd`' })

export const billingConsumption = z
  .object({
    period: z.object({ start: instant, end: instant }),
    usage: z.object({
      total: z.int().min(0).meta({
        description: 'Credits: 1 for an email, 2 for one with attachments',
      }),
      records: z.array(z.object({})).max(0).meta({ description: 'Always empty' }),
    }),
    credits: z
      .object({
        balance: amount.meta({ description: 'Below zero: what later invoices are reduced by' }),
        hasCredits: z.boolean(),
        creditAmount: amount,
        currency: currency.nullable(),
      })
      .nullable()
      .meta({ description: 'Null if the customer was deleted at Stripe' }),
    upcomingInvoice: z
      .object({
        amountDue: amount,
        currency,
        periodStart: instant,
        periodEnd: instant,
        subtotal: amount,
        total: amount,
      })
      .nullable()
      .meta({ description: 'Null if the subscription ends' }),
  })
  .meta({ id: 'BillingConsumption' })

const invoice = z.object({
  id: z.string(),
  number: z.string().nullable().meta({ description: 'Null for drafts' }),
  status: z.string().nullable().meta({ description: 'draft, open, paid, uncollectible or void' }),
  amountDue: amount,
  amountPaid: amount,
  currency,
  created: instant,
  periodStart: instant,
  periodEnd: instant,
  hostedInvoiceUrl: z.string().nullable().meta({ description: 'Where it can be paid' }),
  invoicePdf: z.string().nullable(),
  subtotal: amount,
  total: amount,
  paid: z.boolean(),
})

export const billingInvoices = z
  .object({
    invoices: z.array(invoice).meta({ description: 'The newest 100' }),
    hasUnpaidInvoices: z.boolean(),
    unpaidInvoices: z.array(
      invoice
        .pick({ id: true, number: true, amountDue: true, currency: true, hostedInvoiceUrl: true })
        .extend({ dueDate: instant.nullable() }),
    ),
  })
  .meta({ id: 'BillingInvoices' })

export const checkoutQuery = z.object({
  currency: z
    .string()
    .default('usd')
    .meta({ description: `One of ${CURRENCIES.join(', ')}` }),
})

export type BillingConsumption = z.output<typeof billingConsumption>
export type InvoiceRecord = z.output<typeof invoice>
export type BillingInvoices = z.output<typeof billingInvoices>

/** The fields of a Stripe event that the server reads. */
export const stripeEvent = z
  .object({
    id: z.string(),
    type: z.string(),
    livemode: z.boolean(),
    data: z.object({ object: z.object({ id: z.string().optional() }) }),
  })
  .meta({ id: 'StripeEvent' })

export const billingLimitsExample: BillingLimits = {
  workflows: { limit: null, usage: 120, percentage: 0, isWarning: false, isBlocked: false },
  campaigns: { limit: 10_000, usage: 8_500, percentage: 85, isWarning: true, isBlocked: false },
  transactional: { limit: 2_000, usage: 640, percentage: 32, isWarning: false, isBlocked: false },
  inbound: { limit: null, usage: 17, percentage: 0, isWarning: false, isBlocked: false },
  currency: null,
}

export const invoiceExample: InvoiceRecord = {
  id: 'in_…',
  number: 'PB-…',
  status: 'open',
  amountDue: 250,
  amountPaid: 0,
  currency: 'usd',
  created: '2026-12-01T01:00:00.000Z',
  periodStart: '2026-11-01T00:00:00.000Z',
  periodEnd: '2026-12-01T00:00:00.000Z',
  hostedInvoiceUrl: 'https://invoice.stripe.com/i/…',
  invoicePdf: 'https://invoice.stripe.com/i/…/pdf',
  subtotal: 250,
  total: 250,
  paid: false,
}
