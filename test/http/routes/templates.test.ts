import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { templates } from '../../../src/store/schema/messages.ts'
import { type TestProject, trustDomain } from '../../core.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService({}, async ({ service, mine, other }) => {
  await trustDomain(service.core, mine.id, 'example.test')
  await trustDomain(service.core, other.id, 'other.test')
})

beforeEach(() => service.core.store.write(async (tx) => void (await tx.delete(templates))))

const valid = { name: 'Welcome', subject: 'Hi {{name}}', body: '<p>Hi</p>', from: 'a@example.test' }

const create = (change: object = {}, by: TestProject = mine) =>
  call('post', '/templates', by).send({ ...valid, ...change })

const countTemplates = () => service.core.store.read.$count(templates)

test('a template is created, read, changed, copied and deleted', async () => {
  const created = await create({ from: 'A@Example.test' })
  assert.equal(created.status, 201)
  const { id, createdAt, updatedAt, ...fields } = created.body
  assert.deepEqual(fields, {
    ...valid,
    description: null,
    fromName: null,
    replyTo: null,
    type: 'MARKETING',
    projectId: mine.id,
  })
  assert.equal(createdAt, updatedAt)

  const read = await call('get', `/templates/${id}`)
  assert.deepEqual([read.status, read.body], [200, created.body])

  const changed = await call('patch', `/templates/${id}`).send({ type: 'HEADLESS', fromName: 'Us' })
  assert.equal(changed.status, 200)
  assert.deepEqual(
    [changed.body.type, changed.body.fromName, changed.body.subject],
    ['HEADLESS', 'Us', valid.subject],
  )

  const copy = await call('post', `/templates/${id}/duplicate`)
  assert.equal(copy.status, 201)
  assert.equal(copy.body.name, 'Welcome (Copy)')
  assert.notEqual(copy.body.id, id)

  const usage = await call('get', `/templates/${id}/usage`)
  assert.deepEqual(usage.body, {
    workflowSteps: 0,
    emailsSent: 0,
    campaigns: [],
    workflows: [],
    steps: [],
  })

  const deleted = await call('delete', `/templates/${id}`)
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  assert.equal((await call('get', `/templates/${id}`)).status, 404)
})

const refused: [string, object, number, string, string[]][] = [
  [
    'nothing',
    { name: undefined, subject: undefined, body: undefined, from: undefined },
    422,
    'VALIDATION_ERROR',
    ['name invalid_type', 'subject invalid_type', 'body invalid_type', 'from invalid_type'],
  ],
  ['an empty name', { name: '' }, 422, 'VALIDATION_ERROR', ['name too_small']],
  ['a name too long', { name: 'x'.repeat(101) }, 422, 'VALIDATION_ERROR', ['name too_big']],
  [
    'a description too long',
    { description: 'x'.repeat(501) },
    422,
    'VALIDATION_ERROR',
    ['description too_big'],
  ],
  ['an unknown type', { type: 'SPAM' }, 422, 'VALIDATION_ERROR', ['type invalid_enum_value']],
  ['a bad sender', { from: 'nobody' }, 422, 'VALIDATION_ERROR', ['from invalid_string']],
  ['a bad reply-to', { replyTo: 'nobody' }, 422, 'VALIDATION_ERROR', ['replyTo invalid_string']],
  [
    'a line break in the subject',
    { subject: 'a\r\nBcc: x' },
    422,
    'VALIDATION_ERROR',
    ['subject invalid_string'],
  ],
  [
    'a line break in the sender name',
    { fromName: 'a\nb' },
    422,
    'VALIDATION_ERROR',
    ['fromName invalid_string'],
  ],
  [
    'more tags than the limit',
    { body: '{{ a }}'.repeat(20_001) },
    422,
    'VALIDATION_ERROR',
    ['body too_big'],
  ],
  ['a sender domain that is not ours', { from: 'a@other.test' }, 403, 'FORBIDDEN', []],
  [
    'template syntax that is wrong',
    { body: '{% if %}' },
    400,
    'BAD_REQUEST',
    ['body template_syntax'],
  ],
]

for (const [name, change, status, code, fields] of refused) {
  test(`a template with ${name} is refused and not stored`, async () => {
    const response = await create(change)
    assert.equal(response.status, status)
    assert.equal(response.body.error.code, code)
    const errors = response.body.error.errors ?? []
    assert.deepEqual(
      errors.map((error: { field: string; code: string }) => `${error.field} ${error.code}`),
      fields,
    )
    assert.equal(await countTemplates(), 0)
  })
}

