import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import supertest from 'supertest'
import { markOf } from '../../../src/features/tenancy/billing/mark.ts'
import { createStripe } from '../../../src/features/tenancy/billing/stripe.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { meteringBatches } from '../../../src/store/schema/billing.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { type StripeDouble, startStripeDouble } from '../../stripe/double.ts'
import { METER } from '../../stripe/objects.ts'
import { type Method, startService, useService } from '../service.ts'

const HOUR_MS = 3_600_000
const NOON = Date.UTC(2026, 10, 21, 12)

const calls: [Method, string][] = [
  ['post', 'checkout'],
  ['post', 'billing-portal'],
  ['get', 'billing-consumption'],
  ['get', 'billing-invoices'],
]

describe('without the keys of Stripe', () => {
  const { service, mine } = useService()

  for (const [method, call] of calls) {
    it(`${call} is not found`, async () => {
      const cookie = await logIn(service.core, mine.ownerId)
      const url = `/users/@me/projects/${mine.id}/${call}`
      const answer = await supertest(service.url)[method](url).set('Cookie', cookie)
      assert.equal(answer.status, 404)
      assert.equal(answer.body.error.code, 'RESOURCE_NOT_FOUND')
    })
  }

  it('the webhook of Stripe is not found', async () => {
    const answer = await supertest(service.url).post('/webhooks/incoming/stripe').send('{}')
    assert.equal(answer.status, 404)
    assert.equal(answer.body.error.code, 'RESOURCE_NOT_FOUND')
  })
})

