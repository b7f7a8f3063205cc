/** The projects of a user over HTTP: records, creation, settings, keys, setup state. */
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { memberships, projects } from '../../../../src/store/schema/accounts.ts'
import { addProject, type TestProject, trustDomain } from '../../../core.ts'
import { addMember, addUser, logIn } from '../../../session.ts'
import { type Method, useService } from '../../service.ts'

const { service, call } = useService()

const FIELDS = [
  ...['id', 'name', 'public', 'secret', 'publicLastUsedAt', 'secretLastUsedAt', 'disabled'],
  ...['disabledReason', 'customer', 'subscription', 'billingLimitWorkflows'],
  ...['billingLimitCampaigns', 'billingLimitTransactional', 'billingLimitInbound', 'tracking'],
  ...[
    'language',
    'postalAddress',
    'submissionTemplates',
    'onTemplateFault',
    'publicKeyMayUpdate',
    'role',
  ],
  ...['createdAt', 'updatedAt'],
]
const UNKNOWN = '0199a7c0-0000-7000-8000-0000000000ff'

let project: TestProject
let cookie: string

beforeEach(async () => {
  project = await addProject(service.core)
  cookie = await logIn(service.core, project.ownerId)
})

function by(session: string, method: Method, path: string): supertest.Test {
  return supertest(service.url)[method](path).set('Cookie', session)
}

const mine = (method: Method, path: string) => by(cookie, method, path)

async function codeOf(request: supertest.Test): Promise<[number, string | undefined]> {
  const { status, body } = await request
  return [status, body.error?.code]
}

async function memberCookie(role: 'ADMIN' | 'MEMBER'): Promise<string> {
  const { id } = await addUser(service.core)
  await addMember(service.core, { projectId: project.id, userId: id, role })
  return logIn(service.core, id)
}

const rowOf = (id: string) =>
  service.core.store.read.select().from(projects).where(eq(projects.id, id)).get()

describe('GET /users/@me/projects', () => {
  it('lists full records of own projects, newest first, and no complete secret key', async () => {
    const other = await addProject(service.core, 'Not mine')
    const second = await mine('post', '/users/@me/projects').send({ name: 'Second' })
    const { body, text } = await mine('get', '/users/@me/projects')
    assert.deepEqual(
      body.map((record: { id: string }) => record.id),
      [second.body.id, project.id],
    )
    assert.deepEqual(Object.keys(body[1]), FIELDS)
    assert.equal(body[1].public, project.public)
    assert.equal(body[1].secret, `sk_…${project.secret.slice(-4)}`)
    assert.equal(body[1].role, 'OWNER')
    assert.doesNotMatch(text, /sk_[0-9a-f]{5}/)
    assert.equal(text.includes(other.id), false)
  })

  it('shows the own role and when the keys were last used', async () => {
    await call('get', '/contacts', project)
    await service.core.lastUsed.flush()
    const { body } = await by(await memberCookie('MEMBER'), 'get', '/users/@me/projects')
    assert.equal(body[0].role, 'MEMBER')
    assert.match(body[0].secretLastUsedAt, /Z$/)
    assert.equal(body[0].publicLastUsedAt, null)
  })

  it('shows disabled projects with the reason, and no deleted ones', async () => {
    await updateProject(service.core, project.id, { disable: 'MANUAL' })
    const { body } = await mine('get', '/users/@me/projects')
    assert.deepEqual([body[0].disabled, body[0].disabledReason], [true, 'MANUAL'])
    await service.core.store.write((tx) =>
      tx.update(projects).set({ deletedAt: Date.now() }).where(eq(projects.id, project.id)),
    )
    assert.deepEqual((await mine('get', '/users/@me/projects')).body, [])
    assert.deepEqual((await mine('get', '/projects')).body, { success: true, data: [] })
  })

  it('needs a session', async () => {
    const path = '/users/@me/projects'
    assert.deepEqual(await codeOf(call('get', path, project)), [401, 'UNAUTHORIZED'])
    assert.deepEqual(await codeOf(supertest(service.url).get(path)), [401, 'UNAUTHORIZED'])
  })
})

