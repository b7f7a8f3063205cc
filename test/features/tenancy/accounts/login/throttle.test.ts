import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  createLoginThrottle,
  type LoginThrottle,
} from '../../../../../src/features/tenancy/accounts/login/throttle.ts'
import { START } from '../../../../core.ts'

const refusal = (retryAfter: number) => (error: { code: string; details: object }) => {
  assert.equal(error.code, 'RATE_LIMIT_EXCEEDED')
  assert.deepEqual(error.details, { retryAfter })
  return true
}

function fail(throttle: LoginThrottle, account: string, network: string): void {
  const attempt = throttle.begin({ account, network })
  attempt.limitEverywhere(undefined)
  attempt.failed()
  attempt.end()
}

describe('the throttle of logins', () => {
  it('S26: closes an account to a network after 10 failures, and to no other network', () => {
    const throttle = createLoginThrottle(() => START)
    for (let count = 0; count < 10; count += 1) fail(throttle, 'ada', 'a')
    assert.throws(() => throttle.begin({ account: 'ada', network: 'a' }), refusal(1))
    throttle.begin({ account: 'bob', network: 'a' }).end()
    throttle.begin({ account: 'ada', network: 'b' }).end()
  })

  it('S26: closes a network after 20 failures at any accounts', () => {
    const throttle = createLoginThrottle(() => START)
    for (let count = 0; count < 20; count += 1) fail(throttle, `user${count}`, 'a')
    assert.throws(() => throttle.begin({ account: 'new', network: 'a' }), refusal(1))
    throttle.begin({ account: 'new', network: 'b' }).end()
  })

  it('a success at an account of the guesser does not clear the count of the network', () => {
    const throttle = createLoginThrottle(() => START)
    for (let count = 0; count < 20; count += 1) {
      fail(throttle, `user${count}`, 'a')
      if (count === 19) break
      const own = throttle.begin({ account: 'own', network: 'a' })
      own.succeeded()
      own.end()
    }
    assert.throws(() => throttle.begin({ account: 'new', network: 'a' }), refusal(1))
  })

  it('a success clears the failures of the account at the network', () => {
    const throttle = createLoginThrottle(() => START)
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 9; count += 1) fail(throttle, 'ada', 'a')
      throttle.begin({ account: 'ada', network: 'a' }).succeeded()
    }
    throttle.begin({ account: 'ada', network: 'a' }).end()
  })

  it('S26: closes an account to all networks after 100 failures in an hour', () => {
    const throttle = createLoginThrottle(() => START)
    for (let count = 0; count < 100; count += 1) fail(throttle, 'ada', `network${count}`)
    const attempt = throttle.begin({ account: 'ada', network: 'new' })
    assert.throws(() => attempt.limitEverywhere(undefined), refusal(3600))
    attempt.end()
  })

  it('S26: counts the failures of a browser that knows the user by themselves', () => {
    const throttle = createLoginThrottle(() => START)
    const begin = (network: string, device?: string) => {
      const attempt = throttle.begin({ account: 'ada', network })
      attempt.limitEverywhere(device)
      return attempt
    }
    for (let count = 0; count < 100; count += 1) begin(`network${count}`, 'one').failed()
    assert.throws(() => begin('new', 'one'), refusal(3600))
    begin('other', 'two').end()
    begin('third').end()
  })

  it('what ends without an outcome is no failure, and leaves nothing in memory', () => {
    const throttle = createLoginThrottle(() => START)
    for (let count = 0; count < 200; count += 1) {
      const attempt = throttle.begin({ account: 'ada', network: 'a' })
      attempt.limitEverywhere(undefined)
      attempt.end()
    }
    assert.equal(throttle.size(), 0)
  })
})
