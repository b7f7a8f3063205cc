import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import supertest from 'supertest'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { wishes } from '../../../../src/store/schema/wishes.ts'
import { trustDomain } from '../../../core.ts'
import { useService } from '../../service.ts'

const { service, mine, other, call } = useService()

beforeEach(async () => {
  await service.core.store.write(async (tx) => {
    await tx.delete(contacts).run()
    await tx.delete(events).run()
    await tx.delete(wishes).run()
  })
})

const add = (body: object, by = mine) => call('post', '/contacts', by).send(body)

const listEvents = () => service.core.store.read.select().from(events).all()

const emailsOf = (body: { data: { email: string }[] }) => body.data.map(({ email }) => email)

test('a contact is created, shown, changed by its address, and deleted', async () => {
  const made = await add({ email: ' Ada@X.test ', data: { plan: 'pro', n: 1, id: 'x', empty: '' } })
  assert.equal(made.status, 201)
  const { id, createdAt, updatedAt, _meta, warnings, ...rest } = made.body
  assert.deepEqual(warnings, [
    {
      field: 'data.id',
      message: 'Contacts have no such data: the name belongs to the service, so it was ignored',
      suggestion: 'Use another name',
    },
  ])
  assert.deepEqual(rest, {
    email: 'ada@x.test',
    subscribed: true,
    data: { plan: 'pro', n: 1 },
    projectId: mine.id,
  })
  assert.deepEqual(_meta, { isNew: true, isUpdate: false })
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.equal(updatedAt, createdAt)

  const again = await add({ email: 'ada@x.test', data: { n: null, city: 'Paris' } })
  assert.equal(again.status, 200)
  assert.deepEqual(again.body._meta, { isNew: false, isUpdate: true })
  assert.deepEqual([again.body.id, again.body.data], [id, { plan: 'pro', city: 'Paris' }])

  const { _meta: _, ...contact } = again.body
  const shown = await call('get', `/contacts/${id}`)
  assert.deepEqual([shown.status, shown.body], [200, contact])
  assert.deepEqual((await call('get', '/contacts')).body, {
    data: [contact],
    cursor: null,
    hasMore: false,
    total: 1,
  })
  const deleted = await call('delete', `/contacts/${id}`)
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  for (const verb of ['get', 'delete'] as const) {
    const gone = await call(verb, `/contacts/${id}`)
    assert.equal(gone.status, 404)
    assert.equal(gone.body.error.code, 'CONTACT_NOT_FOUND')
    assert.deepEqual(gone.body.error.details, { resource: 'contact', id })
  }
  assert.equal((await call('get', '/contacts')).body.total, 0)
})

test('an upsert without `subscribed` keeps the subscription, and a change emits an event', async () => {
  const { body: made } = await add({ email: 'ada@x.test', subscribed: false })
  assert.equal(made.subscribed, false)
  assert.equal((await add({ email: 'ada@x.test', data: null })).body.subscribed, false)
  assert.deepEqual(await listEvents(), [])
  assert.equal((await add({ email: 'ada@x.test', subscribed: true })).body.subscribed, true)
  await call('patch', `/contacts/${made.id}`).send({ subscribed: false })
  await call('patch', `/contacts/${made.id}`).send({ subscribed: false })
  const recorded = (await listEvents()).map(({ name, contactId, data }) => [name, contactId, data])
  assert.deepEqual(recorded, [
    ['contact.subscribed', made.id, { reason: 'api' }],
    ['contact.unsubscribed', made.id, { reason: 'api' }],
  ])
})

