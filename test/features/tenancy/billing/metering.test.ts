import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { timeOf } from '../../../../src/features/tenancy/billing/metering/batches.ts'
import { countedLines } from '../../../counted-lines.ts'
import type { StripeRequest } from '../../../stripe/double.ts'
import { DAY_MS, HOUR_MS, isEvent, MINUTE_MS, openBilled, statesOf } from './billed.ts'

describe('the emails of a subscriber', () => {
  it('are charged once, in batches of at most 1,000, in the order of their events', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    const first = await billed.send(shop, 400)
    const second = await billed.send(shop, 2_100)
    const open = await billed.batches()
    assert.deepEqual(
      open.map(({ emailIds }) => emailIds.length),
      [1_000, 1_000, 500],
    )
    assert.deepEqual(
      open.flatMap(({ emailIds }) => emailIds),
      [...first, ...second],
    )
    billed.pass(3 * MINUTE_MS)
    await billed.run()
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 2_500)
    const ended = await billed.batches()
    assert.deepEqual(new Set(ended.map(({ state }) => state)), new Set(['charged']))
    assert.deepEqual(
      ended.flatMap(({ emailIds }) => emailIds),
      [],
    )
    const counters = countedLines(billed.core, 'pillarbox_metering_batches_total')
    assert.deepEqual(counters, [{ labels: { outcome: 'charged' }, count: 3 }])
  })

  it('wait until their minute is over, and have minutes of their own', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    await billed.send(shop, 1_500)
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 0)
    const minutes = (await billed.batches()).map(({ occurredAt }) => occurredAt / MINUTE_MS)
    assert.deepEqual(new Set(minutes.map(Math.floor)).size, 2)
    billed.pass(MINUTE_MS)
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 1_000)
  })

  it('are not charged before the subscription, without one, or if they are for users', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    const free = await billed.subscribe('free')
    await billed.send(shop, 3, { createdAt: billed.core.clock.now - 1 })
    await billed.send(shop, 3, { isPlatform: true })
    await billed.send(shop, 3, { name: 'email.delivery' })
    await billed.send({ ...free, id: 'gone' }, 3)
    await billed.send(shop, 2, { name: 'email.received' })
    billed.pass(HOUR_MS)
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 2)
    assert.equal(billed.stripe.state.events.length, 1)
  })

  it('of all projects are charged in turns', async (t) => {
    const billed = await openBilled(t)
    const large = await billed.subscribe('large')
    const small = await billed.subscribe('small')
    await billed.send(large, 5_000)
    await billed.send(small, 1)
    billed.pass(HOUR_MS)
    await billed.run()
    const customers = billed.stripe.state.events.map(({ customer }) => customer)
    assert.equal(customers.indexOf(small.customer), 1)
    assert.equal(customers.length, 6)
  })
})

