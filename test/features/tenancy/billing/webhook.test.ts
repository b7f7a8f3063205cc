import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'
import { deleteProject } from '../../../../src/features/operation/erasure/end-project.ts'
import { PLATFORM_MAIL_KIND } from '../../../../src/features/tenancy/accounts/platform-mail/enqueue.ts'
import {
  disableProject,
  enableProject,
} from '../../../../src/features/tenancy/accounts/projects/disable.ts'
import { BILLING } from '../../../../src/features/tenancy/billing/billing.ts'
import { CANCELLATION_KIND } from '../../../../src/features/tenancy/billing/cancel.ts'
import { beginCheckout } from '../../../../src/features/tenancy/billing/checkout.ts'
import {
  checkSignature,
  createStripeReceiver,
} from '../../../../src/features/tenancy/billing/webhook/receive.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { type Project, projects } from '../../../../src/store/schema/accounts.ts'
import { stripeEvents } from '../../../../src/store/schema/billing.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { deleteExpired } from '../../../../src/work/retention.ts'
import { addProject, type TestProject } from '../../../core.ts'
import type { FakeSubscription } from '../../../stripe/objects.ts'
import { type Billed, DAY_MS, openBilled } from './billed.ts'

type Receiving = Billed & {
  shop: TestProject
  /** Signs an event now, and delivers it. */
  deliver(event: object): Promise<void>
  row(project?: { id: string }): Promise<Project | undefined>
  /** Subscribes the shop by a checkout whose event was delivered. */
  checkOut(): Promise<FakeSubscription>
  jobKinds(): Promise<string[]>
}

async function openReceiving(t: TestContext, settings = {}): Promise<Receiving> {
  const billed = await openBilled(t, settings)
  const { core, stripe, deps } = billed
  const receiver = createStripeReceiver(deps)
  const shop = await addProject(core)
  const row: Receiving['row'] = ({ id } = shop) =>
    core.store.read.select().from(projects).where(eq(projects.id, id)).get()
  const deliver = (event: object) => {
    const { body, signature } = stripe.sign(event)
    return receiver.receive({ body: Buffer.from(body), signature })
  }
  return {
    ...billed,
    shop,
    deliver,
    row,
    async checkOut() {
      const project = await row()
      assert.ok(project)
      billed.pass(10 * 60_000)
      await beginCheckout(deps, project, { currency: 'usd', email: 'ann@people.test' })
      const sessionId = [...stripe.state.sessions.keys()].at(-1) ?? ''
      const subscription = stripe.complete(sessionId)
      await deliver(stripe.event('checkout.session.completed', sessionId))
      return subscription
    },
    async jobKinds() {
      return (await core.store.read.select({ kind: jobs.kind }).from(jobs)).map(({ kind }) => kind)
    },
  }
}

/** What billing knows of a project. */
function shown(project: Project | undefined) {
  const { customer, subscription, currency, isDisabled, disabledReason } = project as Project
  return { customer, subscription, currency, isDisabled, disabledReason }
}

const enabled = { isDisabled: false, disabledReason: null }
const unpaid = { isDisabled: true, disabledReason: 'PAYMENT_FAILED' }

