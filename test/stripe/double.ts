/**
 * The API of Stripe as far as this program uses it, in this process. It refuses what Stripe refuses: every
 * request is checked against the parameters of the pinned version (`parameters.ts`), and a wrong one is
 * remembered too, so that no test passes with it. It keeps what Stripe keeps, can fail in each of the ways
 * in which the network and Stripe fail, and signs events as Stripe does.
 */
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { STRIPE_API_VERSION } from '../../src/features/tenancy/billing/stripe.ts'
import { answer, Refusal } from './answers.ts'
import { findEndpoint } from './endpoints.ts'
import {
  type FakeInvoice,
  type FakeMeter,
  type FakeSession,
  type FakeSubscription,
  METER,
  PRICE,
  type State,
  type Status,
  toInvoice,
  toSession,
  toSubscription,
} from './objects.ts'
import { type FormValue, findWrongParameter, parseForm } from './parameters.ts'

/**
 * How requests fail: the connection ends before Stripe looks at them; they get no answer; a 500 before or
 * after they had their effect; the connection ends after they had their effect; a 429; a 400, as for a customer
 * that is gone.
 */
export type Fault =
  | 'refuse'
  | 'hang'
  | '500'
  | '500-after'
  | 'cut'
  | 'hang-after'
  | '429'
  | '401'
  | '400'

export type StripeRequest = {
  method: string
  path: string
  form: { [key: string]: FormValue }
  idempotencyKey: string | undefined
}

type SignedEvent = { body: string; signature: string }

export type StripeDouble = {
  url: string
  /** The environment of a server that uses the double. */
  settings: Record<string, string>
  state: State
  requests: StripeRequest[]
  /** Requests that Stripe would not have taken. `stop` fails if there are any. */
  violations: string[]
  /** The requests for which this returns a fault fail so. */
  fault: (request: StripeRequest) => Fault | undefined
  /** Called when a request had its effect, before it is answered. */
  onDone: (request: StripeRequest) => Promise<void> | void
  /** Seconds after which a meter event is in the summaries. */
  visibleAfter: number
  /** The credits that the customer is charged for. */
  charged(customer: string): number
  /** A person pays: the session is complete, and its subscription active. */
  complete(sessionId: string, change?: { customer?: string }): FakeSubscription
  addSubscription(change?: Partial<FakeSubscription>): FakeSubscription
  setStatus(id: string, status: Status): void
  addInvoice(change: Partial<FakeInvoice> & { customer: string }): FakeInvoice
  /** The meter is archived, and another with its event name is made. */
  replaceMeter(change?: Partial<FakeMeter>): void
  event(type: string, objectId: string, change?: Record<string, unknown>): Record<string, unknown>
  /** `at`: when it is signed, in ms. */
  sign(event: object | string, options?: { at?: number; secret?: string }): SignedEvent
  stop(): Promise<void>
}

const KEY_IN_USE = {
  message: 'There is currently another in-progress request using this idempotency key.',
  type: 'idempotency_error',
  code: 'idempotency_key_in_use',
}

export const SECRET_KEY = 'sk_test_doubleSecretKeyOfTheTests'
export const WEBHOOK_SECRET = 'whsec_doubleSecretOfTheTests'

