import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import supertest from 'supertest'
import { selectNewest } from '../../../src/features/ground/newest-first.ts'
import {
  NEWEST_SUPPRESSIONS,
  suppressionsOf,
} from '../../../src/features/mail/suppressions/suppressions.ts'
import { eq, sql } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { strikes, suppressions } from '../../../src/store/schema/suppressions.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService()

beforeEach(async () => {
  await service.core.store.write(async (tx) => {
    for (const table of [suppressions, strikes, contacts, events]) await tx.delete(table).run()
  })
})

const add = (body: object, by = mine) => call('post', '/suppressions', by).send(body)

async function addContact(email: string, subscribed = true): Promise<string> {
  const id = newId()
  const at = { createdAt: 1, updatedAt: 1 }
  const row = { id, projectId: mine.id, address: email, subscribed, ...at }
  await service.core.store.write((tx) => tx.insert(contacts).values(row).run())
  return id
}

const listEvents = () => service.core.store.read.select().from(events).all()

test('each address is added once, and its contact is unsubscribed with the reason', async () => {
  const id = await addContact('ada@dest.test')
  await addContact('off@dest.test', false)
  const first = await add({
    emails: [' ADA@dest.test', 'ada@dest.test', 'off@dest.test', 'x@y.test'],
  })
  assert.equal(first.status, 200)
  assert.deepEqual(first.body, { added: 3, existing: 0 })
  const contact = await service.core.store.read
    .select()
    .from(contacts)
    .where(eq(contacts.id, id))
    .get()
  assert.equal(contact?.subscribed, false)
  const recorded = await listEvents()
  assert.deepEqual(
    recorded.map(({ name, contactId, data }) => ({ name, contactId, data })),
    [{ name: 'contact.unsubscribed', contactId: id, data: { reason: 'manual' } }],
  )
  const again = await add({ email: 'ada@dest.test', reason: 'COMPLAINT' })
  assert.deepEqual(again.body, { added: 0, existing: 1 })
  assert.equal((await listEvents()).length, 1)
  const { body } = await call('get', '/suppressions?search=ADA')
  assert.equal(body.data[0].reason, 'MANUAL')
})

test('S20: another project neither sees nor removes the entries', async () => {
  await add({ email: 'ada@dest.test' })
  const { body } = await call('get', '/suppressions')
  const { id } = body.data[0]
  assert.deepEqual((await call('get', '/suppressions', other)).body.data, [])
  assert.equal((await call('delete', `/suppressions/${id}`, other)).status, 404)
  const removed = await call('delete', '/suppressions', other).send({ emails: ['ada@dest.test'] })
  assert.deepEqual(removed.body, { removed: 0 })
  assert.equal((await call('get', `/suppressions?cursor=${id}`, other)).status, 422)
  assert.equal(await service.core.store.read.$count(suppressions), 1)
})