describe('billing', () => {
  let stripe: StripeDouble
  let service: Awaited<ReturnType<typeof startService>>
  let cookie: string
  let id: string
  let now = NOON
  let names = 0

  before(async () => {
    stripe = await startStripeDouble(() => now)
    service = await startService({
      settings: stripe.settings,
      baseUrl: 'https://mail.example.test',
      now: () => now,
    })
    const project = await service.makeProject('shop')
    id = project.id
    cookie = await logIn(service.core, project.ownerId)
  })
  after(async () => {
    await service.stop()
    await stripe.stop()
  })

  const request = (method: Method, call: string, by = cookie, project = id) =>
    supertest(service.url)[method](`/users/@me/projects/${project}/${call}`).set('Cookie', by)

  /** A new project with a subscription, and a session of its owner. */
  async function subscribed(change: Parameters<StripeDouble['addSubscription']>[0] = {}) {
    names += 1
    const project = await service.makeProject(`shop ${names}`)
    const metadata = { project_id: project.id }
    const made = stripe.addSubscription({ metadata, ...change })
    await service.core.store.write((tx) =>
      tx
        .update(projects)
        .set({ customer: made.customer, subscription: made.id, subscribedAt: now })
        .where(eq(projects.id, project.id)),
    )
    service.core.directory.drop()
    return {
      ...project,
      ...made,
      id: project.id,
      cookie: await logIn(service.core, project.ownerId),
    }
  }

  it('begins a checkout: metered price, first of the month, the project, no quantity', async () => {
    const answer = await request('post', 'checkout?currency=eur')
    assert.equal(answer.status, 200, answer.text)
    const [session] = [...stripe.state.sessions.values()].slice(-1)
    assert.equal(answer.body.url, `https://checkout.stripe.com/c/pay/${session?.id}`)
    const { form, idempotencyKey } = stripe.requests.at(-1)!
    assert.match(idempotencyKey ?? '', /^checkout [0-9a-f]{64}$/)
    const owner = form.customer_email
    assert.match(String(owner), /@people\.test$/)
    const { custom_text, ...others } = form
    assert.ok(custom_text)
    const metadata = { project_id: id, server_mark: markOf(service.core.keyring, id) }
    assert.deepEqual(others, {
      mode: 'subscription',
      line_items: [{ price: 'price_credits' }],
      client_reference_id: id,
      metadata,
      subscription_data: {
        metadata,
        billing_cycle_anchor_config: { day_of_month: '1', hour: '0', minute: '0', second: '0' },
        proration_behavior: 'none',
      },
      allow_promotion_codes: 'true',
      success_url: 'https://mail.example.test/app?checkout=done',
      cancel_url: 'https://mail.example.test/app?checkout=cancelled',
      currency: 'eur',
      customer_email: owner,
    })
  })

  it('makes one checkout of a double click, and another one later', async () => {
    const before = stripe.state.sessions.size
    const [first, second] = await Promise.all([
      request('post', 'checkout?currency=gbp'),
      request('post', 'checkout?currency=gbp'),
    ])
    assert.equal(first.body.url, second.body.url)
    assert.equal(stripe.state.sessions.size, before + 1)
    now += HOUR_MS
    const later = await request('post', 'checkout?currency=gbp')
    assert.notEqual(later.body.url, first.body.url)
  })

  it('refuses another currency', async () => {
    for (const currency of ['jpy', 'USD', 'usd,eur']) {
      const answer = await request('post', `checkout?currency=${currency}`)
      assert.equal(answer.status, 400, currency)
      assert.equal(answer.body.error.code, 'BAD_REQUEST')
    }
  })

  it('refuses a second subscription', async () => {
    const shop = await subscribed()
    const answer = await request('post', 'checkout', shop.cookie, shop.id)
    assert.equal(answer.status, 400)
    assert.match(answer.body.error.message, /subscription already/)
  })

  it('subscribes a known customer again, or a new one if Stripe has deleted it', async () => {
    const shop = await subscribed()
    await service.core.store.write((tx) =>
      tx.update(projects).set({ subscription: null }).where(eq(projects.id, shop.id)),
    )
    service.core.directory.drop()
    const again = await request('post', 'checkout', shop.cookie, shop.id)
    assert.equal(again.status, 200)
    assert.equal(stripe.requests.at(-1)?.form.customer, shop.customer)
    assert.equal(stripe.requests.at(-1)?.form.customer_email, undefined)
    stripe.state.customers.delete(shop.customer)
    now += HOUR_MS
    const other = await request('post', 'checkout', shop.cookie, shop.id)
    assert.equal(other.status, 200)
    assert.equal(stripe.requests.at(-1)?.form.customer, undefined)
  })

  it('opens the portal of a customer, and of nobody else', async () => {
    const none = await request('post', 'billing-portal')
    assert.equal(none.status, 400)
    assert.equal(none.body.error.code, 'BAD_REQUEST')
    const shop = await subscribed()
    const answer = await request('post', 'billing-portal', shop.cookie, shop.id)
    assert.equal(answer.status, 200)
    assert.match(answer.body.url, /^https:\/\/billing\.stripe\.com\//)
    assert.equal(stripe.requests.at(-1)?.form.return_url, 'https://mail.example.test/app')
  })

  it('shows what was counted and what waits', async () => {
    const none = await request('get', 'billing-consumption')
    assert.equal(none.status, 400)
    const shop = await subscribed()
    const seconds = Math.floor(now / 1000)
    stripe.state.events.push({
      meter: METER.id,
      ...{ identifier: 'counted', customer: shop.customer, value: 400 },
      ...{ timestamp: seconds, createdAt: seconds },
    })
    const waiting = { projectId: shop.id, customer: shop.customer, occurredAt: now }
    const times = { createdAt: now, updatedAt: now }
    await service.core.store.write((tx) =>
      tx.insert(meteringBatches).values([
        { id: 'w', ...waiting, ...times, credits: 30, emailIds: ['a'] },
        { id: 's', ...waiting, ...times, credits: 5, emailIds: ['b'], state: 'settling' },
        { id: 'c', ...waiting, ...times, credits: 400, emailIds: [], state: 'charged' },
        { id: 'd', ...waiting, ...times, credits: 9, emailIds: ['d'], state: 'dropped' },
      ]),
    )
    const { status, body } = await request('get', 'billing-consumption', shop.cookie, shop.id)
    assert.equal(status, 200)
    const start = new Date(seconds * 1000).toISOString()
    const end = '2026-12-01T00:00:00.000Z'
    assert.deepEqual(body, {
      period: { start, end },
      usage: { total: 435, records: [] },
      credits: { balance: 0, hasCredits: false, creditAmount: 0, currency: 'usd' },
      upcomingInvoice: {
        ...{ amountDue: 40, currency: 'usd', periodStart: start, periodEnd: end },
        ...{ subtotal: 40, total: 40 },
      },
    })
  })

  it('shows no next invoice of a subscription that is over', async () => {
    const shop = await subscribed({ status: 'canceled' })
    const { body } = await request('get', 'billing-consumption', shop.cookie, shop.id)
    assert.equal(body.upcomingInvoice, null)
  })

  it('lists invoices, the newest first, and those that are not paid', async () => {
    const empty = await request('get', 'billing-invoices')
    assert.deepEqual(empty.body, { invoices: [], hasUnpaidInvoices: false, unpaidInvoices: [] })
    const shop = await subscribed()
    const { customer } = shop
    const seconds = Math.floor(now / 1000)
    const paid = stripe.addInvoice({ customer, status: 'paid', created: seconds - 99 })
    const open = stripe.addInvoice({ customer, amountDue: 700, created: seconds })
    stripe.addInvoice({ customer: 'cus_other' })
    const { status, body } = await request('get', 'billing-invoices', shop.cookie, shop.id)
    assert.equal(status, 200)
    assert.deepEqual(
      body.invoices.map((one: { id: string; paid: boolean }) => [one.id, one.paid]),
      [
        [open.id, false],
        [paid.id, true],
      ],
    )
    assert.equal(body.hasUnpaidInvoices, true)
    assert.deepEqual(body.unpaidInvoices, [
      {
        ...{ id: open.id, number: `PB-${open.id.slice(-4)}`, amountDue: 700, currency: 'usd' },
        ...{ dueDate: null, hostedInvoiceUrl: `https://invoice.stripe.com/i/${open.id}` },
      },
    ])
  })

  it('is changed by admins, and read by every member', async () => {
    const shop = await subscribed()
    const { id: userId } = await addUser(service.core)
    const member = await logIn(service.core, userId)
    const stranger = await logIn(service.core, (await addUser(service.core)).id)
    await addMember(service.core, { projectId: shop.id, userId, role: 'MEMBER' })
    for (const [method, call] of calls) {
      const status = (await request(method, call, member, shop.id)).status
      assert.equal(status, method === 'get' ? 200 : 403, call)
      assert.equal((await request(method, call, stranger, shop.id)).status, 404, call)
      const url = `/users/@me/projects/${shop.id}/${call}`
      const byKey = supertest(service.url)
        [method](url)
        .set('Authorization', `Bearer ${shop.secret}`)
      assert.equal((await byKey).status, 401, call)
    }
  })

  for (const fault of ['refuse', '500', 'cut', '429', '401'] as const) {
    it(`answers 503 while Stripe fails (${fault}), without a word of the key`, async () => {
      const shop = await subscribed()
      stripe.fault = () => fault
      for (const [method, call] of calls.slice(1)) {
        const answer = await request(method, call, shop.cookie, shop.id)
        assert.equal(answer.status, 503, call)
        assert.equal(answer.body.error.code, 'EXTERNAL_SERVICE_ERROR')
        assert.doesNotMatch(answer.text, /sk_|127\.0\.0\.1|ECONN/)
      }
      stripe.fault = () => undefined
    })
  }

  const post = (body: string, signature?: string) => {
    const call = supertest(service.url).post('/webhooks/incoming/stripe')
    if (signature !== undefined) call.set('Stripe-Signature', signature)
    return call.set('Content-Type', 'application/json; charset=utf-8').send(body)
  }

  it('takes an event whose bytes are signed, whatever they look like', async () => {
    const project = await service.makeProject('by event')
    const subscription = stripe.addSubscription({ metadata: { project_id: project.id } })
    const event = stripe.event('customer.subscription.created', subscription.id)
    const { body, signature } = stripe.sign(`${JSON.stringify(event, null, 3)}\n`)
    const answer = await post(body, signature)
    assert.deepEqual([answer.status, answer.body], [200, { received: true }])
    const found = await service.core.store.read
      .select()
      .from(projects)
      .where(eq(projects.id, project.id))
    assert.equal(found[0]?.subscription, subscription.id)
  })

  it('refuses an event without a right signature, of no shape, or too large', async () => {
    const { body, signature } = stripe.sign(stripe.event('invoice.paid', 'in_1'))
    const requests = stripe.requests.length
    const refused: [string, string | undefined][] = [
      [body, undefined],
      [body, 'nonsense'],
      [`${body} `, signature],
      [body, stripe.sign(body, { secret: 'whsec_other' }).signature],
      [body, stripe.sign(body, { at: now - 6 * 60_000 }).signature],
      ['{', stripe.sign('{').signature],
      ['{"id":"evt_1"}', stripe.sign('{"id":"evt_1"}').signature],
      ['', stripe.sign('').signature],
    ]
    for (const [text, by] of refused) {
      const answer = await post(text, by)
      assert.equal(answer.status, 400, `${text.slice(0, 20)} ${by}`)
      assert.equal(answer.body.error.code, 'BAD_REQUEST')
    }
    const large = `{"a":"${'a'.repeat(600_000)}"}`
    assert.equal((await post(large, stripe.sign(large).signature)).status, 413)
    assert.equal(stripe.requests.length, requests)
  })

  it('asks for an event again while Stripe does not answer', async () => {
    const { body, signature } = stripe.sign(stripe.event('invoice.paid', 'in_1'))
    stripe.fault = () => '500'
    assert.equal((await post(body, signature)).status, 503)
    stripe.fault = () => undefined
    assert.equal((await post(body, signature)).status, 200)
  })

  it('gives up a request without an answer', async () => {
    const shop = await subscribed()
    const { core } = service
    const settings = core.config.billing
    assert.ok(settings)
    const client = createStripe(settings, { now: core.now, resolver: core.resolver, timeoutMs: 50 })
    stripe.fault = () => 'hang'
    const call = client.call((api) => api.customers.retrieve(shop.customer))
    await assert.rejects(call, { code: 'EXTERNAL_SERVICE_ERROR', kind: 'unanswered' })
    const abort = new AbortController()
    const aborted = client.call((api) => api.customers.retrieve(shop.customer), abort.signal)
    abort.abort()
    await assert.rejects(aborted, { kind: 'unanswered' })
    const closed = client.call((api) => api.customers.retrieve(shop.customer))
    client.close()
    await assert.rejects(closed, { kind: 'unanswered' })
    await assert.rejects(client.meter(), { kind: 'unanswered' })
    stripe.fault = () => undefined
  })
})
