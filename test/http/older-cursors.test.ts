/** All lists make sealed cursors, and read on those that older versions made. Activity keeps its own. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { eq } from '../../src/store/drizzle.ts'
import { events } from '../../src/store/schema/events.ts'
import { templates } from '../../src/store/schema/messages.ts'
import { trustDomain } from '../core.ts'
import { sample } from '../features/tenancy/uploads/images/samples.ts'
import { useService } from './service.ts'

type Item = { id: string; key: string; name: string; createdAt: string; timestamp: string }
/** `older`: the cursor that an older version made after the item. */
type List = { path: string; name: string; query?: object; older(item: Item): Promise<string> }

const SEALED = /^[\w-]{60,}$/

const { service, call } = useService({}, async ({ call, service, mine }) => {
  await trustDomain(service.core, mine.id, 'example.test')
  for (const [index, name] of (['png', 'gif', 'jpeg'] as const).entries()) {
    const mail = { subject: 'Hello', body: '<p>x</p>', from: 'a@example.test' }
    await call('post', '/templates')
      .send({ name: `T ${index}`, ...mail })
      .expect(201)
    await call('post', '/suppressions')
      .send({ emails: [`a${index}@example.org`] })
      .expect(200)
    await call('post', '/v1/track')
      .send({ event: 'seen', email: `b${index}@example.org` })
      .expect(200)
    await call('post', '/uploads/image').attach('image', sample(name), 'x').expect(200)
  }
})

const at = (item: Item) => Date.parse(item.createdAt ?? item.timestamp)

async function afterSeq(item: Item): Promise<string> {
  const [id] = item.id.match(/[0-9a-f-]{36}/) ?? []
  const rows = await service.core.store.read
    .select()
    .from(events)
    .where(eq(events.id, id ?? ''))
  return `${at(item)}_${rows[0]?.seq}`
}

const lists: List[] = [
  { path: '/events', name: 'events', older: afterSeq },
  { path: '/suppressions', name: 'data', older: async (item) => `${at(item)}_${item.id}` },
  { path: '/uploads', name: 'data', older: async (item) => `${at(item)}_${item.key}` },
  {
    path: '/templates',
    name: 'data',
    older: async (item) =>
      `createdAt.desc.${item.id}.${Buffer.from(String(at(item))).toString('base64url')}`,
  },
  {
    path: '/templates',
    name: 'data',
    query: { sort: 'name', dir: 'asc' },
    older: async ({ id, name }) =>
      `name.asc.${id}.${Buffer.from(name.toLowerCase()).toString('base64url')}`,
  },
]

for (const { path, name, query = {}, older } of lists) {
  describe(`GET ${path} ${JSON.stringify(query)}`, () => {
    const get = async (more: object) =>
      (
        await call('get', path)
          .query({ ...query, limit: 1, ...more })
          .expect(200)
      ).body

    it('makes a sealed cursor, and reads an older one and a bare id alike', async () => {
      const first = await get({})
      assert.match(first.cursor, SEALED)
      const [item] = first[name]
      const second = await get({ cursor: first.cursor })
      assert.notDeepEqual(second[name], first[name])
      for (const cursor of [await older(item), item.key ?? item.id]) {
        assert.deepEqual((await get({ cursor }))[name], second[name], cursor)
      }
    })

    it('refuses a sealed cursor of another list', async () => {
      const { body } = await call('get', '/contacts').query({ limit: 1 }).expect(200)
      const refused = await call('get', path).query({ ...query, cursor: body.cursor })
      assert.equal(refused.status, 422)
      assert.equal(refused.body.error.errors[0].field, 'cursor')
    })
  })
}

it('activity keeps its form, and reads the cursors of events', async () => {
  const { body } = await call('get', '/activity').query({ limit: 1 }).expect(200)
  assert.match(body.cursor, /^\d+_\d+$/)
  const listed = await call('get', '/events').query({ limit: 1 }).expect(200)
  const [next] = (await call('get', '/activity').query({ cursor: body.cursor }).expect(200)).body
    .data
  const [same] = (await call('get', '/activity').query({ cursor: listed.body.cursor }).expect(200))
    .body.data
  assert.deepEqual(same, next)
})

it('a template whose long name makes too long a cursor is one itself', async () => {
  const other = await service.makeProject('Names')
  const { store, now } = service.core
  const row = {
    projectId: other.id,
    subject: 's',
    body: 'b',
    fromAddress: 'a@other.test',
    fromDomain: 'other.test',
  }
  for (const name of ['名'.repeat(100), '字'.repeat(100)]) {
    const times = { createdAt: now(), updatedAt: now() }
    await store.write((tx) =>
      tx.insert(templates).values({ ...row, ...times, id: randomUUID(), name, type: 'MARKETING' }),
    )
  }
  const query = { sort: 'name', limit: 1 }
  const first = (await call('get', '/templates', other).query(query).expect(200)).body
  assert.equal(first.cursor, first.data[0].id)
  const second = await call('get', '/templates', other).query({ ...query, cursor: first.cursor })
  assert.deepEqual([second.status, second.body.data.length, second.body.cursor], [200, 1, null])
})

it('a list of workflows by name goes on after the longest names', async () => {
  const other = await service.makeProject('Workflows')
  for (const name of ['名'.repeat(100), '字'.repeat(100)]) {
    await call('post', '/workflows', other).send({ name, eventName: 'signup' }).expect(201)
  }
  const query = { sort: 'name', limit: 1 }
  const first = (await call('get', '/workflows', other).query(query).expect(200)).body
  const second = await call('get', '/workflows', other).query({ ...query, cursor: first.cursor })
  assert.deepEqual([second.status, second.body.data.length, second.body.page], [200, 1, 2])
})
