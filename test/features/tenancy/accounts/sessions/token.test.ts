/** S16: only tokens that this server signed for the purpose, and that have not expired, are read. */
import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { SignJWT } from 'jose'
import { createKeyring } from '../../../../../src/config/keyring.ts'
import { createSessionTokens } from '../../../../../src/features/tenancy/accounts/sessions/token.ts'
import { SECRET, START } from '../../../../core.ts'

const DAY_MS = 86_400_000
const id = randomUUID()
const clock = { now: START }
const now = () => clock.now
const keyring = createKeyring(SECRET)
const tokens = createSessionTokens({ keyring, now })
const key = keyring.keys('sessions')[0]
const seconds = (at: number) => Math.floor(at / 1000)

type Claims = { iss?: string; aud?: string; sub?: string; iat?: number; exp?: number }
const claims = (): Required<Claims> => ({
  iss: 'pillarbox',
  aud: 'session',
  sub: id,
  iat: seconds(START),
  exp: seconds(START + DAY_MS),
})
const signed = (change: Claims = {}, alg = 'HS256', by: Parameters<SignJWT['sign']>[0] = key) =>
  new SignJWT({ ...claims(), ...change }).setProtectedHeader({ alg }).sign(by)

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
/** A token by hand, for what libraries refuse to make. */
function forged(header: object, payload: object, signature?: (text: string) => string): string {
  const text = `${encode(header)}.${encode(payload)}`
  return `${text}.${signature?.(text) ?? ''}`
}

const bytes = key.export()
const hs256 = (text: string) => createHmac('sha256', bytes).update(text).digest('base64url')
const hs512 = (text: string) => createHmac('sha512', bytes).update(text).digest('base64url')

describe('the tokens of sessions', () => {
  it('a token is read for its purpose until it expires', async () => {
    const expiresAt = START + DAY_MS
    const token = await tokens.sign('session', { id, expiresAt })
    assert.equal(await tokens.read('session', token), id)
    assert.equal(await tokens.read('device', token), undefined)
    const device = await tokens.sign('device', { id, expiresAt })
    assert.equal(await tokens.read('device', device), id)
    assert.equal(await tokens.read('session', device), undefined)
    clock.now = expiresAt - 1
    assert.equal(await tokens.read('session', token), id)
    clock.now = expiresAt
    // It was read before, so this is the memory of valid tokens.
    assert.equal(await tokens.read('session', token), undefined)
    assert.equal(await createSessionTokens({ keyring, now }).read('session', token), undefined)
    clock.now = START
  })

  it('the token that the refused ones below are made from is valid', async () => {
    assert.equal(await tokens.read('session', await signed()), id)
    assert.equal(await tokens.read('session', forged({ alg: 'HS256' }, claims(), hs256)), id)
  })

  const refused: Record<string, () => string | Promise<string>> = {
    'alg none': () => forged({ alg: 'none' }, claims()),
    'alg None with a signature': () => forged({ alg: 'None' }, claims(), hs256),
    'no alg': () => forged({}, claims(), hs256),
    'another HMAC': () => forged({ alg: 'HS512' }, claims(), hs512),
    'a foreign secret': () => signed({}, 'HS256', createKeyring('foreign').keys('sessions')[0]),
    'a key of another purpose': () => signed({}, 'HS256', keyring.keys('page')[0]),
    'another audience': () => signed({ aud: 'device' }),
    'another issuer': () => signed({ iss: 'other' }),
    'a past expiry': () => signed({ exp: seconds(START) - 1 }),
    'no expiry': () => forged({ alg: 'HS256' }, { ...claims(), exp: undefined }, hs256),
    'no subject': () => forged({ alg: 'HS256' }, { ...claims(), sub: undefined }, hs256),
    'no audience': () => forged({ alg: 'HS256' }, { ...claims(), aud: undefined }, hs256),
    'no issuer': () => forged({ alg: 'HS256' }, { ...claims(), iss: undefined }, hs256),
    'a subject of another type': () => forged({ alg: 'HS256' }, { ...claims(), sub: 7 }, hs256),
    'a critical header': () => forged({ alg: 'HS256', crit: ['x'], x: 1 }, claims(), hs256),
    'claims that were changed': async () => {
      const [head, , signature] = (await signed()).split('.')
      return `${head}.${encode({ ...claims(), sub: randomUUID() })}.${signature}`
    },
    'no signature': async () => (await signed()).replace(/[^.]+$/, ''),
    'a text that is no token': () => 'nonsense',
    'an empty text': () => '',
    'a very long text': async () => `${await signed()}${'A'.repeat(1_000)}`,
  }
  for (const [name, make] of Object.entries(refused)) {
    it(`S16: refuses ${name}`, async () => {
      assert.equal(await tokens.read('session', await make()), undefined)
    })
  }

  it('accepts tokens of the previous secret, and signs with the new one', async () => {
    const old = await tokens.sign('session', { id, expiresAt: START + DAY_MS })
    const both = createSessionTokens({ keyring: createKeyring('new', SECRET), now })
    assert.equal(await both.read('session', old), id)
    const fresh = await both.sign('session', { id, expiresAt: START + DAY_MS })
    const alone = createSessionTokens({ keyring: createKeyring('new'), now })
    assert.equal(await alone.read('session', fresh), id)
    assert.equal(await alone.read('session', old), undefined)
    assert.equal(await tokens.read('session', fresh), undefined)
  })
})