describe('an event of Stripe', () => {
  it('about a checkout subscribes the project since the beginning of the subscription', async (t) => {
    const { checkOut, row } = await openReceiving(t)
    const { id: subscription, customer, startDate } = await checkOut()
    const project = await row()
    assert.deepEqual(shown(project), { customer, subscription, currency: 'usd', ...enabled })
    assert.equal(project?.subscribedAt, startDate * 1000)
  })

  it('takes effect once, and its id is forgotten after 40 days', async (t) => {
    const { checkOut, deliver, stripe, row, core, pass } = await openReceiving(t)
    const subscription = await checkOut()
    stripe.setStatus(subscription.id, 'canceled')
    const event = stripe.event('customer.subscription.deleted', subscription.id)
    await deliver(event)
    stripe.setStatus(subscription.id, 'active')
    const requests = stripe.requests.length
    await deliver(event)
    await deliver(event)
    assert.equal(stripe.requests.length, requests, 'a known event needs no request')
    assert.equal((await row())?.subscription, null)
    const ids = () => core.store.read.select().from(stripeEvents)
    assert.equal((await ids()).length, 2)
    pass(39 * DAY_MS)
    await deleteExpired(core, BILLING)
    assert.equal((await ids()).length, 2)
    pass(2 * DAY_MS)
    await deleteExpired(core, BILLING)
    assert.equal((await ids()).length, 0)
  })

  it('that comes twice at the same time takes effect once', async (t) => {
    const { deliver, stripe, core, shop, row } = await openReceiving(t)
    const { id, customer } = stripe.addSubscription({ metadata: { project_id: shop.id } })
    const event = stripe.event('customer.subscription.created', id)
    await Promise.all([deliver(event), deliver(event), deliver(event)])
    assert.equal((await core.store.read.select().from(stripeEvents)).length, 1)
    assert.equal((await row())?.customer, customer)
  })

  it('out of order has the effect of what is true now', async (t) => {
    const { deliver, stripe, shop, row } = await openReceiving(t)
    const { id } = stripe.addSubscription({ metadata: { project_id: shop.id } })
    const created = stripe.event('customer.subscription.created', id)
    stripe.setStatus(id, 'canceled')
    await deliver(stripe.event('customer.subscription.deleted', id))
    await deliver(created)
    assert.equal((await row())?.subscription, null)
  })

  it('is no source of amounts, ids or states', async (t) => {
    const { deliver, stripe, shop, row } = await openReceiving(t)
    const { id, customer } = stripe.addSubscription({ metadata: { project_id: shop.id } })
    const lie = { customer: 'cus_lie', status: 'canceled', metadata: { project_id: 'x' } }
    const event = stripe.event('customer.subscription.updated', id, {
      data: { object: { id, ...lie } },
    })
    await deliver(event)
    assert.deepEqual([(await row())?.customer, (await row())?.subscription], [customer, id])
  })

  it('about no project, or an object that is gone, is accepted and has no effect', async (t) => {
    const { deliver, stripe, row, lines } = await openReceiving(t)
    const before = await row()
    const strange = stripe.addSubscription({ metadata: { project_id: 'unknown' } })
    const own = stripe.addSubscription({ metadata: {} })
    await deliver(stripe.event('customer.subscription.updated', strange.id))
    await deliver(stripe.event('customer.subscription.updated', own.id))
    await deliver(stripe.event('customer.subscription.updated', 'sub_gone'))
    await deliver(stripe.event('invoice.paid', 'in_gone'))
    await deliver(stripe.event('charge.refunded', 'ch_1'))
    assert.deepEqual(await row(), before)
    assert.equal(lines.filter(({ text }) => /no project|does not have/.test(text)).length, 4)
  })

  it('about a project that was deleted before it was paid cancels the subscription once', async (t) => {
    const { core, deps, deliver, stripe, shop, row, jobKinds } = await openReceiving(t)
    const project = await row()
    assert.ok(project)
    await beginCheckout(deps, project, { currency: 'usd', email: 'ann@people.test' })
    await deleteProject(core, shop.id, { force: true })
    const [sessionId = ''] = stripe.state.sessions.keys()
    const { id } = stripe.complete(sessionId)
    await deliver(stripe.event('checkout.session.completed', sessionId))
    await deliver(stripe.event('customer.subscription.created', id))
    const cancellations = (await jobKinds()).filter((kind) => kind === CANCELLATION_KIND)
    assert.equal(cancellations.length, 1)
  })

  it('of a payment link cannot give anybody a subscription by its reference', async (t) => {
    const { deliver, stripe, shop, row } = await openReceiving(t)
    const { id: subscription, customer } = stripe.addSubscription()
    stripe.state.sessions.set('cs_link', {
      ...{ id: 'cs_link', customer, clientReferenceId: shop.id, currency: 'usd', metadata: {} },
      ...{ subscriptionMetadata: {}, anchor: {}, subscription, status: 'complete', expiresAt: 0 },
    })
    await deliver(stripe.event('checkout.session.completed', 'cs_link'))
    assert.equal((await row())?.customer, null)
  })

  it('about the customer of another project has no effect', async (t) => {
    const { deliver, stripe, subscribe, shop, row } = await openReceiving(t)
    const other = await subscribe('other')
    const { id } = stripe.addSubscription({
      customer: other.customer,
      metadata: { project_id: shop.id },
    })
    await deliver(stripe.event('customer.subscription.created', id))
    assert.equal((await row())?.customer, null)
    assert.equal((await row(other))?.subscription, other.subscription)
  })

  it('of another kind is accepted, whatever the id of its object is', async (t) => {
    const { deliver, stripe } = await openReceiving(t)
    await deliver(stripe.event('coupon.created', 'SPRING-SALE 10%'))
    await deliver(stripe.event('balance.available', '', { data: { object: {} } }))
    await assert.rejects(deliver(stripe.event('invoice.paid', '../customers')), {
      code: 'BAD_REQUEST',
    })
    const objects = stripe.requests.filter(({ path }) => !path.startsWith('/v1/billing'))
    assert.deepEqual(objects, [])
  })

  it('of live mode has no effect with a test key', async (t) => {
    const { deliver, stripe, shop, row } = await openReceiving(t)
    const { id } = stripe.addSubscription({ metadata: { project_id: shop.id } })
    await deliver(stripe.event('customer.subscription.created', id, { livemode: true }))
    assert.equal((await row())?.customer, null)
    assert.equal(stripe.requests.length, 0)
  })

  for (const fault of ['refuse', '500', '401'] as const) {
    it(`is refused while Stripe fails (${fault}), and takes effect when it comes again`, async (t) => {
      const { deliver, stripe, shop, row, core } = await openReceiving(t)
      const { id } = stripe.addSubscription({ metadata: { project_id: shop.id } })
      const event = stripe.event('customer.subscription.created', id)
      stripe.fault = () => fault
      await assert.rejects(deliver(event), { code: 'EXTERNAL_SERVICE_ERROR', status: 503 })
      let reads = 0
      stripe.fault = () => (++reads > 1 ? fault : undefined)
      await assert.rejects(deliver(event), { code: 'EXTERNAL_SERVICE_ERROR' })
      assert.equal((await row())?.customer, null)
      assert.equal((await core.store.read.select().from(stripeEvents)).length, 0)
      stripe.fault = () => undefined
      await deliver(event)
      assert.equal((await row())?.subscription, id)
    })
  }

  it('about a second subscription keeps the first, and has the second cancelled', async (t) => {
    const { deliver, stripe, shop, row, jobKinds, checkOut } = await openReceiving(t)
    const first = await checkOut()
    const second = stripe.addSubscription({ metadata: { project_id: shop.id } })
    await deliver(stripe.event('customer.subscription.created', second.id))
    assert.equal((await row())?.subscription, first.id)
    assert.deepEqual(await jobKinds(), [CANCELLATION_KIND])
    stripe.setStatus(first.id, 'canceled')
    const third = stripe.addSubscription({ metadata: { project_id: shop.id } })
    await deliver(stripe.event('customer.subscription.created', third.id))
    assert.equal((await row())?.subscription, third.id)
  })

  it('about a deleted project has no effect', async (t) => {
    const { deliver, stripe, shop, row, core } = await openReceiving(t)
    const { id } = stripe.addSubscription({ metadata: { project_id: shop.id } })
    await deleteProject(core, shop.id)
    await deliver(stripe.event('customer.subscription.created', id))
    assert.equal((await row())?.customer, null)
  })
})

