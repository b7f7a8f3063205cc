import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createNetworkLimit } from '../../../../../src/features/tenancy/accounts/oauth/attempts.ts'

it('S26: each network has its own limit a minute, also when the clock is set back', () => {
  const clock = { now: 1_000_000 }
  const take = createNetworkLimit(2, () => clock.now)
  take('192.0.2.1')
  take('192.0.2.1')
  assert.throws(() => take('192.0.2.1'), { code: 'too_many_attempts' })
  take('192.0.2.2')
  clock.now += 59_999
  assert.throws(() => take('192.0.2.1'), { code: 'too_many_attempts' })
  clock.now += 1
  take('192.0.2.1')
  clock.now -= 3_600_000
  take('192.0.2.1')
  take('192.0.2.1')
  assert.throws(() => take('192.0.2.1'), { code: 'too_many_attempts' })
})
