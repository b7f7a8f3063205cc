import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findEnded, jobDelay } from '../../src/dashboard/logic/jobs.ts'

const job = (id: string, state: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled') => ({
  id,
  state,
})

describe('the jobs of the tray', () => {
  it('are told of when they end, and not at the first look', () => {
    const now = [
      job('a', 'completed'),
      job('b', 'failed'),
      job('c', 'active'),
      job('d', 'cancelled'),
    ]
    assert.deepEqual(findEnded(undefined, now), [])
    const before = [job('a', 'active'), job('b', 'waiting'), job('c', 'active')]
    assert.deepEqual(
      findEnded(before, now).map(({ id }) => id),
      ['a', 'b'],
    )
    assert.deepEqual(findEnded(now, now), [])
  })

  it('are asked about every second at first, every five in the end, and seldom while none runs', () => {
    const running = [job('a', 'active')]
    assert.deepEqual(
      [0, 1, 2, 9].map((asked) => jobDelay(running, asked)),
      [1_000, 1_500, 2_250, 5_000],
    )
    assert.equal(jobDelay([job('a', 'completed')], 0), 30_000)
  })
})
