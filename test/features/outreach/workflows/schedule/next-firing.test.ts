import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import {
  isSchedule,
  isTimezone,
  nextFiring,
} from '../../../../../src/features/outreach/workflows/schedule/next-firing.ts'

/** The firings after an instant, one after the other. */
function firings(schedule: string, timezone: string | undefined, after: string, count: number) {
  const found: string[] = []
  let at: number | null = Date.parse(after)
  while (found.length < count && at !== null) {
    at = nextFiring({ schedule, timezone }, at)
    if (at !== null) found.push(new Date(at).toISOString().replace('.000Z', 'Z'))
  }
  return found
}

const cases: [name: string, ...Parameters<typeof firings>, expected: string[]][] = [
  [
    'UTC without a time zone',
    ...(['30 9 * * *', undefined, '2026-03-01T09:30:00Z', 2] as const),
    ['2026-03-02T09:30:00Z', '2026-03-03T09:30:00Z'],
  ],
  [
    'local time across the change of the clocks',
    ...(['0 9 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z', 3] as const),
    ['2026-03-28T08:00:00Z', '2026-03-29T07:00:00Z', '2026-03-30T07:00:00Z'],
  ],
  [
    'a skipped time at the next valid instant',
    ...(['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2] as const),
    ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
  ],
  [
    'several skipped times once, at the next valid instant',
    ...(['0,30 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 3] as const),
    ['2026-03-29T01:00:00Z', '2026-03-29T01:30:00Z', '2026-03-30T00:00:00Z'],
  ],
  [
    'a doubled time once, the first',
    ...(['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2] as const),
    ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
  ],
  [
    'a doubled time not again when it is asked for within the second pass',
    ...(['30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', 1] as const),
    ['2026-10-26T01:30:00Z'],
  ],
  [
    'each time of a doubled hour once',
    ...(['*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:40:00Z', 4] as const),
    [
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:30:00Z',
      '2026-10-25T02:00:00Z',
      '2026-10-25T02:30:00Z',
    ],
  ],
  [
    'a change of half an hour',
    ...(['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 2] as const),
    ['2026-10-03T15:30:00Z', '2026-10-04T15:15:00Z'],
  ],
  [
    'a skipped midnight',
    ...(['30 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z', 2] as const),
    ['2018-11-04T03:00:00Z', '2018-11-05T02:30:00Z'],
  ],
  [
    'a skipped day',
    ...(['0 12 30 12 *', 'Pacific/Apia', '2011-12-01T00:00:00Z', 2] as const),
    ['2011-12-30T10:00:00Z', '2012-12-29T22:00:00Z'],
  ],
  [
    'a quarter of an hour from UTC',
    ...(['0 6 * * 1', 'Asia/Kathmandu', '2026-03-01T00:00:00Z', 1] as const),
    ['2026-03-02T00:15:00Z'],
  ],
  [
    'either of day of the month and day of the week',
    ...(['0 0 13 * 5', 'UTC', '2026-01-09T12:00:00Z', 2] as const),
    ['2026-01-13T00:00:00Z', '2026-01-16T00:00:00Z'],
  ],
  [
    'a leap day',
    ...(['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 1] as const),
    ['2028-02-29T00:00:00Z'],
  ],
  ['no day that never comes', ...(['0 0 31 2 *', 'UTC', '2026-01-01T00:00:00Z', 1] as const), []],
]

for (const [name, schedule, timezone, after, count, expected] of cases) {
  test(`F3: a schedule fires at ${name}`, () => {
    assert.deepEqual(firings(schedule, timezone, after, count), expected)
  })
}

test('an unknown time zone and an invalid schedule are refused', () => {
  assert.throws(() => nextFiring({ schedule: '* * * * *', timezone: 'Mars/Base' }, 0), RangeError)
  assert.throws(() => nextFiring({ schedule: '61 * * * *' }, 0), RangeError)
  assert.throws(() => nextFiring({ schedule: 'each day' }, 0), TypeError)
})

describe('a schedule', () => {
  const wrong = [
    '* * * * * *',
    '* * * *',
    '@daily',
    '61 * * * *',
    'foo',
    '',
    '*/0 * * * *',
    '0 0 1 1 * 2030',
    '0 0 +13 * 5',
    '5 4 * * MOO',
    `0 0 ${'1,'.repeat(20)}40 * *`,
  ]
  for (const text of wrong) {
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(isSchedule(text), false))
  }
  for (const text of ['*/5 * * * *', ' 0  9 * * 1-5 ', '0 0 1 JAN MON', '0 0 L * *', '0 0 * * 7']) {
    it(`may be ${JSON.stringify(text)}`, () => assert.equal(isSchedule(text), true))
  }
})

describe('a time zone', () => {
  for (const text of ['Mars/Olympus', '', '+02:00', 'GMT+2', '../etc/passwd', 'UTC\n']) {
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(isTimezone(text), false))
  }
  for (const text of ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Argentina/Buenos_Aires']) {
    it(`may be ${text}`, () => assert.equal(isTimezone(text), true))
  }
})
