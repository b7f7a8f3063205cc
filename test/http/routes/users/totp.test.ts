/** The second factor: turning it on and off, and logging in with it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deleteSecondFactor } from '../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { accountTokens, recoveryCodes, users } from '../../../../src/store/schema/accounts.ts'
import { codeOf } from '../../../features/tenancy/accounts/totp-code.ts'
import { useService } from '../../service.ts'
import { type Browser, openBrowser, setCookies, statusOf } from '../auth/browser.ts'
import { PASSWORD as password, usePasswordUser } from '../auth/password-user.ts'

const STEP_MS = 30_000
/** In the middle of a step. */
const clock = { now: Math.floor(Date.now() / STEP_MS) * STEP_MS + STEP_MS / 2 }
const { service } = useService({
  http: { trustedProxies: ['127.0.0.1'] },
  now: () => clock.now,
})
const { user, addOther, login, loggedIn } = usePasswordUser(service)

type Guarded = { browser: Browser; secret: string; recoveryCodes: string[] }

/** A user whose second factor is on. A step has passed since its code was used. */
async function guarded(): Promise<Guarded> {
  const browser = await loggedIn()
  const { body } = await browser.call('post', '/users/@me/totp', { password })
  const code = codeOf(body.secret, clock.now)
  const confirmed = await browser.call('post', '/users/@me/totp/confirm', { code })
  assert.equal(confirmed.status, 200)
  clock.now += STEP_MS
  return { browser, secret: body.secret, recoveryCodes: confirmed.body.recoveryCodes }
}

const twoFactorOf = async (browser: Browser) =>
  (await browser.call('get', '/users/@me')).body.twoFactor

describe('turning the second factor on', () => {
  it('takes a password and a code; until then logins need none', async () => {
    const browser = await loggedIn()
    const { status, body } = await browser.call('post', '/users/@me/totp', { password })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['secret', 'uri'])
    assert.equal(new URL(body.uri).searchParams.get('secret'), body.secret)
    assert.equal(await twoFactorOf(browser), false)
    await loggedIn()
    const row = await service.core.store.read
      .select()
      .from(users)
      .where(eq(users.id, user.id))
      .get()
    assert.ok(!JSON.stringify(row).includes(body.secret), 'sealed')
    const code = codeOf(body.secret, clock.now)
    const confirmed = await browser.call('post', '/users/@me/totp/confirm', { code })
    assert.deepEqual([confirmed.status, confirmed.body.recoveryCodes.length], [200, 10])
    assert.equal(await twoFactorOf(browser), true)
    const stored = JSON.stringify(await service.core.store.read.select().from(recoveryCodes))
    for (const code of confirmed.body.recoveryCodes) assert.ok(!stored.includes(code), 'digests')
  })

  it('S16: ends all other sessions and reset links, and renames this session', async () => {
    const [mine, other] = [await loggedIn(), await loggedIn()]
    await service.core.store.write((tx) =>
      tx.insert(accountTokens).values({
        ...{ digest: user.id, userId: user.id, purpose: 'reset-password' },
        ...{ createdAt: clock.now, expiresAt: clock.now + 3_600_000 },
      }),
    )
    const { body } = await mine.call('post', '/users/@me/totp', { password })
    assert.equal(await statusOf(other), 200)
    const stolen = mine.cookies.get('pillarbox_session') ?? ''
    const code = codeOf(body.secret, clock.now)
    await mine.call('post', '/users/@me/totp/confirm', { code })
    assert.deepEqual([await statusOf(mine), await statusOf(other)], [200, 401])
    const thief = openBrowser(service)
    thief.cookies.set('pillarbox_session', stolen)
    assert.equal(await statusOf(thief), 401)
    const token = await service.core.store.read
      .select()
      .from(accountTokens)
      .where(eq(accountTokens.digest, user.id))
      .get()
    assert.equal(token?.usedAt, clock.now)
  })

  it('is refused with a wrong password, a wrong code, without a secret, and a second time', async () => {
    const browser = await loggedIn()
    const post = (path: string, body: object) =>
      browser.call('post', `/users/@me/totp${path}`, body)
    const refusal = async (path: string, body: object) => {
      const { status, body: refused } = await post(path, body)
      return [status, refused.error.code, refused.error.errors?.[0].field]
    }
    const invalid = 'VALIDATION_ERROR'
    assert.deepEqual(await refusal('', { password: 'wrong horse' }), [422, invalid, 'password'])
    assert.deepEqual(await refusal('/confirm', { code: '123456' }), [400, 'BAD_REQUEST', undefined])
    const { body: first } = await post('', { password })
    const { body: second } = await post('', { password })
    const old = codeOf(first.secret, clock.now)
    assert.deepEqual(await refusal('/confirm', { code: old }), [422, invalid, 'code'])
    assert.deepEqual(await refusal('/confirm', { code: '２８７０８２' }), [422, invalid, 'code'])
    const code = codeOf(second.secret, clock.now)
    assert.equal((await post('/confirm', { code })).status, 200)
    assert.deepEqual(await refusal('/confirm', { code }), [409, 'CONFLICT', undefined])
    assert.deepEqual(await refusal('', { password }), [409, 'CONFLICT', undefined])
  })

  it('of several confirmations at a time one takes effect', async () => {
    const browser = await loggedIn()
    const { body } = await browser.call('post', '/users/@me/totp', { password })
    const code = codeOf(body.secret, clock.now)
    const confirm = () => browser.call('post', '/users/@me/totp/confirm', { code })
    const answers = await Promise.all(Array.from({ length: 5 }, confirm))
    const won = answers.filter(({ status }) => status === 200)
    assert.equal(won.length, 1)
    const stored = await service.core.store.read
      .select()
      .from(recoveryCodes)
      .where(eq(recoveryCodes.userId, user.id))
    assert.equal(stored.length, 10)
  })

  it('is for users with a password who are verified', async () => {
    const browser = await loggedIn()
    const set = (change: object) =>
      service.core.store.write((tx) => tx.update(users).set(change).where(eq(users.id, user.id)))
    await set({ method: 'OIDC' })
    assert.equal((await browser.call('post', '/users/@me/totp', { password })).status, 400)
    await set({ method: 'PASSWORD', verifiedAt: null })
    const { accounts } = service.core.config
    // Only a server that can send mail asks for verification.
    Object.assign(accounts, { mailProject: user.id })
    const { status, body } = await browser.call('post', '/users/@me/totp', { password })
    Object.assign(accounts, { mailProject: null })
    assert.deepEqual([status, body.error.code], [403, 'EMAIL_VERIFICATION_REQUIRED'])
    assert.equal((await browser.call('post', '/users/@me/totp', { password })).status, 200)
  })
})

