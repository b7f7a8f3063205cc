/** Segments and conditions, by curl; `src/docs/conditions.md` describes conditions. */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import {
  addressOf,
  curl,
  eventsOf,
  filter,
  find,
  refused,
  save,
  serveFile,
  the,
  unlessCurl,
} from './shared-client.ts'

serveFile()

describe('segments', unlessCurl, () => {
  it('dynamic ones follow the data of their contacts', async () => {
    const key = `s${the().tag}`
    const one = await save('seg.1', { data: { [key]: 1 } })
    const made = await curl('POST', '/segments', {
      body: {
        ...{ name: `VIP Customers! ${the().tag}`, type: 'DYNAMIC', trackMembership: true },
        condition: filter(`data.${key}`, 'greaterThan', 0),
      },
    })
    assert.equal(made.status, 201, made.text)
    assert.equal(made.body.memberCount, 1)
    const { id } = made.body
    const compute = async () => (await curl('POST', `/segments/${id}/compute`)).body
    assert.deepEqual(await compute(), { added: 1, removed: 0, total: 1 })
    assert.deepEqual(await compute(), { added: 0, removed: 0, total: 1 })
    await save('seg.2', { data: { [key]: 5 } })
    await save('seg.1', { data: { [key]: 0 } })
    assert.deepEqual(await compute(), { added: 1, removed: 1, total: 1 })
    const slug = `segment.vip-customers-${the().tag}`
    const events = await eventsOf(one.id)
    assert.deepEqual(
      events.map(({ name }) => name),
      [`${slug}.exit`, `${slug}.entry`],
    )
    assert.equal((events[0]?.data as { segmentId?: string } | undefined)?.segmentId, id)
    const members = await curl('GET', `/segments/${id}/contacts?page=1&pageSize=10`)
    assert.deepEqual(
      [members.body.data.length, members.body.page, members.body.pageSize, members.body.totalPages],
      [1, 1, 10, 1],
    )
    const patched = await curl('PATCH', `/segments/${id}`, {
      body: { name: 'Renamed', condition: filter(`data.${key}`, 'exists') },
    })
    assert.equal(patched.body.memberCount, 2, patched.text)
    assert.deepEqual((await curl('POST', `/segments/${id}/refresh`)).body, { memberCount: 2 })
    const list = await curl('GET', '/segments')
    assert.equal(list.body[0].id, id)
    refused(
      await curl('GET', `/segments/${id}`, { key: the().strangerKey }),
      404,
      'RESOURCE_NOT_FOUND',
    )
    assert.equal((await curl('DELETE', `/segments/${id}`)).status, 204)
  })

  it('static ones have the members that requests add', async () => {
    await save('static.1')
    const made = await curl('POST', '/segments', {
      body: { name: 'Hand-picked', type: 'STATIC' },
    })
    assert.equal(made.status, 201, made.text)
    const members = `/segments/${made.body.id}/members`
    const emails = [addressOf('static.1'), addressOf('static.2')]
    const added = await curl('POST', members, { body: { emails } })
    assert.deepEqual([added.body.added, added.body.created], [1, 0])
    assert.ok(
      JSON.stringify(added.body.notFound).includes(addressOf('static.2')) ||
        added.body.notFound === 1,
    )
    const created = await curl('POST', members, {
      body: { emails, createMissing: true, subscribed: false },
    })
    assert.equal(created.body.created, 1)
    assert.equal((await find('static.2')).subscribed, false)
    assert.equal((await curl('GET', `/segments/${made.body.id}`)).body.memberCount, 2)
    const removed = await curl('DELETE', members, { body: { emails: [addressOf('static.1')] } })
    assert.deepEqual(removed.body, { removed: 1 })
    refused(
      await curl('POST', '/segments', {
        body: { name: 'x', type: 'STATIC', condition: filter('subscribed', 'equals', true) },
      }),
      422,
      'VALIDATION_ERROR',
      'condition',
    )
    refused(
      await curl('POST', '/segments', { body: { name: 'x', type: 'DYNAMIC' } }),
      422,
      'VALIDATION_ERROR',
      'condition',
    )
    refused(
      await curl('POST', `/segments/${made.body.id}/compute`.replace('compute', 'nothing')),
      404,
      'RESOURCE_NOT_FOUND',
    )
  })
})

