import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createSemaphore, SemaphoreRefused } from '../../src/outbound/semaphore.ts'

/** Work that ends when the test ends it. */
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

test('a limited number runs at once; the others begin in order as places become free', async () => {
  const semaphore = createSemaphore({ atOnce: 2, waiting: 10 })
  const { begun, work, end } = makeWork()
  const all = ['a', 'b', 'c', 'd'].map((name) => semaphore.take(work(name)))
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

test('work that throws frees its place and rejects with its error', async () => {
  const semaphore = createSemaphore({ atOnce: 1, waiting: 1 })
  const failing = semaphore.take(async () => Promise.reject(new Error('no luck')))
  const next = semaphore.take(async () => 'done')
  await assert.rejects(failing, /no luck/)
  assert.equal(await next, 'done')
})

test('a call beyond the waiting limit is refused, and no other call is', async () => {
  const semaphore = createSemaphore({ atOnce: 1, waiting: 1 })
  const { begun, work, end } = makeWork()
  const first = semaphore.take(work('first'))
  const second = semaphore.take(work('second'))
  await assert.rejects(semaphore.take(work('third')), SemaphoreRefused)
  end('first')
  await first
  end('second')
  await second
  assert.deepEqual(begun, ['first', 'second'])
})

test('stop refuses waiting and later calls', async () => {
  const semaphore = createSemaphore({ atOnce: 1, waiting: 5 })
  const { begun, work, end } = makeWork()
  const running = semaphore.take(work('running'))
  const waiting = semaphore.take(work('waiting'))
  semaphore.stop()
  await assert.rejects(waiting, SemaphoreRefused)
  await assert.rejects(semaphore.take(work('late')), SemaphoreRefused)
  end('running')
  assert.equal(await running, 'running')
  assert.deepEqual(begun, ['running'])
})
