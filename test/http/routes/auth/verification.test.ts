import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { HOUR_MS } from '../../../../src/base/clock.ts'
import {
  insertToken,
  makeLinkToken,
} from '../../../../src/features/tenancy/accounts/links/link-tokens.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { accountTokens, users } from '../../../../src/store/schema/accounts.ts'
import {
  mailTo,
  tokenTo,
  writeMail,
} from '../../../features/tenancy/accounts/platform-mail/mailed.ts'
import { addUser, logIn } from '../../../session.ts'
import { BASE_URL, clock, cookieOf, useNewcomers } from './newcomers.ts'

const { service, post, newAddress } = useNewcomers()

const signUp = (email: string) => post('/auth/signup', { email, password: 'correct horse' })
const verify = (token: unknown) => post('/auth/verify-email', { token })
const request = (cookie: string, headers: Record<string, string> = {}) =>
  post('/auth/request-verification', {}, { cookie, ...headers })

async function verifiedAt(address: string): Promise<number | null | undefined> {
  const { read } = service.core.store
  return (await read.select().from(users).where(eq(users.address, address)).get())?.verifiedAt
}

describe('POST /auth/verify-email', () => {
  it('takes a token once', async () => {
    const address = newAddress()
    await signUp(address)
    const token = await tokenTo(service.core, address)
    const message = 'Your email address is verified.'
    const first = await verify(token)
    assert.deepEqual([first.status, first.body], [200, { success: true, data: { message } }])
    assert.equal(first.headers['set-cookie'], undefined)
    const second = await verify(token)
    assert.deepEqual([second.status, second.body.error.code], [400, 'BAD_REQUEST'])
  })

  it('lets one of two uses at once win', async () => {
    const address = newAddress()
    await signUp(address)
    const token = await tokenTo(service.core, address)
    const both = await Promise.all([verify(token), verify(token)])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400])
  })

  it('refuses a token after an hour', async () => {
    const address = newAddress()
    await signUp(address)
    const token = await tokenTo(service.core, address)
    clock.now += HOUR_MS
    assert.equal((await verify(token)).status, 400)
    assert.equal(await verifiedAt(address), null)
  })

  it('refuses unknown tokens, those of other links, and other shapes', async () => {
    const { id, address } = await addUser(service.core, { verifiedAt: null })
    const token = makeLinkToken()
    const given = { token, purpose: 'reset-password', userId: id, at: clock.now } as const
    await service.core.store.write((tx) => insertToken(tx, given))
    assert.equal((await verify(token)).status, 400)
    assert.equal((await verify(makeLinkToken())).status, 400)
    for (const wrong of ['', 'a'.repeat(63), 'a'.repeat(65), 64, null, undefined]) {
      assert.equal((await verify(wrong)).status, 422)
    }
    assert.equal(await verifiedAt(address), null)
  })

  it('stores digests of tokens only', async () => {
    const address = newAddress()
    await signUp(address)
    const token = await tokenTo(service.core, address)
    const rows = await service.core.store.read.select().from(accountTokens)
    assert.ok(rows.length > 0)
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(token))
  })
})

describe('POST /auth/request-verification', () => {
  it('S26: mails three times an hour, whether or not the mails are written yet', async () => {
    for (const isWrittenAtOnce of [true, false]) {
      const address = newAddress()
      const cookie = cookieOf(await signUp(address))
      const statuses: number[] = []
      for (let each = 1; each <= 4; each += 1) {
        if (isWrittenAtOnce) await writeMail(service.core)
        statuses.push((await request(cookie)).status)
      }
      assert.deepEqual(statuses, [200, 200, 200, 429])
      await writeMail(service.core)
      const mails = await mailTo(service.core, address)
      assert.equal(mails.length, 4, 'that of the sign-up is one more')
      assert.equal(new Set(mails.map(({ link }) => link)).size, 4)
      clock.now += HOUR_MS
      assert.equal((await request(cookie)).status, 200)
    }
  })

  it('refuses the fourth mail, and no earlier one, while jobs of written mail still run', async () => {
    const address = newAddress()
    const cookie = cookieOf(await signUp(address))
    const statuses: number[] = []
    for (let each = 1; each <= 5; each += 1) {
      await writeMail(service.core, { isEnded: false })
      statuses.push((await request(cookie)).status)
    }
    assert.deepEqual(statuses, [200, 200, 200, 429, 429])
    assert.equal((await mailTo(service.core, address)).length, 4)
  })

  it('grants three of many requests at once', async () => {
    const cookie = cookieOf(await signUp(newAddress()))
    const all = await Promise.all(Array.from({ length: 8 }, () => request(cookie)))
    const statuses = all.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429])
  })

  it('mails an older user three times an hour', async () => {
    const { id, address } = await addUser(service.core, { verifiedAt: null })
    clock.now += HOUR_MS
    const cookie = await logIn(service.core, id)
    const statuses: number[] = []
    for (let each = 1; each <= 4; each += 1) statuses.push((await request(cookie)).status)
    assert.deepEqual(statuses, [200, 200, 200, 429])
    await writeMail(service.core)
    assert.equal((await mailTo(service.core, address)).length, 3)
  })

  it('takes the link from base_url, never from Host', async () => {
    const { id, address } = await addUser(service.core, { verifiedAt: null })
    const evil = { host: 'evil.localhost', 'x-forwarded-host': 'evil.test' }
    assert.equal((await request(await logIn(service.core, id), evil)).status, 200)
    await writeMail(service.core)
    const [mail] = await mailTo(service.core, address)
    assert.match(mail?.link ?? '', new RegExp(`^${BASE_URL}/auth/verify-email\\?token=`))
    assert.doesNotMatch(JSON.stringify(mail), /evil/)
  })

  it('has nothing to do for a verified user', async () => {
    const { id, address } = await addUser(service.core)
    const { body } = await request(await logIn(service.core, id))
    assert.equal(body.data.message, 'Your email address is verified already.')
    assert.equal(await writeMail(service.core), 0)
    assert.deepEqual(await mailTo(service.core, address), [])
  })

  it('needs a session', async () => {
    assert.equal((await supertest(service.url).post('/auth/request-verification')).status, 401)
  })

  it('writes no mail to a user who was verified meanwhile', async () => {
    const address = newAddress()
    const cookie = cookieOf(await signUp(address))
    const token = await tokenTo(service.core, address)
    await request(cookie)
    assert.equal((await verify(token)).status, 200)
    assert.equal(await writeMail(service.core), 1)
    assert.equal((await mailTo(service.core, address)).length, 1)
  })
})
