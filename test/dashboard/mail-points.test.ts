import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namePoints, splitByKind } from '../../src/dashboard/logic/mail-points.ts'

test('days and hours have the names of the clock that was asked for', () => {
  const points = [
    { date: '2026-11-05', sent: 1 },
    { at: '2026-10-25T02:00:00+02:00', sent: 1 },
    { at: '2026-10-25T02:00:00+01:00', sent: 1 },
  ]
  assert.deepEqual(
    namePoints(points, { locale: 'en-GB' }).map(({ label, title }) => `${label} | ${title}`),
    [
      '5 Nov | Thu 5 November',
      '02:00 | Sun 25 Oct, 02:00 (+02:00)',
      '02:00 | Sun 25 Oct, 02:00 (+01:00)',
    ],
  )
})

test('other mail is what is left of all, and unknown without the campaigns', () => {
  const all = [{ sent: 5 }, { sent: 3 }]
  assert.deepEqual(splitByKind(all, [{ sent: 2 }, { sent: 4 }]), {
    campaigns: [2, 4],
    rest: [3, 0],
  })
  assert.deepEqual(splitByKind(all, undefined), { campaigns: [null, null], rest: [null, null] })
})
