import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import type { Core } from '../../../src/core/core.ts'
import { newId } from '../../../src/store/ids.ts'
import { jobs } from '../../../src/store/schema/jobs.ts'
import { useService } from '../service.ts'

/** Names that end in `.down` fail to resolve; others have mail servers or do not exist. */
const mx: Core['resolver']['mx'] = async (name) => {
  const expiresAt = Date.now() + 10_000
  if (name.endsWith('.down')) return { kind: 'failed', error: 'SERVFAIL', expiresAt }
  if (!name.endsWith('dest.test')) return { kind: 'nxdomain', expiresAt }
  return { kind: 'found', records: [{ preference: 10, host: 'mx.dest.test' }], expiresAt }
}
const nothing = { kind: 'nodata', expiresAt: 0 } as const

const { service, mine, other, call } = useService({
  resolver: { mx, a: async () => nothing, aaaa: async () => nothing },
})

const post = (path: string, body: unknown, key = mine.secret) =>
  call('post', path, { secret: key })
    .set('Content-Type', 'application/json')
    .send(JSON.stringify(body))

const verify = (body: unknown, key?: string) => post('/v1/verify', body, key)
const verifyList = (body: unknown, key?: string) => post('/contacts/verify', body, key)

test('an address is verified and echoed as given', async () => {
  const { status, body } = await verify({ email: 'Ada+x@Dest.TEST' })
  assert.equal(status, 200)
  assert.deepEqual(body, {
    success: true,
    data: {
      email: 'Ada+x@Dest.TEST',
      valid: true,
      isDisposable: false,
      isAlias: false,
      isTypo: false,
      isPlusAddressed: true,
      isPersonalEmail: false,
      domainExists: true,
      hasWebsite: false,
      hasMxRecords: true,
      reasons: ['The part before the @ contains a plus, as aliases do'],
    },
  })
})

test('a text that is not an address is valid: false', async () => {
  for (const email of ['ada', 'a@b@dest.test', '@', 'x'.repeat(1024), 'ada@dest.test\r\nBcc: x']) {
    const { status, body } = await verify({ email })
    assert.equal(status, 200)
    assert.equal(body.data.valid, false)
    assert.equal(body.data.email, email)
    assert.deepEqual(body.data.reasons, ['This is not an email address'])
  }
})

test('a mistyped address comes back with a suggestion', async () => {
  const { body } = await verify({ email: 'ada@gmail.con' })
  assert.equal(body.data.isTypo, true)
  assert.equal(body.data.suggestedEmail, 'ada@gmail.com')
})

test('a body without an address is refused, in both error formats', async () => {
  const rows: [body: unknown, code: string, field?: string][] = [
    [{}, 'invalid_type'],
    [{ email: null }, 'invalid_type'],
    [{ email: 7 }, 'invalid_type'],
    [{ email: ['ada@dest.test'] }, 'invalid_type'],
    [{ email: { email: 'ada@dest.test' } }, 'invalid_type'],
    [{ email: '' }, 'too_small'],
    [{ email: `${'a'.repeat(65_536)}@dest.test` }, 'too_big'],
    [[], 'invalid_type', ''],
  ]
  for (const [body, code, field = 'email'] of rows) {
    const response = await verify(body)
    assert.equal(response.status, 422)
    const { error } = response.body
    assert.equal(error.code, 'VALIDATION_ERROR')
    assert.equal(error.errors.length, 1)
    assert.deepEqual([error.errors[0].field, error.errors[0].code], [field, code])
    assert.equal(response.body.code, 422)
    assert.equal(typeof response.body.message, 'string')
    assert.equal(typeof response.body.time, 'number')
  }
})

test('malformed JSON, a missing key and a public key are refused', async () => {
  const malformed = await call('post', '/v1/verify')
    .set('Content-Type', 'application/json')
    .send('{"email":')
  assert.deepEqual([malformed.status, malformed.body.error.code], [400, 'VALIDATION_ERROR'])
  const keyless = await supertest(service.url).post('/v1/verify').send({ email: 'a@dest.test' })
  assert.deepEqual([keyless.status, keyless.body.error.code], [401, 'MISSING_AUTH'])
  const withPublic = await verify({ email: 'a@dest.test' }, mine.public)
  assert.deepEqual([withPublic.status, withPublic.body.error.code], [401, 'INVALID_API_KEY'])
})

