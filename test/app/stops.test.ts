import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStops, stopAll } from '../../src/app/stops.ts'

test('a job that takes its whole grace leaves the loops theirs', async () => {
  const stops = createStops()
  const ended = Promise.withResolvers<void>()
  const graces: number[] = []
  stops.loops.push(async (graceMs) => {
    graces.push(graceMs)
    ended.resolve()
  })
  stops.jobs.push(() => ended.promise)
  await stopAll(stops)
  assert.equal(graces.length, 1)
  assert.ok((graces[0] ?? 0) > 5_000)
})
