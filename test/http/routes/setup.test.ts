import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { DAY_MS, MINUTE_MS } from '../../../src/base/clock.ts'
import { createLog } from '../../../src/base/log.ts'
import { makeSetupLink } from '../../../src/features/tenancy/accounts/setup/link.ts'
import { createUser } from '../../../src/features/tenancy/accounts/users/users.ts'
import { desc, eq } from '../../../src/store/drizzle.ts'
import {
  memberships,
  projects,
  sessions,
  setupLinks,
  users,
} from '../../../src/store/schema/accounts.ts'
import { addUser, logIn } from '../../session.ts'
import { FOREIGN_SITE } from '../foreign-site.ts'
import { useService } from '../service.ts'
import { makesKnown, setCookies } from './auth/browser.ts'

const clock = { now: Date.UTC(2026, 10, 30, 12) }
const lines: string[] = []
const log = createLog('debug', { write: (line: string) => lines.push(line) })
const { service } = useService({
  now: () => clock.now,
  log,
  http: { trustedProxies: ['127.0.0.2/32'] },
  accounts: { disableSignups: false },
})

const PASSWORD = 'correct horse battery'
let token = ''
let count = 0

/** Nobody may log in: the users of before count as those of a sandbox. All tries of before are forgotten. */
beforeEach(async () => {
  clock.now += MINUTE_MS
  await service.core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
  token = await makeToken()
})

async function makeToken(): Promise<string> {
  const made = await makeSetupLink(service.core)
  return made?.link.split('#')[1] ?? ''
}

function newInput(more: object = {}) {
  count += 1
  return { token, email: `first${count}@people.test`, password: PASSWORD, ...more }
}

const post = (body: object, headers: Record<string, string> = {}) =>
  supertest(service.url).post('/setup').set(headers).send(body)

async function counts() {
  const { read } = service.core.store
  return [
    ...[await read.$count(users), await read.$count(projects)],
    ...[await read.$count(sessions), await read.$count(setupLinks)],
  ]
}

async function isNeeded(): Promise<boolean> {
  return (await supertest(service.url).get('/config')).body.setup.needed
}

