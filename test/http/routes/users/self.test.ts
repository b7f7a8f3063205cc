/** Users look after themselves: the password, settings and sessions. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setOperator } from '../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { accountTokens, sessions, users } from '../../../../src/store/schema/accounts.ts'
import { useService } from '../../service.ts'
import { openBrowser, setCookies, statusOf } from '../auth/browser.ts'
import { PASSWORD, usePasswordUser } from '../auth/password-user.ts'

const clock = { now: Date.now() }
const { service } = useService({
  http: { trustedProxies: ['127.0.0.1'] },
  settings: { PILLARBOX_BASE_URL: 'https://mail.people.test' },
  now: () => clock.now,
})
const { user, addOther, login, loggedIn } = usePasswordUser(service)
const COOKIE = '__Host-pillarbox_session'

describe('GET /users/@me', () => {
  it('shows the user, and nothing secret', async () => {
    const { body } = await (await loggedIn()).call('get', '/users/@me')
    assert.deepEqual(body, {
      id: user.id,
      email: user.address,
      isOperator: false,
      emailVerified: true,
      onlyProjectId: null,
      method: 'PASSWORD',
      twoFactor: false,
      language: 'en',
      timezone: 'UTC',
    })
  })

  it('is open to an unverified session, as are its sessions', async () => {
    await service.core.store.write((tx) =>
      tx.update(users).set({ verifiedAt: null }).where(eq(users.id, user.id)),
    )
    const browser = await loggedIn()
    const { status, body } = await browser.call('get', '/users/@me')
    assert.deepEqual([status, body.emailVerified], [200, false])
    assert.equal((await browser.call('get', '/users/@me/sessions')).status, 200)
    assert.equal((await browser.call('patch', '/users/@me', { language: 'de' })).status, 200)
  })

  it('shows at once that the user became an operator', async () => {
    const browser = await loggedIn()
    await setOperator(service.core, { email: user.address, isOperator: true })
    assert.equal((await browser.call('get', '/users/@me')).body.isOperator, true)
    assert.equal((await browser.call('get', '/metrics')).status, 200)
    await setOperator(service.core, { email: user.address, isOperator: false })
    assert.equal((await browser.call('get', '/metrics')).status, 403)
  })

  it('S17: with an https base_url the cookie is Secure and of this host only', async () => {
    const [session, device] = setCookies(await login())
    assert.match(
      session ?? '',
      /^__Host-pillarbox_session=.*; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/,
    )
    assert.match(device ?? '', /^pillarbox_device=.*HttpOnly; SameSite=Lax; Secure$/)
  })
})

describe('PATCH /users/@me', () => {
  it('changes the language and the time zone', async () => {
    const browser = await loggedIn()
    const settings = { language: 'pt-BR', timezone: 'America/Sao_Paulo' }
    const { body } = await browser.call('patch', '/users/@me', settings)
    assert.deepEqual([body.language, body.timezone], Object.values(settings))
    const { body: again } = await browser.call('patch', '/users/@me', { timezone: 'UTC' })
    assert.deepEqual([again.language, again.timezone], ['pt-BR', 'UTC'])
  })

  it('takes the record that it shows', async () => {
    const browser = await loggedIn()
    const { body: record } = await browser.call('get', '/users/@me')
    const change = { ...record, email: record.email.toUpperCase(), timezone: 'Asia/Tokyo' }
    const { status, body } = await browser.call('patch', '/users/@me', change)
    assert.deepEqual([status, body], [200, { ...record, timezone: 'Asia/Tokyo' }])
    const same = await browser.call('patch', '/users/@me', { email: record.email })
    assert.deepEqual([same.status, same.body], [200, body])
  })

  const wrong: [object, string, string][] = [
    [{}, 'newPassword', 'custom'],
    [{ email: 'new@people.test' }, 'email', 'custom'],
    [{ email: 'new@people.test', language: 'de' }, 'email', 'custom'],
    [{ language: 'english' }, 'language', 'invalid_string'],
    [{ currentPassword: PASSWORD, newPassword: ['short'] }, 'newPassword', 'invalid_type'],
    [{ language: null }, 'language', 'invalid_type'],
    [{ timezone: 'Mars/Olympus' }, 'timezone', 'custom'],
    [{ timezone: '+02:00' }, 'timezone', 'custom'],
    [{ newPassword: 'another horse' }, 'currentPassword', 'custom'],
    [{ currentPassword: PASSWORD }, 'newPassword', 'custom'],
    [{ currentPassword: PASSWORD, newPassword: 'short' }, 'newPassword', 'too_small'],
    [{ currentPassword: 'wrong horse', newPassword: 'another horse' }, 'currentPassword', 'custom'],
    [
      { currentPassword: PASSWORD, newPassword: 'another horse', language: 'de' },
      'newPassword',
      'custom',
    ],
  ]
  for (const [body, field, code] of wrong) {
    it(`refuses ${JSON.stringify(body)} and changes nothing`, async () => {
      const browser = await loggedIn()
      const before = await rowOf()
      const { status, body: refused } = await browser.call('patch', '/users/@me', body)
      assert.equal(status, 422)
      assert.deepEqual(
        refused.error.errors.map((error: Record<string, string>) => [error.field, error.code]),
        [[field, code]],
      )
      assert.deepEqual(await rowOf(), before)
      assert.equal(await statusOf(browser), 200)
    })
  }

  it('says that the address stays, and what to do', async () => {
    const { body } = await (await loggedIn()).call('patch', '/users/@me', {
      email: 'new@people.test',
    })
    const [{ message }] = body.error.errors
    assert.match(message, /cannot be changed: make an account with the new one, and invite it/)
  })

  it('S16: a new password ends all other sessions and reset links, and renames this session', async () => {
    const [mine, other] = [await loggedIn(), await loggedIn()]
    const stranger = await addOther()
    const tokenOf = (
      digest: string,
      userId: string,
      purpose: 'reset-password' | 'verify-email',
    ) => ({
      ...{ digest: `${digest} ${user.id}`, userId, purpose },
      ...{ createdAt: clock.now, expiresAt: clock.now + 3_600_000 },
    })
    await service.core.store.write((tx) =>
      tx
        .insert(accountTokens)
        .values([
          tokenOf('reset', user.id, 'reset-password'),
          tokenOf('verify', user.id, 'verify-email'),
          tokenOf('theirs', stranger.id, 'reset-password'),
        ]),
    )
    const stolen = mine.cookies.get(COOKIE) ?? ''
    const { status, body } = await mine.call('patch', '/users/@me', {
      currentPassword: PASSWORD,
      newPassword: 'another horse',
    })
    assert.deepEqual([status, body.id], [200, user.id])
    assert.notEqual(mine.cookies.get(COOKIE), stolen)
    assert.deepEqual([await statusOf(mine), await statusOf(other)], [200, 401])
    const thief = openBrowser(service)
    thief.cookies.set(COOKIE, stolen)
    assert.equal(await statusOf(thief), 401)
    const tokens = await service.core.store.read.select().from(accountTokens)
    const used = tokens.filter(({ usedAt }) => usedAt !== null).map(({ digest }) => digest)
    assert.deepEqual(used, [`reset ${user.id}`])
    assert.equal((await login()).body.success, false)
    await loggedIn('another horse')
  })

  it('S16: of two changes at a time one takes effect', async () => {
    const browser = await loggedIn()
    const change = (newPassword: string) =>
      browser.call('patch', '/users/@me', { currentPassword: PASSWORD, newPassword })
    const answers = await Promise.all([change('first horse'), change('second horse')])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
    const winner = answers.findIndex(({ status }) => status === 200)
    await loggedIn(winner === 0 ? 'first horse' : 'second horse')
    assert.equal(await service.core.store.read.$count(sessions, eq(sessions.userId, user.id)), 2)
  })

  it('S26: wrong passwords count as failed logins, here and at the login', async () => {
    const browser = await loggedIn()
    const change = (currentPassword: string) =>
      browser.call('patch', '/users/@me', { currentPassword, newPassword: 'another horse' })
    for (let count = 0; count < 10; count += 1) assert.equal((await change('wrong')).status, 422)
    assert.equal((await change(PASSWORD)).status, 429)
    assert.equal((await login()).status, 429)
    clock.now += 1000
    assert.equal((await change(PASSWORD)).status, 200)
  })

  it('is refused to users of other methods', async () => {
    const browser = await loggedIn()
    await service.core.store.write((tx) =>
      tx.update(users).set({ method: 'GOOGLE' }).where(eq(users.id, user.id)),
    )
    const { status, body } = await browser.call('patch', '/users/@me', {
      currentPassword: PASSWORD,
      newPassword: 'another horse',
    })
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    assert.equal((await browser.call('get', '/users/@me')).body.method, 'GOOGLE_OAUTH')
  })
})

describe('the sessions of a user', () => {
  it('are listed newest first, and end one by one', async () => {
    const first = await loggedIn()
    clock.now += 60_000
    const second = await loggedIn()
    const { body } = await first.call('get', '/users/@me/sessions')
    assert.deepEqual(
      body.map((each: { current: boolean; createdAt: string }) => [each.current, each.createdAt]),
      [
        [false, new Date(clock.now).toISOString()],
        [true, new Date(clock.now - 60_000).toISOString()],
      ],
    )
    assert.deepEqual(Object.keys(body[0]), [
      ...['id', 'current', 'createdAt', 'lastUsedAt', 'expiresAt', 'ip', 'userAgent'],
    ])
    const ended = await first.call('delete', `/users/@me/sessions/${body[0].id}`)
    assert.deepEqual([ended.status, setCookies(ended)], [204, []])
    assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 401])
    const again = await first.call('delete', `/users/@me/sessions/${body[0].id}`)
    assert.deepEqual([again.status, again.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    const own = await first.call('delete', `/users/@me/sessions/${body[1].id}`)
    assert.equal(own.status, 204)
    assert.equal(first.cookies.has(COOKIE), false)
  })

  it('S20: those of another user are not there', async () => {
    const mine = await loggedIn()
    const stranger = await addOther()
    const theirs = openBrowser(service)
    await theirs.call('post', '/auth/login', { email: stranger.address, password: PASSWORD })
    const { body } = await theirs.call('get', '/users/@me/sessions')
    assert.equal(body.length, 1)
    const { status } = await mine.call('delete', `/users/@me/sessions/${body[0].id}`)
    assert.equal(status, 404)
    assert.equal(await statusOf(theirs), 200)
  })

  it('those that have expired are not shown', async () => {
    await loggedIn()
    clock.now += 8 * 86_400_000
    const { body } = await (await loggedIn()).call('get', '/users/@me/sessions')
    assert.equal(body.length, 1)
  })
})

function rowOf() {
  return service.core.store.read.select().from(users).where(eq(users.id, user.id)).get()
}
