import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { HOUR_MS } from '../../../../src/base/clock.ts'
import { suppress } from '../../../../src/features/mail/messages/outcome/suppression.ts'
import { recipientColumns } from '../../../../src/features/mail/messages/queue/claim.ts'
import { isPassword } from '../../../../src/features/tenancy/accounts/passwords/passwords.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { sessions, users } from '../../../../src/store/schema/accounts.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import type { SuppressionReason } from '../../../../src/store/schema/words.ts'
import {
  mailTo,
  tokenTo,
  writeMail,
} from '../../../features/tenancy/accounts/platform-mail/mailed.ts'
import { addUser, logIn } from '../../../session.ts'
import { makesKnown, setCookies } from './browser.ts'
import { BASE_URL, clock, useNewcomers } from './newcomers.ts'

const { service, mine, post } = useNewcomers()

const request = (email: string, headers: Record<string, string> = {}) =>
  post('/auth/request-password-reset', { email }, headers)
const reset = (token: string, newPassword = 'another horse') =>
  post('/auth/reset-password', { token, newPassword })

async function mailedToken(address: string): Promise<string> {
  assert.equal((await request(address)).status, 200)
  return tokenTo(service.core, address)
}

async function findUser(id: string) {
  return service.core.store.read.select().from(users).where(eq(users.id, id)).get()
}

function listByReason(address: string, reason: SuppressionReason) {
  const { core } = service
  const by = { source: 'test', emailId: null, at: core.now() }
  return core.store.write((tx) => suppress(tx, { projectId: mine.id, address, reason, ...by }))
}

describe('POST /auth/request-password-reset', () => {
  it('answers alike for every address, and mails only accounts with a password', async () => {
    const { core } = service
    const addresses = [
      (await addUser(core)).address,
      (await addUser(core, { verifiedAt: null })).address,
      'nobody@example.net',
      (await addUser(core, { method: 'GITHUB' })).address,
      (await addUser(core, { isSandbox: true })).address,
    ]
    const answers = await Promise.all(addresses.map((address) => request(address)))
    const shown = answers.map(({ status, text, headers }) => [status, text, Object.keys(headers)])
    assert.deepEqual(shown, new Array(addresses.length).fill(shown[0]))
    assert.equal(await writeMail(core), addresses.length)
    const mailed = await Promise.all(addresses.map((address) => mailTo(core, address)))
    assert.deepEqual(
      mailed.map(({ length }) => length),
      [1, 1, 0, 0, 1],
    )
    const [[mail]] = mailed as [[(typeof mailed)[0][0]]]
    assert.match(mail?.link ?? '', new RegExp(`^${BASE_URL}/auth/reset-password\\?token=`))
  })

  it('mails the user of the sandbox in sandbox mode only', async () => {
    const { core } = service
    const { address } = await addUser(core, { isSandbox: true })
    const token = await mailedToken(address)
    core.config.delivery.mode = 'direct'
    core.config.accounts.mailProject = mine.id
    try {
      await request(address)
      await writeMail(core)
      assert.equal((await reset(token)).status, 400)
    } finally {
      core.config.delivery.mode = 'sandbox'
      core.config.accounts.mailProject = null
    }
    assert.equal((await mailTo(core, address)).length, 1)
  })

  it('takes the link from base_url, never from Host', async () => {
    const { address } = await addUser(service.core)
    const evil = {
      host: 'evil.localhost',
      'x-forwarded-host': 'evil.test',
      forwarded: 'host=evil.test',
    }
    await request(address, evil)
    await writeMail(service.core)
    const [mail] = await mailTo(service.core, address)
    assert.match(mail?.link ?? '', new RegExp(`^${BASE_URL}/`))
    assert.doesNotMatch(JSON.stringify(mail), /evil/)
  })

  it('S26: mails an account three times an hour, and once for requests at the same time', async () => {
    const { address } = await addUser(service.core)
    await Promise.all(Array.from({ length: 8 }, () => request(address)))
    assert.equal(await writeMail(service.core), 1)
    for (let each = 1; each <= 5; each += 1) {
      assert.equal((await request(address)).status, 200)
      await writeMail(service.core)
    }
    assert.equal((await mailTo(service.core, address)).length, 3)
    clock.now += HOUR_MS
    await request(address)
    await writeMail(service.core)
    assert.equal((await mailTo(service.core, address)).length, 4)
  })

  it('S26: admits ten requests an hour from a network', async () => {
    const from = { 'x-forwarded-for': '203.0.113.7' }
    for (let each = 1; each <= 10; each += 1) {
      assert.equal((await request(`a${each}@example.net`, from)).status, 200)
    }
    const refused = await request('b@example.net', from)
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'RATE_LIMIT_EXCEEDED'])
    assert.equal(refused.headers['retry-after'], '3600')
    await writeMail(service.core)
  })

  it('goes out past a complaint, at acceptance and later, but not past a bounce', async () => {
    const { core } = service
    const expected = { COMPLAINT: 'queued', HARD_BOUNCE: 'suppressed', MANUAL: 'suppressed' }
    for (const [reason, state] of Object.entries(expected)) {
      const { address } = await addUser(core)
      await listByReason(address, reason as SuppressionReason)
      await request(address)
      await writeMail(core)
      const [mail] = await mailTo(core, address)
      assert.equal(mail?.email.state, state, reason)
      const [claimed] = await core.store.read
        .select({ isSuppressed: recipientColumns.isSuppressed })
        .from(emails)
        .where(eq(emails.id, mail?.email.id ?? ''))
      assert.equal(claimed?.isSuppressed, state === 'suppressed', reason)
    }
  })

  it('refuses what is not an address', async () => {
    for (const email of ['ada', '', 7]) {
      assert.equal((await post('/auth/request-password-reset', { email })).status, 422)
    }
  })
})