export async function startStripeDouble(now: () => number = Date.now): Promise<StripeDouble> {
  const state: State = {
    customers: new Map(),
    sessions: new Map(),
    subscriptions: new Map(),
    invoices: new Map(),
    events: [],
    meters: [METER],
  }
  /** The keys of requests that run. */
  const running = new Set<string>()
  const replies = new Map<string, { request: string; status: number; body: object; at: number }>()
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => {
      double.violations.push(`the double failed: ${String(error)}`)
      outgoing.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const seconds = () => Math.floor(now() / 1000)
  let events = 0

  const double: StripeDouble = {
    url,
    settings: {
      PILLARBOX_BILLING__STRIPE_SECRET_KEY: SECRET_KEY,
      PILLARBOX_BILLING__STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      PILLARBOX_BILLING__STRIPE_PRICE: PRICE,
      PILLARBOX_BILLING__STRIPE_METER_EVENT: METER.eventName,
      PILLARBOX_BILLING__STRIPE_API_BASE: url,
    },
    state,
    requests: [],
    violations: [],
    fault: () => undefined,
    onDone: () => undefined,
    visibleAfter: 0,
    charged: (customer) =>
      state.events.reduce((sum, event) => sum + (event.customer === customer ? event.value : 0), 0),
    complete(sessionId, { customer } = {}) {
      const session = state.sessions.get(sessionId) as FakeSession
      assert.equal(session.status, 'open')
      const subscription = double.addSubscription({
        customer: customer ?? session.customer ?? newId('cus'),
        currency: session.currency,
        metadata: session.subscriptionMetadata,
      })
      Object.assign(session, {
        status: 'complete',
        customer: subscription.customer,
        subscription: subscription.id,
      })
      return subscription
    },
    addSubscription(change = {}) {
      const customer = change.customer ?? newId('cus')
      if (!state.customers.has(customer)) {
        state.customers.set(customer, { id: customer, email: null, balance: 0, currency: 'usd' })
      }
      const startDate = seconds()
      const date = new Date(now())
      const subscription: FakeSubscription = {
        id: newId('sub'),
        customer,
        currency: 'usd',
        status: 'active',
        metadata: {},
        startDate,
        periodStart: startDate,
        periodEnd: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000,
        latestInvoice: null,
        ...change,
      }
      state.subscriptions.set(subscription.id, subscription)
      return subscription
    },
    setStatus(id, status) {
      Object.assign(state.subscriptions.get(id) as FakeSubscription, { status })
    },
    addInvoice(change) {
      const invoice: FakeInvoice = {
        id: newId('in'),
        subscription: null,
        status: 'open',
        billingReason: 'subscription_cycle',
        attempted: true,
        metadata: {},
        amountDue: 250,
        created: seconds(),
        periodStart: seconds() - 86_400,
        periodEnd: seconds(),
        ...change,
      }
      state.invoices.set(invoice.id, invoice)
      return invoice
    },
    replaceMeter(change = {}) {
      const { customerKey, valueKey } = METER
      state.meters.push({ id: newId('mtr'), customerKey, valueKey, ...change })
    },
    event(type, objectId, change = {}) {
      events += 1
      const object = { ...showObject(state, objectId), id: objectId }
      return {
        id: `evt_${events}_${randomBytes(6).toString('hex')}`,
        object: 'event',
        api_version: STRIPE_API_VERSION,
        created: seconds(),
        data: { object },
        livemode: false,
        type,
        ...change,
      }
    },
    sign(event, { at = now(), secret = WEBHOOK_SECRET } = {}) {
      const body = typeof event === 'string' ? event : JSON.stringify(event)
      const time = Math.floor(at / 1000)
      const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
      return { body, signature: `t=${time},v1=${signature}` }
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      assert.deepEqual(double.violations, [])
    },
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await readAll(incoming)
    const { pathname, search } = new URL(incoming.url ?? '/', url)
    const form = { ...parseForm(search.slice(1)), ...parseForm(body) }
    const method = incoming.method ?? 'GET'
    const key = incoming.headers['idempotency-key']
    const idempotencyKey = typeof key === 'string' ? key : undefined
    const request: StripeRequest = { method, path: pathname, form, idempotencyKey }
    double.requests.push(request)
    const fault = double.fault(request)
    if (fault === 'refuse') return void incoming.socket.destroy()
    if (fault === 'hang') return
    if (fault === '500') return reply(outgoing, 500, apiError())
    if (fault === '400') {
      const error = { message: 'No such customer', type: 'invalid_request_error' }
      return reply(outgoing, 400, { error: { ...error, code: 'resource_missing' } })
    }
    if (fault === '429') {
      outgoing.setHeader('retry-after', '1')
      const error = { message: 'Request rate limit exceeded.', type: 'invalid_request_error' }
      return reply(outgoing, 429, { error: { ...error, code: 'rate_limit' } })
    }
    if (idempotencyKey !== undefined && running.has(idempotencyKey)) {
      return reply(outgoing, 409, { error: KEY_IN_USE })
    }
    if (idempotencyKey !== undefined) running.add(idempotencyKey)
    const { status, body: shown } = handle(incoming, request, fault)
    await double.onDone(request)
    if (idempotencyKey !== undefined) running.delete(idempotencyKey)
    if (fault === 'cut') return void incoming.socket.destroy()
    if (fault === 'hang-after') return
    reply(
      outgoing,
      fault === '500-after' ? 500 : status,
      fault === '500-after' ? apiError() : shown,
    )
  }

  function handle(
    { headers }: IncomingMessage,
    request: StripeRequest,
    fault: Fault | undefined,
  ): { status: number; body: object } {
    try {
      if (fault === '401' || headers.authorization !== `Bearer ${SECRET_KEY}`) {
        throw new Refusal(401, `Invalid API Key provided: ${SECRET_KEY.slice(0, 8)}_****`)
      }
      check(request, headers['stripe-version'])
      return replay(request, () => ({
        status: 200,
        body: answer({ state, now, visibleAfter: double.visibleAfter, newId }, request),
      }))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.isViolation) {
        double.violations.push(`${request.method} ${request.path}: ${error.message}`)
      }
      const shown = { message: error.message, type: 'invalid_request_error', ...error.facts }
      return { status: error.status, body: { error: shown } }
    }
  }

  /** A repeated key gets the first answer; with other parameters it is refused. */
  function replay(request: StripeRequest, run: () => { status: number; body: object }) {
    const { method, path, form, idempotencyKey } = request
    if (method !== 'POST' || idempotencyKey === undefined) return run()
    const text = JSON.stringify({ path, form })
    const known = replies.get(idempotencyKey)
    if (known !== undefined && now() - known.at < 86_400_000) {
      if (known.request === text) return known
      const facts = { type: 'idempotency_error' }
      throw new Refusal(
        400,
        'Keys for idempotent requests can only be used with the same parameters.',
        facts,
      )
    }
    const made = run()
    replies.set(idempotencyKey, { ...made, request: text, at: now() })
    return made
  }

  return double
}

