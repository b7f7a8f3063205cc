import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { judgeBatches } from '../../../../src/features/tenancy/billing/metering/settle.ts'
import { meteringBatches } from '../../../../src/store/schema/billing.ts'
import type { StripeRequest } from '../../../stripe/double.ts'
import { METER } from '../../../stripe/objects.ts'
import { type Billed, HOUR_MS, isEvent, MINUTE_MS, openBilled, statesOf } from './billed.ts'

describe('a batch without an answer for 23 hours', () => {
  /** One batch that Stripe has or has not counted, whose answer never came. */
  async function lose(billed: Billed, fault: '500' | '500-after') {
    const shop = await billed.subscribe()
    await billed.send(shop, 9)
    billed.pass(2 * MINUTE_MS)
    billed.stripe.fault = (request) => (isEvent(request) ? fault : undefined)
    await billed.run()
    billed.stripe.fault = () => '500'
    billed.pass(25 * HOUR_MS)
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['settling'])
    billed.stripe.fault = () => undefined
    return shop
  }

  it('is charged if the meter has counted it', async (t) => {
    const billed = await openBilled(t)
    const shop = await lose(billed, '500-after')
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['charged'])
    assert.equal(billed.stripe.charged(shop.customer), 9)
    assert.equal(billed.stripe.state.events.length, 1)
  })

  it('is sent as a new one if the meter has not', async (t) => {
    const billed = await openBilled(t)
    const shop = await lose(billed, '500')
    const [before] = await billed.batches()
    await billed.run()
    const [after] = await billed.batches()
    assert.equal(after?.state, 'charged')
    assert.notEqual(after?.id, before?.id)
    assert.equal(billed.stripe.charged(shop.customer), 9)
  })

  it('is dropped if that cannot be known, with the ids of its emails', async (t) => {
    const billed = await openBilled(t)
    const shop = await lose(billed, '500')
    const [batch] = await billed.batches()
    billed.stripe.state.events.push({
      meter: METER.id,
      identifier: 'of another program',
      customer: shop.customer,
      value: 4,
      timestamp: Math.floor((batch?.occurredAt ?? 0) / 1000),
      createdAt: 0,
    })
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['dropped'])
    assert.equal(billed.stripe.charged(shop.customer), 4)
    const line = billed.lines.find(({ level }) => level === 'error')
    assert.deepEqual(line?.emails, batch?.emailIds)
  })

  it('is dropped if it was tried with another meter, which may have counted it', async (t) => {
    const billed = await openBilled(t)
    const shop = await lose(billed, '500-after')
    const [batch] = await billed.batches()
    assert.equal(batch?.meter, METER.id)
    billed.stripe.replaceMeter()
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['dropped'])
    assert.equal(billed.stripe.charged(shop.customer), 9)
    const line = billed.lines.find(({ level }) => level === 'error')
    assert.deepEqual(line?.emails, batch?.emailIds)
  })

  it('is dropped if it was tried with several meters, the first of which is back', async (t) => {
    const billed = await openBilled(t)
    const { stripe } = billed
    const shop = await billed.subscribe()
    await billed.send(shop, 9)
    for (const fault of ['500', '500-after'] as const) {
      billed.pass(2 * HOUR_MS)
      stripe.fault = (request) => (isEvent(request) ? fault : undefined)
      await billed.run()
      stripe.replaceMeter()
    }
    stripe.fault = () => undefined
    stripe.replaceMeter(METER)
    billed.pass(25 * HOUR_MS)
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['dropped'])
    assert.equal(stripe.charged(shop.customer), 9)
  })

  it('is settled by the meter of today if none was noted', async (t) => {
    const billed = await openBilled(t)
    const shop = await lose(billed, '500-after')
    await billed.core.store.write((tx) => tx.update(meteringBatches).set({ meter: null }))
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['charged'])
    assert.equal(billed.stripe.charged(shop.customer), 9)
  })

  it('has no meter any more once it is sent as a new one', async (t) => {
    const billed = await openBilled(t)
    const shop = await lose(billed, '500')
    billed.stripe.fault = (request) => (isEvent(request) ? '401' : undefined)
    await billed.run()
    const [batch] = await billed.batches()
    assert.deepEqual([batch?.state, batch?.meter], ['waiting', null])
    billed.stripe.replaceMeter()
    billed.stripe.fault = () => undefined
    billed.pass(2 * HOUR_MS)
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 9)
    assert.equal((await billed.batches())[0]?.meter, billed.stripe.state.meters.at(-1)?.id)
  })

  it('is settled an hour after its last try, not before Stripe has added it up', async (t) => {
    const billed = await openBilled(t)
    billed.stripe.visibleAfter = 3_000
    const shop = await billed.subscribe()
    await billed.send(shop, 9)
    billed.pass(2 * MINUTE_MS)
    billed.stripe.fault = (request) => (isEvent(request) ? '500' : undefined)
    await billed.run()
    billed.pass(22 * HOUR_MS + 50 * MINUTE_MS)
    billed.stripe.fault = (request) => (isEvent(request) ? '500-after' : undefined)
    await billed.run()
    billed.pass(20 * MINUTE_MS)
    billed.stripe.fault = () => undefined
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['settling'])
    billed.pass(HOUR_MS)
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['charged'])
    assert.equal(billed.stripe.charged(shop.customer), 9)
  })
})