describe('POST /users/@me/projects', () => {
  it('creates a project whose owner is the user; the keys of the answer work', async () => {
    const { status, body } = await mine('post', '/users/@me/projects').send({ name: ' Néw ' })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body), FIELDS)
    assert.equal(body.name, 'Néw')
    assert.match(body.secret, /^sk_[0-9a-f]{64}$/)
    assert.equal((await call('get', '/contacts', body)).status, 200)
    const [membership] = await service.core.store.read
      .select()
      .from(memberships)
      .where(eq(memberships.projectId, body.id))
    assert.deepEqual([membership?.userId, membership?.role], [project.ownerId, 'OWNER'])
  })

  it('S37: refuses a user who owns as many as the server allows, and keeps those that are more', async () => {
    const { accounts } = service.core.config
    const most = accounts.maxProjectsPerUser
    try {
      accounts.maxProjectsPerUser = 2
      const path = '/users/@me/projects'
      assert.equal((await mine('post', path).send({ name: 'Second' })).status, 201)
      const { status, body } = await mine('post', path).send({ name: 'Third' })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
      assert.match(body.error.message, /own 2 projects.*\(accounts\.max_projects_per_user\)/)
      assert.deepEqual(body.error.details, { limit: 2, owned: 2 })
      accounts.maxProjectsPerUser = 1
      assert.equal((await mine('get', path)).body.length, 2)
      // Projects of others do not count, and operators are exempt.
      const member = await memberCookie('ADMIN')
      assert.equal((await by(member, 'post', path).send({ name: 'Mine' })).status, 201)
      const operator = await logIn(
        service.core,
        (await addUser(service.core, { isOperator: true })).id,
      )
      for (const name of ['1', '2', '3', '4', '5', '6']) {
        assert.equal((await by(operator, 'post', path).send({ name })).status, 201)
      }
    } finally {
      accounts.maxProjectsPerUser = most
    }
  })

  it('S37: creates 5 an hour, those that were deleted included', async () => {
    const path = '/users/@me/projects'
    for (const name of ['1', '2', '3', '4', '5']) {
      assert.equal((await mine('post', path).send({ name: '' })).status, 422)
      const { status, body } = await mine('post', path).send({ name })
      assert.equal(status, 201)
      assert.equal((await mine('delete', `${path}/${body.id}`)).status, 200)
    }
    const refused = await mine('post', path).send({ name: '6' })
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'RATE_LIMIT_EXCEEDED'])
    assert.ok(Number(refused.get('Retry-After')) > 3000, refused.get('Retry-After'))
    assert.equal((await mine('get', path)).body.length, 1)
  })

  it('refuses names with look-alike and invisible characters, and creates nothing', async () => {
    const count = () => service.core.store.read.$count(projects)
    const before = await count()
    for (const name of [
      '',
      ' ',
      'x'.repeat(101),
      'Pаypal',
      'Shop\u200b',
      'Ｓhop',
      'a\nb',
      7,
      null,
    ]) {
      const { status, body } = await mine('post', '/users/@me/projects').send({ name })
      assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'], String(name))
      assert.equal(body.error.errors[0].field, 'name')
    }
    assert.equal(await count(), before)
  })

  it('refuses owners of a disabled project, but not its other members', async () => {
    const admin = await memberCookie('ADMIN')
    await updateProject(service.core, project.id, { disable: 'EMAIL_REPUTATION' })
    const create = (session: string) =>
      by(session, 'post', '/users/@me/projects').send({ name: 'Next' })
    assert.deepEqual(await codeOf(create(cookie)), [403, 'PROJECT_DISABLED'])
    assert.equal((await create(admin)).status, 201)
  })

  it('admits the owner of a project that is being reset or was deleted', async () => {
    for (const change of [{ resetSince: 1 }, { resetSince: null, deletedAt: 1 }]) {
      await service.core.store.write((tx) =>
        tx
          .update(projects)
          .set({ isDisabled: true, ...change })
          .where(eq(projects.id, project.id)),
      )
      const created = await mine('post', '/users/@me/projects').send({ name: 'Next' })
      assert.equal(created.status, 201)
    }
  })

  it('S17: refuses a page of another site', async () => {
    const sent = mine('post', '/users/@me/projects')
      .set('Sec-Fetch-Site', 'cross-site')
      .send({ name: 'Evil' })
    assert.deepEqual(await codeOf(sent), [403, 'FORBIDDEN'])
  })
})

