/** Examples of the operations on billing and its limits. */
import { billingLimitsExample as limits, invoiceExample as open } from '../../records/billing.ts'
import type { Examples } from './operation-example.ts'

const params = { id: '0199a7c0-0000-7000-8000-000000000001' }

export const billingExamples: Examples = {
  'POST /webhooks/incoming/stripe': {
    request: {
      id: 'evt_1SXkQbLkdIwHu7ixUaDx4EYu',
      type: 'customer.subscription.updated',
      livemode: false,
      data: { object: { id: 'sub_1SXkPzLkdIwHu7ixM4n2Vq8R' } },
    },
    status: 200,
    response: { received: true },
  },
  'POST /users/@me/projects/:id/checkout': {
    params,
    query: { currency: 'eur' },
    status: 200,
    response: { url: 'https://checkout.stripe.com/c/pay/…' },
  },
  'POST /users/@me/projects/:id/billing-portal': {
    params,
    status: 200,
    response: { url: 'https://billing.stripe.com/p/session/…' },
  },
  'GET /users/@me/projects/:id/billing-consumption': {
    params,
    status: 200,
    response: {
      period: { start: '2026-11-21T12:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
      usage: { total: 12_500, records: [] },
      credits: { balance: -300, hasCredits: true, creditAmount: 300, currency: 'eur' },
      upcomingInvoice: {
        amountDue: 1_250,
        currency: 'usd',
        periodStart: '2026-11-21T12:00:00.000Z',
        periodEnd: '2026-12-01T00:00:00.000Z',
        subtotal: 1_250,
        total: 1_250,
      },
    },
  },
  'GET /users/@me/projects/:id/billing-invoices': {
    params,
    status: 200,
    response: {
      invoices: [open],
      hasUnpaidInvoices: true,
      unpaidInvoices: [
        {
          id: 'in_…',
          number: 'PB-…',
          amountDue: 250,
          currency: 'usd',
          dueDate: null,
          hostedInvoiceUrl: 'https://invoice.stripe.com/i/…',
        },
      ],
    },
  },
  'GET /users/@me/projects/:id/billing-limits': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: limits,
  },
  'PUT /users/@me/projects/:id/billing-limits': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    request: { workflows: null, campaigns: 10_000, transactional: 2_000, inbound: null },
    status: 200,
    response: limits,
  },
}