test('`unsubscribed: true` is the wish of the person, in both calls', async () => {
  const { body: ada } = await add({ email: 'ada@x.test', unsubscribed: true })
  assert.deepEqual([ada.subscribed, ada.warnings], [false, undefined])
  const { body: bob } = await add({ email: 'bob@x.test' })
  const left = await call('patch', `/contacts/${bob.id}`).send({
    unsubscribed: true,
    data: { a: 1 },
  })
  assert.deepEqual([left.status, left.body.subscribed, left.body.data], [200, false, { a: 1 }])
  assert.equal('unsubscribed' in left.body, false)
  const { body: carl } = await add({ email: 'carl@x.test', subscribed: false })
  await call('patch', `/contacts/${carl.id}`).send({ unsubscribed: true })
  const rows = await service.core.store.read.select().from(wishes).all()
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['unknown', 'unknown', 'unknown'],
  )

  for (const { id, email } of [ada, bob, carl]) {
    await call('delete', `/contacts/${id}`)
    assert.equal((await add({ email })).body.subscribed, false)
    assert.equal((await add({ email, subscribed: true })).body.subscribed, true)
  }
  assert.equal(await service.core.store.read.$count(wishes), 0)
})

test('`unsubscribed` of false and of null says nothing, in both calls', async () => {
  const { body: ada } = await add({ email: 'ada@x.test', unsubscribed: true })
  const patch = (body: object) => call('patch', `/contacts/${ada.id}`).send(body)
  for (const unsubscribed of [false, null]) {
    const others = { email: `${unsubscribed}@x.test`, unsubscribed }
    const { body: bob } = await add(others)
    assert.deepEqual([bob.subscribed, bob.warnings], [true, undefined])
    for (const answer of [
      await add({ email: 'ada@x.test', unsubscribed }),
      await patch({ unsubscribed }),
      await patch({ subscribed: false, unsubscribed }),
    ]) {
      assert.deepEqual([answer.body.subscribed, answer.body.warnings], [false, undefined])
    }
    assert.equal((await add({ ...others, subscribed: false })).body.subscribed, false)
    assert.equal((await add(others)).body.subscribed, false)
    assert.equal((await add({ ...others, subscribed: true })).body.subscribed, true)
  }
  assert.equal(await service.core.store.read.$count(wishes), 1)
})

test('`unsubscribed: true` with a new address is the wish of that address', async () => {
  const { body: made } = await add({ email: 'ada@x.test' })
  await call('patch', `/contacts/${made.id}`).send({ email: 'new@x.test', unsubscribed: true })
  assert.equal((await add({ email: 'ada@x.test' })).body.subscribed, true)
  await call('delete', `/contacts/${made.id}`)
  assert.equal((await add({ email: 'new@x.test' })).body.subscribed, false)
})

test('`subscribed: false` records no wish, and contradictions are refused', async () => {
  const { body: made } = await add({ email: 'ada@x.test', subscribed: false })
  await call('patch', `/contacts/${made.id}`).send({ subscribed: false })
  const patch = (body: object) => call('patch', `/contacts/${made.id}`).send(body)
  const both = { subscribed: true, unsubscribed: true }
  for (const answer of [await patch(both), await add({ email: 'ada@x.test', ...both })]) {
    assert.equal(answer.status, 422)
    assert.equal(answer.body.error.errors[0].field, 'unsubscribed')
  }
  assert.equal((await patch({ subscribed: false, unsubscribed: true })).status, 200)
  assert.equal((await patch({ subscribed: true, unsubscribed: false })).body.subscribed, true)
  assert.equal(await service.core.store.read.$count(wishes), 0)
})

test('the public key cannot say that a person left', async () => {
  const { body: made } = await add({ email: 'ada@x.test' })
  const asPublic = { ...mine, secret: mine.public }
  for (const answer of [
    await add({ email: 'ada@x.test', unsubscribed: true }, asPublic),
    await call('patch', `/contacts/${made.id}`, asPublic).send({ unsubscribed: true }),
    await call('post', '/v1/track', asPublic).send({
      ...{ email: 'ada@x.test', event: 'left', unsubscribed: true },
    }),
  ]) {
    if (answer.status === 200) assert.equal(answer.body.warnings[0].field, 'unsubscribed')
    else assert.ok([401, 403].includes(answer.status))
  }
  assert.equal((await call('get', `/contacts/${made.id}`)).body.subscribed, true)
  assert.equal(await service.core.store.read.$count(wishes), 0)
})