describe('POST /setup', () => {
  it('makes a verified operator and a project, and logs in as a login does', async () => {
    const { core } = service
    assert.equal(await isNeeded(), true)
    const input = newInput({ projectName: ' Harbour ' })
    const response = await post(input, { 'accept-language': 'de' })
    assert.equal(response.status, 200)
    const { id } = response.body.data
    assert.deepEqual(response.body, { success: true, data: { id, email: input.email } })
    const user = await core.store.read.select().from(users).where(eq(users.id, id)).get()
    assert.deepEqual(
      [user?.isOperator, user?.isSandbox, user?.verifiedAt, user?.language],
      [true, false, clock.now, 'de'],
    )
    assert.equal(await makesKnown(core, response, id), true)
    const cookie = setCookies(response)
      .map((line) => line.split(';')[0])
      .join('; ')
    const own = await supertest(service.url).get('/users/@me/projects').set({ cookie })
    assert.deepEqual(
      own.body.map(({ name, role }: Record<string, string>) => [name, role]),
      [['Harbour', 'OWNER']],
    )
    const login = await supertest(service.url)
      .post('/auth/login')
      .send({ email: input.email, password: PASSWORD })
    assert.deepEqual(login.body, response.body)
    assert.deepEqual([await isNeeded(), await core.store.read.$count(setupLinks)], [false, 0])
    assert.equal(existsSync(path.join(core.config.dataDir, 'setup-link')), false)
  })

  it('makes no project without a name', async () => {
    const [, before] = await counts()
    assert.equal((await post(newInput())).status, 200)
    assert.equal((await counts())[1], before)
  })

  it('S39: has one answer to a wrong, a cut, an expired and a used token, and when there is a user', async () => {
    const { core } = service
    const refusals: object[] = []
    const refuse = async (body: object) => {
      const before = await counts()
      const { status, headers, body: answer } = await post(body)
      const { code, message, suggestion } = answer.error
      refusals.push({ status, code, message, suggestion, names: Object.keys(headers).sort() })
      assert.deepEqual(await counts(), before)
      clock.now += MINUTE_MS
    }
    await refuse(newInput({ token: 'f'.repeat(64) }))
    await refuse(newInput({ token: token.slice(1) }))
    clock.now += DAY_MS
    await refuse(newInput())
    token = await makeToken()
    assert.equal((await post(newInput())).status, 200)
    await refuse(newInput())
    await core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
    token = await makeToken()
    await addUser(core)
    await refuse(newInput())
    assert.equal(refusals.length, 5)
    assert.equal(Object(refusals[0]).status, 404)
    for (const refusal of refusals) assert.deepEqual(refusal, refusals[0])
  })

  it('S39: of two at the same time one succeeds', async () => {
    const before = await counts()
    const all = await Promise.all([
      post(newInput({ projectName: 'A' })),
      post(newInput({ projectName: 'B' })),
    ])
    assert.deepEqual(all.map(({ status }) => status).sort(), [200, 404])
    const changes = (await counts()).map((now, index) => now - (before[index] ?? 0))
    assert.deepEqual(changes, [1, 1, 1, -1])
  })

  it('S39: a user of a command who comes between is the first', async () => {
    const { core } = service
    const { run } = core.loginQueue
    core.loginQueue.run = async (check, placed) => {
      await createUser(core, { address: `between${count}@people.test`, password: PASSWORD })
      return run(check, placed)
    }
    const { status } = await post(newInput())
    core.loginQueue.run = run
    assert.equal(status, 404)
  })

  it('S39: nobody signs up before the first user is made', async () => {
    const before = await counts()
    const account = { email: 'stranger@people.test', password: PASSWORD }
    const signUp = () => supertest(service.url).post('/auth/signup').send(account)
    const { status, body } = await signUp()
    assert.deepEqual([status, body.error.code], [409, 'CONFLICT'])
    assert.match(body.error.suggestion, /Finish the set-up/)
    assert.deepEqual(await counts(), before)
    assert.equal(await isNeeded(), true)
    assert.equal((await post(newInput())).status, 200)
    assert.equal((await signUp()).body.success, true)
  })

  it('S39: deletes a file of a dead link that a command had to leave', async () => {
    const file = path.join(service.core.config.dataDir, 'setup-link')
    assert.equal((await post(newInput({ token: 'wrong' }))).status, 404)
    assert.equal(existsSync(file), true, 'the set-up is open')
    await addUser(service.core)
    assert.equal((await post(newInput())).status, 404)
    assert.equal(existsSync(file), false)
  })

  it('S17, S39: refuses pages of other sites, and what is no JSON', async () => {
    const before = await counts()
    for (const headers of FOREIGN_SITE) {
      assert.equal((await post(newInput(), headers)).status, 403, JSON.stringify(headers))
    }
    const form = await supertest(service.url).post('/setup').type('form').send(newInput())
    assert.equal(form.status, 415)
    assert.deepEqual(await counts(), before)
    assert.equal((await post(newInput(), { 'sec-fetch-site': 'same-origin' })).status, 200)
  })

  it('S17: ends the session of the cookie in the request', async () => {
    const { core } = service
    const { id } = await addUser(core, { isSandbox: true })
    const cookie = await logIn(core, id)
    const open = () => core.store.read.$count(sessions, eq(sessions.userId, id))
    assert.equal(await open(), 1)
    assert.equal((await post(newInput(), { cookie })).status, 200)
    assert.equal(await open(), 0)
  })

  it('S26, S39: takes five tries a minute from an address', async () => {
    const wrong = () => post(newInput({ token: 'wrong' }))
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await wrong()).status, 404)
    const refused = await post(newInput())
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'RATE_LIMIT_EXCEEDED'])
    assert.equal(refused.headers['retry-after'], '60')
    clock.now += MINUTE_MS
    assert.equal((await post(newInput())).status, 200)
  })

  it('names the field at fault, and counts no try for it', async () => {
    const faults = [
      { password: 'short' },
      { projectName: ' ' },
      { projectName: 'a\u200bb' },
      { email: 'nobody' },
      { token: '' },
      { token: 'x'.repeat(1_001) },
      { projectName: 'x'.repeat(101) },
    ]
    for (const fault of faults) {
      const { status, body } = await post(newInput(fault))
      assert.equal(status, 422)
      assert.deepEqual(
        body.error.errors.map(({ field }: { field: string }) => field),
        Object.keys(fault),
      )
    }
    assert.equal((await post(newInput())).status, 200)
  })

  it('tells who has the link that the sandbox has taken the address', async () => {
    const [taken] = await service.core.store.read
      .select()
      .from(users)
      .orderBy(desc(users.createdAt))
    const { status, body } = await post(newInput({ email: taken?.address }))
    assert.deepEqual(
      [status, body.error.code, body.error.errors[0].field],
      [409, 'CONFLICT', 'email'],
    )
    assert.equal(await isNeeded(), true)
    assert.equal((await post(newInput())).status, 200)
  })

  it('makes the user the owner of the project', async () => {
    const { body } = await post(newInput({ projectName: 'Quay' }))
    const rows = await service.core.store.read
      .select({ role: memberships.role })
      .from(memberships)
      .where(eq(memberships.userId, body.data.id))
    assert.deepEqual(rows, [{ role: 'OWNER' }])
  })

  it('S39: no token is in the log or in the log of requests', async () => {
    const mine = token
    await post(newInput({ token: `${mine}0` }))
    await post(newInput())
    const { write } = service.core.store
    await service.core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
    token = await makeToken()
    service.core.store.write = () => Promise.reject(new Error('the disk is broken'))
    assert.equal((await post(newInput())).status, 500)
    service.core.store.write = write
    assert.ok(lines.some((line) => line.includes('the disk is broken')))
    const said = lines.join('') + JSON.stringify(service.requests)
    for (const secret of [mine, token, PASSWORD]) assert.equal(said.includes(secret), false)
    assert.match(said, /this server was set up/)
  })
})
