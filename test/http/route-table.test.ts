/** Calls every route of the table with every kind of caller. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { ruleOf } from '../../src/features/accounts/caller.ts'
import { updateProject } from '../../src/features/accounts/projects.ts'
import { addDomain } from '../../src/features/domains/add.ts'
import { verifyDomain } from '../../src/features/domains/verify.ts'
import { appendEvents } from '../../src/features/events/append.ts'
import { findExample } from '../../src/http/examples/all.ts'
import { proPlan } from '../../src/http/examples/contact.ts'
import { ROUTES } from '../../src/http/route-table.ts'
import { sql } from '../../src/store/drizzle.ts'
import type { TestProject } from '../core.ts'
import { addCampaign } from '../features/campaigns/sending/campaign.ts'
import { sample } from '../features/uploads/images/samples.ts'
import { addDelivery } from '../features/webhooks/add-delivery.ts'
import { addExecution } from '../features/workflows/add-workflow.ts'
import { useService } from './service.ts'

type Row = { method: string; path: string; callers: (typeof ROUTES)[number][2] }
type Called = { status: number; body: { error?: { code: string } } }

const rows = ROUTES.map(([method, path, callers]): Row => ({ method, path, callers }))
const keyed = rows.filter(({ callers }) => callers !== 'anyone' && ruleOf(callers).keys.length > 0)
const open = rows.filter(({ callers }) => callers === 'anyone')
const nameOf = ({ method, path }: Row) => `${method} ${path}`

const unknownKeys = {
  'another scheme': 'Basic abc',
  'an unknown secret key': `Bearer sk_${'0'.repeat(64)}`,
  'an unknown public key': `Bearer pk_${'0'.repeat(64)}`,
  nonsense: 'Bearer nonsense',
}

const { service, mine, other } = useService({}, prepare)
let disabled: TestProject
/** Records of `mine`, by the part of a path that names them. */
let records: Record<string, string>
/** Steps of a workflow of `mine`: the last of its graph, and one outside. */
let workflowStep: string
let freeStep: string

async function prepare(): Promise<void> {
  disabled = await service.makeProject('disabled')
  await updateProject(service.core, disabled.id, { disable: 'MANUAL' })
  records = await makeRecords()
}

describe('a route that needs a key', () => {
  it('refuses requests without a key, and changes nothing', async () => {
    const digest = await digestTables()
    for (const row of keyed) {
      expectError(row, await call(row, undefined), [401, 'MISSING_AUTH'])
    }
    assert.equal(await digestTables(), digest)
  })

  it('refuses unknown keys, and changes nothing', async () => {
    const digest = await digestTables()
    for (const row of keyed) {
      for (const [name, authorization] of Object.entries(unknownKeys)) {
        const code = name === 'another scheme' ? 'MISSING_AUTH' : 'INVALID_API_KEY'
        expectError(row, await call(row, authorization), [401, code])
      }
    }
    assert.equal(await digestTables(), digest)
  })

  it('refuses the public key unless it accepts any key, and changes nothing', async () => {
    const digest = await digestTables()
    for (const row of keyed.filter(({ callers }) => callers !== 'any key')) {
      expectError(row, await call(row, `Bearer ${mine.public}`), [401, 'INVALID_API_KEY'])
    }
    assert.equal(await digestTables(), digest)
  })

  it('refuses every change by a disabled project', async () => {
    const digest = await digestTables()
    for (const row of keyed.filter(({ method }) => method !== 'GET')) {
      const keys =
        row.callers === 'any key' ? [disabled.secret, disabled.public] : [disabled.secret]
      for (const key of keys) {
        expectError(row, await call(row, `Bearer ${key}`), [403, 'PROJECT_DISABLED'])
      }
    }
    assert.equal(await digestTables(), digest)
  })

  it('admits the keys of a disabled project for reading', async () => {
    for (const row of keyed.filter(({ method }) => method === 'GET')) {
      expectAdmitted(row, await call(row, `Bearer ${disabled.secret}`))
    }
  })

  it("hides the records of a project from another project's key, and leaves them as they are", async () => {
    const before = await ownRecords()
    for (const row of keyed.filter(namesRecord)) {
      expectError(row, await call(row, `Bearer ${other.secret}`), [404, undefined])
    }
    assert.deepEqual(await ownRecords(), before)
  })

  it('admits the secret key, and the public key where it accepts any key', async () => {
    // Deletions last, because the other calls need the records.
    const [last, first] = [keyed.filter(isDeletion), keyed.filter((row) => !isDeletion(row))]
    for (const row of [...first, ...last]) {
      const called = await call(row, `Bearer ${mine.secret}`)
      expectAdmitted(row, called)
      if (namesRecord(row) && !isDeletion(row)) assert.notEqual(called.status, 404, nameOf(row))
      if (row.callers === 'any key') {
        expectAdmitted(row, await call(row, `Bearer ${mine.public}`))
      }
    }
  })
})

