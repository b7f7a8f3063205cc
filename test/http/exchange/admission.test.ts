/** Sessions on the routes of a project's data: who is admitted, and what a refusal says. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { regenerateOwnKeys } from '../../../src/features/tenancy/accounts/projects/own-projects.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { memberships, projects, sessions, users } from '../../../src/store/schema/accounts.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { importChunks, jobs } from '../../../src/store/schema/jobs.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { FOREIGN_SITE } from '../foreign-site.ts'
import { useService } from '../service.ts'

/** The types that a form of another site can have. */
const FORM_TYPES = [
  'text/plain',
  'text/plain; charset=utf-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/json',
  '',
]
const people = { member: '', admin: '', stranger: '' }

const clock = { now: Date.now() }
const { service, mine, other } = useService({ now: () => clock.now }, async ({ service, mine }) => {
  for (const role of ['MEMBER', 'ADMIN'] as const) {
    const { id } = await addUser(service.core)
    await addMember(service.core, { projectId: mine.id, userId: id, role })
    people[role === 'MEMBER' ? 'member' : 'admin'] = id
  }
  people.stranger = (await addUser(service.core)).id
})

const cookieOf = (person: keyof typeof people) => logIn(service.core, people[person])

function get(path: string, headers: Record<string, string>) {
  return supertest(service.url).get(path).set(headers)
}

async function codeOf(request: supertest.Test): Promise<[number, string | undefined]> {
  const { status, body } = await request
  return [status, body.error?.code]
}

