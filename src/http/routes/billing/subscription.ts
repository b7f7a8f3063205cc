/** The subscription of a project at Stripe, and the webhook of Stripe. */
import { z } from 'zod'
import { listInvoices, showConsumption } from '../../../features/tenancy/billing/charges.ts'
import { beginCheckout, openPortal } from '../../../features/tenancy/billing/checkout.ts'
import { createStripeReceiver } from '../../../features/tenancy/billing/webhook/receive.ts'
import {
  billingAddress,
  billingConsumption,
  billingInvoices,
  checkoutQuery,
  invoiceExample,
  stripeEvent,
} from '../../../records/billing.ts'
import type { BodyStream } from '../../body/body-stream.ts'
import { json } from '../../response.ts'
import { memberOperation, openOperation, type RouteDeps } from '../../route.ts'

/** Events of Stripe have some KB; a subscription with all its fields has less than 100. */
const MAX_EVENT_BYTES = 512 * 1024

const shared = {
  tag: 'Billing',
  params: { id: 'The id of a project of yours' },
} as const

export const checkout = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Subscribe a project',
    description: `Returns the address of the checkout at Stripe. The project is subscribed when the checkout
is complete and Stripe has told this server. The first invoice is made on the first day of the next month.
Calls of the same user within the same five minutes of the clock return the same checkout.`,
    query: checkoutQuery,
    growsDisk: false,
    responses: { 200: { description: 'The address of the checkout', schema: billingAddress } },
    refusals: [400, 404, 503],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      query: { currency: 'eur' },
      status: 200,
      response: { url: 'https://checkout.stripe.com/c/pay/…' },
    }),
    handle: async ({ project, user, query }) => {
      const { currency: wanted } = query
      return json(
        200,
        await beginCheckout(core, project, { currency: wanted, email: user.address }),
      )
    },
  })

export const portal = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Open the billing portal of a project',
    description:
      'Returns the address of the pages of Stripe for cards, invoices and the end of the subscription.',
    growsDisk: false,
    responses: { 200: { description: 'The address of the portal', schema: billingAddress } },
    refusals: [400, 404, 503],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: { url: 'https://billing.stripe.com/p/session/…' },
    }),
    handle: async ({ project }) => json(200, await openPortal(core, project)),
  })

export const showUse = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Show what a project has used in the current period',
    description:
      'What Stripe has counted, and what waits here to be told. Stripe counts with a delay of minutes.',
    responses: { 200: { description: 'The use', schema: billingConsumption } },
    refusals: [400, 404, 503],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
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
    }),
    handle: async ({ project }) => json(200, await showConsumption(core, project)),
  })

export const showInvoices = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'List the invoices of a project, newest first',
    responses: { 200: { description: 'The invoices', schema: billingInvoices } },
    refusals: [404, 503],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: {
        invoices: [invoiceExample],
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
    }),
    handle: async ({ project }) => json(200, await listInvoices(core, project)),
  })

export const receive = ({ core }: RouteDeps) => {
  const receiver = createStripeReceiver(core)
  return openOperation({
    growsDisk: false,
    isUnlogged: true,
    tag: 'Service',
    summary: 'Receive events of Stripe',
    description:
      'Stripe calls this route, with the header `Stripe-Signature`; clients of the API do not. What an ' +
      'event says is read again from Stripe.',
    takesStream: { contentType: 'application/json', schema: stripeEvent, isKept: true },
    responses: {
      200: { description: 'Accepted', schema: z.object({ received: z.literal(true) }) },
    },
    refusals: [404, 503],
    example: () => ({
      request: {
        id: 'evt_1SXkQbLkdIwHu7ixUaDx4EYu',
        type: 'customer.subscription.updated',
        livemode: false,
        data: { object: { id: 'sub_1SXkPzLkdIwHu7ixM4n2Vq8R' } },
      },
      status: 200,
      response: { received: true },
    }),
    // The body is read as bytes, because the signature of Stripe is about the bytes.
    handle: async ({ stream, incoming }) => {
      receiver.requireOpen()
      const body = await readAll(stream)
      const signature = incoming.headers['stripe-signature']
      await receiver.receive({ body, signature })
      return json(200, { received: true })
    },
  })
}

/** @throws AppError PAYLOAD_TOO_LARGE and the other errors of `BodyStream` */
async function readAll(stream: BodyStream | undefined): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  if (stream === undefined) throw new TypeError('the route takes no stream')
  for await (const piece of stream.read(MAX_EVENT_BYTES)) pieces.push(piece)
  return Buffer.concat(pieces)
}
