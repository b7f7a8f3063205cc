/** The hosted page of an invitation. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { inviteMember } from '../../../../src/features/tenancy/accounts/invitations/invite.ts'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { projects, sessions, users } from '../../../../src/store/schema/accounts.ts'
import { LANGUAGES } from '../../../../src/texts/languages.ts'
import { textsOf } from '../../../../src/texts/texts.ts'
import { addProject, type TestProject } from '../../../core.ts'
import { addUser, logIn } from '../../../session.ts'
import { FOREIGN_SITE } from '../../foreign-site.ts'
import { useService } from '../../service.ts'
import { makesKnown } from '../auth/browser.ts'

const { service } = useService()
const texts = textsOf('en').invitation

let project: TestProject
let email: string
let path: string
let count = 0

beforeEach(async () => {
  project = await addProject(service.core, 'Shop & <b>Söhne</b>')
  email = `guest${++count}@people.test`
  path = await invite()
})

async function invite(role: 'ADMIN' | 'MEMBER' = 'MEMBER'): Promise<string> {
  const input = { projectId: project.id, address: email, role, actorId: project.ownerId }
  const invited = await inviteMember(service.core, input)
  return `/invitations/${invited.url?.split('/').at(-1)}`
}

function show(cookie?: string, language = 'en'): supertest.Test {
  const request = supertest(service.url).get(path).set('Accept-Language', language)
  return cookie === undefined ? request : request.set('Cookie', cookie)
}

function post(fields: object, cookie?: string): supertest.Test {
  const request = supertest(service.url).post(path).type('form').redirects(0)
  return (cookie === undefined ? request : request.set('Cookie', cookie)).send(fields)
}

/** The words of a text with names, between the names. */
const parts = (text: string) => text.split(/\{\w+\}/).filter((part) => part.trim() !== '')

function expectText(page: { text: string }, text: string): void {
  for (const part of parts(text)) assert.ok(page.text.includes(part.replaceAll("'", '&#39;')), part)
}

const userCount = () => service.core.store.read.$count(users, eq(users.address, email))

