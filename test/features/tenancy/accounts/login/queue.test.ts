import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import {
  createLoginQueue,
  type Placed,
} from '../../../../../src/features/tenancy/accounts/login/queue.ts'
import {
  hashPassword,
  isPassword,
} from '../../../../../src/features/tenancy/accounts/passwords/passwords.ts'

const forever = new AbortController().signal
const busy = {
  ...{ code: 'EXTERNAL_SERVICE_ERROR', status: 503, isOverload: true },
  details: { retryAfter: 2 },
}
let count = 0

/** Each from a network of its own unless given. */
function placed(change: Partial<Placed> = {}): Placed {
  count += 1
  return { wideNetwork: `n${count}`, isKnown: false, signal: forever, ...change }
}

const nothing = async () => undefined

describe('S31: the line of log-ins', () => {
  it('has 50 places, 10 of them for browsers that know the user; one beyond is refused at once', async () => {
    const queue = createLoginQueue()
    const { promise, resolve } = Promise.withResolvers<string>()
    const enter = (isKnown: boolean) => queue.run(() => promise, placed({ isKnown }))
    const waiting = Array.from({ length: 40 }, () => enter(false))
    let isRun = false
    const more = queue.run(async () => {
      isRun = true
    }, placed())
    await assert.rejects(more, busy)
    assert.equal(isRun, false)
    waiting.push(...Array.from({ length: 10 }, () => enter(true)))
    await assert.rejects(enter(true), busy)
    resolve('done')
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['done']))
    assert.equal(await queue.run(async () => 'next', placed()), 'next')
  })

  it('has 2 places for a network, whatever its browsers know', async () => {
    const queue = createLoginQueue()
    const { promise, resolve } = Promise.withResolvers<void>()
    const wideNetwork = '198.51.100.0/24'
    const enter = (isKnown = false) => queue.run(() => promise, placed({ wideNetwork, isKnown }))
    const waiting = [enter(), enter()]
    await assert.rejects(enter(), busy)
    await assert.rejects(enter(true), busy)
    await queue.run(nothing, placed())
    resolve()
    await Promise.all(waiting)
    await queue.run(nothing, placed({ wideNetwork }))
  })

  it('a place is free when the check fails, and when its client is gone', async () => {
    const queue = createLoginQueue()
    const fails = () => Promise.reject(new Error('no'))
    const wideNetwork = '198.51.100.0/24'
    for (let index = 0; index < 100; index += 1) {
      await assert.rejects(queue.run(fails, placed({ wideNetwork })), /no/)
    }
    const gone = new AbortController()
    const { signal } = gone
    const { promise, resolve } = Promise.withResolvers<void>()
    const abandoned = [1, 2].map(() => queue.run(() => promise, placed({ wideNetwork, signal })))
    const others = Array.from({ length: 38 }, () => queue.run(() => promise, placed({ signal })))
    gone.abort(new Error('gone'))
    await assert.rejects(queue.run(nothing, placed({ signal })), /gone/)
    const { promise: never } = Promise.withResolvers<void>()
    for (let index = 0; index < 2; index += 1) void queue.run(() => never, placed({ wideNetwork }))
    await assert.rejects(queue.run(nothing, placed({ wideNetwork })), busy)
    for (let index = 0; index < 38; index += 1) void queue.run(() => never, placed())
    await assert.rejects(queue.run(nothing, placed()), busy)
    // Those who left free their places once.
    resolve()
    await Promise.all([...abandoned, ...others])
    await assert.rejects(queue.run(nothing, placed()), busy)
  })
})

describe('S31: log-ins', () => {
  it('compute no password outside of the line', async () => {
    const src = path.join(import.meta.dirname, '../../../../../src')
    const computes = /\b(?:hashPassword|isPassword)\(/
    const found: string[] = []
    for (const entry of await readdir(src, { recursive: true })) {
      if (!entry.endsWith('.ts')) continue
      const text = await readFile(path.join(src, entry), 'utf8')
      if (computes.test(text) && !text.includes('loginQueue.run(')) found.push(entry)
    }
    assert.deepEqual(found.sort(), [
      'features/tenancy/accounts/passwords/passwords.ts',
      // Of the command line and of the first start.
      'features/tenancy/accounts/projects/sandbox-project.ts',
      'features/tenancy/accounts/users/users.ts',
    ])
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
