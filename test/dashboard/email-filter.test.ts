import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endOfDay, startOfDay } from '../../src/dashboard/logic/days.ts'
import { statusCounts } from '../../src/dashboard/logic/email-counts.ts'
import {
  chosenStates,
  EMAIL_FIELDS,
  emailQuery,
  NO_FILTER,
  withStates,
} from '../../src/dashboard/logic/email-filter.ts'
import { readState } from '../../src/dashboard/logic/url-state.ts'

const now = new Date('2026-11-30T10:12:45.678Z')
const ask = (query: string, zone = 'Europe/Berlin') =>
  emailQuery(readState(EMAIL_FIELDS, query), now, zone)

describe('the filter of emails', () => {
  it('asks for all without a filter', () => {
    assert.deepEqual(ask(''), {})
  })

  it('names statuses, source, campaign and domain as the API does', () => {
    assert.deepEqual(
      ask('?q=ann@&status=BOUNCED,SENT&source=CAMPAIGN&campaign=c1&domain=a.example'),
      {
        search: 'ann@',
        status: 'SENT,BOUNCED',
        source: 'CAMPAIGN',
        campaignId: 'c1',
        domain: 'a.example',
      },
    )
  })

  it('names receivers and states of the queue as the API does', () => {
    assert.deepEqual(ask('?receiver=Gmail&state=deferred,held'), {
      receiver: 'Gmail',
      state: 'deferred,held',
    })
  })

  it('begins a range at a whole minute, so that the same view is the same request', () => {
    assert.deepEqual(ask('?range=7d'), { startDate: '2026-11-23T10:12:00.000Z' })
  })

  it('takes days of the zone', () => {
    assert.deepEqual(ask('?from=2026-11-01&to=2026-11-02'), {
      startDate: '2026-10-31T23:00:00.000Z',
      endDate: '2026-11-02T22:59:59.999Z',
    })
  })

  it('prefers a range to days', () => {
    assert.deepEqual(ask('?range=24h&from=2026-01-01&to=2026-01-02'), {
      startDate: '2026-11-29T10:12:00.000Z',
    })
  })
})

describe('the states of the filter', () => {
  it('are those of the queue or those of mail that has ended', () => {
    const bounced = { ...NO_FILTER, ...withStates(NO_FILTER, ['bounced']) }
    assert.deepEqual(chosenStates(bounced), ['bounced'])
    const more = { ...bounced, ...withStates(bounced, ['bounced', 'opened']) }
    assert.deepEqual(more.status, ['OPENED', 'BOUNCED'])
    const other = { ...more, ...withStates(more, ['bounced', 'opened', 'deferred']) }
    assert.deepEqual(chosenStates(other), ['deferred'])
    assert.deepEqual(withStates(other, []), { state: [], status: [] })
  })

  it('may be all that wait', () => {
    const filter = readState(EMAIL_FIELDS, '?state=waiting')
    const all = ['waiting', 'deferred', 'held', 'paused', 'sending']
    assert.deepEqual(chosenStates(filter), all)
    const fewer = all.filter((one) => one !== 'held')
    assert.deepEqual(withStates(filter, fewer).state, ['queued', 'deferred', 'paused', 'sending'])
  })
})

describe('the counts by state', () => {
  const counts = { PENDING: 2, SENDING: 1, SENT: 0, DELIVERED: 40, BOUNCED: 3 }

  it('are those above 0, with the filter that finds the emails', () => {
    assert.deepEqual(statusCounts(counts, NO_FILTER), [
      { state: 'waiting', count: 3, part: { state: ['waiting'], status: [] } },
      { state: 'delivered', count: 40, part: { state: [], status: ['DELIVERED'] } },
      { state: 'bounced', count: 3, part: { state: [], status: ['BOUNCED'] } },
    ])
  })

  it('keep a filter by states of the queue', () => {
    const [waiting] = statusCounts(counts, { ...NO_FILTER, state: ['deferred'] })
    assert.deepEqual(waiting?.part.state, ['deferred'])
  })
})

describe('a day of a zone', () => {
  it('begins at its midnight in summer and in winter', () => {
    assert.equal(startOfDay('2026-07-01', 'Europe/Berlin'), '2026-06-30T22:00:00.000Z')
    assert.equal(startOfDay('2026-12-01', 'Asia/Kolkata'), '2026-11-30T18:30:00.000Z')
    assert.equal(startOfDay('2026-12-01', 'UTC'), '2026-12-01T00:00:00.000Z')
  })

  it('has 23 and 25 hours where the clock changes', () => {
    const hours = (day: string) =>
      (Date.parse(endOfDay(day, 'Europe/Berlin')) +
        1 -
        Date.parse(startOfDay(day, 'Europe/Berlin'))) /
      3_600_000
    assert.equal(hours('2026-03-29'), 23)
    assert.equal(hours('2026-10-25'), 25)
  })
})
