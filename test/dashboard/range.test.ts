import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf } from '../../src/dashboard/logic/format.ts'
import {
  daysBetween,
  findRangeFault,
  readShownRange,
  toEmailRange,
  toRangeDays,
  toRangeQuery,
  writeShownRange,
} from '../../src/dashboard/logic/range.ts'

const TODAY = '2026-11-28'
const NOW = new Date('2026-11-28T08:41:20Z')
const BERLIN = { timeZone: 'Europe/Berlin' }

test('an address and its range are each other’s', () => {
  const addresses = ['', '?range=24h', '?range=7d', '?from=2026-11-01&to=2026-11-20']
  for (const address of addresses) {
    const query = Object.fromEntries(new URLSearchParams(address))
    assert.equal(writeShownRange(readShownRange(query, TODAY)), address)
  }
})

test('an address that makes no sense shows 30 days', () => {
  const queries = [
    { range: '1y' },
    { from: '2026-11-01' },
    { from: '2026-11-20', to: '2026-11-01' },
    { from: '2026-02-30', to: '2026-03-01' },
    { from: 'yesterday', to: 'today' },
  ]
  for (const query of queries)
    assert.deepEqual(readShownRange(query as never, TODAY), { preset: '30d' })
})

test('a custom range has up to 90 days and begins by today', () => {
  assert.equal(findRangeFault('2026-08-31', TODAY, TODAY), undefined)
  assert.equal(findRangeFault('2026-08-30', TODAY, TODAY), 'long')
  assert.equal(findRangeFault('2026-11-29', '2026-11-30', TODAY), 'future')
  assert.equal(findRangeFault('', '2026-11-30', TODAY), 'missing')
  assert.equal(findRangeFault('2026-11-20', '2026-11-19', TODAY), 'reversed')
})

test('days are those of the zone, and today is the last one', () => {
  assert.deepEqual(toRangeQuery({ preset: '30d' }, NOW, BERLIN), {
    ...{ from: '2026-10-30', to: '2026-11-28', tz: 'Europe/Berlin' },
  })
  const late = new Date('2026-11-28T23:30:00Z')
  assert.equal(dayOf(late, BERLIN.timeZone), '2026-11-29')
  assert.equal(toRangeQuery({ preset: '7d' }, late, BERLIN).from, '2026-11-23')
  assert.equal(daysBetween('2026-11-23', '2026-11-29'), 7)
})

test('24 hours end with the hour that runs', () => {
  assert.deepEqual(toRangeQuery({ preset: '24h' }, NOW, BERLIN), {
    from: '2026-11-27T09:00:00.000Z',
    to: '2026-11-28T09:00:00.000Z',
    tz: 'Europe/Berlin',
  })
  assert.deepEqual(toRangeDays({ preset: '24h' }, NOW, BERLIN), { from: '2026-11-27', to: TODAY })
  assert.deepEqual(toEmailRange({ preset: '24h' }, NOW, BERLIN), { range: '24h' })
  assert.deepEqual(toEmailRange({ preset: '7d' }, NOW, BERLIN), {
    ...{ from: '2026-11-22', to: TODAY },
  })
})
