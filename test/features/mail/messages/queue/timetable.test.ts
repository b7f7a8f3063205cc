import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTimetable } from '../../../../../src/features/mail/messages/queue/lanes.ts'

test('a timetable returns entries in the order of their time', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), fc.nat(1_000), (times, now) => {
      const table = createTimetable<number>()
      for (const at of times) table.add(at, at)
      const expected = times.filter((at) => at <= now).sort((a, b) => a - b)
      assert.deepEqual([...table.takeUntil(now)], expected)
      const later = times.filter((at) => at > now)
      const next = later.length === 0 ? undefined : Math.min(...later)
      assert.equal(
        table.next(() => true),
        next,
      )
    }),
  )
})