/** @throws Refusal */
function check(request: StripeRequest, version: unknown): void {
  if (version !== STRIPE_API_VERSION) {
    throw new Refusal(400, `Invalid Stripe API version: ${String(version)}`, {}, true)
  }
  const endpoint = findEndpoint(request.method, request.path)
  if (endpoint === undefined) {
    const text = `Unrecognized request URL (${request.method}: ${request.path}).`
    throw new Refusal(404, text, {}, true)
  }
  const wrong = findWrongParameter(endpoint, request.form)
  if (wrong !== undefined) throw new Refusal(400, wrong, { code: 'parameter_unknown' }, true)
}

function showObject(state: State, id: string): object {
  const session = state.sessions.get(id)
  if (session !== undefined) return toSession(session)
  const subscription = state.subscriptions.get(id)
  if (subscription !== undefined) return toSubscription(subscription)
  const invoice = state.invoices.get(id)
  return invoice === undefined ? {} : toInvoice(invoice)
}

let ids = 0

/** No two are the same. */
function newId(prefix: string): string {
  ids += 1
  return `${prefix}_${randomBytes(6).toString('hex')}${String(ids).padStart(4, '0')}`
}

function apiError(): object {
  return { error: { message: 'An unknown error occurred', type: 'api_error' } }
}

function reply(outgoing: ServerResponse, status: number, body: object): void {
  outgoing.setHeader('request-id', `req_${randomBytes(6).toString('hex')}`)
  outgoing.writeHead(status, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify(body))
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
