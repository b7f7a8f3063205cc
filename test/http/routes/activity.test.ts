import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { appendEvent } from '../../../src/features/ground/events/append.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { events } from '../../../src/store/schema/events.ts'
import { countEvents, countMail, setComplete } from '../../features/insight/analytics/add-counts.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService({}, addEvents)

const day = 24 * 60 * 60 * 1000
const start = Date.parse('2026-03-01T12:00:00.000Z')

async function addEvents(): Promise<void> {
  const event = { contactId: null, emailId: null, data: { n: 1 } }
  await service.core.store.write(async (tx) => {
    for (const [index, name] of ['signup', 'contact.subscribed', 'order'].entries()) {
      const at = start + index * day
      await appendEvent(tx, { ...event, projectId: mine.id, name, at })
      await appendEvent(tx, { ...event, projectId: other.id, name: 'theirs', at })
    }
  })
}

const list = (query: string) => call('get', `/activity?${query}`)

const namesOf = (page: { data: { metadata: { eventName: string } }[] }) =>
  page.data.map(({ metadata }) => metadata.eventName)

test('the feed shows only the events of its project, newest first', async () => {
  const { status, body } = await list('startDate=2026-01-01')
  assert.equal(status, 200)
  assert.deepEqual(namesOf(body), ['order', 'contact.subscribed', 'signup'])
  assert.deepEqual([body.cursor, body.hasMore], [null, false])
  const { id, ...first } = body.data[0]
  assert.ok(id)
  assert.deepEqual(first, {
    type: 'event.triggered',
    timestamp: '2026-03-03T12:00:00.000Z',
    metadata: { eventName: 'order', eventData: { n: 1 } },
  })
})

test('pages follow one another by their cursor', async () => {
  const first = (await list('startDate=2026-01-01&limit=2')).body
  assert.deepEqual([namesOf(first).length, first.hasMore], [2, true])
  const second = (await list(`limit=2&cursor=${first.cursor}`)).body
  assert.deepEqual([namesOf(second), second.hasMore, second.cursor], [['signup'], false, null])
})

test('a bare id works as a cursor, one of another project does not', async () => {
  const { body } = await list('startDate=2026-01-01')
  const next = (await list(`cursor=${body.data[0].id}`)).body
  assert.deepEqual(namesOf(next), ['contact.subscribed', 'signup'])
  const theirs = await service.core.store.read.select().from(events).all()
  const foreign = theirs.find(({ name }) => name === 'theirs')?.id
  assert.equal((await list(`cursor=${foreign}`)).status, 422)
})

const filters: [string, string[]][] = [
  ['startDate=2026-03-02', ['order', 'contact.subscribed']],
  ['startDate=2026-01-01&endDate=2026-03-01', ['signup']],
  ['startDate=2026-01-01&endDate=2026-03-01T11:59:59Z', []],
  ['startDate=2026-01-01&endDate=2026-03-01 11:59:59', []],
  ['startDate=2026-01-01 00:00&endDate=2026-03-01T12:00', ['signup']],
  ['startDate=2026-01-01&types=contact.subscribed,nonsense', ['contact.subscribed']],
  ['startDate=2026-01-01&types=event.triggered', ['order', 'signup']],
  ['startDate=2026-01-01&types=', ['order', 'contact.subscribed', 'signup']],
  ['startDate=2026-01-01&types=constructor,__proto__,contact.subscribed', ['contact.subscribed']],
  ['startDate=2026-01-01&types=toString', []],
]

for (const [query, names] of filters) {
  test(`GET /activity?${query} shows ${names.length === 0 ? 'nothing' : names}`, async () => {
    assert.deepEqual(namesOf((await list(query)).body), names)
  })
}

test('failed and suppressed emails are shown only to a request that names their types', async (t) => {
  const unlisted = ['email.failed', 'email.suppressed']
  const at = start - 90 * day
  const event = { projectId: mine.id, contactId: null, emailId: null, data: null, at }
  await service.core.store.write(async (tx) => {
    for (const name of unlisted) await appendEvent(tx, { ...event, name })
  })
  t.after(() => service.core.store.write((tx) => tx.delete(events).where(eq(events.createdAt, at))))
  const typesOf = async (query: string) => {
    const { status, body } = await list(`startDate=2025-11-01&endDate=2026-01-01${query}`)
    assert.equal(status, 200)
    return body.data.map(({ type }: { type: string }) => type)
  }
  assert.deepEqual(await typesOf(''), [])
  assert.deepEqual(await typesOf('&types=email.failed'), ['email.failed'])
  assert.deepEqual(await typesOf('&types=email.suppressed'), ['email.suppressed'])
  assert.deepEqual((await typesOf(`&types=${unlisted.join(',')}`)).sort(), unlisted)
})

const wrong: [string, string][] = [
  ['limit=0', 'limit too_small'],
  ['cursor=garbage', 'cursor custom'],
  ['cursor=0198c0de-0000-7000-8000-000000000000', 'cursor custom'],
  ['startDate=yesterday', 'startDate invalid_date'],
  ['startDate=2026-02-30', 'startDate invalid_date'],
  ['endDate=2026-13-01', 'endDate invalid_date'],
  ['contactId=1', 'contactId invalid_string'],
]

for (const [query, error] of wrong) {
  test(`GET /activity?${query} is refused`, async () => {
    const { status, body } = await list(query)
    assert.equal(status, 422)
    const [first] = body.error.errors
    assert.equal(`${first.field} ${first.code}`, error)
  })
}