test('parameters of another list are named with those of this one', async () => {
  const segment = { name: 'S', type: 'STATIC' }
  const { body: made } = await call('post', '/segments').send(segment)
  await trustDomain(service.core, mine.id, 'shop.test')
  const draft = { name: 'C', subject: 'S', body: '<p>B</p>', audienceType: 'ALL' }
  const { body: campaign } = await call('post', '/campaigns').send({
    ...draft,
    from: 'a@shop.test',
  })
  for (const [path, suggestion] of [
    [`/segments/${made.id}/contacts?limit=5`, 'pageSize'],
    [`/contacts?segmentId=${made.id}`, 'filter'],
    ['/contacts?pageSize=5', 'limit'],
    [`/campaigns/${campaign.data?.id}/recipients?status=failed`, 'outcome'],
  ] as const) {
    const { status, body } = await call('get', path)
    assert.deepEqual([status, body.warnings?.[0]?.suggestion], [200, suggestion], path)
  }
})

test('a condition as the whole body and a misspelt key are refused and list nothing', async () => {
  await add({ email: 'ada@x.test' })
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
  }
  for (const body of [condition, { fitler: condition }, { filter: condition, serach: 'a' }]) {
    const answer = await call('post', '/contacts/query').send(body)
    assert.equal(answer.status, 422)
    assert.equal(answer.body.error.errors[0].code, 'unrecognized')
    assert.equal('data' in answer.body, false)
  }
  const hint = await call('post', '/contacts/query').send(condition)
  assert.match(hint.body.error.errors[0].message, /did you mean filter\?/)
})

test('a patch merges data, null clears it, and absent fields stay', async () => {
  const { body: made } = await add({ email: 'ada@x.test', data: { a: 1, b: 2 } })
  const patch = (body: object) => call('patch', `/contacts/${made.id}`).send(body)
  assert.deepEqual((await patch({ data: { b: null, c: '', d: [1] } })).body.data, { a: 1, d: [1] })
  const moved = await patch({ email: 'NEW@x.test' })
  assert.deepEqual(
    [moved.status, moved.body.email, moved.body.data],
    [200, 'new@x.test', { a: 1, d: [1] }],
  )
  assert.equal((await patch({ data: null })).body.data, null)
  assert.equal((await patch({})).status, 200)
  await add({ email: 'bob@x.test' })
  const taken = await patch({ email: 'bob@x.test', subscribed: false })
  assert.equal(taken.status, 409)
  assert.equal(taken.body.error.code, 'CONFLICT')
  const { body: now } = await call('get', `/contacts/${made.id}`)
  assert.deepEqual([now.email, now.subscribed], ['new@x.test', true])
})

test('a look-up separates addresses of contacts from unknown ones, as spelled in the request', async () => {
  await add({ email: 'ada@x.test' })
  await add({ email: 'jö@münchen.test' })
  await add({ email: 'bob@x.test' }, other)
  const emails = ['ADA@x.test', 'bob@x.test', ' nobody', '', 'JÖ@xn--mnchen-3ya.test', 'ada@x.test']
  const { status, body } = await call('post', '/contacts/lookup').send({ emails })
  assert.equal(status, 200)
  assert.deepEqual(body, {
    found: ['ADA@x.test', 'JÖ@xn--mnchen-3ya.test', 'ada@x.test'],
    notFound: ['bob@x.test', ' nobody', ''],
  })
  const most = Array.from({ length: 500 }, (_, at) => `u${at}@x.test`)
  const all = await call('post', '/contacts/lookup').send({ emails: most })
  assert.deepEqual(all.body, { found: [], notFound: most })
})

