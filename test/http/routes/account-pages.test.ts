/** The pages that mail to users links to. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { HOUR_MS } from '../../../src/base/clock.ts'
import {
  insertToken,
  makeLinkToken,
} from '../../../src/features/tenancy/accounts/links/link-tokens.ts'
import { isPassword } from '../../../src/features/tenancy/accounts/passwords/passwords.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { accountTokens, users } from '../../../src/store/schema/accounts.ts'
import type { TokenPurpose } from '../../../src/store/schema/words.ts'
import { LANGUAGES } from '../../../src/texts/languages.ts'
import { textsOf } from '../../../src/texts/texts.ts'
import { addUser } from '../../session.ts'
import { makesKnown, setCookies } from './auth/browser.ts'
import { clock, useNewcomers } from './auth/newcomers.ts'

const { service } = useNewcomers()

const get = (path: string) => supertest(service.url).get(path)
const press = (path: string, fields: object) =>
  supertest(service.url).post(path).type('form').send(fields)

async function makeLink(purpose: TokenPurpose): Promise<{ id: string; token: string }> {
  const { id } = await addUser(service.core, { verifiedAt: null })
  const token = makeLinkToken()
  const given = { token, purpose, userId: id, at: clock.now }
  await service.core.store.write((tx) => insertToken(tx, given))
  return { id, token }
}

async function findUser(id: string) {
  return service.core.store.read.select().from(users).where(eq(users.id, id)).get()
}

const titleOf = ({ text }: supertest.Response) => /<h1>(.*)<\/h1>/.exec(text)?.[1]

/** The page that a redirect of `path` leads to. */
async function follow(path: string, { status, headers }: supertest.Response) {
  assert.equal(status, 303)
  const { pathname, search } = new URL(headers.location ?? '', `${service.url}${path}`)
  return get(pathname + search)
}

describe('the page that confirms an address', () => {
  it('asks, confirms by its button, and then says so', async () => {
    const { id, token } = await makeLink('verify-email')
    const path = `/auth/verify-email?token=${token}`
    const asked = await get(path)
    assert.deepEqual([asked.status, titleOf(asked)], [200, 'Confirm your address'])
    assert.match(asked.text, /<form method="post" action="\.\.\/verify-email">/)
    const pressed = await press('/verify-email', { token })
    assert.equal(pressed.headers['set-cookie'], undefined)
    assert.doesNotMatch(pressed.headers.location ?? '', new RegExp(token))
    assert.equal(titleOf(await follow('/verify-email', pressed)), 'Your address is confirmed')
    assert.equal((await findUser(id))?.verifiedAt, clock.now)
    // Opening the link and pressing the button again do no harm.
    assert.equal(titleOf(await get(path)), 'Your address is confirmed')
    const again = await follow('/verify-email', await press('/verify-email', { token }))
    assert.equal(titleOf(again), 'Your address is confirmed')
  })

  it('does nothing when it is only opened', async () => {
    const { id, token } = await makeLink('verify-email')
    const path = `/auth/verify-email?token=${token}`
    for (const headers of [{ 'sec-purpose': 'prefetch' }, { 'user-agent': 'Barracuda Sentinel' }]) {
      assert.equal((await get(path).set(headers)).status, 200)
    }
    assert.equal((await supertest(service.url).head(path)).status, 200)
    assert.equal((await findUser(id))?.verifiedAt, null)
    const [row] = await service.core.store.read
      .select()
      .from(accountTokens)
      .where(eq(accountTokens.userId, id))
    assert.equal(row?.usedAt, null)
  })
})

