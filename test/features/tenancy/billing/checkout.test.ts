import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginCheckout } from '../../../../src/features/tenancy/billing/checkout.ts'
import { addProject } from '../../../core.ts'
import { openBilled } from './billed.ts'

test('a second click, while Stripe makes the checkout of the first, gets the same one', async (t) => {
  const { core, deps, stripe } = await openBilled(t)
  const { id } = await addProject(core)
  const begin = () =>
    beginCheckout(
      deps,
      { id, customer: null, subscription: null },
      { currency: 'eur', email: 'ann@people.test' },
    )
  const made = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  stripe.onDone = async ({ path }) => {
    if (path !== '/v1/checkout/sessions') return
    made.resolve()
    await released.promise
  }
  const first = begin()
  await made.promise
  const second = begin()
  // A request of the second click would be there before the answer of this one.
  await deps.stripe.meter()
  released.resolve()
  assert.deepEqual(await second, await first)
  assert.equal(stripe.state.sessions.size, 1)
})
