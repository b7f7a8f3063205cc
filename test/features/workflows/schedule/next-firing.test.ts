import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  isSchedule,
  isTimezone,
  nextFiring,
} from '../../../../src/features/workflows/schedule/next-firing.ts'

/** The firings after an instant, up to `count`. */
function firings(schedule: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = []
  let at: number | null = Date.parse(after)
  while (at !== null && found.length < count) {
    at = nextFiring({ schedule, timezone }, at)
    if (at !== null) found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'))
  }
  return found
}

describe('the next firing', () => {
  const cases: [title: string, schedule: string, timezone: string, after: string, at: string[]][] =
    [
      [
        'is after the instant, never at it',
        '0 9 * * *',
        'UTC',
        '2026-05-01T09:00:00Z',
        ['2026-05-02T09:00Z'],
      ],
      [
        'is a millisecond away if need be',
        '0 9 * * *',
        'UTC',
        '2026-05-01T08:59:59.999Z',
        ['2026-05-01T09:00Z'],
      ],
      [
        'is local',
        '0 9 * * 1',
        'Europe/Berlin',
        '2026-01-01T00:00:00Z',
        ['2026-01-05T08:00Z', '2026-01-12T08:00Z'],
      ],
      [
        'finds a leap day',
        '0 0 29 2 *',
        'UTC',
        '2026-01-01T00:00:00Z',
        ['2028-02-29T00:00Z', '2032-02-29T00:00Z'],
      ],
      [
        'of a skipped time is the next valid instant',
        '30 2 * * *',
        'Europe/Berlin',
        '2026-03-28T12:00:00Z',
        ['2026-03-29T01:00Z', '2026-03-30T00:30Z'],
      ],
      [
        'of a skipped midnight is the next valid instant',
        '0 0 * * *',
        'America/Havana',
        '2026-03-07T12:00:00Z',
        ['2026-03-08T05:00Z', '2026-03-09T04:00Z'],
      ],
      [
        'of a time that is skipped by half an hour is the next valid instant',
        '15 2 * * *',
        'Australia/Lord_Howe',
        '2026-10-03T00:00:00Z',
        ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
      ],
      [
        'of a time that occurs twice is the first',
        '30 2 * * *',
        'Europe/Berlin',
        '2026-10-24T12:00:00Z',
        ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
      ],
      [
        'after the first of two equal times is not the second',
        '10,50 2 * * *',
        'Europe/Berlin',
        '2026-10-25T00:55:00Z',
        ['2026-10-26T01:10Z'],
      ],
      [
        'of every half an hour skips the repeated hour',
        '*/30 * * * *',
        'Europe/Berlin',
        '2026-10-24T23:45:00Z',
        ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-25T02:00Z'],
      ],
      [
        'of a time that is repeated by half an hour is the first',
        '45 1 * * *',
        'Australia/Lord_Howe',
        '2026-04-04T14:50:00Z',
        ['2026-04-05T15:15Z'],
      ],
    ]
  for (const [title, schedule, timezone, after, expected] of cases) {
    it(title, () => {
      assert.deepEqual(firings(schedule, timezone, after, expected.length), expected)
    })
  }

  it('does not exist for a day that no month has', () => {
    assert.equal(nextFiring({ schedule: '0 0 31 2 *', timezone: 'UTC' }, 0), null)
  })

  it('rises for a year of every zone that has odd offsets', () => {
    for (const timezone of [
      'Asia/Kathmandu',
      'Pacific/Chatham',
      'Africa/Casablanca',
      'Asia/Tehran',
    ]) {
      const found = firings('30 */6 * * *', timezone, '2026-01-01T00:00:00Z', 4 * 365)
      assert.deepEqual(found.toSorted(), found, timezone)
      assert.equal(new Set(found).size, found.length)
    }
  })
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
