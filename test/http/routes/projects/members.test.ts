/** Members and invitations over HTTP. */
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { invitations, memberships, sessions, users } from '../../../../src/store/schema/accounts.ts'
import { addProject, type TestProject } from '../../../core.ts'
import { addMember, addUser, logIn } from '../../../session.ts'
import { FOREIGN_SITE } from '../../foreign-site.ts'
import { type Method, useService } from '../../service.ts'
import { makesKnown } from '../auth/browser.ts'

const { service, call } = useService()
const UNKNOWN = '0199a7c0-0000-7000-8000-0000000000ff'

let project: TestProject
let owner: string
let count = 0

beforeEach(async () => {
  project = await addProject(service.core)
  owner = await logIn(service.core, project.ownerId)
})

const members = () => `/projects/${project.id}/members`

function by(session: string, method: Method, path: string): supertest.Test {
  return supertest(service.url)[method](path).set('Cookie', session)
}

async function codeOf(request: supertest.Test): Promise<[number, string | undefined]> {
  const { status, body } = await request
  return [status, body.error?.code]
}

async function join(role: 'ADMIN' | 'MEMBER') {
  const user = await addUser(service.core)
  await addMember(service.core, { projectId: project.id, userId: user.id, role })
  return { ...user, cookie: await logIn(service.core, user.id) }
}

async function invite(email = `new${++count}@people.test`) {
  const { body } = await by(owner, 'post', members()).send({ email })
  return { email, token: String(body.data.url).split('/').at(-1) ?? '', body }
}

function accept(body: object, session?: string): supertest.Test {
  const request = supertest(service.url).post('/auth/accept-invitation')
  return (session === undefined ? request : request.set('Cookie', session)).send(body)
}

const ids = async () =>
  (await by(owner, 'get', members())).body.data.map(({ userId }: { userId: string }) => userId)

