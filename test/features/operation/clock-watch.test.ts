import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '../../../src/base/clock.ts'
import { createLog } from '../../../src/base/log.ts'
import { watchClock } from '../../../src/features/operation/clock-watch.ts'
import { createNotifier } from '../../../src/work/loop.ts'

const START = Date.UTC(2026, 10, 21, 12)

test('F3: a jump of the clock by more than an hour is logged once, in each direction', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = { now: START, elapsed: 5 }
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line) => lines.push(JSON.parse(line)) })
  const jobNotifier = createNotifier()
  const woken: number[] = []
  jobNotifier.listen(() => void woken.push(clock.now))
  const stop = watchClock(
    { now: () => clock.now, log, jobNotifier },
    { everyMs: 10_000, elapsed: () => clock.elapsed },
  )
  const pass = (jumpMs: number) => {
    clock.elapsed += 10_000
    clock.now += 10_000 + jumpMs
    t.mock.timers.tick(10_000)
  }
  for (const jump of [0, HOUR_MS, -HOUR_MS, 90 * 60_000, 0, -24 * HOUR_MS, 0]) pass(jump)
  assert.deepEqual(
    lines.map(({ level, jumpMs, from, to, msg }) => ({ level, jumpMs, from, to, msg })),
    [
      {
        level: 'warn',
        jumpMs: 1.5 * HOUR_MS,
        from: '2026-11-21T12:00:40.000Z',
        to: '2026-11-21T13:30:40.000Z',
        msg: 'the clock of the machine jumped forward by more than an hour',
      },
      {
        level: 'warn',
        jumpMs: -24 * HOUR_MS,
        from: '2026-11-21T13:31:00.000Z',
        to: '2026-11-20T13:31:00.000Z',
        msg: 'the clock of the machine jumped back by more than an hour',
      },
    ],
  )
  const jumps = ['2026-11-21T13:30:40.000Z', '2026-11-20T13:31:00.000Z']
  assert.deepEqual(woken, jumps.map(Date.parse), 'jobs have become due')
  stop()
  pass(24 * HOUR_MS)
  assert.equal(lines.length, 2)
})

test('hours of load do not count as a jump of the clock', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = { now: START, elapsed: 0 }
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  t.after(
    watchClock(
      { now: () => clock.now, log, jobNotifier: createNotifier() },
      { elapsed: () => clock.elapsed },
    ),
  )
  clock.now += 5 * HOUR_MS
  clock.elapsed += 5 * HOUR_MS
  t.mock.timers.tick(10_000)
  assert.deepEqual(lines, [])
})
