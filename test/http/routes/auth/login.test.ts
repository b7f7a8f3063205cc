/** Logging in and out, and what guessers and pages of other sites get. */
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeEach, describe, it } from 'node:test'
import supertest from 'supertest'
import { createLoginThrottle } from '../../../../src/features/tenancy/accounts/login/throttle.ts'
import {
  hashPassword,
  isOutdated,
  isPassword,
} from '../../../../src/features/tenancy/accounts/passwords/passwords.ts'
import { setPassword } from '../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { sessions, users } from '../../../../src/store/schema/accounts.ts'
import { addUser } from '../../../session.ts'
import { FOREIGN_SITE } from '../../foreign-site.ts'
import { useService } from '../../service.ts'
import { openBrowser, setCookies, statusOf } from './browser.ts'

const clock = { now: Date.now() }
const { service, mine } = useService(
  { http: { trustedProxies: ['127.0.0.1'] }, now: () => clock.now },
  prepare,
)
const PASSWORD = 'correct horse'
const REFUSED = { success: false, data: 'The email address or the password is wrong.' }
const ada = { id: '', address: '' }

async function prepare(): Promise<void> {
  const passwordHash = await hashPassword(PASSWORD)
  Object.assign(ada, await addUser(service.core, { passwordHash, address: 'ada@people.test' }))
}

beforeEach(() => {
  service.core.loginThrottle = createLoginThrottle(() => clock.now)
})

const login = (
  { email = ada.address, password = PASSWORD, ...more }: Record<string, string> = {},
  address?: string,
) => openBrowser(service, address).call('post', '/auth/login', { email, password, ...more })

async function guessFromCrowd(email: string): Promise<void> {
  for (let count = 0; count < 100; count += 1) {
    const { status } = await login({ email, password: 'wrong horse' }, `198.51.100.${count}`)
    assert.equal(status, 200)
  }
}

const countSessions = () => service.core.store.read.$count(sessions)