describe('a route for anyone', () => {
  it('ignores keys', async () => {
    for (const row of open) {
      const { status } = await call(row, undefined)
      const keys = [mine.secret, mine.public, other.secret, disabled.secret, 'nonsense']
      for (const key of keys) {
        assert.equal((await call(row, `Bearer ${key}`)).status, status, nameOf(row))
      }
      assert.notEqual(status, 401, nameOf(row))
    }
  })
})

describe('the table of routes', () => {
  it('has each method and path once', () => {
    const names = rows.map(nameOf)
    assert.deepEqual(names, [...new Set(names)])
  })

  it('is complete: other methods and paths are refused', async () => {
    const wrong = await supertest(service.url).put('/templates')
    assert.deepEqual([wrong.status, wrong.headers.allow], [405, 'GET, POST, HEAD'])
    assert.equal((await supertest(service.url).get('/unknown')).status, 404)
  })
})

function namesRecord({ path }: Row): boolean {
  return /:(id|\w+Id|name)\b/.test(path)
}

function isDeletion({ method, path }: Row): boolean {
  return method === 'DELETE' || path === '/contacts/bulk-delete'
}

function expectError(row: Row, called: Called, [status, code]: [number, string | undefined]): void {
  const actual = [called.status, code === undefined ? undefined : called.body.error?.code]
  assert.deepEqual(actual, [status, code], `${nameOf(row)} ${JSON.stringify(called.body)}`)
}

/** Refused at most for another reason than the caller. */
function expectAdmitted(row: Row, { status, body }: Called): void {
  const name = `${nameOf(row)} ${status} ${JSON.stringify(body)}`
  assert.ok(status < 500 && ![401, 405].includes(status), name)
  assert.notEqual(body.error?.code, 'PROJECT_DISABLED', name)
}

/** Sends the body of the example, so that only the caller decides. */
async function call({ method, path }: Row, authorization: string | undefined): Promise<Called> {
  const url = path.replaceAll(/:(\w+)(?:\{\.\+\})?/g, (_, parameter: string) =>
    encodeURIComponent(recordFor(path, parameter)),
  )
  const verb = method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete'
  const request = supertest(service.url)[verb](url)
  if (authorization !== undefined) request.set('Authorization', authorization)
  const example = findExample(method, path)?.request
  const { status, body } = await request.send(bodyFor(path, example))
  return { status, body }
}

/** The project and the contact of the examples do not exist here. */
function bodyFor(path: string, example: unknown): object | undefined {
  if (example === undefined) return undefined
  if (path === '/domains') return { domain: 'new.test' }
  if (path === '/webhooks/endpoints/:id/replay') return { since: new Date().toISOString() }
  if (path === '/campaigns/:id/test') return { email: 'editor@people.test' }
  if (path === '/workflows/:id/executions') return { contactId: records['/contacts'] }
  if (path === '/workflows/:id/transitions') return { fromStepId: workflowStep, toStepId: freeStep }
  return example as object
}

function recordFor(path: string, parameter: string): string {
  const named = {
    projectId: mine.id,
    field: 'data.plan',
    eventName: 'signup',
    file: 'start.js',
    page: 'contacts',
    provider: 'github',
  }
  const known = Object.entries({ ...named, token: 'x' }).find(([name]) => name === parameter)
  if (known !== undefined) return known[1]
  if (path.startsWith('/contacts/public/') || path.startsWith('/t/')) return 'x'
  const [record = ''] = path.split(`/:${parameter}`)
  const id = records[record]
  assert.ok(id, `${path} names a record: add one to makeRecords() in this file`)
  return id
}