describe('the calls on members', () => {
  it('list, invite, change and remove', async () => {
    const user = await addUser(service.core)
    const added = await by(owner, 'post', members()).send({ email: user.address.toUpperCase() })
    const member = { userId: user.id, email: user.address, role: 'MEMBER' }
    const { url, ...answer } = added.body.data
    assert.deepEqual(answer, { invited: true, email: user.address, role: 'MEMBER' })
    assert.deepEqual(await ids(), [project.ownerId])
    const token = url.split('/').at(-1)
    assert.equal((await accept({ token }, await logIn(service.core, user.id))).status, 200)
    const changed = await by(owner, 'patch', `${members()}/${user.id}`).send({ role: 'ADMIN' })
    assert.deepEqual(changed.body, { success: true, data: { ...member, role: 'ADMIN' } })
    const { body } = await by(owner, 'get', members())
    assert.deepEqual(Object.keys(body.data[1]), [
      ...['userId', 'email', 'emailVerified', 'role', 'createdAt'],
    ])
    assert.deepEqual(
      body.data.map(({ role }: { role: string }) => role),
      ['OWNER', 'ADMIN'],
    )
    const removed = await by(owner, 'delete', `${members()}/${user.id.toUpperCase()}`)
    assert.equal(removed.status, 200)
    assert.deepEqual(Object.keys(removed.body.data), ['message'])
    assert.deepEqual(await ids(), [project.ownerId])
  })

  it('S16: take a removed member out of the project at once, and leave the session', async () => {
    const member = await join('MEMBER')
    const read = () => by(member.cookie, 'get', '/contacts').set('X-Project-Id', project.id)
    assert.equal((await read()).status, 200)
    await by(owner, 'delete', `${members()}/${member.id}`)
    assert.deepEqual(await codeOf(read()), [403, 'PROJECT_ACCESS_DENIED'])
    assert.deepEqual(await codeOf(by(member.cookie, 'get', members())), [404, 'RESOURCE_NOT_FOUND'])
    assert.equal((await by(member.cookie, 'get', '/projects')).status, 200)
  })

  it('S16: lower a role at once', async () => {
    const admin = await join('ADMIN')
    const body = { role: 'MEMBER' }
    assert.equal((await by(owner, 'patch', `${members()}/${admin.id}`).send(body)).status, 200)
    const sent = by(admin.cookie, 'post', members()).send({ email: 'x@people.test' })
    assert.deepEqual(await codeOf(sent), [403, 'FORBIDDEN'])
  })

  it('need the role ADMIN for all but the list, and a session', async () => {
    const [member, target] = [await join('MEMBER'), await join('MEMBER')]
    const open = await invite()
    const [{ id: invitationId = '' } = {}] = await service.core.store.read
      .select()
      .from(invitations)
      .where(eq(invitations.projectId, project.id))
    const calls = (session: string) => [
      by(session, 'post', members()).send({ email: 'a@people.test' }),
      by(session, 'patch', `${members()}/${target.id}`).send({ role: 'ADMIN' }),
      by(session, 'delete', `${members()}/${target.id}`),
      by(session, 'get', `/projects/${project.id}/invitations`),
      by(session, 'delete', `/projects/${project.id}/invitations/${invitationId}`),
    ]
    for (const request of calls(member.cookie)) {
      assert.deepEqual(await codeOf(request), [403, 'FORBIDDEN'])
    }
    assert.equal((await by(member.cookie, 'get', members())).status, 200)
    const stranger = await logIn(service.core, (await addUser(service.core)).id)
    for (const request of [...calls(stranger), by(stranger, 'get', members())]) {
      assert.deepEqual(await codeOf(request), [404, 'RESOURCE_NOT_FOUND'])
    }
    const keyed = call('post', members(), project).send({ email: 'a@people.test' })
    assert.deepEqual(await codeOf(keyed), [401, 'UNAUTHORIZED'])
    assert.deepEqual(await codeOf(call('get', members(), project)), [401, 'UNAUTHORIZED'])
    assert.equal((await ids()).length, 3)
    assert.equal((await accept({ token: open.token, password: 'a password' })).status, 200)
  })

  it('give no role but ADMIN and MEMBER', async () => {
    const target = await join('MEMBER')
    for (const role of ['OWNER', 'owner', '', null, 1]) {
      const sent = [
        by(owner, 'post', members()).send({ email: 'a@people.test', role }),
        by(owner, 'patch', `${members()}/${target.id}`).send({ role }),
      ]
      for (const request of sent) {
        const { status, body } = await request
        assert.deepEqual([status, body.error.errors[0].field], [422, 'role'], String(role))
      }
    }
    assert.deepEqual(await codeOf(by(owner, 'post', members()).send({ email: 'no address' })), [
      422,
      'VALIDATION_ERROR',
    ])
    assert.equal((await ids()).length, 2)
  })

  it('refuse to change the owner, the owner who leaves, and unknown members', async () => {
    const admin = await join('ADMIN')
    const change = (id: string) => by(admin.cookie, 'patch', `${members()}/${id}`)
    const remove = (id: string) => by(admin.cookie, 'delete', `${members()}/${id}`)
    const stranger = await addUser(service.core)
    const forbidden = [
      change(project.ownerId).send({ role: 'MEMBER' }),
      remove(project.ownerId),
      by(owner, 'delete', `${members()}/${project.ownerId}`),
    ]
    for (const request of forbidden) assert.deepEqual(await codeOf(request), [403, 'FORBIDDEN'])
    for (const id of [UNKNOWN, stranger.id, 'nobody']) {
      assert.deepEqual(await codeOf(remove(id)), [404, 'RESOURCE_NOT_FOUND'])
      const changed = change(id).send({ role: 'ADMIN' })
      assert.deepEqual(await codeOf(changed), [404, 'RESOURCE_NOT_FOUND'])
    }
    assert.equal((await ids()).length, 2)
    assert.equal((await remove(admin.id)).status, 200)
    assert.deepEqual(await ids(), [project.ownerId])
  })

  it('are closed for changes while the project is disabled, but everybody may leave', async () => {
    const [member, other] = [await join('MEMBER'), await join('MEMBER')]
    await updateProject(service.core, project.id, { disable: 'MANUAL' })
    const remove = (cookie: string, id: string) => by(cookie, 'delete', `${members()}/${id}`)
    assert.deepEqual(await codeOf(remove(owner, other.id)), [403, 'PROJECT_DISABLED'])
    assert.equal((await remove(member.cookie, member.id.toUpperCase())).status, 200)
    assert.deepEqual(await codeOf(remove(owner, project.ownerId)), [403, 'FORBIDDEN'])
    assert.deepEqual((await ids()).toSorted(), [project.ownerId, other.id].toSorted())
    const sent = by(owner, 'post', members()).send({ email: 'a@people.test' })
    assert.deepEqual(await codeOf(sent), [403, 'PROJECT_DISABLED'])
    assert.equal((await by(owner, 'get', members())).status, 200)
  })
})

describe('invitations', () => {
  it('to a member or to oneself are refused', async () => {
    const member = await join('MEMBER')
    for (const email of [member.address, project.ownerAddress]) {
      const sent = by(owner, 'post', members()).send({ email, role: 'ADMIN' })
      assert.deepEqual(await codeOf(sent), [409, 'CONFLICT'])
    }
    assert.equal((await ids()).length, 2)
  })

  it('ignore the Host of the request: links are of base_url', async () => {
    const { body } = await by(owner, 'post', members())
      .set('Host', 'evil.localhost')
      .set('X-Forwarded-Host', 'evil.test')
      .send({ email: 'hosted@people.test' })
    assert.ok(body.data.url.startsWith(service.core.config.baseUrl), body.data.url)
  })

  it('are listed without their links, and revoked once', async () => {
    const { email, token } = await invite()
    const path = `/projects/${project.id}/invitations`
    const { body, text } = await by(owner, 'get', path)
    assert.equal(body.data.length, 1)
    const { id, ...shown } = body.data[0]
    assert.deepEqual(
      [shown.email, shown.role, shown.invitedBy],
      [email, 'MEMBER', project.ownerAddress],
    )
    assert.equal(text.includes(token), false)
    assert.equal((await by(owner, 'delete', `${path}/${id}`)).status, 204)
    assert.deepEqual(await codeOf(by(owner, 'delete', `${path}/${id}`)), [
      404,
      'RESOURCE_NOT_FOUND',
    ])
    const late = accept({ token, password: 'a password' })
    assert.deepEqual(await codeOf(late), [400, 'BAD_REQUEST'])
  })

  it('S20: of another project are not found', async () => {
    await invite()
    const [row] = await service.core.store.read
      .select({ id: invitations.id })
      .from(invitations)
      .where(eq(invitations.projectId, project.id))
    const other = await addProject(service.core, 'Other')
    const theirs = await logIn(service.core, other.ownerId)
    const path = `/projects/${other.id}/invitations/${row?.id}`
    assert.deepEqual(await codeOf(by(theirs, 'delete', path)), [404, 'RESOURCE_NOT_FOUND'])
    assert.equal(
      (await by(owner, 'get', `/projects/${project.id}/invitations`)).body.data.length,
      1,
    )
  })
})

