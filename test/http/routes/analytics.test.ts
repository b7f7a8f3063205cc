import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { DAY_MS, HOUR_MS } from '../../../src/base/clock.ts'
import { METRIC_NAMES } from '../../../src/records/words.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { analyticsSubjects, mailCounts } from '../../../src/store/schema/analytics.ts'
import { campaignProgress } from '../../../src/store/schema/campaigns.ts'
import { templates } from '../../../src/store/schema/messages.ts'
import {
  countEvents,
  countLinks,
  countMail,
  setComplete,
} from '../../features/insight/analytics/add-counts.ts'
import { addCampaign } from '../../features/outreach/campaigns/add-campaign.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const NOW = Date.parse('2026-11-26T09:20:00Z')
const clock = { now: NOW }
const { service, mine, other, call } = useService({ now: () => clock.now }, prepare)

const CALLS = ['overview', 'timeseries', 'deliverability', 'leaderboard', 'links', 'events']
const OLDER_CALLS = ['top-campaigns', 'campaign-stats', 'top-events']

/** A campaign of yesterday with everything, and older mail. */
async function prepare(): Promise<void> {
  const { core } = service
  const at = NOW - DAY_MS
  const projectId = mine.id
  const subjects = { provider: 'Gmail', campaign: 'c1', template: 't1', workflow: 'w1' }
  const sums = { sent: 8, delivered: 6, opened: 4, clicked: 3, openedAndClicked: 2 }
  await countMail(
    core,
    {
      projectId,
      at,
      subjects,
      ...sums,
      hardBounced: 1,
      softBounced: 1,
      complained: 1,
      unsubscribed: 2,
    },
    { projectId, at: NOW - 35 * DAY_MS, stream: 'TRANSACTIONAL', sent: 10, delivered: 10 },
    { projectId: other.id, at, subjects: { provider: 'Theirs' }, sent: 77, delivered: 77 },
  )
  const link = { projectId, at, clicks: 5, firstClicks: 3 }
  await countLinks(
    core,
    { ...link, url: 'https://shop.test/a' },
    { ...link, url: '', clicks: 9 },
    { ...link, url: '=HYPERLINK("https://evil.test")', clicks: 1, stream: 'WORKFLOW' },
    { ...link, projectId: other.id, url: 'https://theirs.test/', clicks: 70 },
  )
  const event = { projectId, at }
  await countEvents(
    core,
    { ...event, name: 'signup', events: 6 },
    { ...event, name: 'signup', at: NOW - 40 * DAY_MS, events: 4 },
    { ...event, name: 'gone', at: NOW - 40 * DAY_MS, events: 3 },
    { ...event, name: 'email.open', stream: 'CAMPAIGN', events: 9 },
    { ...event, name: 'email.failed', stream: 'CAMPAIGN', events: 50 },
    { ...event, name: '', events: 8 },
    { ...event, projectId: other.id, name: 'theirs', events: 70 },
  )
}

