import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  dayOf,
  lowestTextOf,
  parseDataDate,
  startOfUtcDay,
} from '../../../../src/features/ground/conditions/dates.ts'

const zone = process.env.TZ

// Far from UTC, so that a local time would be noticed.
before(() => {
  process.env.TZ = 'Pacific/Auckland'
})
after(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

test('a date, alone or with a time, is an instant in UTC', () => {
  const cases: [string, string][] = [
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T09:30', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:15', '2026-01-31T09:30:15.000Z'],
    ['2026-01-31T09:30:15.25', '2026-01-31T09:30:15.250Z'],
    ['2026-01-31T09:30:15.123456Z', '2026-01-31T09:30:15.123Z'],
    ['2026-01-31T23:30:00-05:00', '2026-02-01T04:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ]
  for (const [text, wanted] of cases) {
    assert.equal(new Date(parseDataDate(text) ?? Number.NaN).toISOString(), wanted, text)
  }
})

test('a text that is not a calendar date is not an instant', () => {
  const texts = [
    '',
    '2026',
    '2026-01',
    '2026-1-31',
    '2026-02-30',
    '2027-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-01-31 09:30',
    '2026-01-31T',
    '2026-01-31T09',
    '2026-01-31T25:00',
    '2026-01-31T09:60',
    '2026-01-31T09:30+25:99',
    '2026-01-31T09:30 CET',
    '2026-01-31\n',
    '+002026-01-31',
    'Sat, 31 Jan 2026 09:30:00 GMT',
  ]
  for (const text of texts) assert.equal(parseDataDate(text), undefined, text)
})

test('days are days of UTC, also before 1970', () => {
  const late = Date.parse('1969-12-31T23:59:59.999Z')
  assert.equal(dayOf(late), '1969-12-31')
  assert.equal(new Date(startOfUtcDay(late)).toISOString(), '1969-12-31T00:00:00.000Z')
  assert.equal(startOfUtcDay(0), 0)
})

test('the lower bound is not greater than any text of its instant', () => {
  const noon = Date.parse('2026-01-31T12:00:00.000Z')
  assert.equal(lowestTextOf(noon), '2026-01-31T12:00:00')
  assert.equal(lowestTextOf(noon + 999), '2026-01-31T12:00:00')
  assert.equal(lowestTextOf(Date.parse('2026-01-31')), '2026-01-31')
})
