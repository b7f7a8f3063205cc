import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { addRequest } from '../../features/ground/requests/add-request.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService()

test('the log shows the requests of the caller’s project, to its members too', async () => {
  const { core } = service
  const [own, theirs] = [
    await addRequest(core, { projectId: mine.id, statusCode: 404, path: '/contacts/1' }),
    await addRequest(core, { projectId: other.id }),
  ]
  const { status, body } = await call('get', '/requests')
  assert.equal(status, 200)
  assert.deepEqual(
    body.data.map(({ id }: { id: string }) => id),
    [own],
  )
  const user = await addUser(core)
  await addMember(core, { projectId: other.id, userId: user.id, role: 'MEMBER' })
  const cookie = await logIn(core, user.id)
  const seen = await supertest(service.url)
    .get('/requests')
    .set({ Cookie: cookie, 'X-Project-Id': other.id })
  assert.deepEqual(
    seen.body.data.map(({ id }: { id: string }) => id),
    [theirs],
  )
  const foreign = await supertest(service.url)
    .get('/requests')
    .set({ Cookie: cookie, 'X-Project-Id': mine.id })
  assert.equal(foreign.status, 403)
  const asPublic = await supertest(service.url)
    .get('/requests')
    .set('Authorization', `Bearer ${mine.public}`)
  assert.equal(asPublic.status, 401)
})

test('filters of the query select requests', async () => {
  const { core } = service
  const day = Date.UTC(2020, 0, 2)
  const old = { projectId: mine.id, createdAt: day + 86_399_999, path: '/old' }
  const id = await addRequest(core, { ...old, statusCode: 503, caller: 'public' })
  const span = { startDate: '2020-01-02', endDate: '2020-01-02' }
  for (const query of [
    span,
    { status: '5xx' },
    { status: '503' },
    { path: '/ol' },
    { caller: 'public' },
    { requestId: id },
  ]) {
    const { body } = await call('get', '/requests').query(query)
    assert.deepEqual(
      body.data.map((row: { id: string }) => row.id),
      [id],
      JSON.stringify(query),
    )
  }
})

const wrong: [string, string][] = [
  ...['6xx', '4XX', '42', '4290', 'x', '4xx,5xx'].map((value): [string, string] => [
    'status',
    value,
  ]),
  ...['anybody', 'Secret'].map((value): [string, string] => ['caller', value]),
  ['path', 'contacts'],
  ['path', `/${'x'.repeat(255)}`],
  ['startDate', 'yesterday'],
  ['endDate', '2020-02-30'],
  ['limit', '0'],
  ['cursor', 'x'],
]

for (const [field, value] of wrong) {
  test(`a ${field} of ${value.slice(0, 20)} is refused`, async () => {
    const { status, body } = await call('get', '/requests').query({ [field]: value })
    assert.equal(status, 422)
    assert.equal(body.error.errors[0].field, field)
  })
}

test('statusCode, as the record has it, is named with the parameter', async () => {
  const { body } = await call('get', '/requests?statusCode=500')
  const [{ field, suggestion }] = body.warnings
  assert.deepEqual([field, suggestion], ['statusCode', 'status'])
})

test('the requestId of an error finds its line', async () => {
  const { core } = service
  const refused = await call('post', '/v1/send').send({})
  const { requestId, message } = refused.body.error
  const log = service.requests.find(({ id }) => id === requestId)
  assert.equal(log?.errorMessage, message)
  await addRequest(core, { projectId: mine.id, statusCode: 422 })
  const kept = await addRequest(core, { projectId: mine.id, statusCode: 422 })
  await addRequest(core, { projectId: mine.id, statusCode: 422 })
  const { status, body } = await call('get', '/requests').query({ requestId: kept })
  assert.deepEqual([status, body.data.length, body.data[0].id, body.total], [200, 1, kept, 1])
  const foreign = await call('get', '/requests', other).query({ requestId: kept })
  assert.deepEqual([foreign.body.data, foreign.body.total], [[], 0])
})