describe('a batch that Stripe does not take', () => {
  it('for its content is dropped, and the log has the ids of its emails', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    const ids = await billed.send(shop, 3)
    billed.pass(36 * DAY_MS)
    await billed.run()
    const [batch] = await billed.batches()
    assert.equal(batch?.state, 'dropped')
    const line = billed.lines.find(({ level }) => level === 'error')
    assert.equal(line?.text, 'emails were not charged')
    assert.deepEqual(line?.emails, ids)
    assert.equal(billed.stripe.state.events.length, 0)
    const [counter] = countedLines(billed.core, 'pillarbox_emails_not_charged_total')
    assert.equal(counter?.count, 3)
  })

  it('because of the key waits, and was never tried', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    await billed.send(shop, 3)
    billed.pass(2 * MINUTE_MS)
    billed.stripe.fault = (request) => (isEvent(request) ? '401' : undefined)
    await billed.run()
    const [batch] = await billed.batches()
    assert.deepEqual([batch?.state, batch?.firstTriedAt], ['waiting', null])
    assert.ok(billed.lines.some(({ level }) => level === 'error'))
    assert.doesNotMatch(JSON.stringify(billed.lines), /double|SecretKey/)
    billed.stripe.fault = () => undefined
    await billed.run()
    assert.equal(billed.stripe.charged(shop.customer), 3)
  })

  it('because of a meter that was replaced is charged by the new one', async (t) => {
    const billed = await openBilled(t)
    const { stripe } = billed
    const shop = await billed.subscribe()
    await billed.send(shop, 2)
    billed.pass(2 * MINUTE_MS)
    await billed.run()
    stripe.replaceMeter({ customerKey: 'customer', valueKey: 'credits' })
    await billed.send(shop, 3)
    billed.pass(2 * MINUTE_MS)
    await billed.run()
    assert.deepEqual(await statesOf(billed), ['charged'])
    assert.equal(stripe.charged(shop.customer), 5)
    assert.equal(stripe.requests.filter(isEvent).length, 3)
    assert.deepEqual(billed.lines, [])
  })

  it('while the meter cannot be read waits, and was never tried', async (t) => {
    const billed = await openBilled(t)
    const { stripe } = billed
    const shop = await billed.subscribe()
    await billed.send(shop, 3)
    billed.pass(2 * MINUTE_MS)
    let isGone = false
    stripe.fault = (request) => {
      isGone ||= isEvent(request)
      if (!isGone) return undefined
      return isEvent(request) ? '400' : '500'
    }
    await billed.run()
    const [batch] = await billed.batches()
    assert.deepEqual([batch?.state, batch?.firstTriedAt], ['waiting', null])
    stripe.fault = () => undefined
    await billed.run()
    assert.equal(stripe.charged(shop.customer), 3)
  })

  it('because the clock of the server is ahead waits, and was never tried', async (t) => {
    const billed = await openBilled(t)
    const { stripe } = billed
    const shop = await billed.subscribe()
    await billed.send(shop, 3)
    billed.pass(2 * MINUTE_MS)
    stripe.fault = (request) => {
      if (isEvent(request)) billed.pass(-10 * MINUTE_MS)
      return undefined
    }
    stripe.onDone = (request) => {
      if (isEvent(request)) billed.pass(10 * MINUTE_MS)
    }
    await billed.run()
    const [batch] = await billed.batches()
    assert.deepEqual([batch?.state, batch?.firstTriedAt], ['waiting', null])
    assert.ok(
      billed.lines.some(({ level, error }) => level === 'error' && /future/.test(`${error}`)),
    )
    stripe.fault = () => undefined
    stripe.onDone = () => undefined
    await billed.run()
    assert.equal(stripe.charged(shop.customer), 3)
  })

  for (const fault of ['refuse', '500', '500-after', 'cut', '429'] as const) {
    it(`for a moment (${fault}) is tried with the same identifier, and charged once`, async (t) => {
      const billed = await openBilled(t)
      const shop = await billed.subscribe()
      await billed.send(shop, 7)
      billed.pass(2 * MINUTE_MS)
      billed.stripe.fault = (request) => (isEvent(request) ? fault : undefined)
      await billed.run()
      assert.deepEqual(await statesOf(billed), ['waiting'])
      billed.stripe.fault = () => undefined
      await billed.run()
      assert.deepEqual(await statesOf(billed), ['waiting'], 'it waits a minute')
      billed.pass(2 * MINUTE_MS)
      await billed.run()
      assert.deepEqual(await statesOf(billed), ['charged'])
      assert.equal(billed.stripe.charged(shop.customer), 7)
      const sent = billed.stripe.requests.filter(isEvent).map(({ form }) => form.identifier)
      assert.equal(new Set(sent).size, 1)
    })
  }
})

describe('a stop of the server', () => {
  const isMeters = ({ path }: StripeRequest) => path.startsWith('/v1/billing/meters')

  it('does not wait for an answer about the meter', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    await billed.send(shop, 3)
    billed.pass(2 * MINUTE_MS)
    const stopping = new AbortController()
    billed.stripe.fault = (request) => {
      if (isMeters(request)) setImmediate(() => stopping.abort())
      return isMeters(request) ? 'hang' : undefined
    }
    await billed.run(stopping.signal)
    const [batch] = await billed.batches()
    assert.deepEqual([batch?.state, batch?.firstTriedAt], ['waiting', null])
  })
})

