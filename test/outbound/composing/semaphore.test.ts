import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createTurns, TurnRefused } from '../../../src/outbound/composing/semaphore.ts'

/** Work that ends when it is told to. */
function makeWork() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    ends.set(name, () => resolve(name))
    return () => {
      begun.push(name)
      return promise
    }
  }
  return { begun, work, end: (name: string) => ends.get(name)?.() }
}

test('so many run at once, the others begin in order as turns become free', async () => {
  const turns = createTurns({ atOnce: 2, waiting: 10 })
  const { begun, work, end } = makeWork()
  const all = ['a', 'b', 'c', 'd'].map((name) => turns.take(work(name)))
  await turn()
  assert.deepEqual(begun, ['a', 'b'])
  end('b')
  assert.equal(await all[1], 'b')
  await turn()
  assert.deepEqual(begun, ['a', 'b', 'c'])
  end('a')
  await all[0]
  await turn()
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  end('c')
  end('d')
  assert.deepEqual(await Promise.all(all), ['a', 'b', 'c', 'd'])
})

test('work that throws gives its turn back, and its error to whoever asked', async () => {
  const turns = createTurns({ atOnce: 1, waiting: 1 })
  const failing = turns.take(async () => Promise.reject(new Error('no luck')))
  const next = turns.take(async () => 'done')
  await assert.rejects(failing, /no luck/)
  assert.equal(await next, 'done')
})

test('who finds the waiting room full is refused, and nobody else is', async () => {
  const turns = createTurns({ atOnce: 1, waiting: 1 })
  const { begun, work, end } = makeWork()
  const first = turns.take(work('first'))
  const second = turns.take(work('second'))
  await assert.rejects(turns.take(work('third')), TurnRefused)
  end('first')
  await first
  end('second')
  await second
  assert.deepEqual(begun, ['first', 'second'])
})

test('stop refuses who waits and who comes', async () => {
  const turns = createTurns({ atOnce: 1, waiting: 5 })
  const { begun, work, end } = makeWork()
  const running = turns.take(work('running'))
  const waiting = turns.take(work('waiting'))
  turns.stop()
  await assert.rejects(waiting, TurnRefused)
  await assert.rejects(turns.take(work('late')), TurnRefused)
  end('running')
  assert.equal(await running, 'running')
  assert.deepEqual(begun, ['running'])
})