describe('the end of a subscription', () => {
  for (const status of ['canceled', 'unpaid', 'incomplete_expired'] as const) {
    it(`(${status}) is the project's, whose customer stays`, async (t) => {
      const { checkOut, deliver, stripe, row } = await openReceiving(t)
      const { id, customer } = await checkOut()
      stripe.setStatus(id, status)
      await deliver(stripe.event('customer.subscription.updated', id))
      const expected = { customer, subscription: null, currency: 'usd', ...enabled }
      assert.deepEqual(shown(await row()), expected)
    })
  }

  it('leaves a newer subscription as it is', async (t) => {
    const { checkOut, deliver, stripe, row } = await openReceiving(t)
    const old = await checkOut()
    stripe.setStatus(old.id, 'canceled')
    await deliver(stripe.event('customer.subscription.deleted', old.id))
    const next = await checkOut()
    await deliver(stripe.event('customer.subscription.updated', old.id))
    assert.equal((await row())?.subscription, next.id)
    assert.equal(next.customer, old.customer)
  })

  it('does not begin with a first payment that is pending', async (t) => {
    const { deliver, stripe, shop, row } = await openReceiving(t)
    const metadata = { project_id: shop.id }
    const { id } = stripe.addSubscription({ metadata, status: 'incomplete' })
    await deliver(stripe.event('customer.subscription.created', id))
    assert.equal((await row())?.subscription, null)
  })
})