describe('the page of an invitation', () => {
  it('shows a newcomer the project, the inviter, the role and a form with a password', async () => {
    const page = await show()
    assert.equal(page.status, 200)
    expectText(page, texts.text)
    expectText(page, texts.role.MEMBER)
    expectText(page, texts.newcomer)
    for (const name of [project.ownerAddress, email]) assert.ok(page.text.includes(name))
    assert.match(page.text, /<form method="post">[\s\S]*type="password"[\s\S]*minlength="6"/)
  })

  it('S18: escapes the name of the project', async () => {
    const { text } = await show()
    assert.ok(text.includes('Shop &amp; &lt;b&gt;Söhne&lt;/b&gt;'))
    assert.equal(text.includes('<b>Söhne'), false)
  })

  it('has no script and a policy that admits only its own style; nobody stores or frames it', async () => {
    const { text, headers } = await show()
    const [, sheet = ''] = /<style>([\s\S]*?)<\/style>/.exec(text) ?? []
    const policy = headers['content-security-policy'] ?? ''
    assert.ok(policy.includes(`'sha256-${hash('sha256', sheet, 'base64')}'`))
    assert.match(policy, /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/)
    assert.doesNotMatch(text, /<script|\son\w+=|\sstyle=/i)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['referrer-policy'], 'same-origin')
  })

  it('changes nothing when it is read, by anybody any number of times', async () => {
    await Promise.all([show(), show(), supertest(service.url).head(path)])
    assert.equal(await userCount(), 0)
    assert.equal((await post({ password: 'a password' })).status, 303)
  })

  it('speaks every language, and the ADMIN role has its own text', async () => {
    path = await invite('ADMIN')
    for (const language of LANGUAGES) {
      const page = await show(undefined, language)
      assert.equal(page.headers['content-language'], language)
      expectText(page, textsOf(language).invitation.role.ADMIN)
      expectText(page, textsOf(language).invitation.text)
    }
  })

  it('makes the account by its form, redirects to itself and then says so', async () => {
    const posted = await post({ password: 'a password' })
    assert.deepEqual([posted.status, `/invitations/${posted.headers.location}`], [303, path])
    const [cookie = ''] = posted.get('Set-Cookie') ?? []
    assert.match(cookie, /^pillarbox_session=/)
    const [user] = await service.core.store.read
      .select()
      .from(users)
      .where(eq(users.address, email))
    assert.equal(await makesKnown(service.core, posted, user?.id ?? ''), true)
    const session = cookie.split(';')[0]
    const page = await show(session)
    assert.equal(page.status, 200)
    expectText(page, texts.accepted.text)
    assert.match(page.text, /href="\.\.\/app"/)
    assert.doesNotMatch(page.text, /<form/)
    const again = await post({ password: 'a password' }, session)
    assert.deepEqual([again.status, again.get('Set-Cookie')], [303, undefined])
    assert.equal((await show()).status, 404)
  })

  it('asks again for a password that is too short, and keeps the invitation', async () => {
    for (const fields of [{ password: '12345' }, { password: 'x'.repeat(1001) }, {}]) {
      const page = await post(fields)
      assert.equal(page.status, 422)
      expectText(page, texts.wrongPassword)
      assert.match(page.text, /type="password"/)
      assert.equal(page.get('Set-Cookie'), undefined)
    }
    assert.equal(await userCount(), 0)
  })

  it('lets the invited user who is logged in accept with one button', async () => {
    const user = await addUser(service.core, { address: email })
    const cookie = await logIn(service.core, user.id)
    const page = await show(cookie)
    assert.match(page.text, /<form method="post">/)
    assert.doesNotMatch(page.text, /type="password"/)
    assert.equal((await post({}, cookie)).status, 303)
    expectText(await show(cookie), texts.accepted.text)
  })

  it('sends who has an account to the login, and does not log in', async () => {
    await addUser(service.core, { address: email })
    const page = await show()
    expectText(page, texts.logIn.text)
    assert.match(page.text, /href="\.\.\/app\/login"/)
    assert.doesNotMatch(page.text, /<form/)
    const posted = await post({ password: 'a password' })
    assert.deepEqual([posted.status, posted.get('Set-Cookie')], [303, undefined])
    expectText(await show(), texts.logIn.text)
  })

  it('lets another user log out, and then shows the invitation to a newcomer', async () => {
    const cookie = await logIn(service.core, (await addUser(service.core)).id)
    const page = await show(cookie)
    const [, action = ''] = /<form method="post" action="([^"]+)">/.exec(page.text) ?? []
    const logOut = new URL(action, service.url + path).pathname
    assert.equal(logOut, '/app/logout')
    const { origin } = new URL(service.url)
    await supertest(service.url).post(logOut).set({ Cookie: cookie, Origin: origin }).expect(303)
    expectText(await show(cookie), texts.newcomer)
  })

  it('tells another user so, and adds nobody', async () => {
    const cookie = await logIn(service.core, (await addUser(service.core)).id)
    const page = await show(cookie)
    expectText(page, texts.other)
    assert.doesNotMatch(page.text, /<form method="post">/)
    assert.equal((await post({ password: 'a password' }, cookie)).status, 303)
    expectText(await show(cookie), texts.other)
    assert.equal(await userCount(), 0)
  })

  it('S32: tells a user whose account is bound to another project, and adds nobody', async () => {
    const bound = { address: email, verifiedAt: null, onlyProjectId: 'another' }
    const { id } = await addUser(service.core, bound)
    const cookie = await logIn(service.core, id)
    const page = await show(cookie)
    expectText(page, texts.bound)
    assert.doesNotMatch(page.text, /<form/)
    assert.equal((await post({}, cookie)).status, 303)
    expectText(await show(cookie), texts.bound)
  })

  it('says that the project is disabled', async () => {
    await updateProject(service.core, project.id, { disable: 'MANUAL' })
    const page = await show()
    expectText(page, texts.closed)
    assert.doesNotMatch(page.text, /<form/)
    assert.equal((await post({ password: 'a password' })).status, 303)
    assert.equal(await userCount(), 0)
  })

  it('is gone for unknown, cut off and dead links alike', async () => {
    const dead = path
    await service.core.store.write((tx) =>
      tx.update(projects).set({ deletedAt: Date.now() }).where(eq(projects.id, project.id)),
    )
    const shown = []
    const other = ['/invitations', '/invitations/', `/invitations/${'0'.repeat(64)}`]
    for (const link of [dead, `${dead}x`, `${dead}/x`, '/invitations/%zz', ...other]) {
      path = link
      const page = await show()
      assert.equal(page.status, 404, link)
      expectText(page, texts.gone.text)
      assert.equal(page.text.includes(email), false)
      shown.push(page.text)
      assert.notEqual((await post({ password: 'a password' })).status, 200, link)
    }
    assert.equal(new Set(shown).size, 1)
    assert.equal(await userCount(), 0)
  })

  it('S17: takes no form from a page of another site', async () => {
    const user = await addUser(service.core, { address: email })
    const cookie = await logIn(service.core, user.id)
    for (const headers of FOREIGN_SITE) {
      assert.equal((await post({}, cookie).set(headers)).status, 403)
      const unknown = await post({ password: 'a password' }).set(headers)
      assert.deepEqual([unknown.status, unknown.get('Set-Cookie')], [403, undefined])
    }
    const own = { 'Sec-Fetch-Site': 'same-origin', Origin: service.core.config.baseUrl }
    assert.equal((await post({}, cookie).set(own)).status, 303)
  })

  it('writes no link to the request log, and begins no session for a link alone', async () => {
    const before = service.requests.length
    const sessionsBefore = await service.core.store.read.$count(sessions)
    await show()
    await post({})
    const logged = JSON.stringify(service.requests.slice(before))
    assert.equal(logged.includes(path), false)
    assert.equal(await service.core.store.read.$count(sessions), sessionsBefore)
  })

  it('takes no acceptance on a full disk', async (t) => {
    const { disk } = service.core
    t.after(() => {
      disk.isLow = () => false
    })
    disk.isLow = () => true
    assert.equal((await post({ password: 'a password' })).status, 503)
    assert.equal((await show()).status, 200)
    assert.equal(await userCount(), 0)
  })
})