test('parameters of a list that contradict each other are refused', async () => {
  for (const name of ['one', 'two']) await create({ name })
  const first = await call('get', '/templates?limit=1')
  const cursor = encodeURIComponent(first.body.cursor)
  for (const [query, field] of [
    [`cursor=${cursor}&page=1`, 'cursor'],
    [`cursor=${cursor}&page=1&pageSize=1`, 'cursor'],
    ['limit=1&pageSize=2', 'limit'],
  ]) {
    const { status, body } = await call('get', `/templates?${query}`)
    assert.deepEqual([status, body.error?.errors[0].field], [422, field], query)
  }
  // The size is no place.
  const second = await call('get', `/templates?cursor=${cursor}&pageSize=1`)
  assert.equal(second.status, 200)
  assert.equal(second.body.data.length, 1)
  assert.notEqual(second.body.data[0].id, first.body.data[0].id)
})

test('a list is paged by cursor, and its response has both shapes', async () => {
  for (let number = 1; number <= 5; number += 1) await create({ name: `T${number}` })
  const first = await call('get', '/templates?limit=2')
  assert.equal(first.status, 200)
  assert.deepEqual(first.body.templates, first.body.data)
  assert.deepEqual(namesOf(first.body), ['T5', 'T4'])
  const { data, templates: again, cursor, ...rest } = first.body
  assert.deepEqual(rest, { total: 5, page: 1, pageSize: 2, totalPages: 3, hasMore: true })
  const second = await call('get', `/templates?limit=2&cursor=${encodeURIComponent(cursor)}`)
  assert.deepEqual(namesOf(second.body), ['T3', 'T2'])
  assert.equal(second.body.total, 0)
  const last = await call(
    'get',
    `/templates?limit=2&cursor=${encodeURIComponent(second.body.cursor)}`,
  )
  assert.deepEqual(namesOf(last.body), ['T1'])
  assert.deepEqual([last.body.cursor, last.body.hasMore], [null, false])
})

test('a list is read page by page, sorted and filtered by parameters', async () => {
  for (const name of ['b', 'a', 'c']) await create({ name })
  await create({ name: 'shop', type: 'TRANSACTIONAL' })
  const page = await call('get', '/templates?page=2&pageSize=3&sort=name&dir=asc')
  assert.deepEqual(namesOf(page.body), ['shop'])
  assert.deepEqual(
    [page.body.total, page.body.page, page.body.pageSize, page.body.totalPages],
    [4, 2, 3, 2],
  )
  assert.deepEqual(namesOf((await call('get', '/templates?type=TRANSACTIONAL')).body), ['shop'])
  assert.deepEqual(namesOf((await call('get', '/templates?search=SHO')).body), ['shop'])
  assert.deepEqual(namesOf((await call('get', '/templates?search=%00')).body), [])
  const fallback = await call('get', '/templates?sort=nonsense&dir=nonsense&limit=1')
  assert.deepEqual(namesOf(fallback.body), ['shop'])
})

const queries: [string, number, string?][] = [
  ['limit=100000', 200],
  ['pageSize=100000', 200],
  ['limit=0', 422, 'limit too_small'],
  ['limit=-1', 422, 'limit too_small'],
  ['limit=ten', 422, 'limit invalid_type'],
  ['limit=1.5', 422, 'limit invalid_type'],
  ['limit=', 422, 'limit invalid_type'],
  ['limit=1e2', 422, 'limit invalid_type'],
  ['page=0', 422, 'page too_small'],
  ['pageSize=0', 422, 'pageSize too_small'],
  ['type=SPAM', 422, 'type invalid_enum_value'],
  ['cursor=garbage', 422, 'cursor custom'],
  ["cursor=' or 1=1 --", 422, 'cursor custom'],
]

for (const [query, status, error] of queries) {
  test(`GET /templates?${query} is ${status}`, async () => {
    const response = await call('get', `/templates?${encodeURI(query)}`)
    assert.equal(response.status, status)
    if (status === 200) assert.equal(response.body.pageSize, 100)
    else {
      const [first] = response.body.error.errors
      assert.equal(`${first.field} ${first.code}`, error)
    }
  })
}

test('several templates are deleted together or not at all', async () => {
  const ids = [(await create()).body.id, (await create()).body.id]
  const { body: theirs } = await create({ from: 'a@other.test' }, other)
  const foreign = await call('post', '/templates/bulk-update').send({
    ids: [...ids, theirs.id],
    delete: true,
  })
  assert.equal(foreign.status, 404)
  assert.equal(await countTemplates(), 3)
  const unchanged = await call('post', '/templates/bulk-update').send({ ids })
  assert.deepEqual([unchanged.status, unchanged.body], [200, { updated: 0 }])
  const deleted = await call('post', '/templates/bulk-update').send({ ids, delete: true })
  assert.deepEqual([deleted.status, deleted.body], [200, { deleted: 2 }])
  assert.equal(await countTemplates(), 1)
  for (const bad of [[], Array(1001).fill(ids[0]), ['x'], 'x']) {
    assert.equal((await call('post', '/templates/bulk-update').send({ ids: bad })).status, 422)
  }
})