describe('a payment that fails', () => {
  /** The shop has subscribed, and an invoice of it was not paid. */
  async function fail(t: TestContext, settings = {}, billingReason = 'subscription_cycle') {
    const receiving = await openReceiving(t, settings)
    const { stripe, deliver, shop } = receiving
    const subscription = await receiving.checkOut()
    stripe.setStatus(subscription.id, 'past_due')
    const { customer, metadata } = subscription
    const invoice = stripe.addInvoice({
      ...{ customer, subscription: subscription.id, billingReason, metadata },
    })
    await deliver(stripe.event('invoice.payment_failed', invoice.id))
    const pay = async () => {
      Object.assign(invoice, { status: 'paid' })
      stripe.setStatus(subscription.id, 'active')
      await deliver(stripe.event('invoice.paid', invoice.id))
    }
    return { ...receiving, shop, subscription, invoice, pay }
  }

  it('disables the project, tells its members, and enables it when it is paid', async (t) => {
    const { row, pay, jobKinds, subscription } = await fail(t)
    assert.deepEqual(shown(await row()), {
      ...{ customer: subscription.customer, subscription: subscription.id, currency: 'usd' },
      ...unpaid,
    })
    assert.deepEqual(await jobKinds(), [PLATFORM_MAIL_KIND])
    const { reputationSince } = (await row())!
    await pay()
    const paid = await row()
    assert.equal(paid?.isDisabled, false)
    assert.equal(paid?.disabledReason, null)
    assert.equal(paid?.reputationSince, reputationSince, 'a payment improves no reputation')
  })

  it('does not if it is the first', async (t) => {
    const { row } = await fail(t, {}, 'subscription_create')
    assert.equal((await row())?.isDisabled, false)
  })

  it('does nothing again when its event comes after the payment', async (t) => {
    const { row, pay, deliver, stripe, invoice } = await fail(t)
    const late = stripe.event('invoice.payment_failed', invoice.id)
    await pay()
    await deliver(late)
    assert.equal((await row())?.isDisabled, false)
  })

  it('keeps the project disabled while another invoice is not paid', async (t) => {
    const { row, deliver, stripe, invoice, subscription } = await fail(t)
    stripe.addInvoice({ ...invoice, id: 'in_second' })
    Object.assign(invoice, { status: 'paid' })
    await deliver(stripe.event('invoice.paid', invoice.id))
    assert.equal((await row())?.disabledReason, 'PAYMENT_FAILED')
    stripe.setStatus(subscription.id, 'canceled')
    await deliver(stripe.event('customer.subscription.deleted', subscription.id))
    const over = await row()
    assert.deepEqual([over?.disabledReason, over?.subscription], ['PAYMENT_FAILED', null])
    Object.assign(stripe.state.invoices.get('in_second') ?? {}, { status: 'void' })
    await deliver(stripe.event('invoice.voided', 'in_second'))
    assert.equal((await row())?.isDisabled, false)
  })

  for (const status of ['canceled', 'incomplete', 'incomplete_expired'] as const) {
    it(`is not made up for by another subscription that is ${status}`, async (t) => {
      const { row, deliver, stripe, shop, subscription } = await fail(t)
      const metadata = { project_id: shop.id }
      const own = stripe.addSubscription({ metadata, status, customer: subscription.customer })
      const stranger = stripe.addSubscription({ metadata, status })
      for (const { id } of [own, stranger]) {
        await deliver(stripe.event('customer.subscription.updated', id))
        const { disabledReason, subscription: kept } = (await row())!
        assert.deepEqual([disabledReason, kept], ['PAYMENT_FAILED', subscription.id])
      }
    })
  }

  it('while it is only under way does not disable the project', async (t) => {
    const { stripe, deliver, checkOut, row } = await openReceiving(t)
    const { id, customer, metadata } = await checkOut()
    const invoice = stripe.addInvoice({ customer, subscription: id, metadata })
    await deliver(stripe.event('invoice.payment_failed', invoice.id))
    assert.equal((await row())?.isDisabled, false)
  })

  it('of an invoice for something else is no matter', async (t) => {
    const { stripe, deliver, checkOut, row } = await openReceiving(t)
    const { id, customer } = await checkOut()
    stripe.setStatus(id, 'past_due')
    stripe.addInvoice({ customer, subscription: null })
    await deliver(stripe.event('customer.subscription.updated', id))
    assert.equal((await row())?.isDisabled, false)
  })

  it('and is paid does not enable a project that was disabled for another reason', async (t) => {
    const { row, pay, core, shop } = await fail(t)
    const at = core.now()
    await core.store.write(async (tx) => {
      await enableProject(core, tx, { projectId: shop.id, at })
      await disableProject(core, tx, { projectId: shop.id, reason: 'MANUAL', at })
    })
    await pay()
    assert.equal((await row())?.disabledReason, 'MANUAL')
  })

  it('never disables the project that sends the mail of the server', async (t) => {
    const receiving = await openReceiving(t)
    const { deps, core, stripe, shop } = receiving
    const accounts = { ...core.config.accounts, mailProject: shop.id }
    const receiver = createStripeReceiver({ ...deps, config: { ...core.config, accounts } })
    const { id, customer, metadata } = await receiving.checkOut()
    stripe.setStatus(id, 'past_due')
    const invoice = stripe.addInvoice({ customer, subscription: id, metadata })
    const { body, signature } = stripe.sign(stripe.event('invoice.payment_failed', invoice.id))
    await receiver.receive({ body: Buffer.from(body), signature })
    assert.equal((await receiving.row())?.isDisabled, false)
    assert.ok(receiving.lines.some(({ text }) => /payment of the project/.test(text)))
  })
})