describe('a minute of which Stripe does not tell', () => {
  const isSummary = ({ path }: StripeRequest) => path.endsWith('/event_summaries')

  /** A batch of one customer is to be settled, and one of another is due. */
  async function loseOne(billed: Billed) {
    const lost = await billed.subscribe('lost')
    const shop = await billed.subscribe('shop')
    const ids = await billed.send(lost, 9)
    billed.pass(2 * MINUTE_MS)
    billed.stripe.fault = (request) => (isEvent(request) ? '500' : undefined)
    await billed.run()
    billed.pass(25 * HOUR_MS)
    await billed.send(shop, 5)
    billed.pass(2 * MINUTE_MS)
    return { lost, shop, ids }
  }

  it('holds up no other batch', async (t) => {
    const billed = await openBilled(t)
    const { lost, shop } = await loseOne(billed)
    billed.stripe.fault = (request) => (isSummary(request) ? '500' : undefined)
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 5)
    assert.deepEqual(await statesOf(billed), ['charged', 'settling'])
    billed.stripe.fault = () => undefined
    await billed.run()
    assert.equal(billed.stripe.charged(lost.customer), 9)
  })

  it('holds up nothing for good, even with two others of its customer', async (t) => {
    const billed = await openBilled(t)
    const { stripe } = billed
    const lost = await billed.subscribe('lost')
    const later = await billed.subscribe('later')
    const shop = await billed.subscribe('shop')
    await billed.send(lost, 3_000)
    billed.pass(5 * MINUTE_MS)
    await billed.send(later, 7)
    billed.pass(2 * MINUTE_MS)
    stripe.fault = (request) => (isEvent(request) ? '500' : undefined)
    await billed.run()
    await billed.run()
    billed.pass(25 * HOUR_MS)
    await billed.send(shop, 5)
    billed.pass(2 * MINUTE_MS)
    stripe.fault = (request) => {
      billed.pass(1)
      return isSummary(request) && request.form.customer === lost.customer ? '500' : undefined
    }
    await billed.run()
    assert.equal(stripe.charged(shop.customer), 5)
    billed.pass(MINUTE_MS)
    await billed.run()
    assert.equal(stripe.charged(later.customer), 7)
    assert.deepEqual(await statesOf(billed), ['charged', 'settling'])
    const asked = stripe.requests.filter(isSummary)
    assert.equal(asked.length, 3 + 1 + 3, 'a run asks for three of them')
    stripe.fault = () => undefined
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['charged'])
    assert.equal(stripe.charged(lost.customer), 3_000)
  })

  it('does not let a run send while Stripe does not answer at all', async (t) => {
    const billed = await openBilled(t)
    const { stripe } = billed
    const { shop } = await loseOne(billed)
    let isDown = false
    stripe.fault = (request) => {
      isDown ||= isSummary(request)
      return isDown ? '500' : undefined
    }
    await billed.run()
    assert.equal(stripe.charged(shop.customer), 0)
    assert.deepEqual(await statesOf(billed), ['settling', 'waiting'])
    assert.ok(billed.lines.some(({ text }) => /will be charged later/.test(text)))
  })

  it('because the customer is gone has its batches dropped', async (t) => {
    const billed = await openBilled(t)
    const { shop, ids } = await loseOne(billed)
    billed.stripe.fault = (request) => (isSummary(request) ? '400' : undefined)
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 5)
    assert.deepEqual(await statesOf(billed), ['charged', 'dropped'])
    const line = billed.lines.find(({ text }) => text === 'emails were not charged')
    assert.deepEqual(line?.emails, ids)
  })
})

describe('the verdict on batches of one minute', () => {
  const batch = (
    id: string,
    state: 'settling' | 'charged' | 'dropped' | 'waiting',
    credits: number,
  ) => ({
    ...{ id, state, credits },
    firstTriedAt: state === 'waiting' ? null : 1,
  })
  const both = [batch('a', 'settling', 1_000), batch('b', 'settling', 700)]

  it('takes off what is known, and sends again what is missing', () => {
    const known = [batch('k', 'charged', 500), batch('w', 'waiting', 900)]
    const verdictOf = (counted: number) => judgeBatches([...known, ...both], counted)
    assert.deepEqual(verdictOf(500), { counted: [], missing: ['a', 'b'], unknown: [] })
    assert.deepEqual(verdictOf(2_200), { counted: ['a', 'b'], missing: [], unknown: [] })
    assert.deepEqual(verdictOf(1_500), { counted: ['a'], missing: ['b'], unknown: [] })
    assert.deepEqual(verdictOf(1_200), { counted: ['b'], missing: ['a'], unknown: [] })
  })

  it('is unknown if no sum fits, or a dropped batch may have been counted', () => {
    const unknown = { counted: [], missing: [], unknown: ['a', 'b'] }
    assert.deepEqual(judgeBatches(both, 300), unknown)
    assert.deepEqual(judgeBatches(both, 5_000), unknown)
    assert.deepEqual(judgeBatches([...both, batch('d', 'dropped', 700)], 700), unknown)
    assert.deepEqual(judgeBatches(both, undefined), unknown)
    const untried = { ...batch('d', 'dropped', 700), firstTriedAt: null }
    assert.deepEqual(judgeBatches([...both, untried], 700).missing, ['a'])
  })

  it('sends one of several equal batches again', () => {
    const equal = ['a', 'b', 'c'].map((id) => batch(id, 'settling', 1_000))
    const { counted, missing } = judgeBatches(equal, 2_000)
    assert.equal(missing.length, 1)
    assert.equal(counted.length, 2)
  })
})
