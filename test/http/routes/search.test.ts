/** `GET /search` over HTTP: what it finds, in which order, and what it never shows. */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import supertest from 'supertest'
import { sql } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { trustDomain } from '../../core.ts'
import { addRequest } from '../../features/ground/requests/add-request.ts'
import { insertExecution, insertWorkflow } from '../../features/outreach/workflows/insert-rows.ts'
import { useService } from '../service.ts'

type Found = { kind: string; id: string; title: string; detail: string; workflowId: string | null }

const ids: Record<string, string> = {}

const { service, mine, other, call } = useService({}, async ({ service, mine, other, call }) => {
  const { core } = service
  await trustDomain(core, mine.id, 'shop.test')
  await trustDomain(core, other.id, 'other.test')
  const make = async (kind: string, path: string, body: object) => {
    const answer = await call('post', path).send(body).expect(201)
    ids[kind] = answer.body.id ?? answer.body.data.id
  }
  const mail = { subject: 'Hello', body: '<p>Hi</p>', from: 'hello@shop.test' }
  await make('contact', '/contacts', { email: 'ann@people.test' })
  await make('unsubscribed', '/contacts', { email: 'anna@people.test', subscribed: false })
  await make('campaign', '/campaigns', { ...mail, name: 'Spring Sale 100%', audienceType: 'ALL' })
  await make('template', '/templates', { ...mail, name: 'Frühling [x]' })
  await make('segment', '/segments', { name: 'sale_spring', type: 'STATIC' })
  ids.workflow = await insertWorkflow(core, { projectId: mine.id, name: 'Spring welcome' })
  const of = { projectId: mine.id, workflowId: ids.workflow, contactId: ids.contact as string }
  ids.execution = (await insertExecution(core, of)).id
  const sent = await call('post', '/v1/send')
    .send({ ...mail, to: 'ann@people.test' })
    .expect(200)
  ids.email = sent.body.data.emails[0].email
  const line = { projectId: mine.id, method: 'POST', path: '/v1/send', statusCode: 422 }
  ids.request = await addRequest(core, { ...line, errorCode: 'VALIDATION_ERROR' })
  await addRequest(core, { ...line, id: 'checkout-20261121' })
  await call('post', '/contacts', other).send({ email: 'ann@people.test' }).expect(201)
  await call('post', '/templates', other)
    .send({ ...mail, from: 'hello@other.test', name: 'Spring of others' })
    .expect(201)
})

async function find(q: string, by = mine): Promise<Found[]> {
  const { body } = await call('get', '/search', by).query({ q }).expect(200)
  return body
}

const kindsOf = async (q: string) => (await find(q)).map(({ kind }) => kind)