describe('a run that does not end', () => {
  it('tries no batch with an identifier that Stripe may have forgotten', async (t) => {
    const billed = await openBilled(t)
    const { stripe, core } = billed
    const lost = await billed.subscribe('lost')
    const shop = await billed.subscribe('shop')
    await billed.send(lost, 9)
    billed.pass(2 * MINUTE_MS)
    stripe.fault = (request) => (isEvent(request) ? '500-after' : undefined)
    await billed.run()
    const dayAfter = core.clock.now + DAY_MS
    stripe.fault = ({ form }) => {
      const { stripe_customer_id: customer } = (form.payload ?? {}) as Record<string, string>
      return customer === lost.customer && core.clock.now < dayAfter ? '500' : undefined
    }
    billed.pass(22 * HOUR_MS + 40 * MINUTE_MS)
    await billed.send(shop, 1)
    billed.pass(2 * MINUTE_MS)
    // There is always another batch that is due.
    let more = 60
    stripe.onDone = async (request) => {
      if (!isEvent(request) || more === 0) return
      more -= 1
      billed.pass(2 * MINUTE_MS)
      await billed.send(shop, 1)
      billed.pass(MINUTE_MS)
    }
    while (more > 0) await billed.run()
    assert.equal(stripe.charged(lost.customer), 9)
    assert.deepEqual(await statesOf(billed), ['charged', 'waiting'])
  })
})

describe('three days without Stripe', () => {
  for (const fault of ['refuse', '500-after', 'cut'] as const) {
    it(`charge all emails exactly once afterwards (${fault})`, async (t) => {
      const billed = await openBilled(t)
      const projects = [await billed.subscribe('a'), await billed.subscribe('b')]
      await billed.send(projects[0]!, 5)
      billed.pass(2 * MINUTE_MS)
      await billed.run()
      billed.stripe.fault = () => fault
      for (let hour = 0; hour < 72; hour += 2) {
        // A full batch each day, and smaller ones.
        await billed.send(projects[0]!, hour % 24 === 0 ? 1_000 : 9)
        await billed.send(projects[1]!, 2)
        billed.pass(HOUR_MS)
        await billed.run()
        if (hour % 24 === 8) billed.restart()
        billed.pass(HOUR_MS)
        await billed.run()
      }
      await billed.send(projects[1]!, 64)
      billed.stripe.fault = () => undefined
      for (let minute = 0; minute < 75; minute += 1) {
        billed.pass(MINUTE_MS)
        await billed.run()
      }
      assert.deepEqual(await statesOf(billed), ['charged'])
      assert.equal(billed.stripe.charged(projects[0]!.customer), 5 + 3 * 1_000 + 33 * 9)
      assert.equal(billed.stripe.charged(projects[1]!.customer), 36 * 2 + 64)
      const identifiers = billed.stripe.state.events.map(({ identifier }) => identifier)
      assert.equal(new Set(identifiers).size, identifiers.length)
    })
  }

  it('leave one batch without an answer, and no other tried', async (t) => {
    const billed = await openBilled(t)
    const shop = await billed.subscribe()
    await billed.send(shop, 5_000)
    billed.pass(HOUR_MS)
    await billed.run()
    await billed.send(shop, 5_000)
    billed.stripe.fault = () => '500'
    for (let minute = 0; minute < 60; minute += 1) {
      billed.pass(MINUTE_MS)
      await billed.run()
    }
    const tried = (await billed.batches()).filter(
      ({ state, firstTriedAt }) => state === 'waiting' && firstTriedAt !== null,
    )
    assert.equal(tried.length, 1)
  })
})

describe('the minute of a batch', () => {
  const noon = Date.UTC(2026, 10, 30, 12, 0, 30)
  const end = (...time: [number, number, number, number]) => Date.UTC(2026, ...time, 59)

  it('is that of its first email, else the next that is free for half an hour', () => {
    assert.equal(timeOf(noon, null), end(10, 30, 12, 0))
    assert.equal(timeOf(noon, end(10, 30, 11, 59)), end(10, 30, 12, 0))
    assert.equal(timeOf(noon, end(10, 30, 12, 0)), end(10, 30, 12, 1))
    assert.equal(timeOf(noon, end(10, 30, 12, 40)), end(10, 30, 12, 30))
  })

  it('is in the month of the email', () => {
    const late = Date.UTC(2026, 10, 30, 23, 58, 10)
    assert.equal(timeOf(late, end(10, 30, 23, 59)), end(10, 30, 23, 59))
    assert.equal(timeOf(Date.UTC(2026, 11, 31, 23, 59, 59), null), end(11, 31, 23, 59))
  })
})
