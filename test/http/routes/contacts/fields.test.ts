import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import type { ContactData } from '../../../../src/store/schema/json-values.ts'
import { useService } from '../../service.ts'

const { service, mine, other, call } = useService()

async function addContact(data: ContactData, { id: projectId } = mine): Promise<string> {
  const id = newId()
  const row = { id, projectId, address: `${id}@people.test`, subscribed: true, data }
  await service.core.store.write((tx) =>
    tx
      .insert(contacts)
      .values({ ...row, createdAt: 1, updatedAt: 1 })
      .run(),
  )
  return id
}

const dataOf = async (id: string) => {
  const row = await service.core.store.read.select().from(contacts).where(eq(contacts.id, id)).get()
  return row?.data
}

const oddKeys = [
  'a.b',
  'a/b',
  '50%',
  '%41',
  '"',
  '\\',
  '__proto__',
  'ключ',
  '😀',
  'a b',
  '?x=1',
  '#',
  '..',
]

test('a field in the path is its key, percent-encoded once', async () => {
  const id = await addContact(Object.fromEntries(oddKeys.map((key) => [key, key])))
  const theirs = await addContact(Object.fromEntries(oddKeys.map((key) => [key, 'theirs'])), other)
  const { body: list } = await call('get', '/contacts/fields')
  const names = list.fields.map(({ field }: { field: string }) => field)
  assert.deepEqual(
    names.filter((name: string) => name.startsWith('data.')),
    oddKeys.map((key) => `data.${key}`).sort(),
  )
  for (const key of oddKeys) {
    const path = `/contacts/fields/${encodeURIComponent(`data.${key}`)}`
    const values = await call('get', `${path}/values`)
    assert.deepEqual(values.body, { field: `data.${key}`, values: [key], count: 1, limit: 100 })
    const usage = await call('get', `${path}/usage`)
    assert.equal(usage.body.contactCount, 1, key)
    const deletion = await call('delete', path)
    assert.equal(deletion.status, 200)
    assert.deepEqual(deletion.body, { deletedFrom: 1 }, key)
  }
  assert.equal(await dataOf(id), null)
  assert.equal(Object.keys((await dataOf(theirs)) ?? {}).length, oddKeys.length)
})

test('the number of values is an integer from 1 to 200', async () => {
  const path = '/contacts/fields/data.plan/values'
  assert.equal((await call('get', `${path}?limit=9999`)).body.limit, 200)
  for (const limit of ['0', '-1', '1.5', 'many', '']) {
    const { status, body } = await call('get', `${path}?limit=${limit}`)
    assert.equal(status, 422, limit)
    assert.equal(body.error.errors[0].field, 'limit')
  }
})

test('deleting a field outside data is refused, and so is another caller', async () => {
  for (const field of ['email', 'createdAt', 'plan']) {
    const { status, body } = await call('delete', `/contacts/fields/${field}`)
    assert.equal(status, 422, field)
    assert.equal(body.error.code, 'VALIDATION_ERROR')
    assert.equal(body.error.errors[0].field, 'field')
  }
  const publicly = supertest(service.url).get('/contacts/fields')
  assert.equal((await publicly.set('Authorization', `Bearer ${mine.public}`)).status, 401)
  assert.equal((await supertest(service.url).get('/contacts/fields')).status, 401)
})
