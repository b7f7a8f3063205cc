import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { emails } from '../../../../src/store/schema/messages.ts'
import { trustDomain } from '../../../core.ts'
import { addMember, addUser, logIn } from '../../../session.ts'
import { useService } from '../../service.ts'

let owner: string

const { service, mine, other, call } = useService({}, async ({ service: { core }, mine }) => {
  await trustDomain(core, mine.id, 'shop.test')
  owner = await logIn(core, mine.ownerId)
})

const LIMITS = { workflows: null, campaigns: 10_000, transactional: 2, inbound: null }
const NO_LIMIT = { limit: null, usage: 0, percentage: 0, isWarning: false, isBlocked: false }

const path = (id = mine.id) => `/users/@me/projects/${id}/billing-limits`
const get = (cookie: string, id?: string) =>
  supertest(service.url).get(path(id)).set('Cookie', cookie)
const put = (cookie: string, body: object, id?: string) =>
  supertest(service.url).put(path(id)).set('Cookie', cookie).send(body)

const sendTo = (to: string | string[], headers: Record<string, string> = {}) =>
  call('post', '/v1/send')
    .set(headers)
    .send({ to, from: 'shop@shop.test', subject: 'Hi', body: '<p>Hi</p>' })

describe('the limits of a project', () => {
  it('are set by its owner and admins, and shown to members', async () => {
    const { core } = service
    const set = await put(owner, LIMITS)
    assert.equal(set.status, 200)
    const view = {
      workflows: NO_LIMIT,
      campaigns: { ...NO_LIMIT, limit: 10_000 },
      transactional: { ...NO_LIMIT, limit: 2 },
      inbound: NO_LIMIT,
      currency: null,
    }
    assert.deepEqual(set.body, view)
    const { id: userId } = await addUser(core)
    await addMember(core, { projectId: mine.id, userId, role: 'MEMBER' })
    const member = await logIn(core, userId)
    assert.deepEqual((await get(member)).body, view)
    const refused = await put(member, { ...LIMITS, transactional: 1_000 })
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'FORBIDDEN'])
    const stranger = await logIn(core, other.ownerId)
    assert.equal((await get(stranger)).status, 404)
    assert.equal((await put(stranger, LIMITS)).status, 404)
    assert.equal((await call('get', path())).status, 401)
    const projects = await supertest(service.url).get('/users/@me/projects').set('Cookie', owner)
    const { billingLimitCampaigns, billingLimitTransactional, billingLimitInbound } =
      projects.body[0]
    assert.deepEqual(
      [billingLimitCampaigns, billingLimitTransactional, billingLimitInbound],
      [10_000, 2, null],
    )
  })

  it('are all required, and positive integers or null', async () => {
    const { inbound: _, ...three } = LIMITS
    const wrong: [object, string, string][] = [
      [three, 'inbound', 'invalid_type'],
      [{ ...LIMITS, campaigns: 0 }, 'campaigns', 'too_small'],
      [{ ...LIMITS, campaigns: -5 }, 'campaigns', 'too_small'],
      [{ ...LIMITS, campaigns: 1.5 }, 'campaigns', 'invalid_type'],
      [{ ...LIMITS, campaigns: '100' }, 'campaigns', 'invalid_type'],
      [{ ...LIMITS, campaigns: 1_000_000_001 }, 'campaigns', 'too_big'],
    ]
    for (const [body, field, code] of wrong) {
      const { status, body: answer } = await put(owner, body)
      assert.equal(status, 422, JSON.stringify(body))
      const [error] = answer.error.errors
      assert.deepEqual([error.field, error.code], [field, code])
    }
    assert.equal((await get(owner)).body.campaigns.limit, 10_000)
  })

  it('refuse POST /v1/send with 402, all or nothing, and leave the Idempotency-Key free', async () => {
    const key = { 'Idempotency-Key': 'order 1' }
    const list = ['a@people.test', 'b@people.test', 'c@people.test']
    const refused = await sendTo(list, key)
    assert.equal(refused.status, 402)
    const { code, message, details, suggestion } = refused.body.error
    assert.equal(code, 'BILLING_LIMIT_EXCEEDED')
    assert.equal(
      message,
      'This project is limited to 2 transactional emails a month, and has used 0.',
    )
    assert.deepEqual(Object.keys(details), ['category', 'limit', 'used', 'resetsAt'])
    assert.match(suggestion, /^Nothing was sent\. Raise the limit/)
    assert.equal(await service.core.store.read.$count(emails), 0)
    await put(owner, { ...LIMITS, transactional: 3 })
    assert.equal((await sendTo(list, key)).status, 200)
    assert.equal((await sendTo(list, key)).status, 409)
    const { transactional } = (await get(owner)).body
    assert.deepEqual(transactional, {
      ...{ limit: 3, usage: 3, percentage: 100, isWarning: true, isBlocked: true },
    })
    const over = await sendTo('d@people.test')
    assert.equal(over.status, 402)
  })

  it('never refuse POST /v1/track', async () => {
    await put(owner, { ...LIMITS, transactional: 1 })
    const event = { event: 'signup', email: 'e@people.test' }
    assert.equal((await call('post', '/v1/track').send(event)).status, 200)
  })

  it('refuse to try a failed email again', async () => {
    await put(owner, { ...LIMITS, transactional: null })
    const sent = await sendTo('f@people.test')
    const id = sent.body.data.emails[0].email
    assert.equal((await call('post', `/emails/${id}/cancel`)).status, 200)
    await put(owner, { ...LIMITS, transactional: 4 })
    const refused = await call('post', `/emails/${id}/retry`)
    assert.deepEqual([refused.status, refused.body.error.code], [402, 'BILLING_LIMIT_EXCEEDED'])
    await put(owner, { ...LIMITS, transactional: 5 })
    assert.equal((await call('post', `/emails/${id}/retry`)).status, 200)
  })
})