describe('logging in with a second factor', () => {
  it('answers twoFactor to the password alone, without a session', async () => {
    await guarded()
    const browser = openBrowser(service)
    const response = await login({}, browser)
    assert.deepEqual(
      [response.status, response.body],
      [
        200,
        {
          success: false,
          twoFactor: true,
          data: 'Enter the code of your authenticator app, or a recovery code.',
        },
      ],
    )
    assert.deepEqual(setCookies(response), [])
    assert.equal(await statusOf(browser), 401)
  })

  it('says nothing of it to a wrong password', async () => {
    const { secret } = await guarded()
    const wrong = { password: 'wrong horse', code: codeOf(secret, clock.now) }
    const { body } = await login(wrong)
    assert.deepEqual(Object.keys(body), ['success', 'data'])
    assert.equal((await login({ code: wrong.code })).body.success, true, 'the code was not used up')
  })

  it('accepts a code once, and none of an earlier step', async () => {
    const { secret } = await guarded()
    const code = codeOf(secret, clock.now)
    assert.equal((await login({ code: `${code.slice(0, 3)} ${code.slice(3)}` })).body.success, true)
    const again = await login({ code })
    assert.deepEqual(again.body, {
      success: false,
      twoFactor: true,
      data: 'This code is wrong, or was used before.',
    })
    assert.deepEqual(setCookies(again), [])
    assert.equal((await login({ code: codeOf(secret, clock.now, -1) })).body.success, false)
    assert.equal((await login({ code: codeOf(secret, clock.now, 1) })).body.success, true)
    assert.equal((await login({ code: codeOf(secret, clock.now, 2) })).body.success, false)
  })

  it('S16: of several logins with a code at a time one succeeds', async () => {
    const { secret } = await guarded()
    const code = codeOf(secret, clock.now)
    const answers = await Promise.all(Array.from({ length: 8 }, () => login({ code })))
    assert.equal(answers.filter(({ body }) => body.success).length, 1)
  })

  it('accepts each recovery code once', async () => {
    const { recoveryCodes: codes } = await guarded()
    const [first = '', second = ''] = codes
    assert.equal((await login({ code: first })).body.success, true)
    assert.equal((await login({ code: first })).body.success, false)
    const answers = await Promise.all(Array.from({ length: 5 }, () => login({ code: second })))
    assert.equal(answers.filter(({ body }) => body.success).length, 1)
    const left = await service.core.store.read
      .select()
      .from(recoveryCodes)
      .where(eq(recoveryCodes.userId, user.id))
    assert.equal(left.length, 8)
  })

  it('a recovery code of another user is wrong', async () => {
    const { recoveryCodes: codes } = await guarded()
    Object.assign(user, await addOther())
    await guarded()
    assert.equal((await login({ code: codes[0] })).body.success, false)
  })

  it('S26: wrong codes are failures, which the right password does not clear', async () => {
    const { secret } = await guarded()
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await login({ code: 'aaaa-bbbb' })).body.twoFactor, true)
      // Asks for the code again, as long as the account is open.
      if (count < 9) assert.equal((await login()).body.twoFactor, true)
    }
    assert.equal((await login({ code: codeOf(secret, clock.now) })).status, 429)
    assert.equal((await login()).status, 429)
  })
})