test('the list is paged by cursor, filtered and sorted, both by query and by body', async () => {
  for (const [at, name] of ['cy', 'ada', 'bob', 'dan', 'eve'].entries()) {
    const plan = at % 2 === 0 ? 'pro' : 'free'
    await add({ email: `${name}@x.test`, subscribed: at > 0, data: { plan } })
  }
  const filter = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
  }
  const cases: [Record<string, unknown>, string[]][] = [
    [{}, ['eve', 'dan', 'bob', 'ada', 'cy']],
    [{ dir: 'asc' }, ['cy', 'ada', 'bob', 'dan', 'eve']],
    [{ sort: 'email', dir: 'asc' }, ['ada', 'bob', 'cy', 'dan', 'eve']],
    [{ subscribed: false }, ['cy']],
    [{ filter }, ['eve', 'bob', 'cy']],
    [{ filter, subscribed: true, sort: 'email' }, ['eve', 'bob']],
    [{ search: 'D', filter: undefined, dir: 'asc' }, ['ada', 'dan']],
    [{ sort: 'shoe size', dir: 'sideways' }, ['eve', 'dan', 'bob', 'ada', 'cy']],
  ]
  for (const [query, names] of cases) {
    const text = Object.entries({ ...query, limit: 2 })
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, typeof value === 'object' ? JSON.stringify(value) : `${value}`])
    for (const by of ['query', 'body']) {
      const seen: string[] = []
      let cursor: string | null | undefined
      do {
        const next = cursor === undefined ? [] : [['cursor', cursor as string]]
        const params = new URLSearchParams([...text, ...next] as [string, string][])
        const { status, body } =
          by === 'query'
            ? await call('get', `/contacts?${params}`)
            : await call('post', '/contacts/query').send({ ...query, limit: 2, cursor })
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal(body.total, cursor === undefined ? names.length : 0)
        seen.push(...emailsOf(body))
        cursor = body.cursor
      } while (cursor !== null)
      assert.deepEqual(
        seen,
        names.map((name) => `${name}@x.test`),
      )
    }
  }
  const { body } = await call('post', '/contacts/query').send({ condition: filter, limit: 1000 })
  assert.equal(body.data.length, 3)
})

test('S20: ids, cursors and addresses of another project are unknown', async () => {
  const { body: foreign } = await add({ email: 'ada@x.test' }, other)
  await add({ email: 'bob@x.test' }, other)
  for (const [verb, body] of [
    ['get', undefined],
    ['patch', { subscribed: false }],
    ['delete', undefined],
  ] as const) {
    const reply = await call(verb, `/contacts/${foreign.id}`).send(body)
    const never = await call(verb, `/contacts/${newId()}`).send(body)
    assert.equal(reply.status, 404)
    assert.equal(reply.body.error.code, never.body.error.code)
    assert.equal(reply.body.error.message, never.body.error.message)
  }
  assert.equal((await call('get', `/contacts?cursor=${foreign.id}`)).status, 422)
  const sealed = await call('get', '/contacts?limit=1', other)
  await add({ email: 'cy@x.test' })
  const page = await call('get', `/contacts?dir=asc&cursor=${sealed.body.cursor}`)
  assert.deepEqual(emailsOf(page.body), ['cy@x.test'])
  const looked = await call('post', '/contacts/lookup').send({ emails: ['ada@x.test'] })
  assert.deepEqual(looked.body, { found: [], notFound: ['ada@x.test'] })
  const segment = {
    logic: 'AND',
    groups: [{ filters: [{ field: `segment.${newId()}`, operator: 'memberOfSegment' }] }],
  }
  const unknown = await call('post', '/contacts/query').send({ filter: segment })
  assert.equal(unknown.status, 400)
  assert.equal(unknown.body.error.code, 'BAD_REQUEST')
  const { body: left } = await call('get', '/contacts', other)
  assert.deepEqual(
    left.data.map((each: { email: string; subscribed: boolean }) => [each.email, each.subscribed]),
    [
      ['bob@x.test', true],
      ['ada@x.test', true],
    ],
  )
  assert.deepEqual(await listEvents(), [])
})

