import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/http/route.ts'
import { listRoutes, nameOf } from '../listed-routes.ts'
import { useService } from '../service.ts'

const { service, call } = useService()

/**
 * Operations that store little, logins, and the wishes of recipients: allowed on a full disk. So are those that only
 * read (`isRead`: `access.test.ts` sees that they change nothing), and deletions.
 */
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
  'POST /campaigns/:id/pause',
  'POST /campaigns/:id/unarchive',
  'POST /campaigns/bulk-update',
  'POST /contacts/public/:id/subscribe',
  'POST /contacts/public/:id/unsubscribe',
  'POST /emails/:id/cancel',
  'POST /manage',
  'POST /manage/',
  'POST /manage/:token{.+}',
  'POST /reset-password',
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
  'POST /workflows/bulk-update',
]

test('on a full disk reads, deletions and changes by recipients succeed, and other requests are refused', () => {
  const routes = listRoutes(service.core)
  const open = routes.filter(({ growsDisk }) => !growsDisk)
  const isDeletion = ({ method, path }: Route) =>
    method === 'DELETE' || path.endsWith('/bulk-delete')
  assert.deepEqual(
    open
      .filter((route) => !route.isRead && !isDeletion(route))
      .map(nameOf)
      .sort(),
    goesOn,
    'an operation with growsDisk: false needs a line in goesOn',
  )
  const refused = routes.filter(({ growsDisk }) => growsDisk)
  assert.deepEqual(refused.filter((route) => route.isRead || isDeletion(route)).map(nameOf), [])
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
