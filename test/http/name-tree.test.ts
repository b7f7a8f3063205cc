/** Records that are sent back with other values of what the call does not set. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { DAY_MS } from '../../src/base/clock.ts'
import { eq } from '../../src/store/drizzle.ts'
import { webhookEndpoints } from '../../src/store/schema/webhooks.ts'
import { addProject, trustDomain } from '../core.ts'
import { logIn } from '../session.ts'
import { type Method, useService } from './service.ts'

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

const tomorrow = () => new Date(service.core.now() + DAY_MS).toISOString()

async function make(path: string, body: object) {
  const { status, body: made, text } = await call('post', path).send(body)
  assert.equal(status, 201, text)
  return made.data ?? made
}

function named(body: { warnings?: { field: string; message: string; suggestion: string }[] }) {
  return (body.warnings ?? []).map(({ field, message, suggestion }) => [
    field,
    message.split('; ')[1],
    suggestion,
  ])
}

test('a status in a change of a campaign is warned of, with the way to a draft', async () => {
  const { id } = await make('/campaigns', draft)
  const contact = await call('post', '/contacts').send({ email: 'a@people.test' })
  assert.equal(contact.status, 201)
  const planned = await call('post', `/campaigns/${id}/send`).send({ scheduledFor: tomorrow() })
  assert.equal(planned.body.data.status, 'SCHEDULED', planned.text)
  const { status, body } = await call('put', `/campaigns/${id}`).send({ status: 'DRAFT' })
  assert.equal(status, 200)
  assert.equal(body.data.status, 'SCHEDULED')
  assert.deepEqual(named(body), [
    [
      'status',
      'the value is SCHEDULED',
      'POST /campaigns/:id/send, /cancel, /pause and /resume change it; for a draft again, cancel the campaign and POST /campaigns/:id/duplicate',
    ],
  ])
  const same = await call('put', `/campaigns/${id}`).send({ name: 'Summer', status: 'SCHEDULED' })
  assert.equal(same.body.warnings, undefined)
  const paused = await call('post', `/campaigns/${id}/pause`)
  assert.equal(paused.status, 400)
  assert.match(paused.body.error.suggestion, /another scheduledFor.+cancel it and duplicate it/)
})

test('each status that forbids a call has the way that leads on', async () => {
  const { id } = await make('/campaigns', draft)
  const suggestionOf = async (action: string) => {
    const { status, body } = await call('post', `/campaigns/${id}/${action}`)
    assert.equal(status, 400, action)
    return body.error.suggestion
  }
  for (const action of ['pause', 'resume', 'cancel']) {
    assert.match(await suggestionOf(action), /sends or schedules a draft/, action)
  }
  await call('post', `/campaigns/${id}/send`).send({ scheduledFor: tomorrow() })
  for (const action of ['pause', 'resume', 'archive']) {
    assert.match(await suggestionOf(action), /duplicate it/, action)
  }
  await call('post', `/campaigns/${id}/cancel`)
  for (const action of ['pause', 'resume', 'cancel', 'send']) {
    assert.match(await suggestionOf(action), /[Dd]uplicate/, action)
  }
  const changed = await call('put', `/campaigns/${id}`).send({ name: 'Winter' })
  assert.match(changed.body.error.suggestion, /duplicate it/)
})

test('values of a new campaign that it cannot have are warned of, and a copy is silent', async () => {
  const made = await call('post', '/campaigns').send({ ...draft, status: 'SCHEDULED' })
  assert.deepEqual(named(made.body)[0]?.slice(0, 2), ['status', 'the value is DRAFT'])
  const { body: read } = await call('get', `/campaigns/${made.body.data.id}`)
  const copied = await call('post', '/campaigns').send(read.data)
  assert.deepEqual([copied.status, copied.body.warnings], [201, undefined], copied.text)
})

test('a graph says that it changes nothing else of its workflow', async () => {
  const { id } = await make('/workflows', { name: 'w', eventName: 'signup' })
  const { body: shown } = await call('get', `/workflows/${id}`)
  const path = `/workflows/${id}/graph`
  const transitions: unknown[] = []
  const same = await call('put', path).send({ ...shown, transitions })
  assert.deepEqual([same.status, same.body.warnings], [200, undefined], same.text)
  const changed = await call('put', path).send({ ...shown, transitions, name: 'v', enabled: true })
  assert.deepEqual(named(changed.body), [
    ['name', 'the value is w', 'PATCH /workflows/:id'],
    ['enabled', 'the value is false', 'PATCH /workflows/:id'],
  ])
  const [step] = shown.steps
  const stepPath = `/workflows/${id}/steps/${step.id}`
  const retyped = await call('patch', stepPath).send({ name: step.name, type: 'EXIT' })
  assert.deepEqual(named(retyped.body)[0]?.slice(0, 2), ['type', 'the value is TRIGGER'])
})

test('a new workflow says what it is not, and a status in a change means enabled', async () => {
  const triggers = { eventName: 'signup', triggerType: 'SCHEDULE' }
  const made = await call('post', '/workflows').send({ name: 'w', ...triggers })
  assert.deepEqual(
    made.body.warnings.map(({ field }: { field: string }) => field),
    ['triggerType'],
  )
  const changed = await call('patch', `/workflows/${made.body.id}`).send({ status: 'active' })
  assert.equal(changed.body.warnings[0].suggestion, 'enabled')
})

test('settings of a new project and its limits are warned of, and its record may be sent back', async () => {
  const project = await addProject(service.core)
  const cookie = await logIn(service.core, project.ownerId)
  const mine = (method: Method, path: string) =>
    supertest(service.url)[method](path).set('Cookie', cookie)
  const made = await mine('post', '/users/@me/projects').send({ name: 'New', language: 'de' })
  assert.deepEqual(named(made.body), [
    ['language', 'the value is en', 'PATCH /users/@me/projects/:id'],
  ])
  const path = `/users/@me/projects/${made.body.id}`
  const limited = await mine('patch', path).send({ billingLimitCampaigns: 10 })
  assert.deepEqual(named(limited.body), [
    ['billingLimitCampaigns', 'the value is null', 'PUT /users/@me/projects/:id/billing-limits'],
  ])
  const { body: all } = await mine('get', '/users/@me/projects')
  const record = all.find(({ id }: { id: string }) => id === made.body.id)
  const back = await mine('patch', path).send({ ...record, name: 'Newer' })
  assert.deepEqual([back.status, back.body.warnings], [200, undefined], back.text)
})

test('records of every kind may be sent back', async () => {
  const template = { name: 't', subject: 's', body: 'b', from: 'a@shop.test' }
  const filter = { field: 'subscribed', operator: 'equals', value: true }
  const condition = { logic: 'AND', groups: [{ filters: [filter] }] }
  const hook = { url: 'https://a.example/hook', events: ['email.*'] }
  const records: [Method, string, object][] = [
    ['patch', '/templates', template],
    ['patch', '/segments', { name: 's', condition }],
    ['put', '/campaigns', draft],
    ['patch', '/workflows', { name: 'w', eventName: 'signup' }],
    ['patch', '/webhooks/endpoints', hook],
    ['patch', '/contacts', { email: 'b@people.test' }],
  ]
  for (const [method, path, fields] of records) {
    const { id } = await make(path, fields)
    const { body: read } = await call('get', `${path}/${id}`)
    const { status, body, text } = await call(method, `${path}/${id}`).send(
      read.data?.id ? read.data : read,
    )
    assert.deepEqual([status, body.warnings], [200, undefined], text)
  }
})

test('an endpoint that is enabled again may be sent back with why it was disabled', async () => {
  const { id } = await make('/webhooks/endpoints', { url: 'https://b.example/', events: ['*'] })
  const disabled = { isEnabled: false, disabledReason: 'It failed for five days' }
  await service.core.store.write((tx) =>
    tx.update(webhookEndpoints).set(disabled).where(eq(webhookEndpoints.id, id)),
  )
  const path = `/webhooks/endpoints/${id}`
  const { body: read } = await call('get', path)
  assert.equal(read.disabledReason, disabled.disabledReason)
  const { body, text } = await call('patch', path).send({ ...read, enabled: true })
  assert.deepEqual([body.disabledReason, body.warnings], [null, undefined], text)
})
