import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import supertest from 'supertest'
import { appendEvent } from '../../src/features/events/append.ts'
import { type Service, startService, type TestProject } from './service.ts'

let service: Service
let mine: TestProject

const day = 24 * 60 * 60 * 1000
const start = Date.parse('2026-03-01T12:00:00.000Z')

before(async () => {
  service = await startService()
  mine = await service.makeProject('mine')
  const other = await service.makeProject('other')
  const event = { contactId: null, emailId: null, data: { n: 1 } }
  await service.core.store.write(async (tx) => {
    for (const [index, name] of ['signup', 'contact.subscribed', 'order'].entries()) {
      const at = start + index * day
      await appendEvent(tx, { ...event, projectId: mine.id, name, at })
      await appendEvent(tx, { ...event, projectId: other.id, name: 'theirs', at })
    }
  })
})

after(() => service.stop())

const list = (query: string) =>
  supertest(service.url).get(`/activity?${query}`).set('Authorization', `Bearer ${mine.secret}`)

const namesOf = (page: { data: { metadata: { eventName: string } }[] }) =>
  page.data.map(({ metadata }) => metadata.eventName)

test('S20: the feed shows the events of its project alone, newest first', async () => {
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

const filters: [string, string[]][] = [
  ['startDate=2026-03-02', ['order', 'contact.subscribed']],
  ['startDate=2026-01-01&endDate=2026-03-01', ['signup']],
  ['startDate=2026-01-01&endDate=2026-03-01T11:59:59Z', []],
  ['startDate=2026-01-01&types=contact.subscribed,nonsense', ['contact.subscribed']],
  ['startDate=2026-01-01&types=event.triggered', ['order', 'signup']],
  ['startDate=2026-01-01&types=', ['order', 'contact.subscribed', 'signup']],
]

for (const [query, names] of filters) {
  test(`GET /activity?${query} shows ${names.length === 0 ? 'nothing' : names}`, async () => {
    assert.deepEqual(namesOf((await list(query)).body), names)
  })
}

const wrong: [string, string][] = [
  ['limit=0', 'limit too_small'],
  ['cursor=garbage', 'cursor custom'],
  ['startDate=yesterday', 'startDate invalid_date'],
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