test('addresses in any script are stored in one spelling, and invalid ones are refused', async () => {
  const spellings = ['JÖRG@MÜNCHEN.test', 'jörg@münchen.test', 'jörg@xn--mnchen-3ya.test']
  const replies = await Promise.all(
    spellings.map((email) => add({ email: email.normalize('NFD') })),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 200, 201])
  assert.equal(new Set(replies.map(({ body }) => body.id)).size, 1)
  assert.equal(replies[0]?.body.email, 'jörg@münchen.test')
  const found = await call('get', `/contacts?search=${encodeURIComponent('MÜN')}`)
  assert.equal(found.body.total, 1)
  const long = `${'a'.repeat(65_536)}@x.test`
  for (const email of [
    long,
    'a@ｘ.test',
    'a@x',
    'a b@x.test',
    'a@x.test\n',
    'a@x.test,b@x.test',
    '',
  ]) {
    const { status, body } = await add({ email, data: { a: 1 } })
    assert.equal(status, 422, email.slice(0, 40))
    assert.equal(body.error.errors[0].field, 'email')
    assert.ok(JSON.stringify(body).length < 2000)
  }
  assert.equal(await service.core.store.read.$count(contacts), 1)
})

const tooManyKeys = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`k${at}`, at]))
const deep = JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`)

for (const [name, body, field, code] of [
  ['no address', {}, 'email', 'invalid_type'],
  ['an address that is a number', { email: 7 }, 'email', 'invalid_type'],
  ['a list of addresses', { email: ['a@x.test'] }, 'email', 'invalid_type'],
  ['subscribed as text', { email: 'a@x.test', subscribed: 'yes' }, 'subscribed', 'invalid_type'],
  ['subscribed as null', { email: 'a@x.test', subscribed: null }, 'subscribed', 'invalid_type'],
  ['data as a list', { email: 'a@x.test', data: [1] }, 'data', 'invalid_type'],
  ['data as text', { email: 'a@x.test', data: 'x' }, 'data', 'invalid_type'],
  [
    'data that is too large',
    { email: 'a@x.test', data: { a: 'x'.repeat(65_536) } },
    'data',
    'too_big',
  ],
  ['data of too many keys', { email: 'a@x.test', data: tooManyKeys }, 'data', 'too_big'],
  ['data too deep', { email: 'a@x.test', data: deep }, `data${'.a'.repeat(20)}`, 'too_big'],
  ['an empty key', { email: 'a@x.test', data: { '': 1 } }, 'data', 'too_small'],
  [
    'a locale that is none',
    { email: 'a@x.test', data: { locale: 1 } },
    'data.locale',
    'invalid_type',
  ],
] as const) {
  test(`${name} is refused at its path, and nothing is written`, async () => {
    const { body: known } = await add({ email: 'known@x.test' })
    const posted = await add(body)
    const patched = await call('patch', `/contacts/${known.id}`).send({
      subscribed: false,
      ...body,
    })
    const replies = name === 'no address' ? [posted] : [posted, patched]
    for (const reply of replies) {
      assert.equal(reply.status, 422)
      assert.equal(reply.body.error.code, 'VALIDATION_ERROR')
      const [first] = reply.body.error.errors
      assert.deepEqual([first.field, first.code], [field, code])
    }
    assert.equal((await call('get', '/contacts')).body.total, 1)
    const now = await call('get', `/contacts/${known.id}`)
    if (name !== 'no address') assert.equal(now.body.subscribed, true)
    assert.equal(now.body.data, null)
  })
}

test('the names of prototypes are plain keys of data', async () => {
  const data =
    '{"constructor":{"prototype":{"x":1}},"prototype":1,"toString":"t","hasOwnProperty":2}'
  const made = await add({ email: 'ada@x.test', data: JSON.parse(data) })
  assert.equal(made.status, 201)
  assert.equal(JSON.stringify(made.body.data), data)
  const { body } = await call('patch', `/contacts/${made.body.id}`).send({
    data: { toString: null },
  })
  assert.deepEqual(Object.keys(body.data), ['constructor', 'prototype', 'hasOwnProperty'])
})

for (const [name, query, field] of [
  ['a cursor that is none', 'cursor=garbage', 'cursor'],
  ['a cursor that is no seal of ours', `cursor=${'A'.repeat(80)}`, 'cursor'],
  ['the id of nobody', `cursor=${newId()}`, 'cursor'],
  ['a limit below 1', 'limit=0', 'limit'],
  ['a limit that is no number', 'limit=many', 'limit'],
  ['a subscribed that is neither', 'subscribed=maybe', 'subscribed'],
  ['a search without end', `search=${'x'.repeat(256)}`, 'search'],
  ['a filter that is no JSON', 'filter=%7Bx', 'filter'],
  ['a filter that is no condition', 'filter=%7B%7D', 'filter.logic'],
] as const) {
  test(`${name} is 422`, async () => {
    const { status, body } = await call('get', `/contacts?${query}`)
    assert.equal(status, 422)
    assert.equal(body.error.errors[0].field, field)
  })
}

test('parameters without a value count as absent', async () => {
  const query = 'cursor=&search=&subscribed=&filter=&sort=&dir=&limit=1'
  assert.equal((await call('get', `/contacts?${query}`)).status, 200)
})

const anyone = {
  logic: 'AND',
  groups: [{ filters: [{ field: 'email', operator: 'contains', value: '@' }] }],
}

for (const [name, body, field] of [
  ['a limit below 1', { limit: 0 }, 'limit'],
  ['half a limit', { limit: 1.5 }, 'limit'],
  ['a limit as text', { limit: '5' }, 'limit'],
  ['a subscribed as text', { subscribed: 'true' }, 'subscribed'],
  ['a filter under both names', { filter: anyone, condition: anyone }, 'condition'],
  ['a filter as text', { filter: JSON.stringify(anyone) }, 'filter'],
  [
    'a condition of an unknown field',
    {
      condition: {
        ...anyone,
        groups: [{ filters: [{ field: 'x', operator: 'equals', value: 1 }] }],
      },
    },
    'condition.groups.0.filters.0.field',
  ],
  ['a cursor that is none', { cursor: 'garbage' }, 'cursor'],
] as const) {
  test(`a query with ${name} is 422`, async () => {
    const { status, body: reply } = await call('post', '/contacts/query').send(body)
    assert.equal(status, 422)
    assert.equal(reply.error.errors[0].field, field)
  })
}

for (const [name, body, field] of [
  ['nothing', {}, 'emails'],
  ['no addresses', { emails: [] }, 'emails'],
  ['more than 500', { emails: Array.from({ length: 501 }, () => 'a@x.test') }, 'emails'],
  ['something that is no text', { emails: ['a@x.test', 7] }, 'emails.1'],
  ['an address of 64 KB', { emails: [`${'a'.repeat(65_536)}@x.test`] }, 'emails.0'],
] as const) {
  test(`a look-up of ${name} is 422`, async () => {
    const { status, body: reply } = await call('post', '/contacts/lookup').send(body)
    assert.equal(status, 422)
    assert.equal(reply.error.errors[0].field, field)
  })
}

test('a public key can neither read nor write contacts', async () => {
  for (const [verb, path] of [
    ['get', '/contacts'],
    ['post', '/contacts'],
    ['post', '/contacts/query'],
    ['post', '/contacts/lookup'],
    ['delete', `/contacts/${newId()}`],
  ] as const) {
    const request = supertest(service.url)[verb](path)
    const { status } = await request.set('Authorization', `Bearer ${mine.public}`).send({})
    assert.equal(status, 401, `${verb} ${path}`)
  }
})

test('simultaneous posts of one address make one contact with the data of all', async () => {
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, at) => add({ email: 'ada@x.test', data: { [`k${at}`]: at } })),
  )
  const statuses = replies.map(({ status }) => status).sort()
  assert.deepEqual(statuses, [...Array.from({ length: 59 }, () => 200), 201])
  const { body } = await call('get', '/contacts')
  assert.equal(body.total, 1)
  assert.equal(Object.keys(body.data[0].data).length, 60)
})

test('a field that belongs into the data is named in a warning', async () => {
  const { status, body } = await add({ email: 'nm@x.test', name: 'Ada' })
  assert.equal(status, 201)
  const message = 'There is no such field, so it was ignored; did you mean data.name?'
  assert.deepEqual(body.warnings, [{ field: 'name', message, suggestion: 'data.name' }])
})
