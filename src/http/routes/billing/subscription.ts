/** The subscription of a project at Stripe, and the webhook of Stripe. */
import { z } from 'zod'
import {
  beginCheckout,
  CURRENCIES,
  openPortal,
} from '../../../features/tenancy/billing/checkout.ts'
import { showConsumption } from '../../../features/tenancy/billing/consumption.ts'
import { listInvoices } from '../../../features/tenancy/billing/invoices.ts'
import { createStripeReceiver } from '../../../features/tenancy/billing/webhook/receive.ts'
import { instant } from '../../../records/fields.ts'
import type { BodyStream } from '../../body/body-stream.ts'
import { json } from '../../response.ts'
import { memberOperation, openOperation, type RouteDeps } from '../../route.ts'

/** Events of Stripe have some KB; a subscription with all its fields has less than 100. */
const MAX_EVENT_BYTES = 512 * 1024

const shared = {
  tag: 'Billing',
  params: { id: 'The id of a project of yours' },
} as const

const address = z.object({ url: z.string().meta({ description: 'Where the browser goes' }) })

const amount = z.int().meta({ description: 'In the smallest unit of the currency' })
const currency = z.string().meta({ description: 'In small letters, such as `usd`' })

const consumption = z
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

const invoices = z
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

const checkoutQuery = z.object({
  currency: z
    .string()
    .default('usd')
    .meta({ description: `One of ${CURRENCIES.join(', ')}` }),
})

export const checkout = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Subscribe a project',
    description: `Returns the address of the checkout at Stripe. The project is subscribed when the checkout
is complete and Stripe has told this server. The first invoice is made on the first day of the next month.
Calls of the same user within the same five minutes of the clock return the same checkout.`,
    query: checkoutQuery,
    growsDisk: false,
    responses: { 200: { description: 'The address of the checkout', schema: address } },
    refusals: [400, 404, 503],
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
    responses: { 200: { description: 'The address of the portal', schema: address } },
    refusals: [400, 404, 503],
    handle: async ({ project }) => json(200, await openPortal(core, project)),
  })

export const showUse = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Show what a project has used in the current period',
    description:
      'What Stripe has counted, and what waits here to be told. Stripe counts with a delay of minutes.',
    responses: { 200: { description: 'The use', schema: consumption } },
    refusals: [400, 404, 503],
    handle: async ({ project }) => json(200, await showConsumption(core, project)),
  })

export const showInvoices = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'List the invoices of a project, newest first',
    responses: { 200: { description: 'The invoices', schema: invoices } },
    refusals: [404, 503],
    handle: async ({ project }) => json(200, await listInvoices(core, project)),
  })

/** The fields of an event that are read. */
const event = z
  .object({
    id: z.string(),
    type: z.string(),
    livemode: z.boolean(),
    data: z.object({ object: z.object({ id: z.string().optional() }) }),
  })
  .meta({ id: 'StripeEvent' })

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
    takesStream: { contentType: 'application/json', schema: event, isKept: true },
    responses: {
      200: { description: 'Accepted', schema: z.object({ received: z.literal(true) }) },
    },
    refusals: [404, 503],
    // The signature is about the bytes of the body.
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