describe('a signature', () => {
  const at = Date.UTC(2026, 10, 21, 12)
  const secret = 'whsec_test'
  const { body, header } = sign()

  function sign() {
    const text = '{"id":"evt_1"}'
    const seconds = at / 1000
    const hex = createHmacHex(`${seconds}.${text}`)
    return { body: Buffer.from(text), header: `t=${seconds},v1=${hex}` }
  }
  function createHmacHex(text: string): string {
    return createHmac('sha256', secret).update(text).digest('hex')
  }
  const check = (change: Partial<Parameters<typeof checkSignature>[0]>) =>
    checkSignature({ header, body, secret, at, ...change })
  const seconds = at / 1000
  const right = header.split(',')[1] ?? ''

  it('is right with one of several values, for five minutes before and after', () => {
    check({})
    check({ header: `t=${seconds},v1=${'0'.repeat(64)},${right},v0=old` })
    check({ at: at + 300_000 })
    check({ at: at - 300_000 })
  })

  const wrong: [string, Partial<Parameters<typeof checkSignature>[0]>][] = [
    ['is missing', { header: undefined }],
    ['is empty', { header: '' }],
    ['is a list', { header: [header] }],
    ['has no time', { header: right }],
    ['has another time', { header: `t=${seconds + 1},${right}` }],
    ['has a time that is no number', { header: `t=x,${right}` }],
    ['has an old scheme', { header: `t=${seconds},v0=${right.slice(3)}` }],
    ['is short', { header: `t=${seconds},v1=${right.slice(3, 40)}` }],
    ['is of another body', { body: Buffer.from('{"id":"evt_2"}') }],
    ['is of another secret', { secret: 'whsec_other' }],
    ['is too old', { at: at + 301_000 }],
    ['is of the future', { at: at - 301_000 }],
  ]
  for (const [name, change] of wrong) {
    it(`is refused if it ${name}`, () => {
      assert.throws(() => check(change), { code: 'BAD_REQUEST', status: 400 })
    })
  }
})
