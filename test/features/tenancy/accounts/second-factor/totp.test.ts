import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  digestRecoveryCode,
  makeRecoveryCodes,
} from '../../../../../src/features/tenancy/accounts/second-factor/codes.ts'
import {
  findTotpStep,
  makeTotpSecret,
  totpUri,
} from '../../../../../src/features/tenancy/accounts/second-factor/totp.ts'
import { codeOf } from '../totp-code.ts'

/** `12345678901234567890` of RFC 6238, appendix B. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
/** The last six digits of the eight of the RFC. */
const RFC_CODES: [seconds: number, code: string][] = [
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
]

describe('codes of an authenticator app', () => {
  for (const [seconds, code] of RFC_CODES) {
    it(`are those of RFC 6238 at ${seconds} s`, () => {
      assert.equal(findTotpStep(RFC_SECRET, code, seconds * 1000), Math.floor(seconds / 30))
    })
  }

  it('are valid one step before and after their own, and no longer', () => {
    const at = 1_800_000_000_000
    const step = at / 30_000
    const code = codeOf(RFC_SECRET, at)
    for (const off of [-1, 0, 1]) {
      assert.equal(findTotpStep(RFC_SECRET, code, at + off * 30_000), step)
    }
    for (const off of [-2, 2]) {
      assert.equal(findTotpStep(RFC_SECRET, code, at + off * 30_000), undefined)
    }
  })

  it('are six digits and nothing else', () => {
    const at = 59_000
    for (const text of ['', '28708', '2870820', '94287082', 'abcdef', '２８７０８２']) {
      assert.equal(findTotpStep(RFC_SECRET, text, at), undefined, text)
    }
  })

  it('secrets have 160 bits and differ', () => {
    assert.match(makeTotpSecret(), /^[A-Z2-7]{32}$/)
    assert.notEqual(makeTotpSecret(), makeTotpSecret())
  })

  it('the URI names the server and the user', () => {
    const uri = new URL(totpUri(RFC_SECRET, { host: 'mail.shop.test', address: 'a+b@c.test' }))
    assert.equal(uri.protocol, 'otpauth:')
    assert.equal(decodeURIComponent(uri.pathname), '/Pillarbox (mail.shop.test):a+b@c.test')
    assert.deepEqual(Object.fromEntries(uri.searchParams), {
      issuer: 'Pillarbox (mail.shop.test)',
      secret: RFC_SECRET,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })
})

describe('recovery codes', () => {
  it('are ten, of 80 bits, and their spelling does not matter', () => {
    const codes = makeRecoveryCodes()
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
    const [code = ''] = codes
    const digest = digestRecoveryCode('u', code)
    assert.equal(digestRecoveryCode('u', ` ${code.replaceAll('-', ' ').toUpperCase()}`), digest)
    assert.notEqual(digestRecoveryCode('other', code), digest)
  })
})
