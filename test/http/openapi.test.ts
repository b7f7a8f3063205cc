/** That the description is complete, and that what it says of responses is what responses are. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import supertest from 'supertest'
import { addDomain } from '../../src/features/domains/add.ts'
import { verifyDomain } from '../../src/features/domains/verify.ts'
import { listRoutes } from '../../src/http/api.ts'
import { createAddressList } from '../../src/http/client-address.ts'
import type { Route } from '../../src/http/route.ts'
import { createTraffic } from '../../src/http/traffic.ts'
import { addRecipient } from '../features/contacts/recipient.ts'
import { type Service, startService, type TestProject } from './service.ts'

type Operation = {
  operationId: string
  security: object[]
  parameters?: { name: string; in: string }[]
  requestBody?: object
  responses: Record<string, { description: string; content?: object }>
}
type Description = { openapi: string; paths: Record<string, Record<string, Operation>> }

let service: Service
let project: TestProject
let routes: Route[]
let description: Description

before(async () => {
  const nothing = { kind: 'nxdomain', expiresAt: 0 } as const
  service = await startService({ resolver: { txt: async () => nothing, mx: async () => nothing } })
  project = await service.makeProject('mine')
  const added = await addDomain(service.core, { projectId: project.id, domain: 'example.test' })
  await verifyDomain(service.core, { id: added.id }, { trust: true })
  const { core } = service
  const proxies = createAddressList([])
  routes = listRoutes({ core, gauges: [], traffic: createTraffic(), proxies })
  description = (await supertest(service.url).get('/openapi.json')).body
})

after(() => service.stop())

const shown = () => routes.filter(({ isHidden }) => !isHidden)

const operationOf = ({ method, path }: Route): Operation | undefined =>
  description.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

test('every route is described, once, and nothing else is', () => {
  assert.equal(description.openapi, '3.1.0')
  const described = Object.values(description.paths).flatMap((item) => Object.values(item))
  assert.equal(described.length, shown().length)
  const ids = described.map(({ operationId }) => operationId)
  assert.equal(new Set(ids).size, ids.length)
  for (const route of shown()) assert.ok(operationOf(route), `${route.method} ${route.path}`)
})

test('each description has its key, its parameters, its body and its refusals', () => {
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
    assert.equal(operation.security.length > 0, route.permission !== 'none', name)
    assert.equal(operation.requestBody !== undefined, route.body !== undefined, name)
    if (route.permission !== 'none') assert.ok(operation.responses[401], name)
    if (route.body !== undefined) assert.ok(operation.responses[422], name)
    for (const response of Object.values(operation.responses)) assert.ok(response.description)
  }
})

test('the limits of the specification stand in the description of a send', () => {
  const send = JSON.stringify(description.paths['/v1/send']?.post)
  for (const part of ['"maxItems":1000', '"maxLength":998', '"maxItems":10', 'Idempotency-Key']) {
    assert.ok(send.includes(part), part)
  }
})

test('responses are what is said of them, with nothing besides', async () => {
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
  const { body: domain } = await checked('POST', '/domains', {}, { domain: 'new.test' })
  await checked('GET', '/domains/project/:projectId', { projectId: project.id })
  await checked('GET', '/domains/:id/verify', { id: domain.id })
  await checked('DELETE', '/domains/:id', { id: domain.id })
  const { token } = await addRecipient(service.core, { projectId: project.id })
  await checked('GET', '/contacts/public/:id', { id: token })
  await checked('POST', '/contacts/public/:id/unsubscribe', { id: token })
  await checked('POST', '/contacts/public/:id/subscribe', { id: token })
  const [email, other] = ['gone@dest.test', 'away@dest.test']
  await checked('POST', '/suppressions', {}, { emails: [email, other] })
  const { body: suppressed } = await checked('GET', '/suppressions', {})
  await checked('DELETE', '/suppressions/:id', { id: suppressed.data[0].id })
  await checked('DELETE', '/suppressions', {}, { emails: [email, other] })
  await checked('GET', '/activity', {})
  await checked('GET', '/activity/stats', {})
  await checked('GET', '/activity/recent-count', {})
  await checked('GET', '/activity/types', {})
  await checked('GET', '/activity/upcoming', {})
  await checked('GET', '/health', {})
  const seen = new Set(checks)
  const missed = shown().filter((route) => !seen.has(`${route.method} ${route.path}`))
  assert.deepEqual(missed, [])
})

const checks: string[] = []

async function anotherTemplate(template: object): Promise<string> {
  const { body } = await checked('POST', '/templates', {}, template)
  return body.id
}

/** Calls a route, and compares status and body with what it declares. */
async function checked(
  method: Route['method'],
  path: string,
  params: Record<string, string>,
  body?: object,
) {
  const name = `${method} ${path}`
  checks.push(name)
  const route = routes.find((each) => each.method === method && each.path === path)
  assert.ok(route, name)
  const url = path.replaceAll(/:(\w+)/g, (_, parameter) => params[parameter] ?? '')
  const verb = method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete'
  const request = supertest(service.url)[verb](url)
  const response = await request.set('Authorization', `Bearer ${project.secret}`).send(body)
  const declared = route.responses[response.status]
  assert.ok(declared, `${name} answered ${response.status} ${response.text}`)
  if (declared.schema !== undefined) {
    assert.deepEqual(declared.schema.parse(response.body), response.body, name)
  }
  return response
}
