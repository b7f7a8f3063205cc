import assert from 'node:assert/strict'
import { beforeEach, describe, it, type TestContext } from 'node:test'
import { createCounters } from '../../../src/base/counters.ts'
import {
  type AnswerClient,
  createAnswerAllowance,
} from '../../../src/http/exchange/answer-allowance.ts'

const MB = 1024 * 1024
const LIMITS = { totalBytes: 10 * MB, addressBytes: 4 * MB, ownerBytes: 5 * MB }

/** The wait for memory ends only when a test moves the clock. */
beforeEach((t) => {
  ;(t as TestContext).mock.timers.enable({ apis: ['setTimeout'] })
})

function open() {
  const counters = createCounters()
  return { answers: createAnswerAllowance(LIMITS, counters), counters }
}

/** By default the only client of its project. */
const clientOf = (address: string, owner = `of ${address}`) => ({ address, owner })

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
    const first = answers.open(clientOf('192.0.2.1'))
    assert.equal(first.reserve(3 * MB), undefined)
    const next = answers.open(clientOf('192.0.2.1')).reserve(2 * MB)
    assert.equal(await isAllowed(next), false)
    assert.equal(await isAllowed(answers.open(clientOf('192.0.2.2')).reserve(4 * MB)), true)
    assert.deepEqual(answers.load(), { bytes: 7 * MB, waiting: 1 })
    first.resize(2 * MB)
    assert.equal(await isAllowed(next), true)
    assert.deepEqual(answers.load(), { bytes: 8 * MB, waiting: 0 })
  })

  it('counts a /64 of IPv6 as one address', async () => {
    const { answers } = open()
    assert.equal(await isAllowed(answers.open(clientOf('2001:db8::1')).reserve(4 * MB)), true)
    assert.equal(await isAllowed(answers.open(clientOf('2001:db8::2')).reserve(1 * MB)), false)
    assert.equal(await isAllowed(answers.open(clientOf('2001:db8:0:1::2')).reserve(1 * MB)), true)
  })

  it('is limited in total, and the address that has least is served first', async () => {
    const { answers } = open()
    const held = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => {
      const answer = answers.open(clientOf(address))
      answer.reserve(address.endsWith('3') ? 2 * MB : 4 * MB)
      return answer
    })
    const greedy = answers.open(clientOf('192.0.2.3')).reserve(1 * MB)
    const modest = answers.open(clientOf('192.0.2.4')).reserve(1 * MB)
    assert.deepEqual([await isAllowed(greedy), await isAllowed(modest)], [false, false])
    held[0]?.resize(3 * MB)
    assert.deepEqual([await isAllowed(greedy), await isAllowed(modest)], [false, true])
    held[1]?.release()
    assert.equal(await isAllowed(greedy), true)
  })

  it('is limited by project, whatever the addresses, and other projects are not delayed', async () => {
    const { answers } = open()
    const addresses = Array.from({ length: 6 }, (_, index) => `192.0.2.${index}`)
    const mine = addresses.map((address) => answers.open(clientOf(address, 'mine')))
    const rooms = mine.map((answer) => answer.reserve(MB))
    assert.equal(await isAllowed(rooms[4]), true)
    assert.equal(await isAllowed(rooms[5]), false)
    assert.deepEqual(answers.load(), { bytes: 5 * MB, waiting: 1 })
    const other = answers.open(clientOf('192.0.2.5', 'other')).reserve(3 * MB)
    assert.equal(await isAllowed(other), true, 'also at the address of one that waits')
    mine[0]?.release()
    assert.equal(await isAllowed(rooms[5]), true)
  })

  it('counts clients without credentials as one project', async () => {
    const { answers } = open()
    const stranger = (address: string) => answers.open({ address, owner: null })
    assert.equal(await isAllowed(stranger('192.0.2.1').reserve(4 * MB)), true)
    assert.equal(await isAllowed(stranger('192.0.2.2').reserve(2 * MB)), false)
    assert.equal(await isAllowed(answers.open(clientOf('192.0.2.3')).reserve(4 * MB)), true)
  })

  it('lets a few answers of the same limits wait, of a project and of all; others wait as ever', async () => {
    const { answers } = open()
    const limits = { waitingPerProject: 2, waiting: 3, to: 'to be read', retryAfterSeconds: 7 }
    const clients = ['a', 'b', 'c'].map((owner) => clientOf('192.0.2.1', owner))
    const [a, b, c] = clients as [AnswerClient, AnswerClient, AnswerClient]
    answers.open(a).reserve(4 * MB)
    const ask = async (client: AnswerClient) => answers.open(client).reserve(MB, limits)
    const waits = Array.from({ length: 4 }, () => answers.open(a).reserve(MB))
    const first = answers.open(a)
    waits.push(first.reserve(MB, limits), answers.open(a).reserve(MB, limits))
    await assert.rejects(ask(a), { code: 'RATE_LIMIT_EXCEEDED', details: { retryAfter: 7 } })
    waits.push(answers.open(b).reserve(MB, limits))
    await assert.rejects(ask(c), { code: 'EXTERNAL_SERVICE_ERROR', details: { retryAfter: 7 } })
    assert.equal(answers.load().waiting, 7)
    for (const wait of waits) wait?.catch(() => undefined)
    first.leave()
    ask(c).catch(() => undefined)
    assert.equal(answers.load().waiting, 7)
  })

  it('serves the project that has least first, then its address that has least', async () => {
    const { answers } = open()
    const held = ['192.0.2.1', '192.0.2.2'].map((address) => {
      const answer = answers.open(clientOf(address, 'greedy'))
      answer.reserve(2 * MB)
      return answer
    })
    const modest = answers.open(clientOf('192.0.2.3', 'modest'))
    modest.reserve(3 * MB)
    const last = answers.open(clientOf('192.0.2.4', 'last'))
    last.reserve(3 * MB)
    const order: string[] = []
    for (const [name, address, owner] of [
      ['greedy, used address', '192.0.2.1', 'greedy'],
      ['greedy, new address', '192.0.2.5', 'greedy'],
      ['modest', '192.0.2.3', 'modest'],
    ] as const) {
      void answers
        .open(clientOf(address, owner))
        .reserve(MB)
        ?.then(() => order.push(name))
    }
    assert.equal(answers.load().waiting, 3)
    last.resize(2 * MB)
    await new Promise(setImmediate)
    assert.deepEqual(order, ['modest'])
    last.resize(MB)
    await new Promise(setImmediate)
    assert.deepEqual(order, ['modest', 'greedy, new address'])
    for (const answer of [last, ...held]) answer.release()
    await new Promise(setImmediate)
    assert.equal(order.length, 3)
  })

  it('keeps what was read for a client that has left, which waits for nothing', async () => {
    const { answers } = open()
    const answer = answers.open(clientOf('192.0.2.1'))
    answer.reserve(3 * MB)
    answers.open(clientOf('192.0.2.1')).reserve(MB)
    const waiting = answers.open(clientOf('192.0.2.1'))
    const room = waiting.reserve(2 * MB)
    waiting.leave()
    await assert.rejects(room ?? Promise.resolve(), { code: 'REQUEST_TIMEOUT' })
    answer.leave()
    assert.deepEqual(answers.load(), { bytes: 4 * MB, waiting: 0 })
    await assert.rejects(answer.reserve(1) ?? Promise.resolve(), { code: 'REQUEST_TIMEOUT' })
    assert.equal(answers.load().bytes, 4 * MB)
    answer.release()
    assert.equal(answers.load().bytes, MB)
  })

  it('lets an answer that is larger than a limit pass alone', async () => {
    const { answers } = open()
    const small = answers.open(clientOf('192.0.2.1'))
    small.reserve(MB)
    const large = answers.open(clientOf('192.0.2.1'))
    const room = large.reserve(100 * MB)
    assert.equal(await isAllowed(room), false)
    small.release()
    assert.equal(await isAllowed(room), true)
    assert.equal(await isAllowed(answers.open(clientOf('192.0.2.1')).reserve(1)), false)
    large.resize(100 * MB)
    large.release()
    assert.deepEqual(answers.load().bytes, 1)
  })

  it('refuses an answer that waits ten seconds, with Retry-After', async (t) => {
    const { answers, counters } = open()
    answers.open(clientOf('192.0.2.1')).reserve(4 * MB)
    const room = answers.open(clientOf('192.0.2.1')).reserve(1 * MB)
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
    const first = answers.open(clientOf('192.0.2.1'))
    first.reserve(4 * MB)
    const gone = answers.open(clientOf('192.0.2.1'))
    const waiting = gone.reserve(4 * MB)
    const last = answers.open(clientOf('192.0.2.1')).reserve(1 * MB)
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
    const [one, other] = [answers.open(clientOf('192.0.2.1')), answers.open(clientOf('192.0.2.1'))]
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