describe('POST /auth/accept-invitation', () => {
  it('compares an address that the request names too without letter case', async () => {
    const { email, token } = await invite()
    const given = { token, password: 'a long password' }
    const { status, body, text } = await accept({ ...given, email: email.replace('n', 'N') })
    assert.deepEqual([status, body.data?.email, body.warnings], [200, email, undefined], text)
    const other = await accept({
      ...{ ...given, token: (await invite()).token },
      email: 'other@people.test',
    })
    assert.equal(other.body.warnings?.[0].field, 'email')
  })

  it('makes an account and a session whose cookie works', async () => {
    const { email, token } = await invite()
    const accepted = await accept({ token, password: 'a password' })
    assert.equal(accepted.status, 200)
    const { id, ...data } = accepted.body.data
    assert.deepEqual(data, { email, projectId: project.id, role: 'MEMBER' })
    const [cookie = ''] = accepted.get('Set-Cookie') ?? []
    assert.match(
      cookie,
      /^pillarbox_session=\S+; Path=\/; Max-Age=604[78]\d\d; HttpOnly; SameSite=Lax$/,
    )
    assert.equal(await makesKnown(service.core, accepted, id), true)
    const read = by(cookie.split(';')[0] ?? '', 'get', '/contacts')
    assert.equal((await read.set('X-Project-Id', project.id)).status, 200)
    assert.deepEqual(await ids(), [project.ownerId, id])
  })

  it('with the session of the invited address makes no other session', async () => {
    const { email, token } = await invite()
    const user = await addUser(service.core, { address: email })
    const cookie = await logIn(service.core, user.id)
    const accepted = await accept({ token }, cookie)
    assert.deepEqual([accepted.status, accepted.get('Set-Cookie')], [200, undefined])
    const count = await service.core.store.read.$count(sessions, eq(sessions.userId, user.id))
    assert.equal(count, 1)
  })

  it('refuses another account, an address with an account, and bad tokens', async () => {
    const { email, token } = await invite()
    const stranger = await logIn(service.core, (await addUser(service.core)).id)
    assert.deepEqual(await codeOf(accept({ token }, stranger)), [403, 'FORBIDDEN'])
    assert.deepEqual(await codeOf(accept({ token })), [422, 'VALIDATION_ERROR'])
    await addUser(service.core, { address: email })
    const known = await accept({ token, password: 'a password' })
    assert.deepEqual([known.status, known.body.error.code], [401, 'UNAUTHORIZED'])
    assert.equal(known.get('Set-Cookie'), undefined)
    const unknown = accept({ token: '0'.repeat(64), password: 'a password' })
    assert.deepEqual(await codeOf(unknown), [400, 'BAD_REQUEST'])
    for (const bad of ['', 'x', token + 0, 7, null]) {
      assert.deepEqual(await codeOf(accept({ token: bad })), [422, 'VALIDATION_ERROR'])
    }
    assert.deepEqual(await ids(), [project.ownerId])
  })

  it('is refused to another account by a session also when an API key is sent along', async () => {
    const { email, token } = await invite()
    const user = await addUser(service.core, { address: email })
    const cookie = await logIn(service.core, user.id)
    const sent = accept({ token }, cookie).set('Authorization', `Bearer ${project.secret}`)
    assert.deepEqual(await codeOf(sent), [401, 'UNAUTHORIZED'])
  })

  it('S17: refuses pages of other sites, with and without a cookie', async () => {
    const { token } = await invite()
    for (const headers of FOREIGN_SITE) {
      const sent = accept({ token, password: 'a password' }).set(headers)
      assert.deepEqual(await codeOf(sent), [403, 'FORBIDDEN'])
    }
    assert.equal((await accept({ token, password: 'a password' })).status, 200)
  })

  it('admits one of two requests at a time', async () => {
    const { email, token } = await invite()
    const both = await Promise.all([1, 2].map(() => accept({ token, password: 'a password' })))
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400])
    const [user] = await service.core.store.read
      .select()
      .from(users)
      .where(eq(users.address, email))
    const rows = await service.core.store.read.$count(
      memberships,
      eq(memberships.userId, user?.id ?? ''),
    )
    assert.equal(rows, 1)
  })
})