const ask = async (path: string, query: Record<string, string> = {}) => {
  const { status, body } = await call('get', `/analytics/${path}`).query(query)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const csvOf = (path: string, query: Record<string, string> = {}) =>
  call('get', `/analytics/${path}`).query(query).set('Accept', 'text/csv')

const figures = {
  ...{ sent: 8, delivered: 6, opened: 4, clicked: 3, bounced: 2, complained: 1, unsubscribed: 2 },
  ...{ deliveryRate: 75, openRate: 50, clickRate: 37.5, clickToOpenRate: 50 },
  ...{ bounceRate: 25, complaintRate: 12.5, unsubscribeRate: 25 },
}
const none = Object.fromEntries(METRIC_NAMES.map((name) => [name, 0]))
const facts = {
  from: '2026-10-28T00:00:00.000Z',
  to: '2026-11-27T00:00:00.000Z',
  ...{ tz: 'UTC', stream: 'ALL', isComplete: true },
}

describe('GET /analytics/overview', () => {
  it('has the last 30 days, the 30 before, and each stream', async () => {
    assert.deepEqual(await ask('overview'), {
      ...facts,
      current: figures,
      previous: { ...none, sent: 10, delivered: 10, deliveryRate: 100 },
      streams: [
        { stream: 'TRANSACTIONAL', ...none },
        { stream: 'CAMPAIGN', ...figures },
        { stream: 'WORKFLOW', ...none },
      ],
    })
  })

  it('has only the stream that was asked for', async () => {
    const body = await ask('overview', { stream: 'TRANSACTIONAL', from: '2026-10-20' })
    assert.deepEqual([body.stream, body.current.sent], ['TRANSACTIONAL', 10])
    assert.deepEqual(
      body.streams.map(({ stream, sent }: { stream: string; sent: number }) => [stream, sent]),
      [['TRANSACTIONAL', 10]],
    )
  })

  it('has days of the time zone', async () => {
    const range = { from: '2026-11-25', to: '2026-11-25', tz: 'Asia/Kathmandu' }
    const body = await ask('overview', range)
    assert.deepEqual(
      [body.from, body.to, body.tz, body.current.sent],
      ['2026-11-24T18:15:00.000Z', '2026-11-25T18:15:00.000Z', 'Asia/Kathmandu', 8],
    )
  })
})

describe('GET /analytics/timeseries', () => {
  it('without parameters is a list of UTC days, as older clients know it', async () => {
    const days = await ask('timeseries')
    assert.equal(days.length, 30)
    assert.deepEqual(days.at(-2), {
      date: '2026-11-25T00:00:00.000Z',
      ...{ emails: 8, opens: 4, clicks: 3, bounces: 2, delivered: 6 },
    })
    assert.deepEqual(days[0].date, '2026-10-28T00:00:00.000Z')
    const two = await ask('timeseries', {
      startDate: '2026-11-24',
      endDate: '2026-11-25T01:00:00Z',
    })
    assert.deepEqual(
      two.map(({ emails }: { emails: number }) => emails),
      [0, 8],
    )
    assert.equal((await ask('timeseries', { startDate: '2026-08-29' })).length, 90)
  })

  it('has a point for each day of the zone, with dates', async () => {
    const body = await ask('timeseries', { from: '2026-11-23', tz: 'Asia/Kathmandu' })
    assert.equal(body.granularity, 'day')
    const label = (points: { date: string; sent: number }[]) =>
      points.map(({ date, sent }) => [date, sent])
    assert.deepEqual(label(body.current), [
      ['2026-11-23', 0],
      ['2026-11-24', 0],
      ['2026-11-25', 8],
      ['2026-11-26', 0],
    ])
    assert.deepEqual(
      label(body.previous).map(([date]) => date),
      ['2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'],
    )
    assert.deepEqual(body.current[2], { date: '2026-11-25', ...figures })
  })

  it('has hours for up to two days, and for up to fourteen on request', async () => {
    const two = await ask('timeseries', { from: '2026-11-25', tz: 'Asia/Kathmandu' })
    assert.deepEqual([two.granularity, two.current.length, two.previous.length], ['hour', 48, 48])
    assert.equal(two.current[0].at, '2026-11-25T00:00:00+05:45')
    const sent = two.current.filter((point: { sent: number }) => point.sent > 0)
    assert.deepEqual(sent, [{ at: '2026-11-25T15:00:00+05:45', ...figures }])
    const three = await ask('timeseries', { from: '2026-11-24' })
    assert.equal(three.granularity, 'day')
    const hours = await ask('timeseries', { from: '2026-11-13', granularity: 'hour' })
    assert.equal(hours.current.length, 14 * 24)
    const days = await ask('timeseries', { from: '2026-11-26', granularity: 'day' })
    assert.deepEqual(
      days.current.map(({ date }: { date: string }) => date),
      ['2026-11-26'],
    )
  })

  it('has days where hours are no longer kept', async () => {
    const old = await ask('timeseries', { from: '2026-08-18', to: '2026-08-19' })
    assert.equal(old.granularity, 'day')
    const kept = await ask('timeseries', { from: '2026-08-21', to: '2026-08-22' })
    assert.equal(kept.granularity, 'hour')
  })
})

describe('GET /analytics/deliverability', () => {
  it('has bounces, complaints and providers', async () => {
    assert.deepEqual(await ask('deliverability'), {
      ...facts,
      ...{ hardBounces: 1, softBounces: 1, complaints: 1 },
      providers: [{ provider: 'Gmail', ...figures, hardBounces: 1, softBounces: 1 }],
    })
  })

  it('is empty where nothing was sent', async () => {
    const body = await ask('deliverability', { from: '2026-11-01', to: '2026-11-02' })
    assert.deepEqual(
      [body.hardBounces, body.softBounces, body.complaints, body.providers],
      [0, 0, 0, []],
    )
  })
})

describe('GET /analytics/leaderboard', () => {
  it('has the mail of each campaign; a deleted one has no name', async () => {
    const { core } = service
    const id = await addCampaign(core, { projectId: mine.id, name: 'Sale' })
    const subjects = { campaign: id }
    const day = { from: '2026-10-10', to: '2026-10-10' }
    const at = Date.parse('2026-10-10T08:00:00Z')
    await countMail(
      core,
      { projectId: mine.id, at, subjects, sent: 5, delivered: 5, opened: 1 },
      { projectId: mine.id, at, subjects: { campaign: 'gone' }, sent: 3, opened: 3 },
      // Nothing was sent: such a row has no rates.
      { projectId: mine.id, at, subjects: { campaign: 'unsent' }, unsubscribed: 1 },
    )
    const idsBy = async (query: Record<string, string>) =>
      (await ask('leaderboard', { ...day, ...query })).rows.map((row: { id: string }) => row.id)
    const { kind, rows } = await ask('leaderboard', { ...day, kind: 'campaigns' })
    assert.deepEqual(
      [kind, rows],
      [
        'campaigns',
        [
          {
            id,
            name: 'Sale',
            ...none,
            sent: 5,
            delivered: 5,
            opened: 1,
            deliveryRate: 100,
            openRate: 20,
          },
          { id: 'gone', name: null, ...none, sent: 3, opened: 3, openRate: 100 },
        ],
      ],
    )
    assert.deepEqual(await idsBy({}), [id, 'gone'])
    for (const sort of ['opened', 'openRate']) assert.deepEqual(await idsBy({ sort }), ['gone', id])
    for (const sort of METRIC_NAMES) assert.equal((await idsBy({ sort })).length, 2, sort)
    assert.deepEqual(await idsBy({ limit: '1' }), [id])
  })

  it('has templates and workflows, and no name of another project', async () => {
    const { core } = service
    const template = { id: newId(), projectId: other.id, name: 'Theirs' }
    const text = { subject: 'S', body: 'B', fromAddress: 'a@b.test', fromDomain: 'b.test' }
    const times = { createdAt: NOW, updatedAt: NOW }
    await core.store.write((tx) =>
      tx.insert(templates).values({ ...template, ...text, ...times, type: 'MARKETING' }),
    )
    const at = Date.parse('2026-10-12T08:00:00Z')
    const subjects = { template: template.id, workflow: 'w9' }
    await countMail(core, { projectId: mine.id, at, subjects, sent: 2 })
    const day = { from: '2026-10-12', to: '2026-10-12' }
    for (const [kind, id] of [
      ['templates', template.id],
      ['workflows', 'w9'],
    ] as const) {
      const body = await ask('leaderboard', { ...day, kind })
      assert.deepEqual(
        [body.kind, body.rows.map((row: { id: string; name: string }) => [row.id, row.name])],
        [kind, [[id, null]]],
      )
    }
  })
})

describe('GET /analytics/links', () => {
  it('has the links with most clicks; further ones together have no address', async () => {
    const { totalClicks, links } = await ask('links')
    assert.equal(totalClicks, 15)
    assert.deepEqual(links, [
      { url: null, clicks: 9, uniqueClickers: 3 },
      { url: 'https://shop.test/a', clicks: 5, uniqueClickers: 3 },
      { url: '=HYPERLINK("https://evil.test")', clicks: 1, uniqueClickers: 3 },
    ])
    const one = await ask('links', { limit: '1' })
    assert.deepEqual([one.totalClicks, one.links.length], [15, 1])
    const campaign = await ask('links', { stream: 'CAMPAIGN' })
    assert.equal(campaign.totalClicks, 14)
    const never = await ask('links', { from: '2026-11-01', to: '2026-11-02' })
    assert.deepEqual([never.totalClicks, never.links], [0, []])
  })
})

describe('GET /analytics/events', () => {
  it('has every listed name, with its count before', async () => {
    assert.deepEqual((await ask('events')).events, [
      { name: 'email.open', count: 9, previousCount: 0 },
      { name: null, count: 8, previousCount: 0 },
      { name: 'signup', count: 6, previousCount: 4 },
      { name: 'gone', count: 0, previousCount: 3 },
    ])
    const { events } = await ask('events', { stream: 'CAMPAIGN' })
    assert.deepEqual(events, [{ name: 'email.open', count: 9, previousCount: 0 }])
    assert.equal((await ask('events', { limit: '2' })).events.length, 2)
  })
})

describe('the calls of older clients', () => {
  it('GET /analytics/top-events has names and trends', async () => {
    assert.deepEqual(await ask('top-events'), [
      { name: 'email.open', count: 9, trend: 100 },
      { name: 'signup', count: 6, trend: 50 },
    ])
    assert.equal((await ask('top-events', { limit: '1' })).length, 1)
    const earlier = await ask('top-events', { startDate: '2026-10-10', endDate: '2026-10-20' })
    assert.deepEqual(earlier, [
      { name: 'signup', count: 4, trend: 100 },
      { name: 'gone', count: 3, trend: 100 },
    ])
    const falling = await ask('top-events', { startDate: '2026-11-01', endDate: '2026-11-25' })
    assert.deepEqual(falling[1], { name: 'signup', count: 6, trend: 50 })
  })

  it('GET /analytics/top-campaigns and campaign-stats read the figures of campaigns', async () => {
    const project = await service.makeProject('campaigns')
    const { core } = service
    const sent = { projectId: project.id, status: 'SENT' as const, createdAt: NOW - 2 * DAY_MS }
    const add = async (changes: object, [sentCount, openedCount, clickedCount]: number[] = []) => {
      const id = await addCampaign(core, { ...sent, ...changes })
      await core.store.write((tx) =>
        tx
          .update(campaignProgress)
          .set({ sentCount, openedCount, clickedCount })
          .where(eq(campaignProgress.campaignId, id)),
      )
      return id
    }
    const few = await add({ subject: 'Few', sentAt: NOW - DAY_MS }, [3, 1, 0])
    const many = await add({ subject: 'Many', sentAt: NOW - HOUR_MS }, [9, 4, 2])
    await add(
      { subject: 'Old', sentAt: NOW - 40 * DAY_MS, createdAt: NOW - 41 * DAY_MS },
      [9, 9, 9],
    )
    await add({ status: 'SENDING' }, [5, 5, 5])
    await add({ status: 'DRAFT' }, [0, 0, 0])
    await add({ status: 'SCHEDULED' }, [0, 0, 0])
    const get = async (path: string) => (await call('get', `/analytics/${path}`, project)).body
    assert.deepEqual(await get('top-campaigns'), [
      {
        ...{ id: many, subject: 'Many', sentCount: 9, openedCount: 4, clickedCount: 2 },
        ...{ openRate: 44.44, clickRate: 22.22 },
      },
      {
        ...{ id: few, subject: 'Few', sentCount: 3, openedCount: 1, clickedCount: 0 },
        ...{ openRate: 33.33, clickRate: 0 },
      },
    ])
    assert.equal((await get('top-campaigns?limit=1')).length, 1)
    const october = 'startDate=2026-10-10&endDate=2026-10-30'
    assert.equal((await get(`top-campaigns?${october}`))[0].subject, 'Old')
    assert.deepEqual(await get('campaign-stats'), {
      ...{ total: 5, active: 2, completed: 2, averageOpenRate: 41.7, averageClickRate: 16.7 },
    })
    assert.deepEqual(await get('campaign-stats?startDate=2026-11-24&endDate=2026-11-24'), {
      ...{ total: 5, active: 2, completed: 0, averageOpenRate: 0, averageClickRate: 0 },
    })
  })
})

const refused: [path: string, errors: string][] = [
  ...CALLS.flatMap((path): [string, string][] => [
    [`${path}?from=nonsense`, 'from invalid_date'],
    [`${path}?to=2026-02-30`, 'to invalid_date'],
    [`${path}?from=2026-11-02&to=2026-11-01`, 'to invalid_range'],
    [`${path}?from=2026-08-28`, 'from invalid_range'],
    [`${path}?from=2027-01-01&to=2027-02-01`, 'from invalid_range'],
    [`${path}?tz=Mars/Olympus`, 'tz invalid_timezone'],
    [`${path}?stream=INBOUND`, 'stream invalid_enum'],
    [`${path}?stream=campaign`, 'stream invalid_enum'],
    [`${path}?from=x&tz=x%20x`, 'from invalid_date, tz invalid_timezone'],
  ]),
  ['timeseries?granularity=week', 'granularity invalid_enum'],
  ['timeseries?granularity=hour&from=2026-11-12', 'granularity invalid_range'],
  ['timeseries?granularity=hour&from=2026-08-18&to=2026-08-18', 'granularity invalid_range'],
  ['timeseries?granularity=hour&from=2026-08-19&to=2026-08-30', 'granularity invalid_range'],
  ['timeseries?startDate=2026-11-01&tz=UTC', 'startDate custom'],
  [
    'timeseries?startDate=2026-11-01&endDate=2026-11-02&stream=ALL',
    'startDate custom, endDate custom',
  ],
  ['timeseries?endDate=2026-11-01&granularity=day', 'endDate custom'],
  ['timeseries?startDate=2026-08-28', 'startDate invalid_range'],
  ['timeseries?startDate=soon&endDate=later', 'startDate invalid_date, endDate invalid_date'],
  ['timeseries?startDate=2026-11-02&endDate=2026-11-01', 'endDate invalid_range'],
  ['leaderboard?kind=segments', 'kind invalid_enum'],
  ['leaderboard?sort=name', 'sort invalid_enum'],
  ['leaderboard?limit=0', 'limit too_small'],
  ['links?limit=many', 'limit invalid_type'],
  ['events?limit=-1', 'limit too_small'],
  ['top-campaigns?limit=0', 'limit too_small'],
  ...OLDER_CALLS.flatMap((path): [string, string][] => [
    [`${path}?startDate=nonsense`, 'startDate invalid_date'],
    [`${path}?startDate=2026-08-28`, 'startDate invalid_range'],
    [`${path}?startDate=2026-11-27`, 'startDate invalid_range'],
  ]),
]

describe('bad input', () => {
  for (const [path, errors] of refused) {
    it(`${path} is refused: ${errors}`, async () => {
      const { status, body } = await csvOf(path)
      assert.equal(status, 422)
      assert.equal(body.error.code, 'VALIDATION_ERROR')
      const found = body.error.errors as { field: string; code: string }[]
      assert.equal(found.map(({ field, code }) => `${field} ${code}`).join(', '), errors)
    })
  }

  it('a limit above the cap counts as the cap', async () => {
    for (const path of ['leaderboard', 'links', 'events', 'top-events', 'top-campaigns']) {
      assert.ok(await ask(path, { limit: '999999999999999999999' }))
    }
  })
})

describe('CSV', () => {
  const metrics = METRIC_NAMES.join(',')
  const tables: [path: string, name: string, text: string][] = [
    [
      'overview',
      'overview',
      `period,stream,${metrics}\r
current,ALL,8,6,4,3,2,1,2,75,50,37.5,50,25,12.5,25\r
previous,ALL,10,10,0,0,0,0,0,100,0,0,0,0,0,0\r
current,TRANSACTIONAL,0,0,0,0,0,0,0,0,0,0,0,0,0,0\r
current,CAMPAIGN,8,6,4,3,2,1,2,75,50,37.5,50,25,12.5,25\r
current,WORKFLOW,0,0,0,0,0,0,0,0,0,0,0,0,0,0\r
`,
    ],
    [
      'timeseries?from=2026-11-25&to=2026-11-25&granularity=day',
      'days',
      `period,date,${metrics}\r
current,2026-11-25,8,6,4,3,2,1,2,75,50,37.5,50,25,12.5,25\r
previous,2026-11-24,0,0,0,0,0,0,0,0,0,0,0,0,0,0\r
`,
    ],
    [
      'timeseries?from=2026-11-25T09:00:00Z&to=2026-11-25T10:00:00Z&tz=Asia/Kathmandu',
      'hours',
      `period,at,${metrics}\r
current,2026-11-25T14:45:00+05:45,0,0,0,0,0,0,0,0,0,0,0,0,0,0\r
current,2026-11-25T15:00:00+05:45,8,6,4,3,2,1,2,75,50,37.5,50,25,12.5,25\r
previous,2026-11-25T13:45:00+05:45,0,0,0,0,0,0,0,0,0,0,0,0,0,0\r
previous,2026-11-25T14:00:00+05:45,0,0,0,0,0,0,0,0,0,0,0,0,0,0\r
`,
    ],
    [
      'timeseries?startDate=2026-11-25&endDate=2026-11-26',
      'days',
      `date,emails,opens,clicks,bounces,delivered\r
2026-11-25T00:00:00.000Z,8,4,3,2,6\r
2026-11-26T00:00:00.000Z,0,0,0,0,0\r
`,
    ],
    [
      'deliverability',
      'deliverability',
      `provider,${metrics},hardBounces,softBounces\r
Gmail,8,6,4,3,2,1,2,75,50,37.5,50,25,12.5,25,1,1\r
`,
    ],
    [
      'leaderboard?kind=templates&from=2026-11-01',
      'templates',
      `id,name,${metrics}\r
t1,,8,6,4,3,2,1,2,75,50,37.5,50,25,12.5,25\r
`,
    ],
    [
      'links',
      'links',
      `url,clicks,uniqueClickers\r
,9,3\r
https://shop.test/a,5,3\r
"'=HYPERLINK(""https://evil.test"")",1,3\r
`,
    ],
    [
      'events?limit=3',
      'events',
      'name,count,previousCount\r\nemail.open,9,0\r\n,8,0\r\nsignup,6,4\r\n',
    ],
    ['top-events', 'top-events', 'name,count,trend\r\nemail.open,9,100\r\nsignup,6,50\r\n'],
    [
      'top-campaigns',
      'top-campaigns',
      'id,subject,sentCount,openedCount,clickedCount,openRate,clickRate\r\n',
    ],
  ]

  for (const [path, name, text] of tables) {
    it(`GET /analytics/${path}`, async () => {
      const response = await csvOf(path)
      assert.equal(response.status, 200)
      assert.equal(response.text, text)
      assert.equal(response.headers['content-type'], 'text/csv; charset=utf-8')
      assert.equal(response.headers['content-disposition'], `attachment; filename="${name}.csv"`)
      // The links are as they were sent to people, so they are never compressed.
      assert.equal(response.headers.vary, path === 'links' ? 'Accept' : 'Accept, Accept-Encoding')
    })
  }

  it('campaign-stats is one row', async () => {
    const { text } = await csvOf('campaign-stats')
    assert.match(
      text,
      /^total,active,completed,averageOpenRate,averageClickRate\r\n\d+,\d+,\d+,.*\r\n$/,
    )
  })

  const preferences: [accept: string | undefined, isCsv: boolean][] = [
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['text/csv', true],
    ['TEXT/CSV; Header=present', true],
    ['text/*', true],
    ['text/csv, application/json', false],
    ['text/csv, */*', false],
    ['text/csv, */*;q=0.1', true],
    ['text/csv;q=0.9, application/json;q=0.8', true],
    ['text/csv;q=0.8, application/json;q=0.9', false],
    ['text/csv;q=0, */*', false],
    ['text/csv;q=0', false],
    ['application/*;q=0.2, text/csv;q=0.3', true],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
    ['image/png', false],
    ['nonsense;;,q=,', false],
  ]

  for (const [accept, isCsv] of preferences) {
    it(`Accept: ${accept ?? '(none)'} gets ${isCsv ? 'CSV' : 'JSON'}`, async () => {
      const request = call('get', '/analytics/top-events')
      if (accept === undefined) request.unset('Accept')
      else request.set('Accept', accept)
      const { status, headers, type } = await request
      assert.equal(status, 200)
      assert.equal(type, isCsv ? 'text/csv' : 'application/json')
      assert.equal(headers.vary, 'Accept, Accept-Encoding')
    })
  }

  it('is described', async () => {
    const { body } = await supertest(service.url).get('/openapi.json')
    for (const path of [...CALLS, ...OLDER_CALLS]) {
      const { content } = body.paths[`/analytics/${path}`].get.responses[200]
      assert.deepEqual(Object.keys(content), ['application/json', 'text/csv'], path)
    }
  })
})

describe('while older events are being counted', () => {
  it('every answer says so, and none is kept', async (t) => {
    const { core } = service
    t.after(() => setComplete(core, true))
    await setComplete(core, false)
    const range = { from: '2026-11-02', to: '2026-11-09' }
    const at = Date.parse('2026-11-02T12:00:00Z')
    for (const path of CALLS) {
      const answer = await call('get', `/analytics/${path}`).query(range)
      assert.equal(answer.headers['x-analytics-complete'], 'false', path)
      assert.equal(answer.body.isComplete, false, path)
      assert.equal((await csvOf(path, range)).headers['x-analytics-complete'], 'false', path)
    }
    const days = { startDate: '2026-11-02', endDate: '2026-11-02' }
    for (const path of ['timeseries', 'top-events']) {
      const answer = await call('get', `/analytics/${path}`).query(days)
      assert.equal(answer.headers['x-analytics-complete'], 'false', path)
    }
    await countMail(core, { projectId: mine.id, at, sent: 1 })
    assert.equal((await ask('overview', range)).current.sent, 1)
    assert.equal((await ask('timeseries', days))[0].emails, 1)
    await setComplete(core, true)
    const answer = await call('get', '/analytics/overview').query(range)
    assert.equal(answer.headers['x-analytics-complete'], undefined)
    assert.equal(answer.body.isComplete, true)
  })
})

describe('answers', () => {
  it('are kept for a minute, by what was asked', async (t) => {
    t.after(() => {
      clock.now = NOW
    })
    const { core } = service
    const at = Date.parse('2026-11-15T12:00:00Z')
    const sent = async (query: Record<string, string> = {}) =>
      (await ask('overview', { from: '2026-11-15', to: '2026-11-15', ...query })).current.sent
    assert.equal(await sent(), 0)
    await countMail(core, { projectId: mine.id, at, sent: 1 })
    assert.equal(await sent(), 0)
    assert.equal(await sent({ stream: 'CAMPAIGN' }), 1, 'another stream is another question')
    assert.equal(await sent({ tz: 'Etc/UTC' }), 1, 'another zone too')
    clock.now = NOW + 59_999
    assert.equal(await sent(), 0)
    clock.now = NOW + 60_000
    assert.equal(await sent(), 1)
  })

  it('never mix projects', async () => {
    const query = { from: '2026-11-25', to: '2026-11-25' }
    for (const path of CALLS) {
      const [own, theirs] = await Promise.all(
        [mine, other].map(async (by) => {
          const answer = await call('get', `/analytics/${path}`, by).query(query)
          assert.equal(answer.status, 200)
          return answer.text
        }),
      )
      assert.notEqual(own, theirs, path)
      assert.doesNotMatch(own ?? '', /[Tt]heirs|77/, path)
      assert.doesNotMatch(theirs ?? '', /Gmail|signup|shop\.test|c1/, path)
    }
  })

  it('of a project that was reset are not kept', async () => {
    const { core } = service
    const project = await service.makeProject('reset')
    await countMail(core, { projectId: project.id, at: NOW, sent: 4 })
    const sent = async () => (await call('get', '/analytics/overview', project)).body.current.sent
    assert.equal(await sent(), 4)
    await core.store.write(async (tx) => {
      await tx.delete(mailCounts).where(eq(mailCounts.projectId, project.id))
      await tx
        .update(projects)
        .set({ updatedAt: NOW + 1 })
        .where(eq(projects.id, project.id))
      tx.afterCommit(core.directory.drop)
    })
    assert.equal(await sent(), 0)
  })

  it('go to a member who names the project', async () => {
    const { core } = service
    const { id: userId } = await addUser(core)
    await addMember(core, { projectId: mine.id, userId, role: 'MEMBER' })
    const { status, body } = await supertest(service.url)
      .get('/analytics/overview')
      .set('Cookie', await logIn(core, userId))
      .set('X-Project-Id', mine.id)
    assert.deepEqual([status, body.current.sent], [200, 8])
  })

  it('leave no rows behind', async () => {
    const before = await service.core.store.read.$count(analyticsSubjects)
    for (const path of [...CALLS, ...OLDER_CALLS]) await ask(path, { limit: '3' })
    assert.equal(await service.core.store.read.$count(analyticsSubjects), before)
  })
})