describe('PATCH /users/@me/projects/:id', () => {
  const path = () => `/users/@me/projects/${project.id}`

  it('changes the settings that it is given, and nothing else', async () => {
    const faults = { onTemplateFault: 'send', postalAddress: '1 Main St' }
    const switches = { submissionTemplates: true, publicKeyMayUpdate: true, ...faults }
    const change = { name: 'Renamed', tracking: 'DISABLED', language: 'pt-BR', ...switches }
    const { status, body } = await mine('patch', path()).send({
      ...change,
      ...{ disabled: true, secret: 'sk_x', id: UNKNOWN },
    })
    assert.equal(status, 200)
    const changed = Object.keys(change).map((key) => [key, body[key]])
    assert.deepEqual(Object.fromEntries(changed), change)
    const row = await rowOf(project.id)
    assert.deepEqual([row?.name, row?.isDisabled], ['Renamed', false])
    assert.equal((await call('get', '/projects', project)).body.data.name, 'Renamed')
  })

  it('refuses what breaks the shape, with the field', async () => {
    const wrong = {
      ...{ name: 'Pаypal', tracking: 'ON', language: 'english' },
      ...{ submissionTemplates: 'yes', onTemplateFault: 'ignore' },
      postalAddress: 'two\nlines',
    }
    for (const [field, value] of Object.entries(wrong)) {
      const { status, body } = await mine('patch', path()).send({ [field]: value })
      assert.deepEqual([status, body.error.errors[0].field], [422, field])
    }
    assert.equal((await rowOf(project.id))?.name, 'Shop')
  })

  it('needs the role ADMIN, and S20: answers strangers as if the project did not exist', async () => {
    const send = (session: string, id = project.id) =>
      by(session, 'patch', `/users/@me/projects/${id}`).send({ name: 'New' })
    assert.deepEqual(await codeOf(send(await memberCookie('MEMBER'))), [403, 'FORBIDDEN'])
    assert.equal((await send(await memberCookie('ADMIN'))).status, 200)
    const stranger = await logIn(service.core, (await addUser(service.core)).id)
    const [foreign, unknown] = [await send(stranger), await send(stranger, UNKNOWN)]
    assert.deepEqual([foreign.status, unknown.status], [404, 404])
    assert.equal(foreign.body.error.message, unknown.body.error.message)
    const keyed = call('patch', path(), project).send({ name: 'New' })
    assert.deepEqual(await codeOf(keyed), [401, 'UNAUTHORIZED'])
  })

  it('is refused while the project is disabled', async () => {
    await updateProject(service.core, project.id, { disable: 'MANUAL' })
    const sent = mine('patch', path()).send({ name: 'New' })
    assert.deepEqual(await codeOf(sent), [403, 'PROJECT_DISABLED'])
  })
})

describe('POST /users/@me/projects/:id/regenerate-keys', () => {
  const regenerate = (session = cookie) =>
    by(session, 'post', `/users/@me/projects/${project.id}/regenerate-keys`)

  it('makes the old keys stop at once, though they were cached', async () => {
    const track = (key: string) =>
      supertest(service.url)
        .post('/v1/track')
        .set('Authorization', `Bearer ${key}`)
        .send({ event: 'signup', email: 'ann@people.test' })
    assert.equal((await call('get', '/contacts', project)).status, 200)
    assert.equal((await track(project.public)).status, 200)
    const { status, body } = await regenerate()
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), [
      ...['id', 'name', 'public', 'secret', 'createdAt', 'updatedAt', 'disabled'],
      ...['customer', 'subscription'],
    ])
    assert.deepEqual(await codeOf(call('get', '/contacts', project)), [401, 'INVALID_API_KEY'])
    assert.deepEqual(await codeOf(track(project.public)), [401, 'INVALID_API_KEY'])
    assert.equal((await call('get', '/contacts', body)).status, 200)
    assert.equal((await track(body.public)).status, 200)
    const { text } = await mine('get', '/users/@me/projects')
    assert.equal(text.includes(body.secret), false)
  })

  it('needs the role ADMIN; the keys stay otherwise', async () => {
    const refused = await codeOf(regenerate(await memberCookie('MEMBER')))
    assert.deepEqual(refused, [403, 'FORBIDDEN'])
    assert.equal((await call('get', '/contacts', project)).status, 200)
    assert.equal((await regenerate(await memberCookie('ADMIN'))).status, 200)
  })

  it('works on a full disk', async (t) => {
    const { disk } = service.core
    t.after(() => {
      disk.isLow = () => false
    })
    disk.isLow = () => true
    assert.equal((await regenerate()).status, 200)
  })
})