describe('POST /auth/login', () => {
  it('begins a session with every login', async () => {
    const browser = openBrowser(service, undefined, { 'User-Agent': 'Test/1' })
    const before = await countSessions()
    const { status, body, headers } = await browser.call('post', '/auth/login', {
      email: ' ADA@People.test ',
      password: PASSWORD,
    })
    assert.deepEqual(
      [status, body],
      [200, { success: true, data: { id: ada.id, email: ada.address } }],
    )
    assert.equal(headers['access-control-allow-origin'], undefined)
    const { body: listed } = await browser.call('get', '/users/@me/sessions')
    assert.equal(await countSessions(), before + 1)
    assert.deepEqual([listed[0].ip, listed[0].userAgent], ['192.0.2.1', 'Test/1'])
    assert.equal(listed[0].current, true)
    const { body: self } = await browser.call('get', '/users/@me')
    assert.equal(self.id, ada.id)
  })

  it('S17: cookies are HttpOnly, SameSite=Lax, host-only, and for a week and a year', async () => {
    const cookies = setCookies(await login())
    const shape = /^(\w+)=([\w-]+\.){2}[\w-]+; Path=\/; Max-Age=(\d+); HttpOnly; SameSite=Lax$/
    const found = cookies.map((cookie) => shape.exec(cookie))
    assert.deepEqual(
      found.map((each) => [each?.[1], each?.[3]]),
      [
        ['pillarbox_session', String(7 * 86_400)],
        ['pillarbox_device', String(365 * 86_400)],
      ],
    )
  })

  it('is refused with one text for all reasons, without a cookie, for the same work', async (t) => {
    await addUser(service.core, {
      method: 'GITHUB',
      passwordHash: null,
      address: 'git@people.test',
    })
    const passwordHash = await hashPassword(PASSWORD)
    const sandbox = { isSandbox: true, isOperator: true, address: 'admin@people.test' }
    await addUser(service.core, { ...sandbox, passwordHash })
    const before = await countSessions()
    const { mock } = t.mock.method(crypto, 'argon2')
    const reasons: Record<string, string>[] = [
      { password: 'wrong horse' },
      { email: 'nobody@people.test' },
      { email: 'git@people.test' },
      { email: 'admin@people.test' },
      { password: 'wrong horse', code: '123456' },
    ]
    for (const [index, reason] of reasons.entries()) {
      const response = await login(reason)
      assert.deepEqual([response.status, response.body], [200, REFUSED])
      assert.deepEqual(setCookies(response), [])
      assert.equal(mock.callCount(), index + 1)
    }
    const costs = mock.calls.map(({ arguments: [, { memory, passes }] }) => [memory, passes])
    assert.deepEqual(new Set(costs.map(String)), new Set(['7168,5']))
    assert.equal(await countSessions(), before)
  })

  it('a wrong password is refused with 200, however short it is', async () => {
    for (const password of ['wrong', 'w', '']) {
      const { status, body } = await login({ password })
      assert.deepEqual([status, body], [200, REFUSED], password)
    }
  })

  it('a body of another shape is refused with 422 or 400, and costs no computation', async (t) => {
    const { mock } = t.mock.method(crypto, 'argon2')
    const bodies = [
      {},
      { email: 'ada', password: PASSWORD },
      { email: ada.address, password: 'x'.repeat(1001) },
      { email: [ada.address], password: PASSWORD },
      { email: ada.address, password: { $ne: '' } },
      { email: ada.address, password: PASSWORD, code: 123456 },
    ]
    for (const body of bodies) {
      const { status, body: refused } = await openBrowser(service).call('post', '/auth/login', body)
      assert.deepEqual([status, refused.error.code], [422, 'VALIDATION_ERROR'])
    }
    const { status } = await supertest(service.url)
      .post('/auth/login')
      .set('Content-Type', 'application/json')
      .send('{"email"')
    assert.equal(status, 400)
    const { status: tooLarge } = await openBrowser(service).call('post', '/auth/login', {
      email: ada.address,
      password: 'x'.repeat(20_000),
    })
    assert.equal(tooLarge, 413)
    assert.equal(mock.callCount(), 0)
  })

  it('session fixation: a login never goes on with the session that the browser has', async () => {
    const browser = openBrowser(service)
    await browser.call('post', '/auth/login', { email: ada.address, password: PASSWORD })
    const planted = browser.cookies.get('pillarbox_session') ?? ''
    const bob = await addUser(service.core, { passwordHash: await hashPassword(PASSWORD) })
    await browser.call('post', '/auth/login', { email: bob.address, password: PASSWORD })
    assert.notEqual(browser.cookies.get('pillarbox_session'), planted)
    assert.equal((await browser.call('get', '/users/@me')).body.id, bob.id)
    browser.cookies.set('pillarbox_session', planted)
    assert.equal(await statusOf(browser), 401)
  })

  it('session fixation: a refused login leaves the session of the browser alone', async () => {
    const browser = openBrowser(service)
    await browser.call('post', '/auth/login', { email: ada.address, password: PASSWORD })
    await browser.call('post', '/auth/login', { email: ada.address, password: 'wrong horse' })
    assert.equal(await statusOf(browser), 200)
  })

  it('S17: login CSRF: a page of another site cannot log anybody in', async () => {
    const before = await countSessions()
    for (const headers of FOREIGN_SITE) {
      for (const path of ['/auth/login', '/auth/logout']) {
        const browser = openBrowser(service, undefined, headers)
        const body = { email: ada.address, password: PASSWORD }
        const { status, body: refused } = await browser.call('post', path, body)
        assert.deepEqual([status, refused.error.code], [403, 'FORBIDDEN'])
        assert.equal(browser.cookies.size, 0)
      }
    }
    assert.equal(await countSessions(), before)
  })

  it('S17: login CSRF: a form of any kind logs nobody in, even without a word of its origin', async () => {
    const before = await countSessions()
    const text = JSON.stringify({ email: ada.address, password: PASSWORD })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      for (const path of ['/auth/login', '/auth/signup', '/auth/logout']) {
        const { status, body, headers } = await supertest(service.url)
          .post(path)
          .set('Content-Type', type)
          .serialize((given) => given)
          .send(text)
        assert.deepEqual([status, body.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
        assert.equal(headers['set-cookie'], undefined)
      }
    }
    assert.equal(await countSessions(), before)
    const untyped = { method: 'POST', body: Buffer.from(text) }
    assert.equal((await fetch(`${service.url}/auth/login`, untyped)).status, 200)
  })

  it('a hash with other parameters is renewed, unless it was changed meanwhile', async () => {
    const old = outdatedHash()
    const { id, address: email } = await addUser(service.core, { passwordHash: old })
    const own = openBrowser(service, '203.0.113.1')
    const credentials = { email, password: PASSWORD }
    assert.equal((await own.call('post', '/auth/login', credentials)).body.success, true)
    const row = await service.core.store.read.select().from(users).where(eq(users.id, id)).get()
    assert.equal(isOutdated(old), true)
    assert.equal(isOutdated(row?.passwordHash ?? ''), false)
    assert.equal(await isPassword(PASSWORD, row?.passwordHash ?? ''), true)
    // The browser knows the new hash.
    await guessFromCrowd(email)
    assert.equal((await login({ email })).status, 429)
    assert.equal((await own.call('post', '/auth/login', credentials)).body.success, true)
  })

  it('two logins at a time that renew a hash both succeed', async (t) => {
    const { address: email } = await addUser(service.core, { passwordHash: outdatedHash() })
    const { loginQueue } = service.core
    t.after(() => {
      service.core.loginQueue = loginQueue
    })
    const both = Promise.withResolvers<void>()
    let checked = 0
    service.core.loginQueue = {
      run: async (check, signal) => {
        const result = await loginQueue.run(check, signal)
        checked += 1
        if (checked === 2) both.resolve()
        await both.promise
        return result
      },
    }
    const answers = await Promise.all([login({ email }), login({ email })])
    assert.deepEqual(
      answers.map(({ body }) => body.success),
      [true, true],
    )
    assert.equal(checked, 3)
  })

  it('S16: a login with a password that is replaced at that moment begins no session', async () => {
    const { id, address } = await addUser(service.core, {
      passwordHash: await hashPassword(PASSWORD),
    })
    const { loginQueue } = service.core
    service.core.loginQueue = {
      run: async (check, signal) => {
        const checked = await loginQueue.run(check, signal)
        await setPassword(service.core, { address, password: 'another horse' })
        return checked
      },
    }
    const { body } = await login({ email: address })
    service.core.loginQueue = loginQueue
    assert.deepEqual(body, REFUSED)
    assert.equal(await service.core.store.read.$count(sessions, eq(sessions.userId, id)), 0)
  })

  it('a login whose client is gone leaves the line', async () => {
    const { loginQueue } = service.core
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const { promise: entered, resolve: enter } = Promise.withResolvers<void>()
    service.core.loginQueue = {
      run: (_check, { signal }) => {
        enter()
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            resolve()
            reject(signal.reason)
          })
        })
      },
    }
    const { port, hostname } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const body = JSON.stringify({ email: ada.address, password: PASSWORD })
    socket.write(
      `POST /auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await entered
    socket.destroy()
    await left
    service.core.loginQueue = loginQueue
  })
})

/** Of `PASSWORD`, with parameters of an earlier version. */
function outdatedHash(): string {
  const salt = Buffer.from('somesaltsomesalt')
  const hash = crypto.argon2Sync('argon2id', {
    message: PASSWORD,
    nonce: salt,
    memory: 19_456,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  })
  const [encodedSalt, encodedHash] = [salt, hash].map((bytes) =>
    bytes.toString('base64').replace(/=+$/, ''),
  )
  return `$argon2id$v=19$m=19456,t=2,p=1$${encodedSalt}$${encodedHash}`
}

describe('guessing passwords', () => {
  const guess = (address: string, more: Record<string, string> = {}) =>
    login({ password: 'wrong horse', ...more }, address)

  async function expectTooMany(response: supertest.Response, seconds: number): Promise<void> {
    const { status, body, headers } = response
    assert.deepEqual([status, body.error?.code], [429, 'RATE_LIMIT_EXCEEDED'])
    assert.equal(headers['retry-after'], String(seconds))
  }

  it('S26: an account is closed to an address after 10 failures, for longer each time', async (t) => {
    for (let count = 0; count < 10; count += 1)
      assert.equal((await guess('198.51.100.1')).status, 200)
    const { mock } = t.mock.method(crypto, 'argon2')
    await expectTooMany(await guess('198.51.100.1'), 1)
    // The right password is refused too, without a computation.
    await expectTooMany(await login({}, '198.51.100.1'), 1)
    assert.equal(mock.callCount(), 0)
    assert.equal((await login({}, '198.51.100.2')).body.success, true)
    for (const seconds of [2, 4, 8]) {
      clock.now += (seconds / 2) * 1000
      assert.equal((await guess('198.51.100.1')).status, 200)
      await expectTooMany(await guess('198.51.100.1'), seconds)
    }
    clock.now += 8000
    assert.equal((await login({}, '198.51.100.1')).body.success, true)
    assert.equal((await guess('198.51.100.1')).status, 200)
  })

  it('S26: an unknown account is closed alike', async () => {
    const email = 'nobody@people.test'
    for (let count = 0; count < 10; count += 1) {
      assert.deepEqual((await guess('198.51.100.1', { email })).body, REFUSED)
    }
    await expectTooMany(await guess('198.51.100.1', { email }), 1)
  })

  it('S26: an IPv6 network of 64 bits is one address', async () => {
    for (let count = 0; count < 20; count += 1) {
      const email = `nobody${count}@people.test`
      assert.equal((await guess(`2001:db8:1:2::${count + 1}`, { email })).status, 200)
    }
    await expectTooMany(await login({}, '2001:db8:1:2:ffff::1'), 1)
    assert.equal((await login({}, '2001:db8:1:3::1')).body.success, true)
  })

  it('S26: many guesses at a time get no more tries than one after another', async () => {
    const guesses = await Promise.all(Array.from({ length: 40 }, () => guess('198.51.100.1')))
    const statuses = guesses.map(({ status }) => status)
    // The line has two places for a network: who finds none has made no try.
    assert.deepEqual(new Set(statuses).difference(new Set([200, 429, 503])), new Set())
    let last = 0
    while (last !== 429) {
      last = (await guess('198.51.100.1')).status
      statuses.push(last)
    }
    assert.equal(statuses.filter((status) => status === 200).length, 10)
  })

  it('S26: a crowd closes an account for an hour, except to a browser that knows it', async () => {
    const own = openBrowser(service, '203.0.113.1')
    const credentials = { email: ada.address, password: PASSWORD }
    await own.call('post', '/auth/login', credentials)
    own.cookies.delete('pillarbox_session')
    for (let count = 0; count < 100; count += 1) {
      assert.equal((await guess(`198.51.100.${count}`)).status, 200)
    }
    await expectTooMany(await login({}, '203.0.113.9'), 3600)
    assert.equal((await own.call('post', '/auth/login', credentials)).body.success, true)
    const { address: email } = await addUser(service.core, {
      passwordHash: await hashPassword(PASSWORD),
    })
    // The browser of another user knows nothing of this account.
    const other = openBrowser(service, '203.0.113.2')
    await other.call('post', '/auth/login', { email, password: PASSWORD })
    await expectTooMany(await other.call('post', '/auth/login', credentials), 3600)
    clock.now += 3_600_000
    assert.equal((await login({}, '203.0.113.9')).body.success, true)
  })

  it('S26: a browser that logged in with an older password is as any other', async () => {
    const newPassword = 'another horse'
    const user = await addUser(service.core, { passwordHash: await hashPassword(PASSWORD) })
    const [old, own] = [openBrowser(service, '203.0.113.1'), openBrowser(service, '203.0.113.2')]
    for (const browser of [old, own]) {
      await browser.call('post', '/auth/login', { email: user.address, password: PASSWORD })
    }
    const change = { currentPassword: PASSWORD, newPassword }
    assert.equal((await own.call('patch', '/users/@me', change)).status, 200)
    for (let count = 0; count < 100; count += 1) {
      const guessed = await guess(`198.51.100.${count}`, { email: user.address })
      assert.equal(guessed.status, 200)
    }
    const credentials = { email: user.address, password: newPassword }
    await expectTooMany(await old.call('post', '/auth/login', credentials), 3600)
    // The browser in which the password was changed has shown that it knows the new one.
    assert.equal((await own.call('post', '/auth/login', credentials)).body.success, true)
    await setPassword(service.core, { address: user.address, password: 'a third horse' })
    const reset = { email: user.address, password: 'a third horse' }
    await expectTooMany(await own.call('post', '/auth/login', reset), 3600)
  })

  it('S26: a stolen session guesses from a crowd of addresses no longer than a stranger', async () => {
    const user = await addUser(service.core, { passwordHash: await hashPassword(PASSWORD) })
    const own = openBrowser(service, '203.0.113.1')
    await own.call('post', '/auth/login', { email: user.address, password: PASSWORD })
    const session = own.cookies.get('pillarbox_session') ?? ''
    const thief = (address: string) => {
      const browser = openBrowser(service, address)
      browser.cookies.set('pillarbox_session', session)
      return browser
    }
    for (let count = 0; count < 100; count += 1) {
      const wrong = { currentPassword: `wrong ${count}`, newPassword: 'another horse' }
      const guessed = await thief(`198.51.100.${count}`).call('patch', '/users/@me', wrong)
      assert.equal(guessed.status, 422)
    }
    const password = PASSWORD
    const change = { currentPassword: password, newPassword: 'another horse' }
    await expectTooMany(await thief('203.0.113.9').call('patch', '/users/@me', change), 3600)
    await expectTooMany(
      await thief('203.0.113.9').call('post', '/users/@me/totp', { password }),
      3600,
    )
    await expectTooMany(
      await thief('203.0.113.9').call('post', '/users/@me/totp/confirm', { code: '123456' }),
      3600,
    )
    // Logins count in the same limit, and the user's own browser passes it.
    await expectTooMany(await login({ email: user.address }, '203.0.113.9'), 3600)
    assert.equal((await own.call('patch', '/users/@me', change)).status, 200)
  })

  it('S26: a browser whose cookies are stolen gives a crowd no more guesses', async () => {
    const user = await addUser(service.core, { passwordHash: await hashPassword(PASSWORD) })
    const credentials = { email: user.address, password: PASSWORD }
    const [own, other] = [openBrowser(service, '203.0.113.1'), openBrowser(service, '203.0.113.2')]
    for (const browser of [own, other]) await browser.call('post', '/auth/login', credentials)
    const thief = (address: string) => {
      const browser = openBrowser(service, address)
      for (const [name, value] of own.cookies) browser.cookies.set(name, value)
      return browser
    }
    const change = { currentPassword: PASSWORD, newPassword: 'another horse' }
    for (let count = 0; count < 100; count += 1) {
      const browser = thief(`198.51.100.${count}`)
      const isLogin = count % 2 === 0
      const guessed = isLogin
        ? await browser.call('post', '/auth/login', { ...credentials, password: 'wrong horse' })
        : await browser.call('patch', '/users/@me', { ...change, currentPassword: 'wrong horse' })
      assert.equal(guessed.status, isLogin ? 200 : 422)
    }
    await expectTooMany(await thief('203.0.113.9').call('patch', '/users/@me', change), 3600)
    await expectTooMany(await thief('203.0.113.9').call('post', '/auth/login', credentials), 3600)
    // Neither strangers nor the user's other browser pay for it.
    assert.equal((await login({ email: user.address }, '203.0.113.9')).body.success, true)
    assert.equal((await other.call('patch', '/users/@me', change)).status, 200)
  })

  it('the 51st login at a time is refused at once, and neither logged nor counted', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { signal } = new AbortController()
    const waiting = Array.from({ length: 50 }, (_, index) =>
      service.core.loginQueue.run(() => promise, {
        ...{ wideNetwork: `10.0.${index}.0/24`, isKnown: true, signal },
      }),
    )
    const before = service.requests.length
    for (let count = 0; count < 15; count += 1) {
      const { status, body, headers } = await login({}, '198.51.100.1')
      assert.deepEqual([status, body.error.code], [503, 'EXTERNAL_SERVICE_ERROR'])
      assert.equal(headers['retry-after'], '2')
    }
    assert.equal(service.requests.length, before)
    resolve()
    await Promise.all(waiting)
    assert.equal((await login({}, '198.51.100.1')).body.success, true)
  })
})

describe('logging out', () => {
  async function loggedIn(headers: Record<string, string> = {}) {
    const browser = openBrowser(service, undefined, headers)
    await browser.call('post', '/auth/login', { email: ada.address, password: PASSWORD })
    return browser
  }

  for (const method of ['get', 'post'] as const) {
    it(`${method.toUpperCase()} /auth/logout ends the session and deletes the cookie`, async () => {
      const browser = await loggedIn()
      const other = await loggedIn()
      const session = browser.cookies.get('pillarbox_session') ?? ''
      const { status, text } = await browser.call(method, '/auth/logout')
      assert.deepEqual([status, text], [200, 'true'])
      assert.equal(browser.cookies.has('pillarbox_session'), false)
      assert.equal(browser.cookies.has('pillarbox_device'), true)
      browser.cookies.set('pillarbox_session', session)
      assert.equal(await statusOf(browser), 401)
      assert.equal(await statusOf(other), 200)
    })

    it(`${method.toUpperCase()} /auth/logout without a session is true as well`, async () => {
      assert.equal((await openBrowser(service).call(method, '/auth/logout')).text, 'true')
      const forger = openBrowser(service)
      forger.cookies.set('pillarbox_session', 'a.b.c')
      assert.equal((await forger.call(method, '/auth/logout')).text, 'true')
    })
  }

  it('S17: a link on another site logs nobody out', async () => {
    const browser = await loggedIn()
    const jar = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await supertest(service.url)
      .get('/auth/logout')
      .set({ Cookie: jar, 'Sec-Fetch-Site': 'cross-site' })
    assert.equal(response.text, 'true')
    assert.deepEqual(setCookies(response), [])
    assert.equal(await statusOf(browser), 200)
  })
})

describe('a forged cookie', () => {
  it('S16: opens nothing', async () => {
    const browser = openBrowser(service)
    await browser.call('post', '/auth/login', { email: ada.address, password: PASSWORD })
    const real = browser.cookies.get('pillarbox_session') ?? ''
    const [, payload] = real.split('.')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    for (const forged of [
      `${none}.${payload}.`,
      `${real.slice(0, -2)}xx`,
      browser.cookies.get('pillarbox_device') ?? '',
    ]) {
      const forger = openBrowser(service)
      forger.cookies.set('pillarbox_session', forged)
      const { status, body } = await forger.call('get', '/users/@me')
      assert.deepEqual([status, body.error.code], [401, 'UNAUTHORIZED'])
    }
  })

  it('S17: a key opens no route of users', async () => {
    const { status, body } = await supertest(service.url)
      .get('/users/@me')
      .set('Authorization', `Bearer ${mine.secret}`)
    assert.deepEqual([status, body.error.code], [401, 'UNAUTHORIZED'])
  })
})
