import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS, formatInstant, parseInstant } from '../../src/base/clock.ts'

const END = Date.UTC(10_000, 0, 1)
const byDate = (at: number) => new Date(at).toISOString()

test('an instant is written as Date writes it, on every day of the first 130 years', () => {
  for (let at = 0; at < Date.UTC(2100, 2, 2); at += DAY_MS) {
    const last = at + DAY_MS - 1
    assert.deepEqual([formatInstant(at), formatInstant(last)], [byDate(at), byDate(last)])
  }
})

test('an instant is written as Date writes it, around leap days and at any other time', () => {
  for (let year = 1970; year < 10_000; year += 1) {
    for (const at of [Date.UTC(year, 1, 28), Date.UTC(year, 2, 1) - 1, Date.UTC(year, 11, 31)]) {
      assert.equal(formatInstant(at), byDate(at))
    }
  }
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), fc.nat(END), (any, usual) => {
      assert.equal(formatInstant(any), byDate(any))
      assert.equal(formatInstant(usual), byDate(usual))
    }),
    { numRuns: 1_000 },
  )
  for (const at of [-1, 0, 0.5, 1.9, END - 1, END - 0.5, END, 8.64e15]) {
    assert.equal(formatInstant(at), byDate(at))
  }
  assert.throws(() => formatInstant(Number.NaN), RangeError)
})

const instants: [text: string, wanted: string][] = [
  ['2026-01-31T09:30:15.123Z', '2026-01-31T09:30:15.123Z'],
  ['2026-01-31 09:30:15', '2026-01-31T09:30:15.000Z'],
  ['2026-01-31 09:30', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31t09:30z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31 09:30+02:00', '2026-01-31T07:30:00.000Z'],
  ['2026-01-31T23:30-0500', '2026-02-01T04:30:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['Sun, 29 Nov 2026 08:00:00 GMT', '2026-11-29T08:00:00.000Z'],
  ['sun, 1 Nov 2026 08:00:07 +0530', '2026-11-01T02:30:07.000Z'],
  ['29 Feb 2028 23:59 UT', '2028-02-29T23:59:00.000Z'],
]

for (const [text, wanted] of instants) {
  test(`${text} is an instant, in UTC unless it says otherwise`, () => {
    const instant = parseInstant(text)
    assert.equal(new Date(instant?.at ?? Number.NaN).toISOString(), wanted)
    assert.equal(instant?.isDay, text.length === 10)
  })
}

const noInstants = [
  ...['', '2026', '2026-02-30', '2027-02-29', '2026-13-01', '2026-01-31T', '2026-01-31 09'],
  ...['2026-01-31  09:30', '2026-01-31T25:00', '2026-01-31\n', '2026-02-30T10:00', 'tomorrow'],
  ...['Mon, 29 Nov 2026 08:00:00 GMT', '30 Feb 2026 08:00:00 GMT', '29 Nov 2026 08:00:00'],
  ...['Sun, 29 Nov 26 08:00:00 GMT', 'Sun, 29 Nov 2026', '29 Nov 2026 25:00:00 GMT'],
]

for (const text of noInstants) {
  test(`${JSON.stringify(text)} is not an instant`, () =>
    assert.equal(parseInstant(text), undefined))
}
