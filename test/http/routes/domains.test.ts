import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import type { Core } from '../../../src/core/core.ts'
import { domains } from '../../../src/store/schema/domains.ts'
import { useService } from '../service.ts'

/** The TXT records in the DNS, by name. */
const zone = new Map<string, string[]>()

const resolver: Partial<Core['resolver']> = {
  txt: async (name) => {
    const records = zone.get(name)
    return records === undefined
      ? { kind: 'nxdomain', expiresAt: 0 }
      : { kind: 'found', records, expiresAt: 0 }
  },
  mx: async () => ({ kind: 'nxdomain', expiresAt: 0 }),
}

const { service, mine, other, call } = useService({ resolver })

const countDomains = () => service.core.store.read.$count(domains)

type RecordView = { purpose: string; name: string; value: string; required: boolean }

test('a domain is added with the records to create, verified by a check, and deleted', async () => {
  const added = await call('post', '/domains').send({ projectId: mine.id, domain: ' Shop.Test. ' })
  assert.equal(added.status, 201)
  assert.equal(added.body.domain, 'shop.test')
  assert.equal(added.body.verified, false)
  assert.equal(added.body.status, 'Pending')
  assert.equal(added.body.dkimTokens.length, 2)
  assert.doesNotMatch(added.text, /PRIVATE/)
  const key = added.body.records.find((record: RecordView) => record.required)
  assert.match(key.value, /^v=DKIM1; k=rsa; p=/)

  const pending = await call('get', `/domains/${added.body.id}/verify`)
  assert.equal(pending.status, 200)
  assert.equal(pending.body.verified, false)

  zone.set(key.name, [key.value])
  const verified = await call('get', `/domains/${added.body.id}/verify`)
  const { records, ...verification } = verified.body
  assert.deepEqual(verification, {
    domain: 'shop.test',
    tokens: added.body.dkimTokens,
    status: 'Success',
    verified: true,
  })
  assert.equal(records.find((record: RecordView) => record.name === key.name).state, 'found')

  const list = await call('get', `/domains/project/${mine.id}`)
  assert.equal(list.status, 200)
  assert.deepEqual(
    list.body.map((domain: { id: string; verified: boolean }) => [domain.id, domain.verified]),
    [[added.body.id, true]],
  )

  const deleted = await call('delete', `/domains/${added.body.id}`)
  assert.equal(deleted.status, 200)
  assert.deepEqual(deleted.body, { success: true })
  assert.equal(await countDomains(), 0)
})

test('an invalid domain and a domain that the project already has are refused', async () => {
  for (const [domain, code] of [
    ['ab', 'too_small'],
    ['x'.repeat(254), 'too_big'],
    ['not a domain', 'invalid_string'],
    ['localhost', 'invalid_string'],
    ['127.0.0.1', 'invalid_string'],
    [undefined, 'invalid_type'],
  ]) {
    const { status, body } = await call('post', '/domains').send({ domain })
    assert.equal(status, 422, domain)
    assert.deepEqual([body.error.errors[0].field, body.error.errors[0].code], ['domain', code])
  }
  const first = await call('post', '/domains').send({ domain: 'twice.test' })
  assert.equal(first.status, 201)
  const second = await call('post', '/domains').send({ domain: 'TWICE.test' })
  assert.equal(second.status, 400)
  assert.equal(second.body.error.code, 'BAD_REQUEST')
  await call('delete', `/domains/${first.body.id}`)
})

test("S20: another project's domain is 404 on every path, and does not change", async () => {
  const { body: theirs } = await call('post', '/domains', other).send({ domain: 'theirs.test' })
  for (const [method, path] of [
    ['get', `/domains/${theirs.id}/verify`],
    ['delete', `/domains/${theirs.id}`],
    ['get', `/domains/project/${other.id}`],
    ['get', '/domains/no-uuid/verify'],
    ['delete', '/domains/no-uuid'],
  ] as const) {
    const { status, body } = await call(method, path)
    assert.equal(status, 404, path)
    assert.equal(body.error.code, 'RESOURCE_NOT_FOUND')
    assert.doesNotMatch(JSON.stringify(body), /theirs/)
  }
  const added = await call('post', '/domains').send({ projectId: other.id, domain: 'new.test' })
  assert.equal(added.status, 404)
  assert.equal(await countDomains(), 1)
})

test('a public key cannot read domains', async () => {
  const { status } = await supertest(service.url)
    .get(`/domains/project/${mine.id}`)
    .set('Authorization', `Bearer ${mine.public}`)
  assert.equal(status, 401)
})
