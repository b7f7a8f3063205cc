import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import supertest from 'supertest'
import { createTraffic } from '../../../src/http/exchange/traffic.ts'
import { createLayout } from '../../../src/http/pages/layout.ts'
import { createRoutes } from '../../../src/http/route-table.ts'
import { createAddressList } from '../../../src/http/server/client-address.ts'
import { type Service, type ServiceProject, startService } from '../service.ts'

let service: Service
let project: ServiceProject

before(async () => {
  service = await startService()
  project = await service.makeProject('mine')
})

after(() => service.stop())

/** Operations that store nothing, and the wishes of recipients: allowed on a full disk. */
const goesOn = [
  'POST /contacts/bulk-delete',
  'POST /contacts/lookup',
  'POST /contacts/public/:id/subscribe',
  'POST /contacts/public/:id/unsubscribe',
  'POST /contacts/query',
  'POST /manage',
  'POST /manage/',
  'POST /manage/:token{.+}',
  'POST /segments/:id/refresh',
  'POST /subscribe',
  'POST /subscribe/',
  'POST /subscribe/:token{.+}',
  'POST /suppressions',
  'POST /templates/bulk-update',
  'POST /unsubscribe',
  'POST /unsubscribe/',
  'POST /unsubscribe/:token{.+}',
  'POST /v1/verify',
]

test('on a full disk reads, deletes and changes of recipients go on, everything else waits', () => {
  const { core } = service
  const proxies = createAddressList([])
  const routes = createRoutes({ core, traffic: createTraffic(), proxies, layout: createLayout() })
  const open = routes
    .filter(({ growsDisk }) => !growsDisk)
    .map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(open.filter((name) => !/^(GET|DELETE) /.test(name)).sort(), goesOn)
  for (const { method, growsDisk, path } of routes) {
    if (['GET', 'DELETE'].includes(method)) assert.equal(growsDisk, false, path)
  }
})

test('a contact is not stored on a full disk, and can be read and deleted', async (t) => {
  const auth = { Authorization: `Bearer ${project.secret}` }
  const put = (email: string) => supertest(service.url).post('/contacts').set(auth).send({ email })
  const { body } = await put('ada@example.net')
  const id = body.data?.id ?? body.id
  const { disk } = service.core
  t.after(() => {
    disk.isLow = () => false
  })
  disk.isLow = () => true
  const refused = await put('bob@example.net')
  assert.equal(refused.status, 503)
  assert.equal(refused.body.error.code, 'INSUFFICIENT_STORAGE')
  assert.equal((await supertest(service.url).get(`/contacts/${id}`).set(auth)).status, 200)
  assert.equal((await supertest(service.url).delete(`/contacts/${id}`).set(auth)).status, 204)
})

test('on a full disk small writes that protect people from mail are accepted', async (t) => {
  const auth = { Authorization: `Bearer ${project.secret}` }
  const call = (method: 'post' | 'patch', path: string, body: object) =>
    supertest(service.url)[method](path).set(auth).send(body)
  const { body: ann } = await call('post', '/contacts', { email: 'ann@example.net' })
  const { disk } = service.core
  t.after(() => {
    disk.isLow = () => false
  })
  disk.isLow = () => true
  const contact = `/contacts/${ann.data?.id ?? ann.id}`
  const bulk = '/contacts/bulk-unsubscribe'
  const ids = { contactIds: [ann.data?.id ?? ann.id] }
  const answers = [
    await call('post', '/suppressions', { email: 'ann@example.net' }),
    await call('patch', contact, { subscribed: false }),
    await call('patch', contact, { subscribed: true }),
    await call('patch', contact, { subscribed: false, data: { plan: 'pro' } }),
    await call('post', bulk, ids),
    await call('post', bulk, { mode: 'query', filter: {} }),
    await call('post', '/contacts/bulk-subscribe', ids),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 503, 503, 202, 503, 503],
  )
})

test('on a full disk an idempotency key still shows that its request was accepted', async (t) => {
  const { disk } = service.core
  t.after(() => {
    disk.isLow = () => false
  })
  const track = (key: string) =>
    supertest(service.url)
      .post('/v1/track')
      .set({ Authorization: `Bearer ${project.secret}`, 'Idempotency-Key': key })
      .send({ event: 'signup', email: 'eve@example.net' })
  const { body: accepted } = await track('first')
  disk.isLow = () => true
  const again = await track('first')
  assert.equal(again.status, 409)
  assert.equal(again.body.error.details?.data?.event, accepted.data.event)
  assert.equal((await track('second')).status, 503)
})