describe('GET /projects and /projects/:id', () => {
  it('show one project to its key, and a list to a session', async () => {
    await trustDomain(service.core, project.id, 'xn--mnchen-3ya.test')
    const summary = {
      id: project.id,
      name: 'Shop',
      defaultSenderDomain: 'münchen.test',
      createdAt: (await mine('get', '/users/@me/projects')).body[0].createdAt,
    }
    const keyed = await call('get', '/projects', project)
    assert.deepEqual(keyed.body, { success: true, data: summary })
    const listed = await mine('get', '/projects')
    assert.deepEqual(listed.body, { success: true, data: [summary] })
    for (const one of [
      await call('get', `/projects/${project.id}`, project),
      await mine('get', `/projects/${project.id}`),
    ]) {
      assert.deepEqual(one.body, { success: true, data: summary })
    }
  })

  it('have no default domain while none is verified', async () => {
    const { body } = await call('get', '/projects', project)
    assert.equal(body.data.defaultSenderDomain, null)
  })

  it('S20: show no project of others, to keys and sessions alike', async () => {
    const other = await addProject(service.core, 'Other')
    for (const path of [`/projects/${other.id}`, `/projects/${other.id}/setup-state`]) {
      for (const request of [call('get', path, project), mine('get', path)]) {
        const { status, body } = await request
        assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'])
        assert.equal(JSON.stringify(body).includes('Other'), false)
      }
    }
    assert.deepEqual(await codeOf(call('get', '/projects', { secret: project.public })), [
      401,
      'INVALID_API_KEY',
    ])
  })
})

describe('GET /projects/:id/setup-state', () => {
  const state = async () => (await mine('get', `/projects/${project.id}/setup-state`)).body.data

  it('follows the project from empty to its first campaign', async () => {
    const empty = {
      ...{ hasSubscription: false, hasVerifiedDomain: false, contactCount: 0, hasContacts: false },
      ...{ lastCampaignSentAt: null, hasEnabledWorkflow: false, hasSentEmail: false },
      deliveryMode: 'direct',
    }
    assert.deepEqual(await state(), empty)
    await trustDomain(service.core, project.id, `d${project.id.slice(-8)}.test`)
    await call('post', '/contacts', project).send({ email: 'ann@people.test' })
    const workflow = await call('post', '/workflows', project).send({ name: 'W', eventName: 'e' })
    const step = { type: 'EXIT', name: 'S', position: { x: 0, y: 0 }, config: {} }
    await call('post', `/workflows/${workflow.body.id}/steps`, project).send(step)
    await call('patch', `/workflows/${workflow.body.id}`, project).send({ enabled: true })
    const at = Date.UTC(2026, 0, 1)
    const mail = { from: `a@d${project.id.slice(-8)}.test`, subject: 'S', body: 'B' }
    await call('post', '/v1/send', project).send({ ...mail, to: 'ann@people.test' })
    assert.equal((await state()).hasSentEmail, false)
    const draft = { ...mail, name: 'C', audienceType: 'ALL' }
    const { status } = await call('post', '/campaigns', project).send(draft)
    assert.equal(status, 201)
    await service.core.store.write(async (tx) => {
      await tx.run(sql`update emails set sent_at = ${at} where project_id = ${project.id}`)
      await tx.run(sql`update campaigns set sent_at = ${at} where project_id = ${project.id}`)
    })
    assert.deepEqual(await state(), {
      ...empty,
      ...{ hasVerifiedDomain: true, contactCount: 1, hasContacts: true },
      ...{ hasEnabledWorkflow: true, hasSentEmail: true },
      lastCampaignSentAt: '2026-01-01T00:00:00.000Z',
    })
    const keyed = await call('get', `/projects/${project.id}/setup-state`, project)
    assert.deepEqual(keyed.body.data, await state())
  })
})
