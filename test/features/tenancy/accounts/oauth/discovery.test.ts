import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../../../src/base/clock.ts'
import { createDiscovery } from '../../../../../src/features/tenancy/accounts/oauth/openid-provider.ts'

function start() {
  const clock = { now: 1_000_000 }
  const state = { loads: 0, isDown: false }
  const find = createDiscovery(
    async () => {
      state.loads += 1
      if (state.isDown) throw new Error('down')
      return state.loads
    },
    () => clock.now,
  )
  return { clock, state, find }
}

describe('discovery', () => {
  it('is shared by callers at the same time, and kept for an hour', async () => {
    const { clock, state, find } = start()
    assert.deepEqual(await Promise.all([find(), find(), find()]), [1, 1, 1])
    clock.now += HOUR_MS - 1
    assert.equal(await find(), 1)
    clock.now += 1
    assert.equal(await find(), 2)
    assert.equal(state.loads, 2)
  })

  it('leaves a provider alone for 5 seconds after a failure', async () => {
    const { clock, state, find } = start()
    state.isDown = true
    await assert.rejects(find(), /down/)
    state.isDown = false
    clock.now += 4_999
    await assert.rejects(find(), /down/)
    assert.equal(state.loads, 1)
    clock.now += 1
    assert.equal(await find(), 2)
  })

  it('serves the old state for a day while the provider is down', async () => {
    const { clock, state, find } = start()
    await find()
    state.isDown = true
    clock.now += DAY_MS - 1
    assert.equal(await find(), 1)
    assert.equal(await find(), 1)
    assert.equal(state.loads, 2)
    clock.now += 5_000
    await assert.rejects(find(), /down/)
  })

  it('goes on when the clock is set back', async () => {
    const { clock, find } = start()
    await find()
    clock.now -= DAY_MS
    assert.equal(await find(), 2)
  })
})
