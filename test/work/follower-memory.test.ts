/** In a file of its own: what other tests leave behind would count. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as loopTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { silentLog } from '../../src/base/log.ts'
import type { Store } from '../../src/store/store.ts'
import { followEvents } from './followed-events.ts'

const START = Date.UTC(2026, 10, 21, 12)

test('pauses leave no memory behind', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let wake: () => void = () => undefined
  let newest = 0
  let followed = 0
  const tx = { list: async () => [], hasWritten: () => false, execute: async () => 1 }
  const store = {
    read: { list: async () => [] },
    lastNumber: () => newest,
    write: async (fn: (tx: unknown) => Promise<unknown>) => {
      followed = newest
      return fn(tx)
    },
    onCommit: (listener: () => void) => {
      wake = listener
      return () => undefined
    },
    onExternalChange: () => () => undefined,
  } as unknown as Store
  const follower = followEvents(
    { store, log: silentLog(), now: () => START },
    ['one', 'two'].map((name) => ({ name, handle: () => Promise.resolve() })),
    { lingerMs: 10 },
  )
  const run = async (pauses: number) => {
    for (let done = 0; done < pauses; done += 1) {
      newest += 1
      wake()
      while (followed !== newest) {
        t.mock.timers.tick(10)
        await turn()
      }
    }
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = await run(2_000)
  const after = await run(3_000)
  await follower.stop()
  assert.ok(after - before < 750_000, `${after - before} bytes of 3,000 pauses`)
})

/** Waits until everything has run that needs no timer. */
async function turn(): Promise<void> {
  for (let index = 0; index < 20; index += 1) await loopTurn()
}
