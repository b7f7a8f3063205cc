/** The description is complete, and responses match it. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import supertest from 'supertest'
import { appendEvents } from '../../src/features/ground/events/append.ts'
import { ruleOf } from '../../src/features/tenancy/accounts/callers/caller.ts'
import { insertToken } from '../../src/features/tenancy/accounts/links/email-tokens.ts'
import { makeLinkToken } from '../../src/features/tenancy/accounts/links/link-token.ts'
import { createUser } from '../../src/features/tenancy/accounts/users/users.ts'
import { createTraffic } from '../../src/http/exchange/traffic.ts'
import { createLayout } from '../../src/http/pages/layout.ts'
import type { Route } from '../../src/http/route.ts'
import { createRoutes } from '../../src/http/route-table.ts'
import { createAddressList } from '../../src/http/server/client-address.ts'
import { addProject, trustDomain } from '../core.ts'
import { createSns, TOPIC } from '../fakes/sns.ts'
import { addRequest } from '../features/ground/requests/add-request.ts'
import { addCampaign as addRunningCampaign } from '../features/outreach/campaigns/add-campaign.ts'
import { addCampaign } from '../features/outreach/campaigns/sending/campaign.ts'
import { addDelivery } from '../features/outreach/webhooks/add-delivery.ts'
import { addExecution, addWorkflow } from '../features/outreach/workflows/add-workflow.ts'
import { addRecipient } from '../features/people/contacts/add-recipient.ts'
import { codeOf } from '../features/tenancy/accounts/totp-code.ts'
import { sample } from '../features/tenancy/uploads/images/samples.ts'
import { addMember, addUser, logIn } from '../session.ts'
import { closeBilling, openBilling, signAsStripe, subscribe } from './example-billing.ts'
import { findExample } from './listed-routes.ts'
import { type Method, useService } from './service.ts'

type Operation = {
  operationId: string
  security: object[]
  parameters?: { name: string; in: string; description?: string }[]
  requestBody?: object
  responses: Record<string, { description: string; content?: object }>
}
type Description = {
  openapi: string
  tags: { name: string; description: string }[]
  components: { schemas: Record<string, object> }
  paths: Record<string, Record<string, Operation>>
}

const sns = createSns()
const { service, mine, call } = useService(
  {
    accounts: { disableSignups: false },
    topicArns: [TOPIC],
    publicFetch: sns.publicFetch,
  },
  prepare,
)
let routes: Route[]
let description: Description

async function prepare(): Promise<void> {
  await trustDomain(service.core, mine.id, 'example.test')
  const { core } = service
  const proxies = createAddressList([])
  routes = createRoutes({
    ...{ core, traffic: createTraffic(), answers: {} as never, proxies, layout: createLayout() },
  })
  description = (await supertest(service.url).get('/openapi.json')).body
}

const shown = () => routes.filter(({ isHidden }) => !isHidden)

const operationOf = ({ method, path }: Route): Operation | undefined =>
  description.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

test('every route is described once, and no other operation is', () => {
  assert.equal(description.openapi, '3.1.0')
  const described = Object.values(description.paths).flatMap((item) => Object.values(item))
  assert.equal(described.length, shown().length)
  const ids = described.map(({ operationId }) => operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const route of shown()) assert.ok(operationOf(route), `${route.method} ${route.path}`)
})

test('each operation has its security, parameters, body and error responses', () => {
  for (const route of shown()) {
    const operation = operationOf(route)
    assert.ok(operation)
    const name = `${route.method} ${route.path}`
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
    assert.deepEqual(
      inPath.map((parameter) => parameter.name),
      [...route.path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter),
      name,
    )
    assert.equal(operation.security.length > 0, route.callers !== 'anyone', name)
    const hasBody = [route.body, route.takesStream, route.readsJson].some(
      (each) => each !== undefined,
    )
    assert.equal(operation.requestBody !== undefined, hasBody, name)
    if (route.callers !== 'anyone') assert.ok(operation.responses[401], name)
    for (const status of hasBody ? [400, 408, 413, 415, 422] : []) {
      assert.ok(operation.responses[status], `${name} ${status}`)
    }
    const rule = route.callers === 'anyone' ? undefined : ruleOf(route.callers)
    const ofProject = rule?.session?.project === 'header' ? [400, 403, 409] : []
    for (const status of ofProject) assert.ok(operation.responses[status], `${name} ${status}`)
    for (const response of Object.values(operation.responses)) assert.ok(response.description)
  }
})

test('records have names, and tags have descriptions', () => {
  const names = Object.keys(description.components.schemas)
  const records = ['Contact', 'Template', 'Segment', 'Domain', 'Event', 'Suppression', 'Email']
  const pages = ['ContactPage', 'TemplatePage', 'EventPage', 'ActivityPage', 'SuppressionPage']
  for (const name of [...records, ...pages, 'Error', 'Condition']) {
    assert.ok(names.includes(name), name)
  }
  const tags = new Map(description.tags.map((tag) => [tag.name, tag.description]))
  for (const { tag } of shown()) {
    const text = tags.get(tag) ?? ''
    assert.ok(text.length > 10, `${tag}: a tag needs a text in TAG_TEXTS of src/http/openapi.ts`)
  }
  assert.equal(tags.size, description.tags.length)
})

test('the description passes the recommended rules of Redocly', async () => {
  // The paths of this API family are ambiguous to such tools: an event may be called `contact`.
  const rules = { 'no-ambiguous-paths': 'off' } as const
  const config = await createConfig({ extends: ['recommended'], rules })
  const source = JSON.stringify({ ...description, servers: [{ url: 'https://mail.shop.test' }] })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    [],
  )
})

test('the description names the errors that any path may return', async () => {
  const { text } = await supertest(service.url).get('/openapi.json')
  const { info } = JSON.parse(text)
  for (const word of ['405', '`Allow`', '431', '500', 'Content-Encoding']) {
    assert.ok(info.description.includes(word), word)
  }
})

test('the description of a send states its limits', () => {
  const send = JSON.stringify(description.paths['/v1/send']?.post)
  for (const part of ['"maxItems":1000', '"maxLength":998', '"maxItems":10', 'Idempotency-Key']) {
    assert.ok(send.includes(part), part)
  }
})

const filtersOfNames: [path: string, parameter: string][] = [
  ['/activity', 'types'],
  ['/events', 'eventName'],
]

for (const [path, parameter] of filtersOfNames) {
  test(`GET ${path}: \`${parameter}\` names the events that are shown only on request`, () => {
    const { parameters = [] } = description.paths[path]?.get ?? {}
    const text = parameters.find(({ name }) => name === parameter)?.description ?? ''
    assert.match(text, /email\.failed, email\.suppressed/)
  })
}

describe('responses match their descriptions, with no further fields', () => {
  it('templates and sends', async () => {
    const template = {
      name: 'T',
      subject: 'S',
      body: 'B',
      from: 'a@example.test',
      type: 'TRANSACTIONAL',
    }
    const { body: made } = await checked('POST', '/templates', {}, template)
    await checked('POST', '/v1/send', {}, { to: 'a@b.example', template: made.id })
    const id = { id: made.id }
    await checked('GET', '/templates', {})
    await checked('GET', '/templates/:id', id)
    await checked('PATCH', '/templates/:id', id, { name: 'New' })
    await checked('POST', '/templates/:id/duplicate', id)
    await checked('GET', '/templates/:id/usage', id)
    await checked('DELETE', '/templates/:id', id)
    await checked('POST', '/templates/bulk-update', {}, { ids: [await anotherTemplate(template)] })
  })

  it('logging in, and the user', async () => {
    const { core } = service
    const ada = { email: 'ada@people.test', password: 'correct horse' }
    const { id } = await createUser(core, { address: ada.email, password: ada.password })
    await checked('POST', '/auth/login', {}, { ...ada, password: 'wrong horse' })
    await checked('POST', '/auth/login', {}, ada)
    await checked('GET', '/auth/logout', {})
    await checked('POST', '/auth/logout', {})
    const as = () => logIn(core, id)
    await checked('GET', '/users/@me', {}, undefined, await as())
    await checked('PATCH', '/users/@me', {}, { language: 'de' }, await as())
    const { body } = await checked('GET', '/users/@me/sessions', {}, undefined, await as())
    const session = { id: body[0].id }
    await checked('DELETE', '/users/@me/sessions/:id', session, undefined, await as())
    const { password } = ada
    const { body: made } = await checked('POST', '/users/@me/totp', {}, { password }, await as())
    const codes = [0, 1].map((steps) => codeOf(made.secret, core.now(), steps))
    const [code, next] = codes
    await checked('POST', '/users/@me/totp/confirm', {}, { code }, await as())
    await checked('DELETE', '/users/@me/totp', {}, { password, code: next }, await as())
  })

  it('domains', async () => {
    const { body: domain } = await checked('POST', '/domains', {}, { domain: 'new.test' })
    await checked('GET', '/domains/project/:projectId', { projectId: mine.id })
    await checked('GET', '/domains/:id/verify', { id: domain.id })
    await checked('DELETE', '/domains/:id', { id: domain.id })
  })

  it('the pages of a contact', async () => {
    const { token } = await addRecipient(service.core, { projectId: mine.id })
    await checked('GET', '/contacts/public/:id', { id: token })
    await checked('POST', '/contacts/public/:id/unsubscribe', { id: token })
    await checked('POST', '/contacts/public/:id/subscribe', { id: token })
  })

  it('contacts, their fields and bulk work', async () => {
    const person = { email: 'cy@people.test', data: { plan: 'pro' } }
    const { body: contact } = await checked('POST', '/contacts', {}, person)
    await checked('POST', '/contacts', {}, person)
    await checked('GET', '/contacts', {})
    await checked('POST', '/contacts/query', {}, { search: 'cy' })
    await checked('POST', '/contacts/lookup', {}, { emails: ['cy@people.test', 'no'] })
    await checked('GET', '/contacts/:id', { id: contact.id })
    await checked('PATCH', '/contacts/:id', { id: contact.id }, { subscribed: false })
    await checked('GET', '/contacts/fields', {})
    await checked('GET', '/contacts/fields/:field/values', { field: 'data.plan' })
    await checked('GET', '/contacts/fields/:field/usage', { field: 'data.plan' })
    await checked('DELETE', '/contacts/fields/:field', { field: 'data.plan' })
    const contactIds = ['01890a5d-ac96-774b-bcce-b302099a8057']
    await checked('POST', '/contacts/bulk-subscribe', {}, { contactIds })
    await checked('POST', '/contacts/bulk-unsubscribe', {}, { contactIds })
    const { body: bulk } = await checked('POST', '/contacts/bulk-delete', {}, { contactIds })
    await checked('GET', '/contacts/bulk/:jobId', { jobId: bulk.jobId })
    await checked('DELETE', '/contacts/:id', { id: contact.id })
  })

  it('verification', async () => {
    await checked('POST', '/v1/verify', {}, { email: 'ada@gmail.con' })
    const { body: list } = await checked(
      'POST',
      '/contacts/verify',
      {},
      { emails: ['ada@dest.test'] },
    )
    await checked('GET', '/contacts/verify/:jobId', { jobId: list.jobId })
  })

  it('imports and the export', async () => {
    const file = Buffer.from('email\nlisted@dest.test\n')
    const { body: imported } = await checked('POST', '/contacts/import', {}, file)
    await checked('GET', '/contacts/import/:jobId', imported)
    const { body: listed } = await checked('POST', '/suppressions/import', {}, file)
    await checked('GET', '/suppressions/import/:jobId', listed)
    await checked('GET', '/contacts/export', {})
  })

  it('suppressions', async () => {
    const [email, other] = ['gone@dest.test', 'away@dest.test']
    await checked('POST', '/suppressions', {}, { emails: [email, other] })
    const { body: suppressed } = await checked('GET', '/suppressions', {})
    await checked('DELETE', '/suppressions/:id', { id: suppressed.data[0].id })
    await checked('DELETE', '/suppressions', {}, { emails: [email, other] })
  })

  it('segments', async () => {
    const filters = [{ field: 'email', operator: 'contains', value: '@' }]
    const dynamic = { name: 'A', condition: { logic: 'AND', groups: [{ filters }] } }
    const { body: made } = await checked('POST', '/segments', {}, dynamic)
    const { body: list } = await checked('POST', '/segments', {}, { name: 'B', type: 'STATIC' })
    const [id, listId] = [{ id: made.id }, { id: list.id }]
    await checked('GET', '/segments', {})
    await checked('GET', '/segments/:id', id)
    await checked('PATCH', '/segments/:id', id, { trackMembership: true })
    const emails = ['member@dest.test', 'who@dest.test']
    await checked('POST', '/segments/:id/members', listId, { emails, createMissing: true })
    await checked('GET', '/segments/:id/contacts', listId)
    await checked('POST', '/segments/:id/compute', id)
    await checked('POST', '/segments/:id/refresh', id)
    await checked('POST', '/segments/:id/check', id)
    await checked('DELETE', '/segments/:id/members', listId, { emails })
    await checked('DELETE', '/segments/:id', id)
  })

  it('events', async () => {
    const tracked = { event: 'order placed', email: 'reader@dest.test' }
    const { body: track } = await checked('POST', '/v1/track', {}, tracked)
    const { contact: contactId } = track.data
    await checked('POST', '/events/track', {}, tracked)
    await checked('POST', '/events/track', {}, { name: 'order placed', contactId, data: { n: 1 } })
    await checked('GET', '/events', {})
    await checked('GET', '/events/stats', {})
    await checked('GET', '/events/names', {})
    await checked('GET', '/events/contact/:contactId', { contactId })
    await checked('GET', '/events/:eventName/usage', { eventName: 'order%20placed' })
    await checked('DELETE', '/events/:eventName', { eventName: 'order%20placed' })
    const many = { projectId: mine.id, contactId, name: 'often', data: null, at: Date.now() }
    const often = Array.from({ length: 501 }, () => ({ ...many, emailId: null }))
    await service.core.store.write((tx) => appendEvents(tx, often))
    const { body: gone } = await checked('DELETE', '/events/:eventName', { eventName: 'often' })
    await checked('GET', '/events/jobs/:jobId', { jobId: gone.jobId })
  })

  it('emails', async () => {
    const from = 'a@example.test'
    const content = { to: 'looked.up@dest.test', from, subject: 'Hi', body: '<p>Hi</p>' }
    const { body } = await checked('POST', '/v1/send', {}, content)
    const id = { id: body.data.emails[0].email }
    await checked('GET', '/emails', {})
    await checked('GET', '/emails/:id', id)
    await checked('GET', '/emails/:id/raw', id)
    await checked('POST', '/emails/:id/cancel', id)
    await checked('POST', '/emails/:id/retry', id)
  })

  it('campaigns', async () => {
    const text = { subject: 'S', body: 'B', from: 'a@example.test' }
    const campaign = { ...text, name: 'C', audienceType: 'ALL' }
    const { body: made } = await checked('POST', '/campaigns', {}, campaign)
    const { id } = made.data
    await checked('GET', '/campaigns', {})
    await checked('GET', '/campaigns/:id', { id })
    await checked('GET', '/campaigns/:id/audience', { id })
    await checked('POST', '/campaigns/audience', {}, { audienceType: 'ALL' })
    await checked('PUT', '/campaigns/:id', { id }, { name: 'D' })
    const { body: copy } = await checked('POST', '/campaigns/:id/duplicate', { id })
    await checked('POST', '/campaigns/:id/archive', { id })
    await checked('POST', '/campaigns/:id/unarchive', { id })
    await checked('DELETE', '/campaigns/:id', { id })
    const bulk = { ids: [copy.data.id], delete: true }
    await checked('POST', '/campaigns/bulk-update', {}, bulk)
  })

  it('sending of campaigns', async () => {
    await checked('POST', '/contacts', {}, { email: 'fan@dest.test' })
    const sender = { fromAddress: 'a@example.test', fromDomain: 'example.test' }
    const id = await addCampaign(service.core, mine.id, sender)
    const { body } = await checked('POST', '/campaigns/:id/send', { id }, {})
    assert.equal(body.data.status, 'SENDING')
  })

  it('pausing and cancelling of campaigns', async () => {
    const id = await addRunningCampaign(service.core, { projectId: mine.id })
    await checked('POST', '/campaigns/:id/pause', { id })
    await checked('POST', '/campaigns/:id/resume', { id })
    await checked('POST', '/campaigns/:id/retry-failed', { id })
    await checked('GET', '/campaigns/:id/stats', { id })
    await checked('GET', '/campaigns/:id/recipients', { id })
    await checked('GET', '/campaigns/:id/recipients/export', { id })
    await checked('GET', '/campaigns/:id/links', { id })
    const { body } = await checked('POST', '/campaigns/:id/cancel', { id })
    assert.equal(body.data.status, 'CANCELLED')
  })

  it('previews and tests of campaigns', async () => {
    const fromAddress = 'a@example.test'
    const fields = { fromAddress, fromDomain: 'example.test' }
    const id = await addCampaign(service.core, mine.id, fields)
    await checked('POST', '/campaigns/:id/check', { id })
    await checked('POST', '/campaigns/:id/test', { id }, { email: 'ann@example.test' })
    const { body } = await checked('POST', '/render', {}, { subject: 'Hi', body: '<p>Hi</p>' })
    assert.equal(body.subject, 'Hi')
  })

  it('executions of workflows', async () => {
    const { body: contact } = await checked('POST', '/contacts', {}, { email: 'walker@dest.test' })
    const { id } = await addWorkflow(service.core, { projectId: mine.id })
    const contactId = contact.id
    const { body } = await checked('POST', '/workflows/:id/executions', { id }, { contactId })
    const one = { id, eid: body.id }
    await checked('GET', '/workflows/:id/executions', { id })
    await checked('GET', '/workflows/:id/executions/:eid', one)
    await checked('GET', '/workflows/:id/stats', { id })
    await checked('DELETE', '/workflows/:id/executions/:eid', one)
    const failed = await addExecution(service.core, {
      ...{ projectId: mine.id, workflowId: id, contactId, status: 'FAILED' },
      currentStepId: body.currentStepId,
    })
    await checked('POST', '/workflows/:id/executions/:eid/retry', { id, eid: failed.id })
    const filter = { logic: 'AND', groups: [{ filters: [isSubscribed] }] }
    const bulk = await checked('POST', '/workflows/:id/executions/bulk', { id }, { filter })
    const { jobId } = bulk.body
    await checked('GET', '/workflows/:id/executions/bulk/:jobId', { id, jobId })
    await checked('POST', '/workflows/:id/executions/cancel-all', { id })
  })

  it('reset and deletion of a project', async () => {
    const { core } = service
    const { id } = await addProject(core, 'surplus')
    await addMember(core, { projectId: id, userId: mine.ownerId, role: 'ADMIN' })
    await checked('GET', '/users/@me/projects/:id/reset', { id })
    await checked('POST', '/users/@me/projects/:id/reset', { id })
    const { body } = await checked('GET', '/users/@me/projects/:id/reset', { id })
    assert.equal(body.data.state, 'running')
    await checked('DELETE', '/users/@me/projects/:id', { id })
  })

  it('webhooks', async () => {
    const endpoint = { url: 'https://hooks.test/in', events: ['*'] }
    const { body: made } = await checked('POST', '/webhooks/endpoints', {}, endpoint)
    const id = { id: made.id }
    await checked('GET', '/webhooks/endpoints', {})
    await checked('GET', '/webhooks/endpoints/:id', id)
    await checked('PATCH', '/webhooks/endpoints/:id', id, { description: 'A shop' })
    await checked('POST', '/webhooks/endpoints/:id/test', id)
    await checked('GET', '/webhooks/endpoints/:id/deliveries', id)
    const deliveryId = await addDelivery(service.core, { projectId: mine.id, endpointId: made.id })
    const delivery = { ...id, deliveryId }
    await checked('POST', '/webhooks/endpoints/:id/deliveries/:deliveryId/replay', delivery)
    const since = new Date().toISOString()
    const { body: job } = await checked('POST', '/webhooks/endpoints/:id/replay', id, { since })
    await checked('GET', '/webhooks/endpoints/:id/replay/:jobId', { ...id, jobId: job.jobId })
    await checked('POST', '/webhooks/endpoints/:id/rotate-secret', id)
    await checked('DELETE', '/webhooks/endpoints/:id', id)
    await checked('GET', '/webhooks/signing-secret', {})
    await checked('POST', '/webhooks/signing-secret/rotate', {})
  })

  it('definitions of workflows', async () => {
    const { body: made } = await checked('POST', '/workflows', {}, { name: 'W', eventName: 'a' })
    const id = { id: made.id }
    await checked('GET', '/workflows', {})
    await checked('GET', '/workflows/fields', {})
    await checked('GET', '/workflows/:id', id)
    const step = { type: 'DELAY', name: 'S', position: { x: 0, y: 0 } }
    const config = { amount: 1, unit: 'days' }
    const { body: delay } = await checked('POST', '/workflows/:id/steps', id, { ...step, config })
    const ofDelay = { ...id, stepId: delay.id }
    await checked('PATCH', '/workflows/:id/steps/:stepId', ofDelay, { name: 'T' })
    const ofWay = { ...id, transitionId: delay.incomingTransitions[0].id }
    const insertion = '/workflows/:id/transitions/:transitionId/insert-step'
    const { body: added } = await checked('POST', insertion, ofWay, { ...step, config })
    await checked('DELETE', '/workflows/:id/transitions/:transitionId', {
      ...id,
      transitionId: added.outgoingTransitions[0].id,
    })
    const ends = { fromStepId: added.id, toStepId: delay.id }
    await checked('POST', '/workflows/:id/transitions', id, ends)
    await checked('DELETE', '/workflows/:id/steps/:stepId', ofDelay)
    await checked('POST', '/workflows/:id/validate', id)
    await checked('PATCH', '/workflows/:id', id, { enabled: true })
    await checked('PUT', '/workflows/:id/graph', id, { steps: made.steps, transitions: [] })
    const { body: copy } = await checked('POST', '/workflows/:id/duplicate', id)
    await checked('POST', '/workflows/bulk-update', {}, { ids: [copy.id], delete: true })
    await checked('DELETE', '/workflows/:id', id)
  })

  it('uploads', async () => {
    const { body } = await checked('POST', '/uploads/image', {}, sample('png'))
    await checked('GET', '/uploads', {})
    await checked('GET', '/uploads/:name', { name: body.key })
    await checked('DELETE', '/uploads/:name', { name: body.key })
  })

  it('requests and configuration', async () => {
    await addRequest(service.core, { projectId: mine.id })
    await checked('GET', '/requests', {})
    await checked('GET', '/config', {})
  })

  it('activity and health', async () => {
    await checked('GET', '/activity', {})
    await checked('GET', '/activity/stats', {})
    await checked('GET', '/activity/recent-count', {})
    await checked('GET', '/activity/types', {})
    await checked('GET', '/activity/upcoming', {})
    await checked('GET', '/health', {})
    await checked('GET', '/health/checks', {})
    await checked('POST', '/webhooks/sns', {}, sns.message())
    await checked('GET', '/auth/oauth-config', {})
  })

  it('analytics', async () => {
    const calls = ['overview', 'timeseries', 'deliverability', 'leaderboard', 'links', 'events']
    const older = ['top-campaigns', 'campaign-stats', 'top-events']
    for (const path of [...calls, ...older]) await checked('GET', `/analytics/${path}`, {})
  })

  it('match for billing', async () => {
    const stage = { core: service.core, projectId: mine.id }
    const path = '/users/@me/projects/:id'
    await openBilling(stage)
    await checked('POST', `${path}/checkout`, { id: mine.id })
    await subscribe(stage)
    await checked('POST', `${path}/billing-portal`, { id: mine.id })
    await checked('GET', `${path}/billing-consumption`, { id: mine.id })
    await checked('GET', `${path}/billing-invoices`, { id: mine.id })
    const receiver = ['POST', '/webhooks/incoming/stripe'] as const
    const { request: event } = findExample(service.core, receiver.join(' ')) ?? {}
    const signed = signAsStripe(stage, JSON.stringify(event))
    await checked(...receiver, {}, event as object, undefined, signed)
    await closeBilling(stage)
  })

  it('limits of a project by the month', async () => {
    const id = { id: mine.id }
    const limits = { workflows: null, campaigns: 10_000, transactional: null, inbound: null }
    await checked('PUT', '/users/@me/projects/:id/billing-limits', id, limits)
    await checked('GET', '/users/@me/projects/:id/billing-limits', id)
  })

  it('match for security', async () => {
    await checked('GET', '/projects/:id/security', { id: mine.id })
    await checked('GET', '/users/@me/projects/:id/security', { id: mine.id })
  })

  it('sign-up, verification and reset', async () => {
    const { core } = service
    const email = 'newcomer@people.test'
    const { body } = await checked('POST', '/auth/signup', {}, { email, password: 'secret 1' })
    assert.equal(body.success, true)
    await checked('POST', '/auth/signup', {}, { email, password: 'secret 1' })
    await checked('POST', '/auth/request-verification', {})
    for (const [purpose, path, more] of [
      ['verify-email', '/auth/verify-email', {}],
      ['reset-password', '/auth/reset-password', { newPassword: 'secret 2' }],
    ] as const) {
      const token = makeLinkToken()
      const given = { token, purpose, userId: body.data.id, at: core.now() }
      await core.store.write((tx) => insertToken(tx, given))
      await checked('POST', path, {}, { token, ...more })
    }
    await checked('POST', '/auth/request-password-reset', {}, { email })
  })

  it('projects and their members', async () => {
    const id = { id: mine.id }
    await checked('GET', '/users/@me/projects', {})
    const { body: made } = await checked('POST', '/users/@me/projects', {}, { name: 'New' })
    await checked('PATCH', '/users/@me/projects/:id', { id: made.id }, { name: 'Newer' })
    await checked('POST', '/users/@me/projects/:id/regenerate-keys', { id: made.id })
    await checked('GET', '/projects', {})
    await checked('GET', '/projects', {}, undefined, await logIn(service.core, mine.ownerId))
    await checked('GET', '/projects/:id', id)
    await checked('GET', '/projects/:id/setup-state', id)
    const revoked = { email: 'revoked@people.test' }
    await checked('POST', '/projects/:id/members', id, revoked)
    const { body: open } = await checked('GET', '/projects/:id/invitations', id)
    const invitationId = open.data[0].id
    await checked('DELETE', '/projects/:id/invitations/:invitationId', { ...id, invitationId })
    const { body } = await checked('POST', '/projects/:id/members', id, { email: 'a@people.test' })
    const token = body.data.url.split('/').at(-1)
    const password = 'a password'
    const { body: accepted } = await checked(
      ...(['POST', '/auth/accept-invitation', {}, { token, password }] as const),
    )
    const member = { ...id, userId: accepted.data.id }
    await checked('GET', '/projects/:id/members', id)
    await checked('PATCH', '/projects/:id/members/:userId', member, { role: 'ADMIN' })
    await checked('DELETE', '/projects/:id/members/:userId', member)
    const { address: email } = await addUser(service.core)
    await checked('POST', '/projects/:id/members', id, { email })
  })

  it('cover every route that is shown', () => {
    const seen = new Set(checks)
    const names = shown().map(({ method, path }) => `${method} ${path}`)
    assert.deepEqual(
      names.filter((name) => !seen.has(name)),
      [],
      'call these routes with checked() in a test above',
    )
  })
})

const checks: string[] = []

const isSubscribed = { field: 'subscribed', operator: 'equals', value: true }

async function anotherTemplate(template: object): Promise<string> {
  const { body } = await checked('POST', '/templates', {}, template)
  return body.id
}

/** Calls a route (with a file if its body is one) and checks the response against the description. */
async function checked(
  method: Route['method'],
  path: string,
  params: Record<string, string>,
  body?: object | Buffer,
  /** The value of the header Cookie, in place of a session of the project's owner. */
  cookie?: string,
  headers: Record<string, string> = {},
) {
  const name = `${method} ${path}`
  checks.push(name)
  const route = routes.find((each) => each.method === method && each.path === path)
  assert.ok(route, name)
  const url = path.replaceAll(/:(\w+)/g, (_, parameter) => params[parameter] ?? '')
  const request = call(method.toLowerCase() as Method, url).set(headers)
  const session = cookie ?? (await sessionFor(route))
  if (session !== undefined) request.unset('Authorization').set('Cookie', session)
  const file = path === '/uploads/image' ? 'image' : 'file'
  const response = Buffer.isBuffer(body)
    ? await request.attach(file, body, 'people.csv')
    : await request.send(body)
  const declared = route.responses[response.status]
  assert.ok(declared, `${name} answered ${response.status} ${response.text}`)
  if (declared.schema !== undefined) {
    assert.deepEqual(declared.schema.parse(response.body), response.body, name)
  }
  return response
}

/** Routes that admit sessions only get one; the others get the project's secret key. */
async function sessionFor({ callers }: Route): Promise<string | undefined> {
  if (callers === 'anyone' || ruleOf(callers).keys.length > 0) return undefined
  return logIn(service.core, mine.ownerId)
}