const get = (path: string) =>
  supertest(service.url).get(path).set('Authorization', `Bearer ${mine.secret}`)

test('GET /activity/stats has all figures of the range', async () => {
  const { core } = service
  const counted = { projectId: mine.id, at: start + day }
  await countMail(core, { ...counted, sent: 4, delivered: 4, opened: 3, clicked: 1 })
  await countEvents(core, { ...counted, name: 'signup' }, { ...counted, name: 'workflow.started' })
  const { status, headers, body } = await get(
    '/activity/stats?startDate=2026-03-01&endDate=2026-03-02',
  )
  assert.equal(status, 200)
  assert.equal(headers['x-analytics-complete'], undefined)
  assert.deepEqual(body, {
    totalEvents: 2,
    totalEmailsSent: 4,
    totalEmailsOpened: 3,
    totalEmailsClicked: 1,
    totalWorkflowsStarted: 1,
    openRate: 75,
    clickRate: 25,
  })
})

test('GET /activity/stats returns the same figures for a minute, then new ones', async (t) => {
  const at = start + 60 * day
  const { mock } = t.mock.method(service.core, 'now', () => at + day)
  const query = 'startDate=2026-03-04&endDate=2026-05-30'
  const ask = async () => (await get(`/activity/stats?${query}`)).body.totalEvents
  assert.equal(await ask(), 0)
  await countEvents(service.core, { projectId: mine.id, at, name: 'order' })
  mock.mockImplementation(() => at + day + 59_999)
  assert.equal(await ask(), 0)
  mock.mockImplementation(() => at + day + 60_000)
  assert.equal(await ask(), 1)
})

test('GET /activity/stats says when older events are still being counted', async (t) => {
  t.after(() => setComplete(service.core, true))
  await setComplete(service.core, false)
  const { status, headers } = await get('/activity/stats?startDate=2026-02-01')
  assert.deepEqual([status, headers['x-analytics-complete']], [200, 'false'])
})

test('GET /activity/recent-count counts the last minutes, sixty at most', async () => {
  const event = { projectId: mine.id, name: 'now', contactId: null, emailId: null, data: null }
  await service.core.store.write((tx) => appendEvent(tx, { ...event, at: Date.now() }))
  assert.deepEqual((await get('/activity/recent-count')).body, { count: 1, minutes: 5 })
  assert.deepEqual((await get('/activity/recent-count?minutes=600')).body, {
    count: 1,
    minutes: 60,
  })
})

test('GET /activity?fields=summary omits the bodies; other values are refused', async () => {
  const { status } = await get('/activity?fields=summary')
  assert.equal(status, 200)
  const refused = await get('/activity?fields=all')
  assert.deepEqual([refused.status, refused.body.error.errors[0].field], [422, 'fields'])
})

test('GET /activity/types has every listed type', async () => {
  const { status, body } = await get('/activity/types')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['types'])
  assert.deepEqual(body.types.toSorted(), [
    'campaign.scheduled',
    'campaign.sent',
    'contact.subscribed',
    'contact.unsubscribed',
    'email.bounced',
    'email.clicked',
    'email.complaint',
    'email.delivered',
    'email.opened',
    'email.received',
    'email.sent',
    'event.triggered',
    'workflow.completed',
    'workflow.email.scheduled',
    'workflow.execution.active',
    'workflow.started',
  ])
})

test('types without events show nothing instead of everything', async () => {
  const { body } = await list('startDate=2026-01-01&types=campaign.sent,workflow.started')
  assert.deepEqual(body, { data: [], cursor: null, hasMore: false, total: 0 })
})

test('GET /activity/upcoming is a list, empty while nothing is scheduled', async () => {
  const { status, body } = await get('/activity/upcoming?limit=500&daysAhead=365')
  assert.equal(status, 200)
  assert.deepEqual(body, { activities: [] })
})

const wrongSiblings: [string, string][] = [
  ['/activity/recent-count?minutes=0', 'minutes too_small'],
  ['/activity/recent-count?minutes=2.5', 'minutes invalid_type'],
  ['/activity/upcoming?limit=0', 'limit too_small'],
  ['/activity/upcoming?daysAhead=-1', 'daysAhead too_small'],
  ['/activity/upcoming?daysAhead=soon', 'daysAhead invalid_type'],
  ['/activity/stats?startDate=yesterday', 'startDate invalid_date'],
  ['/activity/stats?endDate=never', 'endDate invalid_date'],
]

for (const [path, error] of wrongSiblings) {
  test(`GET ${path} is refused`, async () => {
    const { status, body } = await get(path)
    assert.equal(status, 422)
    const [first] = body.error.errors
    assert.equal(`${first.field} ${first.code}`, error)
  })
}

for (const path of ['stats', 'recent-count', 'types', 'upcoming']) {
  test(`GET /activity/${path} requires the secret key`, async () => {
    const missing = await supertest(service.url).get(`/activity/${path}`)
    assert.deepEqual([missing.status, missing.body.error.code], [401, 'MISSING_AUTH'])
    const { status, body } = await supertest(service.url)
      .get(`/activity/${path}`)
      .set('Authorization', `Bearer ${mine.public}`)
    assert.deepEqual([status, body.error.code], [401, 'INVALID_API_KEY'])
  })
}