describe('a session on a route of a project', () => {
  it('admits a member, by header and by query', async () => {
    const cookie = await cookieOf('member')
    const byHeader = await get('/contacts', { cookie, 'x-project-id': mine.id })
    assert.equal(byHeader.status, 200)
    assert.equal(byHeader.headers['ratelimit-limit'], '1000')
    const byQuery = await get(`/contacts?projectId=${mine.id}`, { cookie })
    assert.equal(byQuery.status, 200)
  })

  it('takes the project out of the query, for routes that refuse unknown parameters', async () => {
    const cookie = await cookieOf('member')
    const path = (id: string) => `/contacts/export?projectId=${id}`
    assert.equal((await get(path(mine.id.toUpperCase()), { cookie })).status, 200)
    const both = { cookie, 'x-project-id': mine.id }
    assert.equal((await get(path(mine.id), both)).status, 200)
    assert.deepEqual(await codeOf(get(path(other.id), both)), [422, 'VALIDATION_ERROR'])
    assert.deepEqual(await codeOf(get(path(other.id), { cookie })), [403, 'PROJECT_ACCESS_DENIED'])
    const keyed = get(path(other.id), { authorization: `Bearer ${mine.secret}` })
    assert.deepEqual(await codeOf(keyed), [422, 'VALIDATION_ERROR'])
  })

  it('refuses a request without a project, or with a malformed one', async () => {
    const cookie = await cookieOf('member')
    assert.deepEqual(await codeOf(get('/contacts', { cookie })), [400, 'BAD_REQUEST'])
    const malformed = get('/contacts', { cookie, 'x-project-id': 'mine' })
    assert.deepEqual(await codeOf(malformed), [400, 'BAD_REQUEST'])
    const { status, body } = await get('/contacts?projectId=mine', { cookie })
    const text = 'X-Project-Id, or projectId in the query, is not a UUID.'
    assert.deepEqual([status, body.error.message], [400, text])
  })

  it('answers alike for a project that is not there and one of others', async () => {
    const cookie = await cookieOf('stranger')
    for (const id of [other.id, mine.id, '0199a7c0-0000-7000-8000-0000000000ff']) {
      const refused = get('/contacts', { cookie, 'x-project-id': id })
      assert.deepEqual(await codeOf(refused), [403, 'PROJECT_ACCESS_DENIED'])
    }
  })

  it('asks for ADMIN where the route does', async () => {
    const domain = (cookie: string) =>
      supertest(service.url)
        .post('/domains')
        .set({ cookie, 'x-project-id': mine.id })
        .send({ domain: 'people.test' })
    assert.deepEqual(await codeOf(domain(await cookieOf('member'))), [403, 'FORBIDDEN'])
    assert.equal((await domain(await cookieOf('admin'))).status, 201)
  })

  it('never opens /v1, and an Authorization header makes it ignored', async () => {
    const cookie = await cookieOf('member')
    const sent = supertest(service.url).post('/v1/track').set({ cookie, 'x-project-id': mine.id })
    assert.deepEqual(await codeOf(sent.send({})), [401, 'MISSING_AUTH'])
    const keyed = get('/contacts', {
      cookie,
      'x-project-id': mine.id,
      authorization: `Bearer ${other.secret}`,
    })
    assert.equal((await keyed).headers['ratelimit-limit'], undefined)
    const wrong = get('/contacts', { cookie, authorization: 'Bearer sk_x' })
    assert.deepEqual(await codeOf(wrong), [401, 'INVALID_API_KEY'])
  })

  it('acts on a removal at once, and ends with its row', async () => {
    const cookie = await cookieOf('member')
    await service.core.store.write((tx) =>
      tx.delete(sessions).where(eq(sessions.userId, people.member)),
    )
    const ended = get('/contacts', { cookie, 'x-project-id': mine.id })
    assert.deepEqual(await codeOf(ended), [401, 'UNAUTHORIZED'])
  })

  it('refuses a change that a page of another site asks for', async () => {
    const cookie = await cookieOf('member')
    const post = (headers: Record<string, string>) =>
      supertest(service.url)
        .post('/contacts')
        .set({ cookie, 'x-project-id': mine.id, ...headers })
        .send({ email: 'ann@people.test' })
    for (const foreign of FOREIGN_SITE) {
      assert.deepEqual(await codeOf(post(foreign)), [403, 'FORBIDDEN'])
    }
    const host = new URL(service.url).host
    const ownHeaders: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'same-origin' },
      { origin: `http://${host}` },
      { origin: service.core.config.baseUrl },
    ]
    for (const own of ownHeaders) {
      assert.ok((await post(own)).status < 300)
    }
  })

  it('S17: a session sends JSON only, and a key anything', async () => {
    const before = await service.core.store.read.$count(contacts)
    const cookie = await cookieOf('member')
    const post = (headers: Record<string, string>, type: string) =>
      supertest(service.url)
        .post('/contacts')
        .set({ ...headers, 'content-type': type })
        .serialize((text) => text)
        .send('{"email": "media@people.test"}')
    const session = { cookie, 'x-project-id': mine.id }
    for (const type of FORM_TYPES) {
      const { status, body, headers } = await post(session, type)
      assert.deepEqual([status, body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
      assert.equal(body.error.message, 'The body must be JSON.')
      assert.deepEqual(
        [headers.accept, headers['accept-encoding']],
        ['application/json', undefined],
      )
    }
    assert.equal(await service.core.store.read.$count(contacts), before)
    for (const type of [
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/ld+json',
    ]) {
      assert.ok((await post(session, type)).status < 300)
    }
    const key = { authorization: `Bearer ${mine.secret}` }
    for (const type of FORM_TYPES) assert.ok((await post(key, type)).status < 300)
  })

  it('a session sends files where a route takes them', async () => {
    const session = { cookie: await cookieOf('admin'), 'x-project-id': mine.id }
    const { status, body } = await supertest(service.url)
      .post('/contacts/import')
      .set(session)
      .attach('file', Buffer.from('email\nfile@people.test\n'), 'contacts.csv')
    assert.equal(status, 202, JSON.stringify(body))
  })

  it('a session may leave the content type out, and name any if there is no body', async () => {
    const own = { cookie: await cookieOf('member'), 'x-project-id': mine.id }
    const bytes = Buffer.from('{"email": "untyped@people.test"}')
    const untyped = await fetch(`${service.url}/contacts`, {
      method: 'POST',
      headers: own,
      body: bytes,
    })
    assert.ok(untyped.status < 300, await untyped.text())
    const [untypedRow] = await service.core.store.read
      .select({ id: contacts.id })
      .from(contacts)
      .where(eq(contacts.address, 'untyped@people.test'))
    const bodyless = supertest(service.url)
      .delete(`/contacts/${untypedRow?.id}`)
      .set({ ...own, 'content-type': 'text/plain' })
    assert.equal((await bodyless).status, 204)
  })

  it('closes the data of a project while it is being reset', async () => {
    const set = (resetSince: number | null) =>
      service.core.store.write(async (tx) => {
        tx.afterCommit(service.core.directory.drop)
        const isDisabled = resetSince !== null
        await tx.update(projects).set({ resetSince, isDisabled }).where(eq(projects.id, mine.id))
      })
    await set(Date.now())
    const cookie = await cookieOf('admin')
    const refused = get('/contacts', { cookie, 'x-project-id': mine.id })
    assert.deepEqual(await codeOf(refused), [409, 'CONFLICT'])
    const keyed = get('/contacts', { authorization: `Bearer ${mine.secret}` })
    assert.deepEqual(await codeOf(keyed), [409, 'CONFLICT'])
    await set(null)
    assert.equal((await get('/contacts', { cookie, 'x-project-id': mine.id })).status, 200)
  })
})

