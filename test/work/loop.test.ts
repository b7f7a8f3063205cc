import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, test } from 'node:test'
import { MINUTE_MS, SECOND_MS } from '../../src/base/clock.ts'
import { type LoopOptions, startLoop } from '../../src/work/loop.ts'
import { pause } from '../pause.ts'

const turn = () => new Promise(setImmediate)

/** A loop whose runs end when the test says so. */
function startHeld(options: Partial<LoopOptions> = {}) {
  const runs: { signal: AbortSignal; end: (waitMs?: number) => void; fail: () => void }[] = []
  const loop = startLoop({
    run({ signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
      runs.push({ signal, end: resolve, fail: () => reject(new Error('no')) })
      return promise
    },
    ...options,
  })
  return { loop, runs }
}

describe('a loop', () => {
  test('runs at the start, when it is woken, and when the longest wait is over', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let runs = 0
    let wake: (() => void) | undefined
    const loop = startLoop({
      run: async () => {
        runs += 1
      },
      wakes: [
        (given) => {
          wake = given
          return () => undefined
        },
      ],
      maxWaitMs: MINUTE_MS,
    })
    assert.equal(runs, 1)
    await turn()
    wake?.()
    await turn()
    assert.equal(runs, 2)
    t.mock.timers.tick(MINUTE_MS - 1)
    await turn()
    assert.equal(runs, 2)
    t.mock.timers.tick(1)
    await turn()
    assert.equal(runs, 3)
    await loop.stop()
  })

  test('runs again after as long as a run says, but never waits longer than allowed', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const waits = [SECOND_MS, 2 * MINUTE_MS, undefined]
    let runs = 0
    const loop = startLoop({ run: async () => waits[runs++], maxWaitMs: MINUTE_MS })
    for (const [expected, ms] of [SECOND_MS, MINUTE_MS, MINUTE_MS].entries()) {
      await turn()
      assert.equal(runs, expected + 1)
      t.mock.timers.tick(ms - 1)
      await turn()
      assert.equal(runs, expected + 1)
      t.mock.timers.tick(1)
    }
    await loop.stop()
  })

  test('runs again in the next turn of the event loop after a run that wants no wait', async () => {
    let runs = 0
    const loop = startLoop({
      run: async () => {
        runs += 1
        return runs < 3 ? 0 : undefined
      },
    })
    assert.equal(runs, 1)
    await loop.turn()
    assert.equal(runs, 3)
    await loop.stop()
  })

  test('runs once more for any number of wakes during a run, and a run can see that', async () => {
    let runs = 0
    const seen: boolean[] = []
    const loop = startLoop({
      async run({ isWoken }) {
        runs += 1
        await turn()
        seen.push(isWoken())
      },
    })
    loop.wake()
    loop.wake()
    await loop.turn()
    assert.equal(runs, 2)
    assert.deepEqual(seen, [true, false])
    await loop.stop()
  })

  test('runs once for any number of wakes at a time', async () => {
    let runs = 0
    const run = () => {
      runs += 1
    }
    const loop = startLoop({ run, firstWaitMs: Number.POSITIVE_INFINITY })
    loop.wake()
    loop.wake()
    await turn()
    assert.equal(runs, 1)
    await loop.stop()
  })

  test('begins a run within the given time, by the earliest of several', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let runs = 0
    const run = () => {
      runs += 1
    }
    const loop = startLoop({ run, firstWaitMs: Number.POSITIVE_INFINITY })
    t.mock.timers.tick(MINUTE_MS)
    assert.equal(runs, 0)
    loop.wakeWithin(MINUTE_MS)
    loop.wakeWithin(SECOND_MS)
    loop.wakeWithin(2 * SECOND_MS)
    t.mock.timers.tick(SECOND_MS)
    assert.equal(runs, 1)
    t.mock.timers.tick(MINUTE_MS)
    assert.equal(runs, 1)
    await loop.stop()
  })

  test('whose run is synchronous waits again before it returns', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let runs = 0
    const run = () => {
      runs += 1
    }
    const loop = startLoop({ run, firstWaitMs: SECOND_MS, maxWaitMs: SECOND_MS })
    assert.equal(runs, 0)
    for (const expected of [1, 2, 3]) {
      t.mock.timers.tick(SECOND_MS)
      assert.equal(runs, expected)
    }
    void loop.stop()
  })

  test('tells an error and runs again after the wait for failures', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const { loop, runs } = startHeld({ onError, retryMs: SECOND_MS, maxWaitMs: MINUTE_MS })
    runs[0]?.fail()
    await turn()
    assert.match(String(errors[0]), /no/)
    t.mock.timers.tick(SECOND_MS)
    assert.equal(runs.length, 2)
    runs[1]?.end()
    await loop.stop()
    assert.equal(errors.length, 1)
  })

  test('tells an error that a run throws before it waits', async () => {
    const errors: unknown[] = []
    const loop = startLoop({
      run() {
        throw new Error('no')
      },
      onError: (error) => errors.push(error),
    })
    assert.equal(errors.length, 1)
    await loop.stop()
  })

  test('runs in the context of its start, whoever wakes it', async () => {
    const caller = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const run = () => {
      seen.push(caller.getStore())
      if (seen.length === 3) resolve()
      return seen.length === 2 ? undefined : 1
    }
    const loop = startLoop({ run, firstWaitMs: Number.POSITIVE_INFINITY, maxWaitMs: MINUTE_MS })
    caller.run('a request', () => loop.wake())
    while (seen.length < 2) await pause()
    caller.run('a request', () => loop.wakeWithin(1))
    await promise
    await loop.stop()
    assert.deepEqual(seen, [undefined, undefined, undefined])
  })

  test('whose turn is asked for joins the run under way', async () => {
    const { loop, runs } = startHeld()
    const asked = [loop.turn(), loop.turn()]
    assert.equal(runs.length, 1)
    runs[0]?.end()
    await Promise.all(asked)
    const later = loop.turn()
    assert.equal(runs.length, 2)
    runs[1]?.end()
    await later
    await loop.stop()
  })

  test('that is stopped aborts its run, waits for the end of it, and begins no other', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let ended = 0
    const end = () => {
      ended += 1
    }
    const { loop, runs } = startHeld({ wakes: [() => end, () => end], maxWaitMs: SECOND_MS })
    const stopped = loop.stop()
    assert.equal(runs[0]?.signal.aborted, true)
    assert.equal(ended, 2)
    let isStopped = false
    void stopped.then(() => {
      isStopped = true
    })
    await turn()
    assert.equal(isStopped, false)
    runs[0]?.end(0)
    await stopped
    loop.wake()
    loop.wakeWithin(0)
    await loop.turn()
    t.mock.timers.tick(MINUTE_MS)
    await turn()
    assert.equal(runs.length, 1)
  })

  test('that is stopped with a grace waits no longer than that', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { loop } = startHeld()
    const stopped = loop.stop(SECOND_MS)
    t.mock.timers.tick(SECOND_MS)
    await stopped
  })
})
