import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import supertest from 'supertest'
import { addDomain } from '../../../src/features/mail/domains/domains.ts'
import { updateProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { and, eq } from '../../../src/store/drizzle.ts'
import { memberships, projects } from '../../../src/store/schema/accounts.ts'
import { domains } from '../../../src/store/schema/domains.ts'
import { jobs } from '../../../src/store/schema/jobs.ts'
import { type TestProject, trustDomain } from '../../core.ts'
import { work } from '../../features/operation/erasure/work.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const { service, other } = useService()

type Verb = 'get' | 'post' | 'delete'

async function setUp(_t: TestContext) {
  const project = await service.makeProject('mine')
  const owner = await logIn(service.core, project.ownerId)
  const people: Record<string, string> = { owner }
  for (const role of ['MEMBER', 'ADMIN'] as const) {
    const { id: userId } = await addUser(service.core)
    await addMember(service.core, { projectId: project.id, userId, role })
    people[role] = await logIn(service.core, userId)
  }
  people.stranger = await logIn(service.core, (await addUser(service.core)).id)
  const call = (verb: Verb, path: string, cookie = owner) =>
    supertest(service.url)[verb](`/users/@me/projects/${project.id}${path}`).set('Cookie', cookie)
  return { project, people, call }
}

const keyed = ({ secret }: TestProject, verb: Verb, path: string) =>
  supertest(service.url)[verb](path).set('Authorization', `Bearer ${secret}`)

const codeOf = async (request: supertest.Test): Promise<[number, string | undefined]> => {
  const { status, body } = await request
  return [status, body.error?.code]
}

test('a reset closes the routes of data until its job has ended, and says how far it is', async (t) => {
  const { project, call } = await setUp(t)
  await keyed(project, 'post', '/contacts').send({ email: 'ann@people.test' })
  assert.equal((await call('get', '/reset')).body.data.state, 'idle')
  const begun = await call('post', '/reset')
  assert.deepEqual([begun.status, begun.body.success], [200, true])
  assert.equal(typeof begun.body.message, 'string')
  assert.deepEqual(await codeOf(keyed(project, 'get', '/contacts')), [409, 'CONFLICT'])
  const tracked = keyed(project, 'post', '/v1/track').send({ event: 'x', email: 'b@people.test' })
  assert.deepEqual(await codeOf(tracked), [409, 'CONFLICT'])
  assert.deepEqual(await codeOf(call('post', '/reset')), [409, 'CONFLICT'])
  const running = (await call('get', '/reset')).body.data
  assert.deepEqual([running.state, running.completedAt], ['running', null])
  await work(service.core)
  const done = (await call('get', '/reset')).body.data
  assert.deepEqual([done.state, done.progress], ['done', 100])
  assert.equal(done.startedAt, running.startedAt)
  assert.ok(done.completedAt >= done.startedAt)
  const contacts = await keyed(project, 'get', '/contacts')
  assert.deepEqual([contacts.status, contacts.body.total], [200, 0])
  assert.equal((await keyed(project, 'post', '/contacts').send({ email: 'c@d.test' })).status, 201)
})

test('a deletion is done at once for members, keys and domains; other projects may add the domain', async (t) => {
  const { project, people, call } = await setUp(t)
  const { core } = service
  await trustDomain(core, project.id, 'gone.test')
  const deleted = await call('delete', '')
  assert.deepEqual([deleted.status, deleted.body.success], [200, true])
  assert.deepEqual(await codeOf(keyed(project, 'get', '/contacts')), [401, 'INVALID_API_KEY'])
  for (const cookie of Object.values(people)) {
    assert.deepEqual(await codeOf(call('get', '/reset', cookie)), [404, 'RESOURCE_NOT_FOUND'])
    assert.deepEqual(await codeOf(call('delete', '', cookie)), [404, 'RESOURCE_NOT_FOUND'])
  }
  const isOwn = eq(memberships.projectId, project.id)
  assert.equal(await core.store.read.$count(memberships, isOwn), 0)
  await addDomain(core, { projectId: other.id, domain: 'gone.test' })
  await work(core)
  const isLeft = eq(projects.id, project.id)
  assert.equal(await core.store.read.$count(projects, isLeft), 0)
  const isOthers = and(eq(domains.domain, 'gone.test'), eq(domains.projectId, other.id))
  assert.equal(await core.store.read.$count(domains, isOthers), 1)
})

test('a deletion during a reset succeeds, and only its job is left', async (t) => {
  const { project, call } = await setUp(t)
  await call('post', '/reset')
  assert.equal((await call('delete', '')).status, 200)
  const waiting = await service.core.store.read
    .select({ kind: jobs.kind })
    .from(jobs)
    .where(eq(jobs.state, 'waiting'))
  assert.deepEqual(waiting, [{ kind: 'delete-project' }])
  await work(service.core)
  assert.equal(await service.core.store.read.$count(projects, eq(projects.id, project.id)), 0)
})

test('members see a reset; only admins begin one or delete; to others the project is not there', async (t) => {
  const { project, people, call } = await setUp(t)
  assert.equal((await call('get', '/reset', people.MEMBER)).status, 200)
  const forbidden = [403, 'FORBIDDEN']
  assert.deepEqual(await codeOf(call('post', '/reset', people.MEMBER)), forbidden)
  assert.deepEqual(await codeOf(call('delete', '', people.MEMBER)), forbidden)
  for (const [verb, path] of [
    ['get', '/reset'],
    ['post', '/reset'],
    ['delete', ''],
  ] as const) {
    const notThere = [404, 'RESOURCE_NOT_FOUND']
    assert.deepEqual(await codeOf(call(verb, path, people.stranger)), notThere)
    const url = `/users/@me/projects/${project.id}${path}`
    assert.deepEqual(await codeOf(keyed(project, verb, url)), [401, 'UNAUTHORIZED'])
  }
  const row = await service.core.store.read
    .select()
    .from(projects)
    .where(eq(projects.id, project.id))
  assert.deepEqual([row[0]?.resetSince, row[0]?.deletedAt], [null, null])
  assert.equal((await call('post', '/reset', people.ADMIN)).status, 200)
})

test('a disabled project is neither reset nor deleted', async (t) => {
  const { project, call } = await setUp(t)
  await updateProject(service.core, project.id, { disable: 'EMAIL_REPUTATION' })
  const disabled = [403, 'PROJECT_DISABLED']
  assert.deepEqual(await codeOf(call('post', '/reset')), disabled)
  assert.deepEqual(await codeOf(call('delete', '')), disabled)
  assert.equal((await call('get', '/reset')).status, 200)
})
