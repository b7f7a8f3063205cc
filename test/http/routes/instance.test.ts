import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { productVersion } from '../../../src/config/version.ts'
import { endSessions } from '../../../src/features/tenancy/accounts/sessions/sessions.ts'
import { users } from '../../../src/store/schema/accounts.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const { service, mine, call } = useService({ delivery: { hostname: 'mx.shop.test' } })

const USERS_FIELDS = ['version', 'hostname', 'limits']

let cookie: string
let userId: string

beforeEach(async () => {
  userId = (await addUser(service.core)).id
  cookie = await logIn(service.core, userId)
})

const show = (headers: Record<string, string> = {}) =>
  supertest(service.url).get('/config').set(headers).expect(200)

function tellsUsers({ body, headers }: supertest.Response): boolean {
  const told = USERS_FIELDS.filter((name) => name in body)
  if (headers['x-pillarbox-version'] !== undefined) told.push('header')
  assert.ok([0, USERS_FIELDS.length + 1].includes(told.length), told.join())
  return told.length > 0
}

describe('GET /config', () => {
  it('tells users the version, the name and the limits of the server', async () => {
    const { body, headers } = await show({ cookie })
    assert.deepEqual(
      [body.version, body.hostname, headers['x-pillarbox-version']],
      [productVersion(), 'mx.shop.test', productVersion()],
    )
    assert.deepEqual(body.limits, {
      importBytes: 5_242_880,
      bulkIds: 1_000,
      testAddresses: 10,
      uploadBytes: 10_485_760,
      csvColumns: 1_000,
    })
    const { body: open } = await show()
    for (const name of USERS_FIELDS) delete body[name]
    assert.deepEqual(body, open)
    assert.equal(open.environment, 'direct')
  })

  it('tells nobody else: no key, no ended session, no page under the name of others', async () => {
    assert.equal(tellsUsers(await show({ cookie })), true)
    assert.equal(tellsUsers(await show()), false)
    const authorization = `Bearer ${mine.secret}`
    assert.equal(tellsUsers(await show({ authorization })), false)
    assert.equal(tellsUsers(await show({ authorization, cookie })), false)
    assert.equal(tellsUsers(await show({ cookie, host: 'evil.test' })), false)
    assert.equal(tellsUsers(await show({ cookie: `${cookie}x` })), false)
    await service.core.store.write((tx) => endSessions(tx, userId))
    assert.equal(tellsUsers(await show({ cookie })), false)
  })

  it('S39: says nothing of the mode while nobody may log in', async () => {
    const { body: before } = await show()
    assert.deepEqual([before.setup, before.environment], [{ needed: false }, 'direct'])
    await service.core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
    // The session of a user who may not log in is none.
    for (const headers of [{}, { cookie }] as Record<string, string>[]) {
      const response = await show(headers)
      assert.deepEqual(response.body.setup, { needed: true })
      assert.equal('environment' in response.body, false)
      assert.equal(tellsUsers(response), false)
      const { environment: _environment, setup: _setup, ...others } = before
      const { setup: _needed, ...rest } = response.body
      assert.deepEqual(rest, others)
    }
    await addUser(service.core)
    assert.deepEqual((await show()).body.setup, { needed: false })
  })
})

describe('X-Pillarbox-Version', () => {
  it('is in all answers to sessions, refusals too, and in no others', async () => {
    await addMember(service.core, { projectId: mine.id, userId, role: 'MEMBER' })
    const versionOf = async (path: string, headers: Record<string, string>) =>
      (await supertest(service.url).get(path).set(headers)).headers['x-pillarbox-version']
    const member = { cookie, 'x-project-id': mine.id }
    const version = productVersion()
    assert.equal(await versionOf('/users/@me', { cookie }), version)
    assert.equal(await versionOf('/contacts', member), version)
    assert.equal(await versionOf('/contacts', { cookie }), version)
    assert.equal(await versionOf('/contacts/unknown', member), version)
    assert.equal(
      await versionOf('/health/checks', { cookie, 'x-forwarded-for': '192.0.2.1' }),
      version,
    )
    assert.equal(await versionOf('/contacts', {}), undefined)
    assert.equal(await versionOf('/health', { cookie }), undefined)
    assert.equal((await call('get', '/contacts')).headers['x-pillarbox-version'], undefined)
  })
})