describe('turning the second factor off', () => {
  const remove = (browser: Browser, body: object) => browser.call('delete', '/users/@me/totp', body)

  it('takes the password and a code, ends all other sessions and renames this one', async () => {
    const { browser, secret, recoveryCodes: codes } = await guarded()
    const other = openBrowser(service)
    await login({ code: codes[0] }, other)
    const stolen = browser.cookies.get('pillarbox_session')
    const code = codeOf(secret, clock.now)
    assert.equal((await remove(browser, { password, code })).status, 204)
    assert.notEqual(browser.cookies.get('pillarbox_session'), stolen)
    assert.deepEqual([await statusOf(browser), await statusOf(other)], [200, 401])
    assert.equal(await twoFactorOf(browser), false)
    await loggedIn()
    assert.equal(
      await service.core.store.read.$count(recoveryCodes, eq(recoveryCodes.userId, user.id)),
      0,
    )
  })

  it('takes a recovery code too', async () => {
    const { browser, recoveryCodes: codes } = await guarded()
    assert.equal((await remove(browser, { password, code: codes[3] })).status, 204)
  })

  it('is refused with a wrong password or code, and when it is off', async () => {
    const { browser, secret } = await guarded()
    const code = codeOf(secret, clock.now)
    const fieldOf = async (body: object) => {
      const { status, body: refused } = await remove(browser, body)
      return [status, refused.error.errors?.[0].field]
    }
    assert.deepEqual(await fieldOf({ password: 'wrong horse', code }), [422, 'password'])
    assert.deepEqual(await fieldOf({ password, code: '000000' }), [422, 'code'])
    assert.deepEqual(await fieldOf({ password, code: 'aaaa-bbbb' }), [422, 'code'])
    assert.deepEqual(await fieldOf({ password }), [422, 'code'])
    assert.equal(await twoFactorOf(browser), true)
    assert.equal((await remove(browser, { password, code })).status, 204)
    assert.deepEqual(await fieldOf({ password, code }), [400, undefined])
  })

  it('S26: is no way to guess codes: a new password in between does not clear the failures', async () => {
    const { browser, secret } = await guarded()
    const change = { currentPassword: password, newPassword: password }
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await remove(browser, { password, code: 'aaaa-bbbb' })).status, 422)
      if (count < 9) {
        assert.equal((await browser.call('patch', '/users/@me', change)).status, 200)
      }
    }
    const code = codeOf(secret, clock.now)
    assert.equal((await remove(browser, { password, code })).status, 429)
  })

  it('by the operator ends all sessions, and the password is enough again', async () => {
    const { browser } = await guarded()
    await deleteSecondFactor(service.core, user.address)
    assert.equal(await statusOf(browser), 401)
    await loggedIn()
  })
})
