import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import supertest from 'supertest'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { segmentMembers, segments } from '../../../src/store/schema/segments.ts'
import type { TestProject } from '../../core.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService()

beforeEach(async () => {
  await service.core.store.write(async (tx) => {
    for (const table of [segmentMembers, segments, contacts, events]) await tx.delete(table).run()
  })
})

const pro = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
}

const create = (body: object = {}, by: TestProject = mine) =>
  call('post', '/segments', by).send({ name: 'Pro people', condition: pro, ...body })

async function addContact(email: string, plan = 'pro', by: TestProject = mine): Promise<string> {
  const id = newId()
  const row = { id, projectId: by.id, address: email, subscribed: true, data: { plan } }
  const at = { createdAt: Date.now(), updatedAt: Date.now() }
  await service.core.store.write((tx) => tx.insert(contacts).values({ ...row, ...at }))
  return id
}

test('a dynamic segment is created, read, listed, changed and deleted', async () => {
  await addContact('a@x.test')
  await addContact('b@x.test', 'free')
  const created = await create({ trackMembership: true })
  assert.equal(created.status, 201)
  const { id, createdAt, updatedAt, ...fields } = created.body
  assert.deepEqual(fields, {
    name: 'Pro people',
    description: null,
    type: 'DYNAMIC',
    condition: pro,
    trackMembership: true,
    memberCount: 1,
    projectId: mine.id,
  })
  assert.equal(createdAt, updatedAt)
  const read = await call('get', `/segments/${id}`)
  assert.deepEqual([read.status, read.body], [200, created.body])
  const second = await create({ name: 'List', type: 'STATIC', condition: null })
  assert.equal(second.status, 201)
  const list = await call('get', '/segments')
  assert.deepEqual(list.body, [second.body, created.body])
  const changed = await call('patch', `/segments/${id}`).send({ name: 'Pros', description: 'All' })
  assert.equal(changed.status, 200)
  assert.deepEqual([changed.body.name, changed.body.description], ['Pros', 'All'])
  const deleted = await call('delete', `/segments/${id}`)
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  const gone = await call('get', `/segments/${id}`)
  assert.deepEqual([gone.status, gone.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  assert.deepEqual(gone.body.error.details, { resource: 'segment', id })
})

test('contacts are paged; a computation emits events, and a count does not', async () => {
  const ids = [await addContact('a@x.test'), await addContact('b@x.test')]
  const { body } = await create({ trackMembership: true })
  const path = `/segments/${body.id}`
  const page = await call('get', `${path}/contacts?pageSize=1&page=2`)
  assert.equal(page.status, 200)
  const { data, ...rest } = page.body
  assert.deepEqual(rest, { total: 2, page: 2, pageSize: 1, totalPages: 2 })
  assert.deepEqual(
    data.map((contact: { id: string; email: string }) => [contact.id, contact.email]),
    [[ids[0], 'a@x.test']],
  )
  const capped = await call('get', `${path}/contacts?pageSize=500`)
  assert.deepEqual([capped.body.pageSize, capped.body.data.length], [100, 2])
  await addContact('c@x.test')
  assert.deepEqual((await call('post', `${path}/refresh`)).body, { memberCount: 3 })
  assert.equal(await service.core.store.read.$count(events), 0)
  const computed = await call('post', `${path}/compute`)
  assert.deepEqual([computed.status, computed.body], [200, { added: 3, removed: 0, total: 3 }])
  const recorded = await service.core.store.read.select().from(events)
  assert.deepEqual(
    recorded.map(({ name }) => name),
    Array.from({ length: 3 }, () => 'segment.pro-people.entry'),
  )
})

test('members are added to and removed from a static segment by address', async () => {
  await addContact('a@x.test')
  const { body } = await create({ type: 'STATIC', condition: undefined })
  const path = `/segments/${body.id}`
  const add = (sent: object) => call('post', `${path}/members`).send(sent)
  const emails = ['A@x.test', 'b@x.test']
  const first = await add({ emails })
  assert.deepEqual(
    [first.status, first.body],
    [200, { added: 1, created: 0, notFound: ['b@x.test'] }],
  )
  const second = await add({ emails, createMissing: true, subscribed: false })
  assert.deepEqual(second.body, { added: 2, created: 1, notFound: [] })
  const page = await call('get', `${path}/contacts`)
  assert.deepEqual(
    page.body.data.map((contact: { subscribed: boolean }) => contact.subscribed).sort(),
    [false, true],
  )
  assert.equal((await call('get', path)).body.memberCount, 2)
  const removed = await call('delete', `${path}/members`).send({ emails: ['a@x.test', 'z@x.test'] })
  assert.deepEqual([removed.status, removed.body], [200, { removed: 1 }])
  assert.equal((await call('get', path)).body.memberCount, 1)
  const computed = await call('post', `${path}/compute`)
  assert.deepEqual([computed.status, computed.body], [200, { added: 0, removed: 0, total: 1 }])
  assert.equal(await service.core.store.read.$count(events), 0)
})

const refused: [string, object, string][] = [
  ['no name', { name: undefined }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 101 characters', { name: 'n'.repeat(101) }, 'name'],
  ['a description of 501 characters', { description: 'd'.repeat(501) }, 'description'],
  ['a type that is none', { type: 'SMART' }, 'type'],
  ['no condition', { condition: undefined }, 'condition'],
  ['a condition that is a text', { condition: 'plan = pro' }, 'condition'],
  ['no groups', { condition: { logic: 'AND', groups: [] } }, 'condition.groups'],
  ['a static segment with a condition', { type: 'STATIC' }, 'condition'],
  [
    'an operator that the field does not take',
    {
      condition: { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'within' }] }] },
    },
    'condition.groups.0.filters.0.operator',
  ],
  ['tracking that is a text', { trackMembership: 'yes' }, 'trackMembership'],
]