test("S20: another project's template is 404 on every path, and does not change", async () => {
  const { body: theirs } = await create({ from: 'a@other.test' }, other)
  for (const [method, path] of [
    ['get', `/templates/${theirs.id}`],
    ['patch', `/templates/${theirs.id}`],
    ['delete', `/templates/${theirs.id}`],
    ['post', `/templates/${theirs.id}/duplicate`],
    ['get', `/templates/${theirs.id}/usage`],
    ['get', '/templates/no-uuid'],
    ['delete', '/templates/no-uuid'],
  ] as const) {
    const { status, body } = await call(method, path).send(
      method === 'patch' ? { name: 'X' } : undefined,
    )
    assert.equal(status, 404, path)
    assert.equal(body.error.code, 'TEMPLATE_NOT_FOUND')
  }
  assert.deepEqual(namesOf((await call('get', '/templates')).body), [])
  const cursor = await call('get', `/templates?cursor=${theirs.id}`)
  assert.equal(cursor.status, 422)
  const still = await call('get', `/templates/${theirs.id}`, other)
  assert.deepEqual(still.body, theirs)
})

function namesOf(page: { data: { name: string }[] }): string[] {
  return page.data.map(({ name }) => name)
}

test('a sender may be written with its name, which a given fromName replaces', async () => {
  const from = 'Shop <A@Example.test>'
  const { body } = await create({ from })
  assert.deepEqual([body.from, body.fromName], ['a@example.test', 'Shop'])
  const patch = async (change: object) =>
    (await call('patch', `/templates/${body.id}`).send(change)).body
  const bare = await patch({ from: 'b@example.test' })
  assert.deepEqual([bare.from, bare.fromName], ['b@example.test', 'Shop'])
  const named = await patch({ from: { name: 'Us', email: 'a@example.test' } })
  assert.deepEqual([named.from, named.fromName], ['a@example.test', 'Us'])
  const given = await patch({ from, fromName: 'Them' })
  assert.deepEqual([given.from, given.fromName], ['a@example.test', 'Them'])
  assert.equal((await patch({ from, fromName: null })).fromName, 'Shop')
  for (const wrong of [`${'x'.repeat(101)} <a@example.test>`, 'Shop <nobody>', 7]) {
    const { status, body: refused } = await create({ from: wrong })
    assert.deepEqual([status, refused.error.errors[0].field], [422, 'from'])
  }
})

test('blocks and functions of Go are refused when they are saved, and a variable named end is not', async () => {
  const go = '<p>\n{{ if .Subscriber.Name }}Hello {{ name }}{{ else }}Hello you{{ end }}</p>'
  const refused = await create({ body: go })
  assert.equal(refused.status, 400)
  assert.match(refused.body.error.errors[0].message, /^Line 2, column 1: .*\{% if name %\}/)
  const { status, body } = await create({ body: '<p>{{ start }} to {{ end }}</p>' })
  assert.deepEqual([status, body.warnings], [201, undefined])
  const changed = await call('patch', `/templates/${body.id}`).send({
    subject: '{{ Date "2006" }}',
  })
  assert.equal(changed.status, 400)
})

test('placeholders of other services are named when a template is saved', async () => {
  const created = await create({ subject: 'Hi *|FNAME|*', body: '<p>{$name}</p>' })
  assert.equal(created.status, 201)
  const fieldsOf = (warnings: { field: string; message: string }[]) =>
    warnings.map(({ field, message }) => `${field} ${message.split(' ')[0]}`)
  assert.deepEqual(fieldsOf(created.body.warnings), ['subject *|FNAME|*', 'body {$name}'])
  const copied = await call('post', `/templates/${created.body.id}/duplicate`)
  assert.deepEqual(fieldsOf(copied.body.warnings), ['subject *|FNAME|*', 'body {$name}'])
  const patch = (change: object) =>
    call('patch', `/templates/${created.body.id}`).send(change).expect(200)
  const changed = await patch({ body: '<p>%recipient.name%</p>' })
  assert.deepEqual(fieldsOf(changed.body.warnings), ['body %recipient.name%'])
  const sound = await patch({ body: '<p>{{ name }}</p>' })
  assert.equal(sound.body.warnings, undefined)
  const refused = await create({ body: '<p>{{> header}}</p>' })
  assert.equal(refused.status, 400)
  assert.match(refused.body.error.errors[0].message, /^Line 1, column 4: .*no partials/)
})