describe('the page for a new password', () => {
  it('asks for the password again until it keeps the rule, then says so', async () => {
    const { id, token } = await makeLink('reset-password')
    const path = `/auth/reset-password?token=${token}`
    const asked = await get(path)
    assert.equal(titleOf(asked), 'Choose a new password')
    assert.match(asked.text, /<label for="password">/)
    const { address } = (await findUser(id)) ?? {}
    assert.match(
      asked.text,
      new RegExp(`autocomplete="username" value="${address}" readonly hidden`),
    )
    assert.match(asked.text, /autocomplete="new-password" required minlength="6"/)
    assert.doesNotMatch(asked.text, /aria-invalid="true"/)
    for (const password of ['12345', 'x'.repeat(1001), '']) {
      const pressed = await press('/reset-password', { token, password })
      const again = await follow('/reset-password', pressed)
      assert.equal(titleOf(again), 'Choose a new password')
      assert.match(again.text, /aria-invalid="true"/)
    }
    // A page without a referrer has no origin.
    const saved = await press('/reset-password', { token, password: 'new horse' }).set({
      origin: 'null',
    })
    assert.deepEqual(
      setCookies(saved).map((line) => line.split('=')[0]),
      ['pillarbox_device'],
    )
    assert.equal(await makesKnown(service.core, saved, id), true)
    const changed = await follow('/reset-password', saved)
    assert.equal(titleOf(changed), 'Your password is changed')
    assert.match(changed.text, /<a class="button" href="\.\.\/app\/login">Log in<\/a>/)
    const user = await findUser(id)
    assert.equal(await isPassword('new horse', user?.passwordHash ?? ''), true)
    const later = await press('/reset-password', { token, password: 'newer horse' })
    assert.deepEqual([later.status, titleOf(later)], [404, 'This link is no longer valid'])
    assert.equal(titleOf(await get(path)), 'This link is no longer valid')
  })
})

describe('the form of another site', () => {
  it('S17: that saves a password leaves the cookies of the browser alone', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const { token } = await makeLink('reset-password')
      const saved = await press('/reset-password', { token, password: 'new horse' }).set({
        'sec-fetch-site': site,
      })
      assert.deepEqual([saved.status, saved.get('Set-Cookie')], [303, undefined], site)
    }
  })
})

describe('both pages', () => {
  it('say that a link is no longer valid: unknown, cut off, too old, or of the other page', async () => {
    const old = await makeLink('verify-email')
    const oldReset = await makeLink('reset-password')
    clock.now += HOUR_MS
    const fresh = await makeLink('verify-email')
    const freshReset = await makeLink('reset-password')
    for (const [page, tokens] of [
      ['verify-email', [old.token, freshReset.token]],
      ['reset-password', [oldReset.token, fresh.token]],
    ] as const) {
      const queries = [...tokens, makeLinkToken(), 'x', '<b>'].map((token) => `?token=${token}`)
      for (const query of [...queries, '', '?token=']) {
        const shown = await get(`/auth/${page}${query}`)
        const name = `${page}${query}`
        assert.deepEqual(
          [shown.status, titleOf(shown)],
          [404, 'This link is no longer valid'],
          name,
        )
        assert.doesNotMatch(shown.text, /<form|<b>/)
      }
      for (const token of tokens) {
        const pressed = await press(`/${page}`, { token, password: 'new horse' })
        assert.deepEqual([pressed.status, titleOf(pressed)], [404, 'This link is no longer valid'])
      }
    }
  })

  it('speak the language of the reader', async () => {
    const { token } = await makeLink('reset-password')
    for (const language of LANGUAGES) {
      const shown = await get(`/auth/reset-password?token=${token}`).set(
        'accept-language',
        language,
      )
      assert.equal(titleOf(shown), textsOf(language).account.reset.title)
      assert.match(shown.text, new RegExp(`<html lang="${language}"`))
      assert.equal(shown.headers['content-language'], language)
    }
  })

  it('run nothing, load nothing, and leak their address to nobody', async () => {
    const { token } = await makeLink('verify-email')
    const { headers, text } = await get(`/auth/verify-email?token=${token}`)
    const policy = headers['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none';.*form-action 'self'; frame-ancestors 'none'$/)
    assert.deepEqual(
      [headers['referrer-policy'], headers['cache-control']],
      ['same-origin', 'no-store'],
    )
    assert.doesNotMatch(text, /<script|http:|https:/)
  })

  it('never write a token into the log of requests', async () => {
    const { token } = await makeLink('verify-email')
    const { core, requests } = service
    const { read } = core.store
    const fail = () => {
      throw new Error(`no row for ${token}`)
    }
    core.store.read = { ...read, select: fail } as unknown as typeof read
    const before = requests.length
    try {
      const { status, text } = await get(`/auth/verify-email?token=${token}`)
      assert.equal(status, 500)
      assert.match(text, /Something went wrong/)
      assert.doesNotMatch(text, new RegExp(token))
    } finally {
      core.store.read = read
    }
    assert.equal(requests.length, before)
  })
})
