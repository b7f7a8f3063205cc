import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import {
  dayBorders,
  hourBorders,
} from '../../../../../src/features/insight/analytics/mail-figures.ts'
import {
  dayAt,
  findZone,
  formatLocal,
  startOfZoneDay,
  UTC,
  type Zone,
} from '../../../../../src/features/insight/analytics/range/zone.ts'

const zoneOf = (name: string): Zone => {
  const zone = findZone(name)
  assert.ok(zone, name)
  return zone
}
const dayOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS

/** The start of a day, and its length in hours. */
const days: [zone: string, date: string, start: string, hours: number][] = [
  ['UTC', '2026-11-26', '2026-11-26T00:00:00Z', 24],
  ['Asia/Kathmandu', '2026-11-26', '2026-11-25T18:15:00Z', 24],
  ['asia/kathmandu', '2026-11-26', '2026-11-25T18:15:00Z', 24],
  ['Australia/Eucla', '2026-11-26', '2026-11-25T15:15:00Z', 24],
  ['Pacific/Kiritimati', '2026-11-26', '2026-11-25T10:00:00Z', 24],
  ['Etc/GMT+12', '2026-11-26', '2026-11-26T12:00:00Z', 24],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z', 23],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', 25],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00Z', 25],
  ['Pacific/Chatham', '2026-04-05', '2026-04-04T10:15:00Z', 25],
  ['Pacific/Chatham', '2026-09-27', '2026-09-26T11:15:00Z', 23],
  // Half an hour.
  ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00Z', 24.5],
  ['Australia/Lord_Howe', '2026-10-04', '2026-10-03T13:30:00Z', 23.5],
  // Midnight does not exist: the day starts at one o'clock.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00Z', 23],
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00:00Z', 23],
  ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00Z', 23],
  // The hour before midnight comes twice, and belongs to the day before.
  ['America/Sao_Paulo', '2018-02-17', '2018-02-17T02:00:00Z', 25],
  ['America/Sao_Paulo', '2018-02-18', '2018-02-18T03:00:00Z', 24],
  // Midnight comes twice.
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00Z', 25],
  // A day that does not exist, and the ones around it.
  ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00Z', 24],
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z', 0],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00Z', 24],
]

for (const [name, date, start, hours] of days) {
  test(`${date} in ${name} starts at ${start} and has ${hours} hours`, () => {
    const zone = zoneOf(name)
    const day = dayOf(date)
    const at = startOfZoneDay(zone, day)
    assert.equal(new Date(at).toISOString(), new Date(start).toISOString())
    assert.equal((startOfZoneDay(zone, day + 1) - at) / 3_600_000, hours)
    if (hours === 0) return
    assert.equal(dayAt(zone, at), day)
    assert.equal(dayAt(zone, at - 1) < day, true)
  })
}

const noZones = [
  '',
  'Nowhere/City',
  'IST',
  'pst',
  'SystemV/PST8',
  '+05:45',
  '-03:00',
  'Asia/Kathmandu ',
  'UTC\n',
  'a'.repeat(65),
]

for (const name of noZones) {
  test(`${JSON.stringify(name)} is no time zone`, () => {
    assert.equal(findZone(name), undefined)
  })
}

test('instants have the offset of the clock at that time', () => {
  const at = (text: string) => Date.parse(text)
  const shown: [string, string, string][] = [
    ['Asia/Kathmandu', '2026-11-25T18:15:00Z', '2026-11-26T00:00:00+05:45'],
    ['America/New_York', '2026-11-01T05:30:00Z', '2026-11-01T01:30:00-04:00'],
    ['America/New_York', '2026-11-01T06:30:00Z', '2026-11-01T01:30:00-05:00'],
    ['UTC', '2026-11-01T06:30:00Z', '2026-11-01T06:30:00+00:00'],
    ['America/St_Johns', '2026-12-01T00:00:00Z', '2026-11-30T20:30:00-03:30'],
  ]
  for (const [name, instant, text] of shown) {
    assert.equal(formatLocal(zoneOf(name), at(instant)), text)
  }
  assert.equal(formatLocal(UTC, 0), '1970-01-01T00:00:00+00:00')
})

test('the days of a range leave out a day that the zone left out', () => {
  const zone = zoneOf('Pacific/Apia')
  const span = {
    fromAt: startOfZoneDay(zone, dayOf('2011-12-28')),
    toAt: startOfZoneDay(zone, dayOf('2012-01-02')),
  }
  const dates = dayBorders(zone, span)
    .slice(0, -1)
    .map((at) => new Date(dayAt(zone, at) * DAY_MS).toISOString().slice(0, 10))
  assert.deepEqual(dates, ['2011-12-28', '2011-12-29', '2011-12-31', '2012-01-01'])
})

const hours: [zone: string, date: string, labels: string[]][] = [
  [
    'Europe/Berlin',
    '2026-10-25',
    [
      ...['00:00:00+02:00', '01:00:00+02:00', '02:00:00+02:00', '02:00:00+01:00'],
      ...['03:00:00+01:00', '04:00:00+01:00'],
    ],
  ],
  [
    'Europe/Berlin',
    '2026-03-29',
    ['00:00:00+01:00', '01:00:00+01:00', '03:00:00+02:00', '04:00:00+02:00'],
  ],
  [
    'Australia/Lord_Howe',
    '2026-10-04',
    ['00:00:00+10:30', '01:00:00+10:30', '02:30:00+11:00', '03:00:00+11:00', '04:00:00+11:00'],
  ],
  [
    'Australia/Lord_Howe',
    '2026-04-05',
    [
      ...['00:00:00+11:00', '01:00:00+11:00', '01:30:00+10:30', '02:00:00+10:30'],
      ...['03:00:00+10:30', '04:00:00+10:30'],
    ],
  ],
  ['Africa/Cairo', '2026-04-24', ['01:00:00+03:00', '02:00:00+03:00', '03:00:00+03:00']],
  ['Asia/Kathmandu', '2026-11-26', ['00:00:00+05:45', '01:00:00+05:45']],
]

for (const [name, date, labels] of hours) {
  test(`the first hours of ${date} in ${name} are ${labels.join(', ')}`, () => {
    const zone = zoneOf(name)
    const fromAt = startOfZoneDay(zone, dayOf(date))
    const toAt = startOfZoneDay(zone, dayOf(date) + 1)
    const borders = hourBorders(zone, { fromAt, toAt })
    const shown = borders.slice(0, labels.length).map((at) => formatLocal(zone, at))
    assert.deepEqual(
      shown,
      labels.map((label) => `${date}T${label}`),
    )
    assert.equal(borders.at(-1), toAt)
    for (const [index, at] of borders.entries()) {
      assert.equal(at % 900_000, 0)
      if (index > 0) assert.ok(at > (borders[index - 1] ?? at))
    }
  })
}

test('in every zone, the days of a year follow one another without a gap', () => {
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const zone = zoneOf(name)
    let end = startOfZoneDay(zone, dayOf('2026-01-01'))
    for (let day = dayOf('2026-01-01'); day < dayOf('2027-01-01'); day += 1) {
      assert.ok(dayAt(zone, end) === day && dayAt(zone, end - 1) === day - 1, `${name} ${day}`)
      end = startOfZoneDay(zone, day + 1)
      assert.equal(dayAt(zone, end - 1), day, name)
    }
  }
})
