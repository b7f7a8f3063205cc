import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { AppError } from '../../../../../src/base/errors.ts'
import {
  type RangeQuery,
  readRange,
} from '../../../../../src/features/insight/analytics/range/range.ts'

const NOW = Date.parse('2026-11-26T09:20:00Z')

const iso = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`

/** The borders of a range: of the period before, of the range itself, and its end. */
const good: [query: RangeQuery, previous: string, from: string, to: string][] = [
  [{}, '2026-09-28T00:00Z', '2026-10-28T00:00Z', '2026-11-27T00:00Z'],
  [{ from: '2026-11-26' }, '2026-11-25T00:00Z', '2026-11-26T00:00Z', '2026-11-27T00:00Z'],
  [{ to: '2026-10-30' }, '2026-09-01T00:00Z', '2026-10-01T00:00Z', '2026-10-31T00:00Z'],
  [{ tz: 'Asia/Kathmandu' }, '2026-09-27T18:15Z', '2026-10-27T18:15Z', '2026-11-26T18:15Z'],
  // Already the 27th there.
  [{ tz: 'Pacific/Kiritimati' }, '2026-09-27T10:00Z', '2026-10-27T10:00Z', '2026-11-26T10:00Z'],
  [
    { from: '2026-10-20', to: '2026-10-25', tz: 'Europe/Berlin' },
    ...(['2026-10-13T22:00Z', '2026-10-19T22:00Z', '2026-10-25T23:00Z'] as const),
  ],
  // The days before have no hour more.
  [
    { from: '2026-10-25', to: '2026-10-25', tz: 'Europe/Berlin' },
    ...(['2026-10-23T22:00Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'] as const),
  ],
  // Instants widen to whole quarters, and are compared with as long a time.
  [
    { from: '2026-11-26T08:01:00Z', to: '2026-11-26T08:59:59.999Z' },
    ...(['2026-11-26T07:00Z', '2026-11-26T08:00Z', '2026-11-26T09:00Z'] as const),
  ],
  [
    { from: '2026-11-26T08:00:00Z', to: '2026-11-26T08:15:00Z' },
    ...(['2026-11-26T07:45Z', '2026-11-26T08:00Z', '2026-11-26T08:15Z'] as const),
  ],
  [
    { from: '2026-11-26T13:45:00+05:45', to: '2026-11-26 08:30' },
    ...(['2026-11-26T07:30Z', '2026-11-26T08:00Z', '2026-11-26T08:30Z'] as const),
  ],
  [
    { to: '2026-11-01T00:00:00Z' },
    ...(['2026-09-02T00:00Z', '2026-10-02T00:00Z', '2026-11-01T00:00Z'] as const),
  ],
  // 90 days of Berlin have an hour more or less than 90 times 24 hours.
  [
    { from: '2026-08-29', to: '2026-11-26', tz: 'Europe/Berlin' },
    ...(['2026-05-30T22:00Z', '2026-08-28T22:00Z', '2026-11-26T23:00Z'] as const),
  ],
  [
    { from: '2026-08-28T22:00:00Z', to: '2026-11-26T23:00:00Z', tz: 'Europe/Berlin' },
    ...(['2026-05-30T21:00Z', '2026-08-28T22:00Z', '2026-11-26T23:00Z'] as const),
  ],
  [
    { from: '2026-03-01', to: '2026-05-29', tz: 'Europe/Berlin' },
    ...(['2025-11-30T23:00Z', '2026-02-28T23:00Z', '2026-05-29T22:00Z'] as const),
  ],
  [
    { from: '2026-02-28T23:00:00Z', to: '2026-05-29T23:00:00Z', tz: 'Europe/Berlin' },
    // One o'clock on the 30th there, of which only the day is kept.
    ...(['2025-11-29T23:00Z', '2026-02-28T23:00Z', '2026-05-30T22:00Z'] as const),
  ],
  // Of times that are further back, only days are kept.
  [
    { from: '2026-07-01T12:00:00Z', to: '2026-07-01T13:00:00Z' },
    ...(['2026-06-30T00:00Z', '2026-07-01T00:00Z', '2026-07-02T00:00Z'] as const),
  ],
  [
    { from: '2026-07-01T23:30:00Z', to: '2026-07-02T22:00:00Z', tz: 'Europe/Berlin' },
    ...(['2026-06-30T22:00Z', '2026-07-01T22:00Z', '2026-07-02T22:00Z'] as const),
  ],
  [
    { from: '2026-08-10T12:00:00Z', to: '2026-08-30T12:00:00Z' },
    ...(['2026-07-20T12:00Z', '2026-08-10T00:00Z', '2026-08-30T12:00Z'] as const),
  ],
  // The end may be ahead.
  [
    { from: '2026-11-26', to: '2026-12-24' },
    ...(['2026-10-28T00:00Z', '2026-11-26T00:00Z', '2026-12-25T00:00Z'] as const),
  ],
  [
    { from: '2000-01-01', to: '2000-01-02', tz: 'Asia/Kathmandu' },
    ...(['1999-12-29T18:15Z', '1999-12-31T18:15Z', '2000-01-02T18:15Z'] as const),
  ],
]

for (const [query, previous, from, to] of good) {
  test(`${JSON.stringify(query)} is from ${from} to ${to}, after ${previous}`, () => {
    const { previousFromAt, fromAt, toAt, zone } = readRange(query, NOW)
    assert.deepEqual([previousFromAt, fromAt, toAt].map(iso), [previous, from, to])
    assert.equal(zone.name, query.tz ?? 'UTC')
  })
}

const bad: [query: RangeQuery, errors: string[]][] = [
  [{ from: 'yesterday' }, ['from invalid_date']],
  [{ from: '' }, ['from invalid_date']],
  [{ to: '2026-02-30' }, ['to invalid_date']],
  [{ from: '2026-13-01', to: '1' }, ['from invalid_date', 'to invalid_date']],
  // A plus that was not encoded.
  [{ from: '2026-11-01T00:00:00 05:45' }, ['from invalid_date']],
  [{ tz: 'Mars/Olympus' }, ['tz invalid_timezone']],
  [{ tz: '' }, ['tz invalid_timezone']],
  [{ tz: '+05:45' }, ['tz invalid_timezone']],
  [{ from: 'x', tz: 'x y' }, ['from invalid_date', 'tz invalid_timezone']],
  [{ from: '2026-11-02', to: '2026-11-01' }, ['to invalid_range']],
  [{ from: '2026-11-26T08:00:00Z', to: '2026-11-26T08:00:00Z' }, ['to invalid_range']],
  [{ from: '2026-11-27' }, ['from invalid_range']],
  [{ from: '2027-01-01', to: '2027-01-02' }, ['from invalid_range']],
  [{ from: '2026-11-26T09:20:00.001Z', to: '2026-11-27' }, ['from invalid_range']],
  [{ to: '2028-01-01' }, ['to invalid_range']],
  [{ from: '2026-08-28', to: '2026-11-26' }, ['from invalid_range']],
  [{ from: '2026-08-28', to: '2026-11-26', tz: 'Europe/Berlin' }, ['from invalid_range']],
  [{ from: '2026-08-28' }, ['from invalid_range']],
  [{ from: '2026-08-27T23:59:59.999Z', to: '2026-11-26' }, ['from invalid_range']],
  [{ to: '9999-12-31' }, ['to invalid_range']],
  [{ from: '0000-01-01' }, ['from invalid_range']],
  // The clock of New York was 4:56:02 behind, so its days began within quarters.
  [{ from: '1800-01-01', to: '1800-01-02', tz: 'America/New_York' }, ['to invalid_range']],
  [{ from: '1999-12-31', to: '1999-12-31' }, ['to invalid_range']],
]

for (const [query, errors] of bad) {
  test(`${JSON.stringify(query)} is refused: ${errors.join(', ')}`, () => {
    assert.throws(
      () => readRange(query, NOW),
      (error) => {
        assert.ok(error instanceof AppError)
        assert.equal(error.code, 'VALIDATION_ERROR')
        assert.deepEqual(
          error.fields?.map(({ field, code }) => `${field} ${code}`),
          errors,
        )
        return true
      },
    )
  })
}

test('the errors say what is wrong', () => {
  const textOf = (query: RangeQuery) => {
    try {
      readRange(query, NOW)
    } catch (error) {
      if (error instanceof AppError) return error.fields?.[0]?.message
    }
    return assert.fail()
  }
  assert.equal(textOf({ from: '2026-11-02', to: '2026-11-01' }), 'The range ends before it begins')
  assert.equal(textOf({ from: '2027-01-01' }), 'The range lies in the future')
  assert.equal(textOf({ from: '2026-01-01' }), 'The range has more than 90 days')
  assert.match(textOf({ tz: 'CET+1' }) ?? '', /such as Europe\/Paris$/)
  assert.match(textOf({ to: '1.11.2026' }) ?? '', /YYYY-MM-DD/)
})

test('a range of days is 90 days long at most in every zone and season', () => {
  for (const tz of ['UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Chatham']) {
    for (let day = 0; day < 365; day += 7) {
      const from = new Date(NOW - (90 + day) * DAY_MS).toISOString().slice(0, 10)
      const to = new Date(NOW - (1 + day) * DAY_MS).toISOString().slice(0, 10)
      const longer = new Date(NOW - day * DAY_MS).toISOString().slice(0, 10)
      assert.ok(readRange({ from, to, tz }, NOW))
      assert.throws(() => readRange({ from, to: longer, tz }, NOW), `${tz} ${from}`)
    }
  }
})
