import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { describe, it } from 'node:test'
import { createLoginQueue } from '../../../../src/features/accounts/login/queue.ts'
import { hashPassword, isPassword } from '../../../../src/features/accounts/passwords/passwords.ts'

const forever = new AbortController().signal
const busy = { code: 'EXTERNAL_SERVICE_ERROR', status: 503, isOverload: true }

describe('the line of logins', () => {
  it('has 50 places; a login beyond is refused at once, and a place that is free is taken again', async () => {
    const queue = createLoginQueue()
    const { promise, resolve } = Promise.withResolvers<string>()
    const waiting = Array.from({ length: 50 }, () => queue.run(() => promise, forever))
    let isRun = false
    const more = queue.run(async () => {
      isRun = true
    }, forever)
    await assert.rejects(more, busy)
    assert.equal(isRun, false)
    resolve('done')
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['done']))
    assert.equal(await queue.run(async () => 'next', forever), 'next')
  })

  it('a place is free when the check fails, and when its client is gone', async () => {
    const queue = createLoginQueue()
    const fails = () => Promise.reject(new Error('no'))
    for (let count = 0; count < 100; count += 1) await assert.rejects(queue.run(fails, forever))
    const gone = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    const abandoned = Array.from({ length: 50 }, () => queue.run(() => promise, gone.signal))
    gone.abort(new Error('gone'))
    await queue.run(async () => undefined, forever)
    await assert.rejects(
      queue.run(async () => undefined, gone.signal),
      /gone/,
    )
    resolve()
    await Promise.all(abandoned)
    const { promise: never } = Promise.withResolvers<void>()
    for (let count = 0; count < 50; count += 1) void queue.run(() => never, forever)
    await assert.rejects(
      queue.run(async () => undefined, forever),
      busy,
    )
  })
})

describe('the check of a password', () => {
  it('computes without a hash too, and nothing for a client that is gone', async (t) => {
    const hash = await hashPassword('correct horse')
    const { mock } = t.mock.method(crypto, 'argon2')
    assert.equal(await isPassword('correct horse', hash), true)
    assert.equal(await isPassword('correct horse', null), false)
    assert.equal(mock.callCount(), 2)
    const gone = new AbortController()
    const checks = [
      isPassword('correct horse', hash),
      isPassword('correct horse', hash, gone.signal),
      isPassword('correct horse', hash),
    ]
    gone.abort(new Error('gone'))
    const outcomes = await Promise.allSettled(checks)
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.equal(mock.callCount(), 4)
  })
})
