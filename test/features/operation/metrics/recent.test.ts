import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { createRecent } from '../../../../src/features/operation/metrics/gauge.ts'

/** A scan that ends when the test says so. */
function openScan() {
  let ends: PromiseWithResolvers<number> | undefined
  return {
    scan: () => {
      ends = Promise.withResolvers()
      return ends.promise
    },
    end: (result: number) => ends?.resolve(result),
    fail: () => ends?.reject(new Error('the database cannot be read')),
  }
}

test('reads wait for the first result, and then take the one before', async () => {
  const { scan, end } = openScan()
  let at = 0
  const recent = createRecent(scan, { waitMs: 0, firstWaitMs: 30_000, clock: () => at })
  const first = [recent(), recent()]
  await setTimeout(5)
  end(1)
  assert.deepEqual(await Promise.all(first), [1, 1])
  at += 1
  assert.equal(await recent(), 1)
  end(2)
  await setTimeout(1)
  assert.equal(await recent(), 2)
})

test('a read does not wait for ever for the first result, nor for one after a scan that failed', async () => {
  const { scan, fail } = openScan()
  const recent = createRecent(scan, { waitMs: 0, firstWaitMs: 0 })
  assert.equal(await recent(), undefined)
  fail()
  assert.equal(await recent(), undefined)
})

test('only the first reads wait for the first result', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { scan, end } = openScan()
  const recent = createRecent(scan)
  const ended: string[] = []
  const read = (name: string) => void recent().then((result) => ended.push(`${name}: ${result}`))
  const passMs = async (ms: number) => {
    t.mock.timers.tick(ms)
    await setImmediate()
  }
  read('first')
  await passMs(1_000)
  read('second')
  await passMs(999)
  assert.deepEqual(ended, [])
  await passMs(1)
  assert.deepEqual(ended, ['first: undefined', 'second: undefined'])
  read('third')
  await passMs(25)
  assert.deepEqual(ended.slice(2), ['third: undefined'])
  read('fourth')
  end(4)
  await setImmediate()
  assert.deepEqual(ended.slice(3), ['fourth: 4'])
})
