import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTraffic } from '../../../src/http/exchange/traffic.ts'
import { createLayout } from '../../../src/http/pages/layout.ts'
import { createRoutes } from '../../../src/http/route-table.ts'
import { createAddressList } from '../../../src/http/server/client-address.ts'
import { useService } from '../service.ts'

const { service, call } = useService()

/** Operations that store nothing, logins, and the wishes of recipients: allowed on a full disk. */
const goesOn = [
  'PATCH /projects/:id/members/:userId',
  'PATCH /users/@me',
  'POST /app/logout',
  'POST /auth/login',
  'POST /auth/logout',
  'POST /auth/reset-password',
  'POST /auth/verify-email',
  'POST /campaigns/:id/archive',
  'POST /campaigns/:id/cancel',
  'POST /campaigns/:id/check',
  'POST /campaigns/:id/pause',
  'POST /campaigns/:id/unarchive',
  'POST /campaigns/audience',
  'POST /campaigns/bulk-update',
  'POST /contacts/bulk-delete',
  'POST /contacts/lookup',
  'POST /contacts/public/:id/subscribe',
  'POST /contacts/public/:id/unsubscribe',
  'POST /contacts/query',
  'POST /emails/:id/cancel',
  'POST /manage',
  'POST /manage/',
  'POST /manage/:token{.+}',
  'POST /render',
  'POST /reset-password',
  'POST /segments/:id/check',
  'POST /segments/:id/refresh',
  'POST /subscribe',
  'POST /subscribe/',
  'POST /subscribe/:token{.+}',
  'POST /suppressions',
  'POST /templates/bulk-update',
  'POST /unsubscribe',
  'POST /unsubscribe/',
  'POST /unsubscribe/:token{.+}',
  'POST /users/@me/projects/:id/billing-portal',
  'POST /users/@me/projects/:id/checkout',
  'POST /users/@me/projects/:id/regenerate-keys',
  'POST /users/@me/projects/:id/reset',
  'POST /users/@me/totp',
  'POST /users/@me/totp/confirm',
  'POST /v1/verify',
  'POST /verify-email',
  'POST /webhooks/incoming/stripe',
  'POST /workflows/:id/executions/cancel-all',
  'POST /workflows/:id/validate',
  'POST /workflows/bulk-update',
]

test('on a full disk reads, deletions and changes by recipients succeed, and other requests are refused', () => {
  const { core } = service
  const proxies = createAddressList([])
  const routes = createRoutes({
    ...{ core, traffic: createTraffic(), answers: {} as never, proxies, layout: createLayout() },
  })
  const open = routes
    .filter(({ growsDisk }) => !growsDisk)
    .map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(
    open.filter((name) => !/^(GET|DELETE) /.test(name)).sort(),
    goesOn,
    'an operation with growsDisk: false needs a line in goesOn',
  )
  for (const { method, growsDisk, path } of routes) {
    if (['GET', 'DELETE'].includes(method)) assert.equal(growsDisk, false, path)
  }
})

test('a contact is not stored on a full disk, and can be read and deleted', async (t) => {
  const add = (email: string) => call('post', '/contacts').send({ email })
  const { body } = await add('ada@example.net')
  const id = body.data?.id ?? body.id
  const { disk } = service.core
  t.after(() => {
    disk.isLow = () => false
  })
  disk.isLow = () => true
  const refused = await add('bob@example.net')
  assert.equal(refused.status, 503)
  assert.equal(refused.body.error.code, 'INSUFFICIENT_STORAGE')
  assert.equal((await call('get', `/contacts/${id}`)).status, 200)
  assert.equal((await call('delete', `/contacts/${id}`)).status, 204)
})

test('on a full disk small writes that protect people from mail are accepted', async (t) => {
  const { body: ann } = await call('post', '/contacts').send({ email: 'ann@example.net' })
  const { disk } = service.core
  t.after(() => {
    disk.isLow = () => false
  })
  disk.isLow = () => true
  const contact = `/contacts/${ann.data?.id ?? ann.id}`
  const bulk = '/contacts/bulk-unsubscribe'
  const ids = { contactIds: [ann.data?.id ?? ann.id] }
  const answers = [
    await call('post', '/suppressions').send({ email: 'ann@example.net' }),
    await call('patch', contact).send({ subscribed: false }),
    await call('patch', contact).send({ subscribed: true }),
    await call('patch', contact).send({ subscribed: false, data: { plan: 'pro' } }),
    await call('post', bulk).send(ids),
    await call('post', bulk).send({ mode: 'query', filter: {} }),
    await call('post', '/contacts/bulk-subscribe').send(ids),
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
    call('post', '/v1/track')
      .set('Idempotency-Key', key)
      .send({ event: 'signup', email: 'eve@example.net' })
  const { body: accepted } = await track('first')
  disk.isLow = () => true
  const again = await track('first')
  assert.equal(again.status, 409)
  assert.equal(again.body.error.details?.data?.event, accepted.data.event)
  assert.equal((await track('second')).status, 503)
})
