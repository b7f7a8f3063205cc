import assert from 'node:assert/strict'
import { test } from 'node:test'
import { campaigns } from '../../../../src/store/schema/campaigns.ts'
import { trustDomain } from '../../../core.ts'
import { useService } from '../../service.ts'

const { service, call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'shop.test')
})

const draft = {
  name: 'Spring',
  subject: 'Hi',
  body: '<p>Hi</p>',
  from: 'a@shop.test',
  audienceType: 'ALL',
}
const ID = '0199a7c0-0000-7000-8000-000000000001'

const misleading: [string, unknown, string][] = [
  ['segment_id', ID, 'segmentId'],
  ['segment', ID, 'segmentId'],
  ['segmentid', ID, 'segmentId'],
  ['lists', [1], 'segmentId'],
  ['audience_type', 'SEGMENT', 'audienceType'],
  ['audiance', 'ALL', 'audienceType'],
  ['filter', {}, 'audienceFilter'],
  ['audienceConditions', {}, 'audienceCondition'],
  ['from_name', 'Ann', 'fromName'],
  ['from_email', 'b@shop.test', 'from'],
  ['reply_to', 'b@shop.test', 'replyTo'],
  ['send_at', '2027-01-01', 'scheduledAt'],
  ['schedule_for', '2027-01-01', 'scheduledFor'],
]

for (const [name, value, meant] of misleading) {
  test(`${name} is refused in campaigns and audiences: ${meant} was meant`, async () => {
    const { body: made } = await call('post', '/campaigns').send(draft)
    const answers = [
      await call('post', '/campaigns').send({ ...draft, [name]: value }),
      await call('post', '/campaigns/audience').send({ audienceType: 'ALL', [name]: value }),
      await call('put', `/campaigns/${made.data.id}`).send({ name: 'Summer', [name]: value }),
    ]
    for (const { status, body } of answers) {
      assert.equal(status, 422)
      const { field, code } = body.error.errors[0]
      assert.deepEqual([field, code], [name, 'unrecognized'])
      assert.equal(body.error.message, `${name}: there is no such field; did you mean ${meant}?`)
    }
    const rows = await service.core.store.read.select().from(campaigns)
    assert.ok(rows.every((row) => row.name === 'Spring'))
  })
}

test('other unknown names are named in warnings, and a record may be sent back', async () => {
  const made = await call('post', '/campaigns').send({ ...draft, subjct: 'a', preview: 'b' })
  assert.equal(made.status, 201)
  const found = made.body.warnings.map(({ field, suggestion }: never) => [field, suggestion])
  assert.deepEqual(found, [
    ['subjct', 'subject'],
    ['preview', null],
  ])
  const { body: read } = await call('get', `/campaigns/${made.body.data.id}`)
  const { status, body } = await call('put', `/campaigns/${made.body.data.id}`).send(read.data)
  assert.deepEqual([status, body.warnings], [200, undefined], JSON.stringify(body))
})

test('the addresses of a test under the names of other services are named with the right one', async () => {
  const { body: made } = await call('post', '/campaigns').send(draft)
  const path = `/campaigns/${made.data.id}`
  const wrong: [string, unknown, string][] = [
    ['to', 'a@people.test', 'email'],
    ['recipients', ['a@people.test'], 'emails'],
    ['subscribers', ['a@people.test'], 'emails'],
    ['mailbox', 'a@people.test', 'email'],
  ]
  for (const [name, value, meant] of wrong) {
    const { status, body } = await call('post', `${path}/test`).send({ [name]: value })
    assert.equal(status, 422)
    const message = `${name}: there is no such field; did you mean ${meant}?`
    assert.equal(body.error.message, message)
  }
  const later = await call('post', `${path}/send`).send({ send_at: '2027-01-01T00:00Z' })
  assert.equal(
    later.body.error.message,
    'send_at: there is no such field; did you mean scheduledFor?',
  )
  const suppressed = await call('post', '/suppressions').send({ address: 'a@people.test' })
  assert.equal(
    suppressed.body.error.message,
    'address: there is no such field; did you mean email?',
  )
})

test('a query that asks for CSV is answered with the way to it', async () => {
  const { body: made } = await call('post', '/campaigns').send(draft)
  const path = `/campaigns/${made.data.id}`
  const ways = [
    [`${path}/stats?format=csv`, 'For CSV send the header Accept: text/csv'],
    [`${path}/recipients?format=csv`, 'For CSV: GET /campaigns/:id/recipients/export'],
    ['/contacts?format=csv', 'For CSV: GET /contacts/export'],
    ['/analytics/overview?csv=1', 'For CSV send the header Accept: text/csv'],
  ]
  for (const [url = '', way] of ways) {
    const { body, text } = await call('get', url)
    assert.equal(body.warnings?.[0]?.suggestion, way, text)
  }
  const table = await call('get', `${path}/stats`).set('accept', 'text/csv')
  assert.match(table.headers['content-type'] ?? '', /^text\/csv/)
  const { body } = await call('get', '/emails?format=csv')
  assert.equal(body.warnings[0].suggestion, null)
  const strict = await call('get', `${path}/stats?format=csv`).set('prefer', 'handling=strict')
  assert.equal(strict.status, 422)
})