describe('conditions', unlessCurl, () => {
  const names = async (condition: unknown): Promise<string[]> => {
    const own = filter('email', 'contains', `c.${the().tag}@`)
    const both = { logic: 'AND', groups: [...own.groups, { filters: [], conditions: condition }] }
    const { status, body, text } = await curl('POST', '/contacts/query', {
      body: { filter: both, limit: 100, sort: 'email', dir: 'asc' },
    })
    assert.equal(status, 200, text)
    assert.equal(body.total, body.data.length)
    return body.data.map(({ email }: { email: string }) => email.split('.')[0])
  }

  before(async () => {
    const old = '2020-05-17T10:00:00.000Z'
    await save('full.c', { data: { text: 'Blue', number: 5, flag: true, day: old } })
    await save('zero.c', { data: { text: '1', number: 0, flag: false, day: '2020-05-18' } })
    await save('none.c', { subscribed: false })
    await curl('POST', '/v1/track', {
      body: { email: addressOf('full.c'), event: `ev ${the().tag}` },
    })
  })

  const own = (field: string) => (field === 'event' ? `event.ev ${the().tag}` : field)
  const rows: [string, string, unknown, string[], string?][] = [
    ['data.text', 'equals', 'Blue', ['full']],
    ['data.text', 'equals', 'blue', []],
    ['data.text', 'equals', 1, []],
    ['data.text', 'notEquals', 'Blue', ['zero']],
    ['data.text', 'contains', 'lu', ['full']],
    ['data.text', 'notContains', 'lu', ['zero']],
    ['data.number', 'equals', 5, ['full']],
    ['data.number', 'equals', '5', []],
    ['data.number', 'greaterThan', 0, ['full']],
    ['data.number', 'lessThanOrEqual', 0, ['zero']],
    ['data.flag', 'equals', false, ['zero']],
    ['data.day', 'equals', '2020-05-17', ['full']],
    ['data.day', 'notEquals', '2020-05-17', ['zero']],
    ['data.day', 'olderThan', 30, ['full', 'zero'], 'days'],
    ['data.day', 'within', 30, [], 'days'],
    ['data.text', 'exists', undefined, ['full', 'zero']],
    ['data.text', 'notExists', undefined, ['none']],
    ['subscribed', 'equals', false, ['none']],
    ['subscribed', 'notEquals', false, ['full', 'zero']],
    ['email', 'contains', 'FULL', ['full']],
    ['createdAt', 'within', 1, ['full', 'none', 'zero'], 'hours'],
    ['createdAt', 'lessThan', '2021-01-01', []],
    ['event', 'triggered', undefined, ['full']],
    ['event', 'notTriggered', undefined, ['none', 'zero']],
    ['event', 'triggeredWithin', 5, ['full'], 'minutes'],
    ['event', 'triggeredOlderThan', 5, [], 'minutes'],
    ['event', 'notTriggeredWithin', 5, ['none', 'zero'], 'minutes'],
    ['email.opened', 'triggered', undefined, []],
    ['email.sent', 'notTriggered', undefined, ['full', 'none', 'zero']],
  ]
  for (const [field, operator, value, expected, unit] of rows) {
    it(`${field} ${operator} ${value ?? ''}${unit ?? ''}`, async () => {
      assert.deepEqual(await names(filter(own(field), operator, value, unit)), expected)
    })
  }

  it('nest, refer to segments, and have errors with paths', async () => {
    const nested = {
      logic: 'OR',
      groups: [
        filter('data.number', 'equals', 0).groups[0],
        { filters: [], conditions: filter('subscribed', 'equals', false) },
      ],
    }
    assert.deepEqual(await names(nested), ['none', 'zero'])
    const segment = await curl('POST', '/segments', {
      body: { name: 'blue', type: 'DYNAMIC', condition: filter('data.text', 'equals', 'Blue') },
    })
    const member = filter(`segment.${segment.body.id}`, 'memberOfSegment')
    assert.deepEqual(await names(member), ['full'])
    refused(
      await curl('PATCH', `/segments/${segment.body.id}`, { body: { condition: member } }),
      400,
      'BAD_REQUEST',
    )
    const wrong = (condition: unknown) =>
      curl('POST', '/contacts/query', { body: { filter: condition } })
    refused(
      await wrong(filter('data.a', 'near', 1)),
      422,
      'VALIDATION_ERROR',
      'filter.groups.0.filters.0.operator',
    )
    refused(
      await wrong(filter('planet', 'equals', 1)),
      422,
      'VALIDATION_ERROR',
      'filter.groups.0.filters.0.field',
    )
    refused(
      await wrong(filter('data.a', 'within', 1)),
      422,
      'VALIDATION_ERROR',
      'filter.groups.0.filters.0.unit',
    )
    refused(await wrong({ logic: 'AND', groups: [] }), 422, 'VALIDATION_ERROR', 'filter.groups')
    const text = encodeURIComponent(JSON.stringify(filter('data.text', 'equals', 'Blue')))
    assert.equal((await curl('GET', `/contacts?filter=${text}`)).status, 200)
  })
})
