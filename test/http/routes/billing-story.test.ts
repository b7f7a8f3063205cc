/** A project subscribes, sends, is charged exactly, and is told that it nears its limit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { appendEvents } from '../../../src/features/ground/events/append.ts'
import { startLazyReader } from '../../../src/features/ground/events/readers.ts'
import { usageHandler } from '../../../src/features/ground/usage/follow-events.ts'
import { createMetering } from '../../../src/features/tenancy/billing/billing.ts'
import { meter } from '../../../src/features/tenancy/billing/metering/collect.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { trustDomain } from '../../core.ts'
import { noticesOf } from '../../features/ground/usage/usage.ts'
import { logIn } from '../../session.ts'
import { setEmails } from '../../set-emails.ts'
import { startStripeDouble } from '../../stripe/double.ts'
import { startService } from '../service.ts'

const MINUTE_MS = 60_000
const START = Date.UTC(2026, 10, 21, 12)

test('a project subscribes, sends, is charged exactly, and hears of 80% and 100%', async (t) => {
  let now = START
  const stripe = await startStripeDouble(() => now)
  const settings = { ...stripe.settings, PILLARBOX_BILLING__FREE_EMAILS: '3' }
  const service = await startService({ settings, now: () => now })
  t.after(async () => {
    await service.stop()
    await stripe.stop()
  })
  const { core } = service
  assert.ok(core.stripe)
  const shop = await service.makeProject('shop')
  await trustDomain(core, shop.id, 'shop.test')
  const cookie = await logIn(core, shop.ownerId)
  const follower = startLazyReader(core, [usageHandler((tx, events) => meter(core, tx, events))])
  t.after(follower.stop)
  const metering = createMetering({ ...core, stripe: core.stripe })
  const { signal } = new AbortController()
  const own = (method: 'get' | 'post' | 'put', call: string) =>
    supertest(service.url)[method](`/users/@me/projects/${shop.id}/${call}`).set('Cookie', cookie)

  /** Sends that many emails, which the receivers take. */
  async function send(count: number, attachments: object[] = []) {
    const to = Array.from({ length: count }, (_, index) => `r${index}@people.test`)
    const message = { from: 'shop@shop.test', subject: 'Hi', body: '<p>Hi</p>', attachments }
    const answer = await supertest(service.url)
      .post('/v1/send')
      .set('Authorization', `Bearer ${shop.secret}`)
      .send({ to, ...message })
    if (answer.status !== 200) return answer
    const waiting = await core.store.read.select().from(emails).where(eq(emails.state, 'queued'))
    await core.store.write(async (tx) => {
      await setEmails(tx, { state: 'delivered', sentAt: now })
      const sent = waiting.map(({ id: emailId, projectId, contactId }) => ({
        ...{ projectId, contactId, emailId },
        ...{ name: 'email.sent', data: null, at: now },
      }))
      await appendEvents(tx, sent)
    })
    await follower.caughtUp()
    return answer
  }

  // Without a subscription: three emails, then no more.
  assert.equal((await send(3)).status, 200)
  const refused = await send(1)
  assert.equal(refused.status, 402)
  assert.equal(refused.body.error.code, 'BILLING_LIMIT_EXCEEDED')

  const { body: begun } = await own('post', 'checkout?currency=eur')
  const sessionId = begun.url.split('/').at(-1)
  now += MINUTE_MS
  const { customer, id: subscription } = stripe.complete(sessionId)
  const event = stripe.sign(stripe.event('checkout.session.completed', sessionId))
  const delivered = await supertest(service.url)
    .post('/webhooks/incoming/stripe')
    .set('Stripe-Signature', event.signature)
    .type('application/json')
    .send(event.body)
  assert.equal(delivered.status, 200, delivered.text)
  const { body: mine } = await supertest(service.url)
    .get('/users/@me/projects')
    .set('Cookie', cookie)
  assert.deepEqual([mine[0].customer, mine[0].subscription], [customer, subscription])

  // Its own limit counts the three emails that it sent before, the invoice does not.
  const limits = { transactional: 20, campaigns: null, workflows: null, inbound: null }
  const set = await own('put', 'billing-limits').send(limits)
  assert.equal(set.status, 200, set.text)
  assert.equal((await send(12)).status, 200)
  assert.deepEqual(await noticesOf(core), [{ category: 'shared', percent: 100, limit: 3, used: 3 }])
  const pdf = { filename: 'a.pdf', content: 'JVBERi0=', contentType: 'application/pdf' }
  assert.equal((await send(3, [pdf])).status, 200)
  assert.equal((await send(2)).status, 200)
  assert.equal((await send(1)).status, 402)
  assert.deepEqual((await noticesOf(core)).slice(1), [
    { category: 'transactional', percent: 80, limit: 20, used: 18 },
    { category: 'transactional', percent: 100, limit: 20, used: 20 },
  ])

  // 12 emails, 3 with an attachment, 2 more.
  const used = 12 + 3 * 2 + 2
  const before = await own('get', 'billing-consumption')
  assert.equal(before.body.usage.total, used)
  now += 40 * MINUTE_MS
  await metering.run(signal)
  assert.equal(stripe.charged(customer), used)
  const after = await own('get', 'billing-consumption')
  assert.equal(after.body.usage.total, used)
  assert.equal(after.body.upcomingInvoice.amountDue, 2)

  // The card is refused in December, and the invoice is paid later.
  stripe.setStatus(subscription, 'past_due')
  const metadata = { project_id: shop.id }
  const invoice = stripe.addInvoice({ customer, subscription, metadata })
  const hear = async (type: string) => {
    const { body, signature } = stripe.sign(stripe.event(type, invoice.id))
    const call = supertest(service.url).post('/webhooks/incoming/stripe').type('application/json')
    assert.equal((await call.set('Stripe-Signature', signature).send(body)).status, 200)
  }
  await hear('invoice.payment_failed')
  const closed = await send(1)
  assert.deepEqual([closed.status, closed.body.error.code], [403, 'PROJECT_DISABLED'])
  assert.match(closed.body.error.suggestion, /^A payment failed\. Pay the invoice: GET .*-invoices/)
  const unpaid = await own('get', 'billing-invoices')
  assert.equal(unpaid.body.unpaidInvoices[0].id, invoice.id)
  Object.assign(invoice, { status: 'paid' })
  stripe.setStatus(subscription, 'active')
  await hear('invoice.paid')
  assert.equal((await send(1)).status, 402)
})
