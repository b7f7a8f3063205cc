import assert from 'node:assert/strict'
import { beforeEach, describe, it, type TestContext } from 'node:test'
import { createCounters } from '../../../src/counters.ts'
import { createAnswerAllowance } from '../../../src/http/exchange/answer-allowance.ts'

const MB = 1024 * 1024
const LIMITS = { totalBytes: 10 * MB, addressBytes: 4 * MB }

/** The wait for memory ends only when a test moves the clock. */
beforeEach((t) => {
  ;(t as TestContext).mock.timers.enable({ apis: ['setTimeout'] })
})

function open() {
  const counters = createCounters()
  return { answers: createAnswerAllowance(LIMITS, counters), counters }
}

/** Whether the answer has its share by now. */
async function isAllowed(room: Promise<void> | undefined): Promise<boolean> {
  if (room === undefined) return true
  let isSettled = false
  room.then(
    () => (isSettled = true),
    () => undefined,
  )
  await new Promise(setImmediate)
  return isSettled
}

describe('S29: the memory for answers', () => {
  it('is limited by address, and the next answer waits until some is free', async () => {
    const { answers } = open()
    const first = answers.open('192.0.2.1')
    assert.equal(first.reserve(3 * MB), undefined)
    const next = answers.open('192.0.2.1').reserve(2 * MB)
    assert.equal(await isAllowed(next), false)
    assert.equal(await isAllowed(answers.open('192.0.2.2').reserve(4 * MB)), true)
    assert.deepEqual(answers.load(), { bytes: 7 * MB, waiting: 1 })
    first.resize(2 * MB)
    assert.equal(await isAllowed(next), true)
    assert.deepEqual(answers.load(), { bytes: 8 * MB, waiting: 0 })
  })

  it('counts a /64 of IPv6 as one address', async () => {
    const { answers } = open()
    assert.equal(await isAllowed(answers.open('2001:db8::1').reserve(4 * MB)), true)
    assert.equal(await isAllowed(answers.open('2001:db8::2').reserve(1 * MB)), false)
    assert.equal(await isAllowed(answers.open('2001:db8:0:1::2').reserve(1 * MB)), true)
  })

  it('is limited in total, and the address that has least is served first', async () => {
    const { answers } = open()
    const held = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => {
      const answer = answers.open(address)
      answer.reserve(address.endsWith('3') ? 2 * MB : 4 * MB)
      return answer
    })
    const greedy = answers.open('192.0.2.3').reserve(1 * MB)
    const modest = answers.open('192.0.2.4').reserve(1 * MB)
    assert.deepEqual([await isAllowed(greedy), await isAllowed(modest)], [false, false])
    held[0]?.resize(3 * MB)
    assert.deepEqual([await isAllowed(greedy), await isAllowed(modest)], [false, true])
    held[1]?.release()
    assert.equal(await isAllowed(greedy), true)
  })

  it('lets an answer that is larger than a limit pass alone', async () => {
    const { answers } = open()
    const small = answers.open('192.0.2.1')
    small.reserve(MB)
    const large = answers.open('192.0.2.1')
    const room = large.reserve(100 * MB)
    assert.equal(await isAllowed(room), false)
    small.release()
    assert.equal(await isAllowed(room), true)
    assert.equal(await isAllowed(answers.open('192.0.2.1').reserve(1)), false)
    large.resize(100 * MB)
    large.release()
    assert.deepEqual(answers.load().bytes, 1)
  })

  it('refuses an answer that waits ten seconds, with Retry-After', async (t) => {
    const { answers, counters } = open()
    answers.open('192.0.2.1').reserve(4 * MB)
    const room = answers.open('192.0.2.1').reserve(1 * MB)
    assert.equal(await isAllowed(room), false)
    t.mock.timers.tick(9_999)
    assert.equal(await isAllowed(room), false)
    t.mock.timers.tick(1)
    await assert.rejects(room ?? Promise.resolve(), (error: { [name: string]: unknown }) => {
      const { code, status, details, isOverload } = error
      assert.deepEqual(
        [code, status, details, isOverload],
        ['EXTERNAL_SERVICE_ERROR', 503, { retryAfter: 10 }, true],
      )
      return true
    })
    assert.equal(answers.load().waiting, 0)
    const count = (name: Parameters<typeof counters.lines>[0]) => counters.lines(name)[0]?.count
    assert.equal(count('pillarbox_http_answers_waited_total'), 1)
    assert.equal(count('pillarbox_http_answers_refused_total'), 1)
  })

  it('forgets an answer whose client has gone, also one that waits', async () => {
    const { answers } = open()
    const first = answers.open('192.0.2.1')
    first.reserve(4 * MB)
    const gone = answers.open('192.0.2.1')
    const waiting = gone.reserve(4 * MB)
    const last = answers.open('192.0.2.1').reserve(1 * MB)
    gone.release()
    await assert.rejects(waiting ?? Promise.resolve(), { code: 'REQUEST_TIMEOUT' })
    first.release()
    assert.equal(await isAllowed(last), true)
    gone.resize(3 * MB)
    assert.deepEqual(answers.load(), { bytes: 1 * MB, waiting: 0 })
    await assert.rejects(gone.reserve(1) ?? Promise.resolve(), { code: 'REQUEST_TIMEOUT' })
  })

  it('lets an answer grow, which gives back what it had while it waits', async () => {
    const { answers } = open()
    const [one, other] = [answers.open('192.0.2.1'), answers.open('192.0.2.1')]
    one.reserve(2 * MB)
    other.reserve(2 * MB)
    const grown = one.reserve(3 * MB)
    assert.equal(await isAllowed(grown), false)
    assert.equal(answers.load().bytes, 2 * MB)
    const shrunk = other.reserve(1 * MB)
    assert.equal(shrunk, undefined, 'less than before never waits')
    assert.equal(await isAllowed(grown), true)
  })
})