test('unresponsive name servers are a 503 with a Retry-After', async () => {
  const { status, headers, body } = await verify({ email: 'ada@mail.down' })
  assert.equal(status, 503)
  assert.equal(body.error.code, 'EXTERNAL_SERVICE_ERROR')
  assert.ok(Number(headers['retry-after']) >= 1)
  assert.deepEqual([body.success, body.code, typeof body.time], [false, 503, 'number'])
})

test('a list is enqueued in each form, and the job echoes it', async () => {
  const contactIds = [newId(), newId()]
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
  }
  const filter = { search: 'dest', subscribed: true, condition }
  const emails = ['ada@dest.test', 'no address']
  const rows = [
    [{ emails }, { mode: 'emails', emails }],
    [
      { mode: 'emails', emails },
      { mode: 'emails', emails },
    ],
    [{ contactIds: [...contactIds, contactIds[0]] }, { mode: 'ids', contactIds }],
    [
      { mode: 'query', filter: {} },
      { mode: 'query', filter: {}, excludeIds: [] },
    ],
    [
      { filter, excludeIds: contactIds },
      { mode: 'query', filter, excludeIds: contactIds },
    ],
  ]
  for (const [asked, echo] of rows) {
    const { status, body } = await verifyList(asked)
    assert.equal(status, 202)
    assert.deepEqual(Object.keys(body), ['message', 'jobId'])
    assert.match(body.jobId, new RegExp(`^verify-${mine.id}-\\d{13}$`))
    const { status: found, body: job } = await findJob(body.jobId)
    assert.equal(found, 200)
    assert.deepEqual(job, {
      id: body.jobId,
      state: 'waiting',
      progress: 0,
      result: null,
      data: { projectId: mine.id, ...echo },
      failedReason: null,
    })
    assert.equal((await findJob(body.jobId, other)).status, 404)
  }
  assert.equal((await findJob('verify-nothing-1')).status, 404)
})

const findJob = (jobId: string, by = mine) => call('get', `/contacts/verify/${jobId}`, by)

test('an invalid list is refused with the path of the fault, and nothing is queued', async () => {
  const before = await countJobs()
  const many = Array.from({ length: 10_001 }, (_, index) => `a${index}@dest.test`)
  const rows: [body: unknown, field: string, code: string][] = [
    [{}, 'emails', 'custom'],
    [{ mode: 'ids' }, 'contactIds', 'custom'],
    [{ mode: 'all' }, 'mode', 'invalid_enum_value'],
    [{ mode: 'query', emails: ['a@dest.test'] }, 'emails', 'custom'],
    [{ emails: ['a@dest.test'], filter: {} }, 'emails', 'custom'],
    [{ emails: [] }, 'emails', 'too_small'],
    [{ emails: 'a@dest.test' }, 'emails', 'invalid_type'],
    [{ emails: ['a@dest.test', 7] }, 'emails.1', 'invalid_type'],
    [{ emails: ['a@dest.test', 'x'.repeat(1025)] }, 'emails.1', 'too_big'],
    [{ emails: many }, 'emails', 'too_big'],
    [{ contactIds: ['no id'] }, 'contactIds.0', 'invalid_string'],
    [{ contactIds: [newId()], excludeIds: [newId()] }, 'excludeIds', 'custom'],
    [{ filter: { subscribed: 'yes' } }, 'filter.subscribed', 'invalid_type'],
    [{ filter: { plan: 'pro' } }, 'filter.plan', 'unrecognized'],
    [{ filter: { condition: { logic: 'XOR', groups: [] } } }, 'filter.condition.logic', ''],
    [{ emails: ['a@dest.test'], limit: 3 }, 'limit', 'unrecognized'],
  ]
  for (const [body, field, code] of rows) {
    const { status, body: answer } = await verifyList(body)
    assert.equal(status, 422, JSON.stringify(body).slice(0, 80))
    const [error] = answer.error.errors
    assert.equal(error.field, field)
    if (code !== '') assert.equal(error.code, code, JSON.stringify(body).slice(0, 80))
  }
  const unknownSegment = {
    logic: 'AND',
    groups: [{ filters: [{ field: `segment.${newId()}`, operator: 'memberOfSegment' }] }],
  }
  assert.equal((await verifyList({ filter: { condition: unknownSegment } })).status, 400)
  assert.equal((await verifyList({ emails: ['a@dest.test'] }, mine.public)).status, 401)
  assert.equal(await countJobs(), before)
})

async function countJobs(): Promise<number> {
  return (await service.core.store.read.select({ id: jobs.id }).from(jobs)).length
}