describe('POST /auth/reset-password', () => {
  it('S16: sets the password, ends all sessions and all other links, and logs nobody in', async () => {
    const { core } = service
    const secret = { totpSecret: 'sealed', totpConfirmedAt: clock.now }
    const { id, address } = await addUser(core, { verifiedAt: null, ...secret })
    const bystander = await addUser(core)
    const cookies = [await logIn(core, id), await logIn(core, id)]
    await logIn(core, bystander.id)
    const older = await mailedToken(address)
    const token = await mailedToken(address)
    assert.notEqual(older, token)
    const done = await reset(token, 'another horse')
    assert.equal(done.status, 200, done.text)
    assert.deepEqual(
      setCookies(done).map((line) => line.split('=')[0]),
      ['pillarbox_device'],
    )
    assert.equal(await makesKnown(core, done, id), true)
    const user = await findUser(id)
    assert.equal(await isPassword('another horse', user?.passwordHash ?? ''), true)
    assert.deepEqual([user?.verifiedAt, user?.totpSecret], [clock.now, 'sealed'])
    assert.equal(await core.store.read.$count(sessions, eq(sessions.userId, id)), 0)
    assert.equal(await core.store.read.$count(sessions, eq(sessions.userId, bystander.id)), 1)
    for (const cookie of cookies) {
      const { status } = await supertest(service.url)
        .post('/auth/request-verification')
        .set({ cookie })
      assert.equal(status, 401)
    }
    for (const used of [token, older]) {
      const { status, body } = await reset(used, 'a third horse')
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    }
    assert.equal((await findUser(id))?.passwordHash, user?.passwordHash)
  })

  it('lets one of two uses at once win', async () => {
    const { id, address } = await addUser(service.core)
    const token = await mailedToken(address)
    const passwords = ['the first horse', 'the second horse']
    const both = await Promise.all(passwords.map((password) => reset(token, password)))
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400])
    const winner = passwords[both.findIndex(({ status }) => status === 200)] ?? ''
    assert.equal(await isPassword(winner, (await findUser(id))?.passwordHash ?? ''), true)
  })

  it('refuses a token after an hour', async () => {
    const { address } = await addUser(service.core)
    const token = await mailedToken(address)
    clock.now += HOUR_MS
    assert.equal((await reset(token)).status, 400)
  })

  it('does not use up the token for a password that breaks the rule', async () => {
    const { address } = await addUser(service.core)
    const token = await mailedToken(address)
    for (const password of ['12345', 'x'.repeat(1001)]) {
      const { status, body } = await reset(token, password)
      assert.deepEqual([status, body.error.errors[0].field], [422, 'newPassword'])
    }
    assert.equal((await reset(token.slice(1))).status, 422)
    assert.equal((await reset(token)).status, 200)
  })
})
