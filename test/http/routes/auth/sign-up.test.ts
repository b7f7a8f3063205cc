import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { HOUR_MS } from '../../../../src/base/clock.ts'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { sessions, users } from '../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import {
  composed,
  mailTo,
  writeMail,
} from '../../../features/tenancy/accounts/platform-mail/mailed.ts'
import { FOREIGN_SITE } from '../../foreign-site.ts'
import { makesKnown } from './browser.ts'
import { BASE_URL, clock, cookieOf, useNewcomers } from './newcomers.ts'

const { service, mine, other, post, newAddress } = useNewcomers()

const PASSWORD = 'correct horse'

const signUp = (email: string, headers: Record<string, string> = {}) =>
  post('/auth/signup', { email, password: PASSWORD }, headers)

async function findUser(address: string) {
  return service.core.store.read.select().from(users).where(eq(users.address, address)).get()
}

async function counts() {
  const { read } = service.core.store
  return [await read.$count(users), await read.$count(sessions), await read.$count(jobs)]
}

let config: typeof service.core.config.accounts

beforeEach(() => {
  config = { ...service.core.config.accounts }
})

afterEach(() => {
  Object.assign(service.core.config.accounts, config)
})

describe('POST /auth/signup', () => {
  it('S17: ends the session of the cookie in the request, and no session when it is refused', async () => {
    const statusOf = async (cookie: string) =>
      (await supertest(service.url).get('/users/@me').set({ cookie })).status
    const first = newAddress()
    const old = cookieOf(await signUp(first))
    assert.equal((await signUp(first, { cookie: old })).body.success, false)
    assert.equal(await statusOf(old), 200)
    const response = await signUp(newAddress(), { cookie: old })
    assert.equal(response.body.success, true)
    assert.notEqual(cookieOf(response), old)
    assert.deepEqual([await statusOf(old), await statusOf(cookieOf(response))], [401, 200])
  })

  it('makes an unverified account, logs it in and mails a link that verifies', async () => {
    const address = newAddress()
    const response = await signUp(address.toUpperCase(), { 'accept-language': 'pt-BR' })
    const user = await findUser(address)
    assert.ok(user)
    assert.deepEqual(response.body, { success: true, data: { id: user.id, email: address } })
    assert.deepEqual([user.verifiedAt, user.language, user.method], [null, 'pt', 'PASSWORD'])
    const cookie = cookieOf(response)
    assert.match(cookie, /^__Host-pillarbox_session=/)
    assert.equal(await makesKnown(service.core, response, user.id), true)
    const [session] = await service.core.store.read
      .select()
      .from(sessions)
      .where(eq(sessions.userId, user.id))
    assert.match(session?.ip ?? '', /^198\.51\./)
    const denied = await supertest(service.url)
      .get('/contacts')
      .set({ cookie, 'x-project-id': mine.id })
    assert.equal(denied.body.error.code, 'EMAIL_VERIFICATION_REQUIRED')

    await writeMail(service.core)
    const [mail, ...others] = await mailTo(service.core, address)
    assert.ok(mail)
    assert.deepEqual(others, [])
    assert.equal(mail.subject, 'Confirme o seu endereço de e-mail')
    const token = mail.link.slice(-64)
    assert.equal(mail.link, `${BASE_URL}/auth/verify-email?token=${token}`)
    const verified = await post('/auth/verify-email', { token })
    assert.equal(verified.status, 200, verified.text)
    assert.equal((await findUser(address))?.verifiedAt, clock.now)
  })

  it('mails as platform mail: transactional, untracked, to an unsubscribed contact', async () => {
    const address = newAddress()
    await signUp(address)
    await writeMail(service.core)
    const [mail] = await mailTo(service.core, address)
    assert.ok(mail)
    const { email } = mail
    assert.deepEqual(
      [email.projectId, email.isPlatform, email.isTracked, email.contentClass, email.state],
      [mine.id, true, false, 'TRANSACTIONAL', 'queued'],
    )
    assert.deepEqual([email.fromAddress, email.fromName], ['accounts@example.test', 'Pillarbox'])
    const contact = await service.core.store.read
      .select()
      .from(contacts)
      .where(eq(contacts.id, email.contactId))
      .get()
    assert.deepEqual([contact?.subscribed, contact?.data], [false, null])
    const message = (await composed(service.core, email.id)).toString('latin1')
    assert.equal(message.split(mail.link).length, 5, 'once in the text, three times in the HTML')
    assert.doesNotMatch(message, /\/t\/[co]\//)
    assert.match(message, /^Auto-Submitted: auto-generated\r$/m)
  })

  it('S16: a link never comes from the Host of the request', async () => {
    const address = newAddress()
    await signUp(address, { host: 'evil.localhost', 'x-forwarded-host': 'evil.test' })
    await writeMail(service.core)
    const [mail] = await mailTo(service.core, address)
    assert.match(mail?.link ?? '', new RegExp(`^${BASE_URL}/`))
    assert.doesNotMatch(JSON.stringify(mail), /evil/)
  })

  it('refuses what is not an address or a password, and makes nothing', async () => {
    const before = await counts()
    for (const email of [
      'ada',
      'ada@example',
      'ada＠example.net',
      'a@example.net, b@example.net',
    ]) {
      assert.equal((await signUp(email)).status, 422, email)
    }
    for (const password of ['12345', 'x'.repeat(1001), 7, undefined]) {
      const { status, body } = await post('/auth/signup', { email: newAddress(), password })
      assert.deepEqual([status, body.error.errors?.[0]?.field], [422, 'password'])
    }
    const malformed = await supertest(service.url)
      .post('/auth/signup')
      .set('content-type', 'application/json')
      .send('{')
    assert.equal(malformed.status, 400)
    const form = await supertest(service.url)
      .post('/auth/signup')
      .type('form')
      .send({ email: newAddress(), password: PASSWORD })
    assert.equal(form.status, 415)
    assert.deepEqual(await counts(), before)
  })

  it('says that an address is taken, also when two sign up with it at once', async () => {
    const address = newAddress()
    const both = await Promise.all([signUp(address), signUp(address.toUpperCase())])
    assert.deepEqual(both.map(({ body }) => body.success).sort(), [false, true])
    const before = await counts()
    const again = await signUp(address)
    assert.equal(again.status, 200)
    const text = 'An account with this email address exists already.'
    assert.deepEqual(again.body, { success: false, data: text })
    assert.equal(again.headers['set-cookie'], undefined)
    assert.deepEqual(await counts(), before)
  })

  it('is refused where sign-ups are disabled', async () => {
    service.core.config.accounts.disableSignups = true
    const before = await counts()
    const { status, body } = await signUp(newAddress())
    assert.deepEqual(
      [status, body],
      [200, { success: false, data: 'Sign-ups are disabled on this server.' }],
    )
    assert.deepEqual(await counts(), before)
  })

  it('S32: leaves the address unproven where the server mails nobody, and opens the session', async () => {
    service.core.config.delivery.mode = 'direct'
    const address = newAddress()
    try {
      const response = await signUp(address)
      assert.equal(response.body.success, true)
      const made = supertest(service.url).post('/users/@me/projects').send({ name: 'Shop' })
      assert.equal((await made.set('cookie', cookieOf(response))).status, 201)
    } finally {
      service.core.config.delivery.mode = 'sandbox'
    }
    assert.equal((await findUser(address))?.verifiedAt, null)
    await writeMail(service.core)
    assert.deepEqual(await mailTo(service.core, address), [])
  })

  it('is refused while the mail project cannot send, and /health says why', async () => {
    const before = await counts()
    const expectUnusable = async (reason: RegExp) => {
      const { status, body } = await signUp(newAddress())
      assert.deepEqual([status, body.error.code], [503, 'EXTERNAL_SERVICE_ERROR'])
      assert.doesNotMatch(JSON.stringify(body), /mine|mail_project/)
      const [found] = service.core.health.reasons()
      assert.match(found?.reason ?? '', reason)
    }
    const { accounts } = service.core.config
    accounts.mailProject = '0199a7c0-0000-7000-8000-0000000000ff'
    await expectUnusable(/names no project/)
    accounts.mailProject = other.id
    await expectUnusable(/has no verified domain/)
    accounts.mailProject = mine.id
    accounts.mailFrom = 'Ann <ann@elsewhere.test>'
    await expectUnusable(/elsewhere\.test, the domain of accounts\.mail_from, is not verified/)
    accounts.mailFrom = 'nobody'
    await expectUnusable(/accounts\.mail_from is not an address/)
    accounts.mailFrom = null
    assert.deepEqual(await counts(), before)
    await updateProject(service.core, mine.id, { disable: 'MANUAL' })
    await expectUnusable(/is disabled/)
    await updateProject(service.core, mine.id, { enable: true })
    const [people, sessions, mails = 0] = before
    // The members are told that the project was disabled.
    assert.deepEqual(await counts(), [people, sessions, mails + 1])
    assert.equal((await signUp(newAddress())).body.success, true)
    assert.deepEqual(service.core.health.reasons(), [])
  })

  it('S26: admits five an hour from a network', async () => {
    const from = (ip: string) => signUp(newAddress(), { 'x-forwarded-for': ip })
    for (let each = 1; each <= 5; each += 1) {
      assert.equal((await from(`2001:db8:0:1::${each}`)).body.success, true)
    }
    const before = await counts()
    const refused = await from('2001:db8:0:1:ffff::1')
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'RATE_LIMIT_EXCEEDED'])
    assert.equal(refused.headers['retry-after'], '3600')
    assert.deepEqual(await counts(), before)
    assert.equal((await from('2001:db8:0:2::1')).body.success, true)
    clock.now += HOUR_MS
    assert.equal((await from('2001:db8:0:1::9')).body.success, true)
  })

  it('S26: tells a network of twenty taken addresses in an hour at most', async () => {
    const address = newAddress()
    await signUp(address)
    const from = { 'x-forwarded-for': '203.0.113.9' }
    for (let each = 1; each <= 20; each += 1) {
      assert.equal((await signUp(address, from)).body.success, false)
    }
    assert.equal((await signUp(address, from)).status, 429)
  })

  it('refuses addresses that no person keeps, where accounts.verify_email_on_signup is on', async () => {
    service.core.config.accounts.verifyEmailOnSignup = true
    const before = await counts()
    for (const [email, text] of [
      ['ada+1@example.net', 'Addresses with a plus before the @ cannot sign up.'],
      ['ada@mailinator.com', 'Disposable email addresses cannot sign up.'],
      ['ada@missing.test', 'The domain of this email address does not exist.'],
      ['ada@no-mx.test', 'The domain of this email address receives no mail.'],
    ] as const) {
      assert.deepEqual((await signUp(email)).body, { success: false, data: text })
    }
    assert.deepEqual(await counts(), before)
    assert.equal((await signUp(newAddress())).body.success, true)
  })

  it('waits in the one line for passwords, and is refused beyond it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { signal } = new AbortController()
    const waiting = Array.from({ length: 40 }, (_, index) =>
      service.core.loginQueue.run(() => promise, {
        ...{ wideNetwork: `10.0.${index}.0/24`, isKnown: false, signal },
      }),
    )
    const before = await counts()
    const { status, headers } = await signUp(newAddress())
    assert.deepEqual([status, headers['retry-after']], [503, '2'])
    resolve()
    await Promise.all(waiting)
    assert.deepEqual(await counts(), before)
  })

  it('S17: refuses the page of another site', async () => {
    const before = await counts()
    for (const headers of FOREIGN_SITE) {
      assert.equal((await signUp(newAddress(), headers)).status, 403)
    }
    assert.deepEqual(await counts(), before)
  })
})