/** One record of each kind that a path names. */
async function makeRecords(): Promise<Record<string, string>> {
  const post = async (path: string, body: object, field = 'id'): Promise<string> => {
    const request = supertest(service.url).post(path).set('Authorization', `Bearer ${mine.secret}`)
    const response = Buffer.isBuffer(body)
      ? await request.attach('file', body, 'people.csv')
      : await request.send(body)
    assert.ok(response.body[field], `${path} ${response.text}`)
    return response.body[field]
  }
  const template = { name: 'T', subject: 'S', body: 'B', from: 'a@mine.test' }
  const { id: domain } = await addDomain(service.core, { projectId: mine.id, domain: 'mine.test' })
  await verifyDomain(service.core, { id: domain }, { trust: true })
  const contact = await post('/contacts', { email: 'ann@people.test', data: { plan: 'pro' } })
  const contactIds = [contact]
  const workflow = await post('/workflows', { name: 'W', eventName: 'signup' })
  const step = { type: 'EXIT', name: 'S', position: { x: 0, y: 0 }, config: {} }
  const pause = { ...step, type: 'DELAY', config: { amount: 1, unit: 'days' } }
  workflowStep = await post(`/workflows/${workflow}/steps`, pause)
  freeStep = await post(`/workflows/${workflow}/steps`, { ...step, autoConnect: false })
  const { body: shown } = await supertest(service.url)
    .get(`/workflows/${workflow}`)
    .set('Authorization', `Bearer ${mine.secret}`)
  await supertest(service.url)
    .patch(`/workflows/${workflow}`)
    .set('Authorization', `Bearer ${mine.secret}`)
    .send({ enabled: true })
  const file = Buffer.from('email\nlisted@people.test\n')
  await post('/suppressions', { email: 'gone@people.test' }, 'added')
  const hook = { url: 'https://hooks.test/', events: ['*'] }
  const endpoint = await post('/webhooks/endpoints', hook)
  const { body: suppressed } = await supertest(service.url)
    .get('/suppressions')
    .set('Authorization', `Bearer ${mine.secret}`)
  const execution = await addExecution(service.core, {
    ...{ projectId: mine.id, workflowId: workflow, contactId: contact },
  })
  return {
    '/projects': mine.id,
    '/templates': await post('/templates', template),
    '/domains': domain,
    '/campaigns': await addCampaign(service.core, mine.id),
    '/workflows/:id/executions': execution.id,
    '/workflows/:id/executions/bulk': await post(
      `/workflows/${workflow}/executions/bulk`,
      { filter: proPlan },
      'jobId',
    ),
    '/workflows': workflow,
    '/workflows/:id/steps': workflowStep,
    '/workflows/:id/transitions': shown.steps[0].outgoingTransitions[0].id,
    '/emails': await sendEmail(),
    '/segments': await post('/segments', { name: 'List', type: 'STATIC' }),
    '/webhooks/endpoints': endpoint,
    '/webhooks/endpoints/:id/deliveries': await addDelivery(service.core, {
      ...{ projectId: mine.id, endpointId: endpoint },
    }),
    '/webhooks/endpoints/:id/replay': await post(
      `/webhooks/endpoints/${endpoint}/replay`,
      { since: new Date().toISOString() },
      'jobId',
    ),
    '/suppressions': suppressed.data[0].id,
    '/uploads': await uploadImage(),
    '/suppressions/import': await post('/suppressions/import', file, 'jobId'),
    '/events/jobs': await deleteManyEvents(contact),
    '/events/contact': contact,
    '/contacts': contact,
    '/contacts/bulk': await post('/contacts/bulk-subscribe', { contactIds }, 'jobId'),
    '/contacts/import': await post('/contacts/import', file, 'jobId'),
    '/contacts/verify': await post('/contacts/verify', { emails: ['ann@people.test'] }, 'jobId'),
  }
}

async function uploadImage(): Promise<string> {
  const { body } = await supertest(service.url)
    .post('/uploads/image')
    .set('Authorization', `Bearer ${mine.secret}`)
    .attach('image', sample('png'), 'logo.png')
  return body.key
}

/** The id of an email that waits. */
async function sendEmail(): Promise<string> {
  const content = { from: 'a@mine.test', subject: 'Hi', body: '<p>Hi</p>' }
  const { body } = await supertest(service.url)
    .post('/v1/send')
    .set('Authorization', `Bearer ${mine.secret}`)
    .send({ ...content, to: 'ann@people.test' })
  return body.data.emails[0].email
}

/** The id of the job. */
async function deleteManyEvents(contactId: string): Promise<string> {
  const event = { projectId: mine.id, contactId, emailId: null, name: 'often', data: null }
  const many = Array.from({ length: 501 }, () => ({ ...event, at: Date.now() }))
  await service.core.store.write((tx) => appendEvents(tx, many))
  const { body } = await supertest(service.url)
    .delete('/events/often')
    .set('Authorization', `Bearer ${mine.secret}`)
  return body.jobId
}

/** Whatever `mine` shows of its records. */
async function ownRecords() {
  const paths = [
    '/templates',
    '/segments',
    '/suppressions',
    '/contacts',
    '/uploads',
    '/workflows',
    `/workflows/${records['/workflows']}`,
    `/domains/project/${mine.id}`,
  ]
  const get = (path: string) =>
    supertest(service.url).get(path).set('Authorization', `Bearer ${mine.secret}`)
  return Promise.all(paths.map(async (path) => (await get(path)).body))
}

/** Of all tables but the log of requests, which refusals are written to. */
async function digestTables(): Promise<string> {
  const { read } = service.core.store
  const tables = await read.all<{ name: string }>(
    sql`select name from sqlite_schema where type = 'table' and name <> 'api_requests'`,
  )
  const contents = tables.map(async ({ name }) => [
    name,
    await read.all(sql.raw(`select * from "${name}"`)),
  ])
  const text = JSON.stringify(await Promise.all(contents), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  return hash('sha256', text)
}
