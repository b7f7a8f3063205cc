/** The description is complete, and responses match it. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import supertest from 'supertest'
import { ruleOf } from '../../src/features/tenancy/accounts/callers/caller.ts'
import { createUser } from '../../src/features/tenancy/accounts/users/users.ts'
import type { Route } from '../../src/http/route.ts'
import { addProject, trustDomain } from '../core.ts'
import { addCampaign as addRunningCampaign } from '../features/outreach/campaigns/add-campaign.ts'
import { addWorkflow } from '../features/outreach/workflows/add-workflow.ts'
import { addMember, addUser, logIn } from '../session.ts'
import { walkExamples } from './example-walk.ts'
import { findRoute, listRoutes, nameOf } from './listed-routes.ts'
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

const { service, mine, call } = useService({ accounts: { disableSignups: false } }, prepare)
let routes: Route[]
let description: Description

async function prepare(): Promise<void> {
  await trustDomain(service.core, mine.id, 'example.test')
  routes = listRoutes(service.core)
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
    assert.ok(text.length > 10, `${tag}: one operation of a tag needs a tagText`)
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

test('the responses of all examples match their descriptions, with no further fields', async () => {
  const { steps } = await walkExamples()
  const answered = new Set(steps.map(({ name }) => name))
  assert.deepEqual(
    shown()
      .map(nameOf)
      .filter((name) => !answered.has(name)),
    [],
  )
  for (const { name, answer } of steps) matches(findRoute(service.core, name), answer)
})

describe('responses that no example shows match their descriptions too', () => {
  it('of a wrong password, and of a sign-up with a known address', async () => {
    const ada = { email: 'ada@people.test', password: 'correct horse' }
    await createUser(service.core, { address: ada.email, password: ada.password })
    await checked('POST', '/auth/login', {}, { ...ada, password: 'wrong horse' })
    await checked('POST', '/auth/signup', {}, ada)
  })

  it('of the health of the server to the machine itself', async () => {
    const { body } = await checked('GET', '/health', {})
    assert.ok('reasons' in body, 'it has the details')
  })

  it('of a contact that exists', async () => {
    const person = { email: 'cy@people.test', data: { plan: 'pro' } }
    await checked('POST', '/contacts', {}, person)
    await checked('POST', '/contacts', {}, person)
  })

  it('of jobs that wait', async () => {
    const contactIds = ['01890a5d-ac96-774b-bcce-b302099a8057']
    const { body: bulk } = await checked('POST', '/contacts/bulk-delete', {}, { contactIds })
    await checked('GET', '/contacts/bulk/:jobId', { jobId: bulk.jobId })
    const emails = ['ada@dest.test']
    const { body: list } = await checked('POST', '/contacts/verify', {}, { emails })
    await checked('GET', '/contacts/verify/:jobId', { jobId: list.jobId })
    const file = Buffer.from('email\nlisted@dest.test\n')
    const { body: imported } = await checked('POST', '/contacts/import', {}, file)
    await checked('GET', '/contacts/import/:jobId', imported)
    const { body: listed } = await checked('POST', '/suppressions/import', {}, file)
    await checked('GET', '/suppressions/import/:jobId', listed)
  })

  it('of jobs of a workflow and of an endpoint that wait', async () => {
    const { id } = await addWorkflow(service.core, { projectId: mine.id })
    const filter = { logic: 'AND', groups: [{ filters: [isSubscribed] }] }
    const { body: bulk } = await checked(
      'POST',
      '/workflows/:id/executions/bulk',
      { id },
      { filter },
    )
    await checked('GET', '/workflows/:id/executions/bulk/:jobId', { id, jobId: bulk.jobId })
    const endpoint = { url: 'https://hooks.test/in', events: ['*'] }
    const { body: made } = await checked('POST', '/webhooks/endpoints', {}, endpoint)
    const one = { id: made.id }
    const since = new Date().toISOString()
    const { body: job } = await checked('POST', '/webhooks/endpoints/:id/replay', one, { since })
    await checked('GET', '/webhooks/endpoints/:id/replay/:jobId', { ...one, jobId: job.jobId })
  })

  it('of lists and segments without a condition', async () => {
    const { body: list } = await checked('POST', '/segments', {}, { name: 'B', type: 'STATIC' })
    const listId = { id: list.id }
    const emails = ['member@dest.test', 'who@dest.test']
    await checked('POST', '/segments/:id/members', listId, { emails, createMissing: true })
    await checked('GET', '/segments/:id/contacts', listId)
    await checked('GET', '/segments/:id', listId)
    await checked('GET', '/segments', {})
  })

  it('of events by address, and of a deletion without a job', async () => {
    const tracked = { event: 'order placed', email: 'reader@dest.test' }
    const { body: track } = await checked('POST', '/v1/track', {}, tracked)
    const { contact: contactId } = track.data
    await checked('POST', '/events/track', {}, tracked)
    await checked('POST', '/events/track', {}, { name: 'order placed', contactId, data: { n: 1 } })
    await checked('GET', '/events', {})
    await checked('DELETE', '/events/:eventName', { eventName: 'order%20placed' })
  })

  it('of emails to nobody known, and of a template', async () => {
    const text = { name: 'T', subject: 'S', body: 'B', from: 'a@example.test' }
    const template = { ...text, type: 'TRANSACTIONAL' }
    const { body: made } = await checked('POST', '/templates', {}, template)
    const given = { to: 'a@b.example', template: made.id }
    const { body: sent } = await checked('POST', '/v1/send', {}, given)
    await checked('GET', '/emails/:id', { id: sent.data.emails[0].email })
    await checked('GET', '/emails', {})
    await checked('GET', '/templates/:id/usage', { id: made.id })
  })

  it('of a campaign that has sent nothing', async () => {
    const id = await addRunningCampaign(service.core, { projectId: mine.id })
    for (const part of ['stats', 'recipients', 'links'] as const) {
      await checked('GET', `/campaigns/:id/${part}`, { id })
    }
    const { body } = await checked('POST', '/campaigns/:id/cancel', { id })
    assert.equal(body.data.status, 'CANCELLED')
  })

  it('of a workflow with further steps', async () => {
    const { body: made } = await checked('POST', '/workflows', {}, { name: 'W', eventName: 'a' })
    const id = { id: made.id }
    const step = { type: 'DELAY', name: 'S', position: { x: 0, y: 0 } }
    const config = { amount: 1, unit: 'days' }
    await checked('POST', '/workflows/:id/steps', id, { ...step, config })
    await checked('PUT', '/workflows/:id/graph', id, { steps: made.steps, transitions: [] })
    await checked('PATCH', '/workflows/:id', id, { enabled: true })
  })

  it('of the reset of a project, before and while it runs', async () => {
    const { id } = await addProject(service.core, 'surplus')
    await addMember(service.core, { projectId: id, userId: mine.ownerId, role: 'ADMIN' })
    await checked('GET', '/users/@me/projects/:id/reset', { id })
    await checked('POST', '/users/@me/projects/:id/reset', { id })
    const { body } = await checked('GET', '/users/@me/projects/:id/reset', { id })
    assert.equal(body.data.state, 'running')
  })

  it('of figures of a project without any', async () => {
    const calls = ['overview', 'timeseries', 'deliverability', 'leaderboard', 'links', 'events']
    const older = ['top-campaigns', 'campaign-stats', 'top-events']
    for (const path of [...calls, ...older]) await checked('GET', `/analytics/${path}`, {})
    await checked('GET', '/activity', {})
    await checked('GET', '/activity/stats', {})
    await checked('GET', '/projects/:id/security', { id: mine.id })
  })

  it('of limits of a project by the month that are taken away', async () => {
    const id = { id: mine.id }
    const limits = { workflows: null, campaigns: 10_000, transactional: null, inbound: null }
    await checked('PUT', '/users/@me/projects/:id/billing-limits', id, limits)
    await checked('GET', '/users/@me/projects/:id/billing-limits', id)
  })

  it('of projects to a user, and of a member who has an account', async () => {
    await checked('GET', '/projects', {}, undefined, await logIn(service.core, mine.ownerId))
    await checked('GET', '/projects/:id/setup-state', { id: mine.id })
    const { address: email } = await addUser(service.core)
    await checked('POST', '/projects/:id/members', { id: mine.id }, { email })
  })
})

const isSubscribed = { field: 'subscribed', operator: 'equals', value: true }

/** Calls a route (with a file if its body is one) and checks the response against the description. */
async function checked(
  method: Route['method'],
  path: string,
  params: Record<string, string>,
  body?: object | Buffer,
  /** The value of the header Cookie, in place of a session of the project's owner. */
  cookie?: string,
) {
  const route = findRoute(service.core, `${method} ${path}`)
  const url = path.replaceAll(/:(\w+)/g, (_, parameter) => params[parameter] ?? '')
  const request = call(method.toLowerCase() as Method, url)
  const session = cookie ?? (await sessionFor(route))
  if (session !== undefined) request.unset('Authorization').set('Cookie', session)
  const response = Buffer.isBuffer(body)
    ? await request.attach('file', body, 'people.csv')
    : await request.send(body)
  matches(route, response)
  return response
}

type Answer = { status: number; text?: string | undefined; body: unknown }

function matches(route: Route, { status, text, body }: Answer): void {
  const name = nameOf(route)
  const declared = route.responses[status]
  assert.ok(declared, `${name} answered ${status} ${text}`)
  if (declared.schema !== undefined) assert.deepEqual(declared.schema.parse(body), body, name)
}

/** Routes that admit sessions only get one; the others get the project's secret key. */
async function sessionFor({ callers }: Route): Promise<string | undefined> {
  if (callers === 'anyone' || ruleOf(callers).keys.length > 0) return undefined
  return logIn(service.core, mine.ownerId)
}