test('an entry is shown in full, and its removal also deletes its strikes', async () => {
  await add({ email: 'ada@dest.test', reason: 'HARD_BOUNCE' })
  const strike = { emailId: newId(), reason: 'mailboxfull', at: 1 }
  const row = { ...strike, projectId: mine.id, address: 'ada@dest.test' }
  await service.core.store.write((tx) => tx.insert(strikes).values(row).run())
  const { body } = await call('get', '/suppressions')
  const [entry] = body.data
  assert.match(entry.createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  const { id, createdAt, ...rest } = entry
  const facts = { email: 'ada@dest.test', reason: 'HARD_BOUNCE', source: 'API', emailId: null }
  assert.deepEqual(rest, facts)
  assert.deepEqual([body.cursor, body.hasMore, body.total], [null, false, 1])
  const removed = await call('delete', `/suppressions/${id}`)
  assert.equal(removed.status, 204)
  assert.equal(removed.text, '')
  const again = await call('delete', `/suppressions/${id}`)
  assert.equal(again.status, 404)
  assert.equal(again.body.error.code, 'RESOURCE_NOT_FOUND')
  assert.equal(await service.core.store.read.$count(strikes), 0)
})

test('a call adds or removes up to 500 addresses', async () => {
  const emails = Array.from({ length: 500 }, (_, index) => `user${index}@dest.test`)
  assert.deepEqual((await add({ emails })).body, { added: 500, existing: 0 })
  const more = await add({ emails: [...emails, 'one@more.test'] })
  assert.equal(more.status, 422)
  assert.equal(more.body.error.errors[0].field, 'emails')
  const out = await call('delete', '/suppressions').send({
    emails: [...emails, ...emails].slice(0, 500),
  })
  assert.deepEqual(out.body, { removed: 500 })
  assert.equal(await service.core.store.read.$count(suppressions), 0)
})

test('the list is newest first, paged by cursor, and filtered by address and reason', async () => {
  const rows = Array.from({ length: 25 }, (_, index) => ({
    ...{ id: newId(), projectId: mine.id, address: `user${index}@dest.test`, source: 'x' },
    ...{ reason: index % 5 === 0 ? ('STRIKES' as const) : ('MANUAL' as const) },
    createdAt: Math.floor(index / 3),
  }))
  await service.core.store.write((tx) => tx.insert(suppressions).values(rows).run())
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await call('get', `/suppressions?limit=10${query}`)
    assert.equal(body.total, cursor === '' ? 25 : 0)
    assert.equal(body.hasMore, body.cursor !== null)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.cursor
  }
  const expected = rows.toSorted(
    (one, two) => two.createdAt - one.createdAt || (one.id < two.id ? 1 : -1),
  )
  assert.deepEqual(
    seen,
    expected.map(({ id }) => id),
  )
  const bare = await call('get', `/suppressions?limit=1&cursor=${seen[3]}`)
  assert.equal(bare.body.data[0].id, seen[4])
  assert.equal((await call('get', '/suppressions?reason=STRIKES')).body.total, 5)
  assert.equal((await call('get', '/suppressions?search=User1')).body.total, 11)
  assert.equal((await call('get', '/suppressions?search=%25')).body.total, 0)
})

for (const [name, path, field] of [
  ['a cursor that is none', '/suppressions?cursor=garbage', 'cursor'],
  ['a limit below 1', '/suppressions?limit=0', 'limit'],
  ['a reason that is none', '/suppressions?reason=BORED', 'reason'],
] as const) {
  test(`${name} is 422`, async () => {
    const { status, body } = await call('get', path)
    assert.equal(status, 422)
    assert.equal(body.error.errors[0].field, field)
  })
}

for (const [name, body, field] of [
  ['no address', {}, 'email'],
  ['both ways at once', { email: 'a@b.test', emails: ['c@d.test'] }, 'email'],
  ['what is no address', { email: 'nobody' }, 'email'],
  ['an empty list', { emails: [] }, 'emails'],
  ['one that is none among others', { emails: ['a@b.test', 'x'] }, 'emails.1'],
  ['a reason that is none', { email: 'a@b.test', reason: 'BORED' }, 'reason'],
] as const) {
  test(`adding ${name} is 422 and adds nothing`, async () => {
    const { status, body: answer } = await add(body)
    assert.equal(status, 422)
    assert.equal(answer.error.errors[0].field, field)
    assert.equal(await service.core.store.read.$count(suppressions), 0)
  })
}

test('no route of suppressions accepts a public key', async () => {
  const { status } = await supertest(service.url)
    .get('/suppressions')
    .set('Authorization', `Bearer ${mine.public}`)
  assert.equal(status, 401)
})

test('the unfiltered list follows its index, also after a cursor', async () => {
  const where = suppressionsOf({ projectId: mine.id })
  for (const after of [undefined, { at: 1, key: newId() }]) {
    const { sql: text } = selectNewest(service.core, NEWEST_SUPPRESSIONS, {
      where,
      limit: 20,
      after,
    }).toSQL()
    const plan = await service.core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    assert.equal(plan.length, 1)
    assert.match(plan[0]?.detail ?? '', /^SEARCH suppressions USING INDEX suppressions_newest/)
  }
})