describe('a search', () => {
  it('finds each kind of record by its id, in any letter case', async () => {
    const expected: Record<string, [string, string]> = {
      contact: ['ann@people.test', 'subscribed'],
      email: ['Hello', 'ann@people.test'],
      campaign: ['Spring Sale 100%', 'DRAFT'],
      template: ['Frühling [x]', 'MARKETING'],
      segment: ['sale_spring', 'STATIC'],
      workflow: ['Spring welcome', 'enabled'],
      request: ['POST /v1/send', '422 VALIDATION_ERROR'],
      execution: ['Spring welcome', 'ann@people.test'],
    }
    for (const [kind, [title, detail]] of Object.entries(expected)) {
      const id = ids[kind] as string
      const workflowId = kind === 'execution' ? ids.workflow : null
      const result = { kind, id, title, detail, workflowId }
      for (const q of [id, id.toUpperCase(), ` ${id} `]) assert.deepEqual(await find(q), [result])
    }
  })

  it('finds an email by its Message-ID, with and without angle brackets', async () => {
    const messageId = `${ids.email}@shop.test`
    for (const q of [messageId, `<${messageId}>`]) {
      assert.deepEqual(
        (await find(q)).map(({ kind, id }) => [kind, id]),
        [['email', ids.email]],
      )
    }
  })

  it('finds a request by an id that its client chose', async () => {
    assert.deepEqual(await kindsOf('checkout-20261121'), ['request'])
    assert.deepEqual(await kindsOf('checkout-2026'), [])
  })

  it('finds addresses by their beginning: an exact one first, with its emails', async () => {
    const found = await find('ANN@People.test')
    assert.deepEqual(
      found.map(({ kind, title }) => [kind, title]),
      [
        ['contact', 'ann@people.test'],
        ['email', 'Hello'],
      ],
    )
    const some = await find('ann')
    assert.deepEqual(
      some.map(({ kind, title, detail }) => [kind, title, detail]),
      [
        ['contact', 'ann@people.test', 'subscribed'],
        ['email', 'Hello', 'ann@people.test'],
        ['contact', 'anna@people.test', 'unsubscribed'],
      ],
    )
    assert.deepEqual(await kindsOf('Ann Lee <ann@people.test>'), ['contact', 'email'])
    assert.deepEqual(await kindsOf('people.test'), [], 'no part of an address')
  })

  it('finds names by any part, in any letter case and normal form', async () => {
    assert.deepEqual(
      (await find('SPRING')).map(({ title }) => title),
      ['Spring Sale 100%', 'Spring welcome', 'sale_spring'],
    )
    assert.deepEqual(await kindsOf('FRÜHLING'), ['template'])
    assert.deepEqual(await kindsOf('fru\u0308hling'), ['template'])
    assert.deepEqual(await kindsOf('op.test'), ['domain'])
  })

  it('takes no character for a wildcard', async () => {
    assert.deepEqual(await kindsOf('100%'), ['campaign'])
    assert.deepEqual(await kindsOf('e_spring'), ['segment'])
    assert.deepEqual(await kindsOf('[x]'), ['template'])
    for (const q of ['%', '%%', '*', '?', '_n', 'a%', 'Spring*', "' or 1=1 --", '\\']) {
      const found = (await find(q)).map(({ title }) => title)
      assert.ok(
        found.every((title) => title.includes(q)),
        `${q}: ${found}`,
      )
    }
  })

  it('finds nothing by texts that no record has', async () => {
    for (const q of ['\0', 'ann\0', '\ud800', newId(), '<>', '@', 'ann@people.test@']) {
      assert.deepEqual(await find(q), [], JSON.stringify(q))
    }
  })
})

test('a text that is missing, blank or too long is refused by the name of its field', async () => {
  for (const [query, code] of [
    [{}, 'invalid_type'],
    [{ q: '' }, 'invalid_type'],
    [{ q: '  \t ' }, 'too_small'],
    [{ q: 'x'.repeat(256) }, 'too_big'],
  ] as const) {
    const { status, body } = await call('get', '/search').query(query)
    const { error } = body
    assert.deepEqual(
      [status, error.code, error.errors[0].field, error.errors[0].code],
      [422, 'VALIDATION_ERROR', 'q', code],
    )
  }
  assert.deepEqual(await find('x'.repeat(255)), [])
})

test('things of other projects never appear', async () => {
  const theirs = await find('Spring', other)
  assert.deepEqual(
    theirs.map(({ title }) => title),
    ['Spring of others'],
  )
  for (const kind of [
    'email',
    'campaign',
    'segment',
    'workflow',
    'execution',
    'request',
    'contact',
  ]) {
    assert.deepEqual(await find(ids[kind] as string, other), [], kind)
  }
  assert.deepEqual(await find(`<${ids.email}@shop.test>`, other), [])
  const [contact, ...rest] = await find('ann@people.test', other)
  assert.notEqual(contact?.id, ids.contact)
  assert.deepEqual(rest, [])
})

test('the id that an answer carries finds its request, however many are newer', async () => {
  const answer = await supertest(service.url)
    .get('/contacts/none')
    .set('Authorization', `Bearer ${mine.secret}`)
  const id = answer.headers['x-request-id'] as string
  const line = service.requests.find((request) => request.id === id)
  assert.ok(line)
  await addRequest(service.core, { ...line, projectId: mine.id })
  await service.core.store.write((tx) =>
    tx.run(sql`with recursive newer (n) as (select 1 union all select n + 1 from newer where n < 6000)
      insert into api_requests (id, method, path, status_code, duration_ms, project_id, created_at)
      select printf('newer-%04d', n), 'GET', '/', 200, 1, ${mine.id}, ${line.createdAt} + 60000 + n from newer`),
  )
  const found = async (q: string) => (await find(q)).map(({ title, detail }) => [title, detail])
  const expected = [['GET /contacts/none', '404 CONTACT_NOT_FOUND']]
  assert.deepEqual(await found(id), expected)
  assert.deepEqual(await found(id.toUpperCase()), expected)
  assert.deepEqual(await found('newer-0001'), [], 'not among the newest 5,000')
  assert.deepEqual(await found('newer-6000'), [['GET /', '200']])
})