for (const [name, change, field] of refused) {
  test(`${name} is refused at its path, and no segment is created`, async () => {
    const { status, body } = await create(change)
    assert.equal(status, 422)
    assert.equal(body.error.code, 'VALIDATION_ERROR')
    assert.ok(body.error.errors.some((error: { field: string }) => error.field === field))
    assert.equal(await service.core.store.read.$count(segments), 0)
  })
}

test('a change that the state of the segment forbids is a 400 or a 409', async () => {
  const dynamic = (await create()).body
  const list = (await create({ type: 'STATIC', condition: undefined })).body
  const emails = ['a@x.test']
  const membersPath = `/segments/${dynamic.id}/members`
  const states: [number, string, supertest.Test][] = [
    [400, 'BAD_REQUEST', call('post', membersPath).send({ emails })],
    [400, 'BAD_REQUEST', call('delete', membersPath).send({ emails })],
    [400, 'BAD_REQUEST', call('post', `/segments/${dynamic.id}/compute`)],
    [400, 'BAD_REQUEST', call('patch', `/segments/${dynamic.id}`).send({ type: 'STATIC' })],
    [422, 'VALIDATION_ERROR', call('patch', `/segments/${dynamic.id}`).send({ condition: null })],
    [422, 'VALIDATION_ERROR', call('post', `/segments/${list.id}/members`).send({ emails: [] })],
    [422, 'VALIDATION_ERROR', call('post', `/segments/${list.id}/members`).send({ emails: ['x'] })],
    [422, 'VALIDATION_ERROR', call('get', `/segments/${list.id}/contacts?page=0`)],
  ]
  for (const [status, code, request] of states) {
    const answer = await request
    assert.deepEqual([answer.status, answer.body.error.code], [status, code])
  }
  const reference = { field: `segment.${list.id}`, operator: 'memberOfSegment' }
  const condition = { logic: 'AND', groups: [{ filters: [reference] }] }
  const user = (await create({ name: 'User', condition })).body
  const conflict = await call('delete', `/segments/${list.id}`)
  assert.deepEqual([conflict.status, conflict.body.error.code], [409, 'CONFLICT'])
  assert.deepEqual(conflict.body.error.details.segments, [{ id: user.id, name: 'User' }])
  const more = Array.from({ length: 501 }, (_, index) => `p${index}@x.test`)
  const tooMany = await call('post', `/segments/${list.id}/members`).send({ emails: more })
  assert.equal(tooMany.status, 422)
  assert.equal(tooMany.body.error.errors[0].field, 'emails')
})

test("S20: another project's segment is 404 for every call and does not change", async () => {
  await addContact('a@x.test')
  const dynamic = (await create({ trackMembership: true })).body
  const list = (await create({ type: 'STATIC', condition: undefined })).body
  const emails = ['new@x.test']
  for (const { id } of [dynamic, list]) {
    const path = `/segments/${id}`
    for (const request of [
      call('get', path, other),
      call('patch', path, other).send({ name: 'Taken' }),
      call('delete', path, other),
      call('get', `${path}/contacts`, other),
      call('post', `${path}/members`, other).send({ emails, createMissing: true }),
      call('delete', `${path}/members`, other).send({ emails: ['a@x.test'] }),
      call('post', `${path}/compute`, other),
      call('post', `${path}/refresh`, other),
    ]) {
      const { status, body } = await request
      assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    }
  }
  assert.deepEqual((await call('get', '/segments', other)).body, [])
  assert.deepEqual((await call('get', '/segments')).body, [list, dynamic])
  assert.equal(await service.core.store.read.$count(contacts), 1)
  assert.equal(await service.core.store.read.$count(segmentMembers), 0)
  assert.equal((await call('get', '/segments/not-an-id')).status, 404)
})

test('no route of segments accepts a public key', async () => {
  const answer = await supertest(service.url)
    .get('/segments')
    .set('Authorization', `Bearer ${mine.public}`)
  assert.equal(answer.status, 401)
})

test('a field that no contact has and that is near another is named in a warning and in the check', async () => {
  const project = await service.makeProject('near')
  const by = (method: 'post' | 'patch', path: string) => call(method, path, project)
  await by('post', '/contacts').send({ email: 'a@people.test', data: { city: 'Ghent' } })
  const condition = (...fields: string[]) => ({
    logic: 'AND',
    groups: [{ filters: fields.map((field) => ({ field, operator: 'equals', value: 'Ghent' })) }],
  })
  const made = await by('post', '/segments').send({
    name: 's',
    condition: condition('data.City', 'data.somethingElse'),
  })
  const message = 'No contact has data.City, so its filter selects nobody; did you mean data.city?'
  const warnings = [{ field: 'condition', message, suggestion: 'data.city' }]
  assert.deepEqual([made.status, made.body.warnings], [201, warnings])
  const path = `/segments/${made.body.id}`
  const checked = await by('post', `${path}/check`)
  assert.deepEqual(
    checked.body.findings.map(({ fix }: { fix: string }) => fix),
    [
      'Did you mean data.city? Nothing, if it comes later; else correct the name.',
      'Nothing, if it comes later; else correct the name.',
    ],
  )
  const right = await by('patch', path).send({ condition: condition('data.city') })
  assert.deepEqual([right.body.memberCount, right.body.warnings], [1, undefined])
  const wrong = await by('patch', path).send({ condition: condition('data.citty') })
  assert.equal(wrong.body.warnings[0].suggestion, 'data.city')
  const renamed = await by('patch', path).send({ name: 't' })
  assert.equal(renamed.body.warnings, undefined)
})
