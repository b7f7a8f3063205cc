import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFor } from '../../src/turns/owner.ts'
import { createTurns } from '../../src/turns/turns.ts'

const settled = () => new Promise(setImmediate)

/** One place, and callers that ask again as soon as they have an answer. */
function open() {
  let now = 0
  const turns = createTurns({
    ...{ atOnce: 1, waitingPerProject: 100, waiting: 1_000, to: 'here', retryAfterSeconds: 1 },
    clock: () => now,
  })
  const order: string[] = []
  let ends: (() => void)[] = []
  const ask = (key: string) =>
    runFor({ key, isJob: false }, () =>
      turns.take(() => {
        order.push(key)
        const { promise, resolve } = Promise.withResolvers<void>()
        ends.push(resolve)
        return promise
      }),
    )
  const askAgainAndAgain = async (key: string) => {
    for (;;) await ask(key)
  }
  /** Ends what runs, a number of times. */
  const pass = async (times: number, tookMs: number) => {
    for (let time = 0; time < times; time += 1) {
      now += tookMs
      const done = ends
      ends = []
      for (const end of done) end()
      await settled()
    }
  }
  return { ask, askAgainAndAgain, pass, order }
}

for (const tookMs of [0, 1, 700]) {
  test(`S31: projects that ask again after each answer of ${tookMs} ms do not keep another from its turns`, async () => {
    const { ask, askAgainAndAgain, pass, order } = open()
    for (const key of ['x', 'y', 'z']) void askAgainAndAgain(key)
    await pass(50, tookMs)
    const before = order.length
    for (let index = 0; index < 20; index += 1) void ask('b')
    await pass(80, tookMs)
    const after = order.slice(before)
    assert.equal(after.filter((key) => key === 'b').length, 20)
    assert.ok(after.indexOf('b') <= 1, after.join(''))
  })
}

test('a project that has used much is not next because it came back', async () => {
  const { ask, pass, order } = open()
  for (let index = 0; index < 10; index += 1) void ask('a')
  void ask('b')
  void ask('b')
  await pass(1, 1)
  void ask('a')
  assert.deepEqual(order, ['a', 'b'])
  await pass(1, 5_000)
  await pass(3, 100)
  // What b used counts until the others have used as much.
  assert.deepEqual(order, ['a', 'b', 'a', 'a', 'a', 'a'])
})

test('S31: any number of projects that are new does not keep a known one from its turns', async () => {
  for (const tookMs of [1, 700, 5_000]) {
    const { ask, pass, order } = open()
    for (let index = 0; index < 3; index += 1) void ask('known')
    for (let index = 0; index < 10_000 && order.length < 9_000; index += 1) {
      // One is always waiting that has had no turn.
      void ask(`new ${index}`)
      if (index > 0) await pass(1, tookMs)
      if (order.filter((key) => key === 'known').length === 3) break
    }
    const turns = order.filter((key) => key === 'known').length
    assert.equal(turns, 3, `${turns} turns of ${order.length}`)
    assert.ok(order.length * tookMs < 80_000 + 10 * tookMs, `${order.length}`)
  }
})