describe('a body that arrives slowly', () => {
  type Form = { path: string; type: string; body: string }

  /** The status of a request whose body follows after `meanwhile` and `ms`, when it was admitted before. */
  async function statusAfter(
    headers: Record<string, string>,
    { meanwhile, ms, form }: { meanwhile: () => unknown; ms: number; form?: Form },
  ): Promise<string | undefined> {
    const { path, type, body } = form ?? {
      path: '/contacts',
      type: 'application/json',
      body: JSON.stringify({ email: 'slow@example.net' }),
    }
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    const fields = {
      ...{ Host: 'localhost', Connection: 'close', Expect: '100-continue', ...headers },
      ...{ 'Content-Type': type, 'Content-Length': String(body.length) },
    }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    const [admitted] = await once(socket, 'data')
    assert.match(String(admitted), /^HTTP\/1.1 100 /)
    await meanwhile()
    clock.now += ms
    socket.write(body)
    const answer = (await socket.toArray()).join('')
    return /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]
  }

  it('S16: is worth nothing when the session, the role or the key has ended by then', async () => {
    const { core } = service
    const { id } = await addUser(core)
    const add = () => addMember(core, { projectId: mine.id, userId: id, role: 'MEMBER' })
    const remove = () =>
      core.store.write((tx) => tx.delete(memberships).where(eq(memberships.userId, id)))
    const logOut = () =>
      core.store.write((tx) => tx.delete(sessions).where(eq(sessions.userId, id)))
    const session = async () => ({ Cookie: await logIn(core, id), 'X-Project-Id': mine.id })
    await add()
    const ms = 1_000
    const nothing = () => undefined
    assert.equal(await statusAfter(await session(), { meanwhile: logOut, ms }), '401')
    assert.equal(await statusAfter(await session(), { meanwhile: remove, ms }), '403')
    await add()
    assert.equal(await statusAfter(await session(), { meanwhile: nothing, ms }), '201')
    const project = await service.makeProject('Slow')
    const key = { Authorization: `Bearer ${project.secret}` }
    const regenerate = () =>
      regenerateOwnKeys(core, { projectId: project.id, userId: project.ownerId })
    assert.equal(await statusAfter(key, { meanwhile: regenerate, ms }), '401')
  })

  it('S16: is worth nothing to a call that takes none', async () => {
    const { core } = service
    const { id } = await addUser(core)
    await addMember(core, { projectId: mine.id, userId: id, role: 'MEMBER' })
    const logOut = () =>
      core.store.write((tx) => tx.delete(sessions).where(eq(sessions.userId, id)))
    const session = { Cookie: await logIn(core, id), 'X-Project-Id': mine.id }
    const path = '/webhooks/signing-secret/rotate'
    const form = { path, type: 'application/json', body: '{"confirm":true}' }
    assert.equal(await statusAfter(session, { meanwhile: logOut, ms: 1_000, form }), '401')
  })

  it('S16: is worth nothing as a file either', async () => {
    const { core } = service
    const { id } = await addUser(core)
    await addMember(core, { projectId: mine.id, userId: id, role: 'MEMBER' })
    const remove = () =>
      core.store.write((tx) => tx.delete(memberships).where(eq(memberships.userId, id)))
    const session = { Cookie: await logIn(core, id), 'X-Project-Id': mine.id }
    const disposition = 'Content-Disposition: form-data; name="file"; filename="a.csv"'
    const form = {
      path: '/contacts/import',
      type: 'multipart/form-data; boundary=x',
      body: `--x\r\n${disposition}\r\n\r\nemail\nslow@example.net\r\n--x--\r\n`,
    }
    const ms = 1_000
    const nothing = () => undefined
    const count = async () => [
      await core.store.read.$count(jobs, eq(jobs.kind, 'import')),
      await core.store.read.$count(importChunks),
    ]
    assert.equal(await statusAfter(session, { meanwhile: nothing, ms, form }), '202')
    const before = await count()
    assert.equal(await statusAfter(session, { meanwhile: remove, ms, form }), '403')
    assert.deepEqual(await count(), before)
  })
})

describe('the metrics', () => {
  it('are open to the addresses of http.metrics_allow and to operators', async () => {
    assert.equal((await get('/metrics', {})).status, 200)
    const proxied = { 'x-forwarded-for': '203.0.113.7' }
    assert.deepEqual(await codeOf(get('/metrics', proxied)), [401, 'UNAUTHORIZED'])
    const cookie = await cookieOf('stranger')
    assert.deepEqual(await codeOf(get('/metrics', { ...proxied, cookie })), [403, 'FORBIDDEN'])
    await service.core.store.write((tx) =>
      tx.update(users).set({ isOperator: true }).where(eq(users.id, people.stranger)),
    )
    assert.equal((await get('/metrics', { ...proxied, cookie })).status, 200)
  })
})
