import assert from 'node:assert/strict'
import { createHmac, createSecretKey, randomBytes } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import {
  createPageToken,
  createReturnPathLocalPart,
  createToken,
  createUnsubscribeLocalPart,
  readPageToken,
  readReturnPathLocalPart,
  readToken,
  readUnsubscribeLocalPart,
  uuidBytes,
  uuidText,
} from '../../src/formats/signed-tokens.ts'
import { anyCharacter } from '../any-character.ts'

const key = randomBytes(32)
const otherKey = randomBytes(32)
const digest = Buffer.from('00ff10203040506070ff', 'hex')
const emailId = '0192f0c4-5d3b-7c1e-9a44-0123456789ab'
const contactId = '0192f0c4-5d3b-7c1e-9a44-ba9876543210'

test('a token is base32 of the payload and 10 octets of its HMAC-SHA256', () => {
  // Begins with the RFC 4648 section 10 vectors, for whole groups of five octets.
  assert.match(createToken(key, Buffer.from('fooba')), /^mzxw6ytb[a-z2-7]{16}$/)
  const mac = createHmac('sha256', key).update('fooba').digest('hex').slice(0, 20)
  const token = createToken(key, Buffer.from('fooba'))
  const value = [...token].reduce(
    (sum, character) => sum * 32n + BigInt('abcdefghijklmnopqrstuvwxyz234567'.indexOf(character)),
    0n,
  )
  assert.equal(value.toString(16), `${Buffer.from('fooba').toString('hex')}${mac}`)
})

test('the signature equals the HMAC-SHA256 of node:crypto, for keys of any length', () => {
  const octets = (maxLength: number) =>
    fc.uint8Array({ minLength: 1, maxLength }).map((each) => Buffer.from(each))
  fc.assert(
    fc.property(octets(150), octets(300), (secret, payload) => {
      const mac = createHmac('sha256', secret).update(payload).digest().subarray(0, 10)
      for (const given of [secret, createSecretKey(secret)]) {
        const token = createToken(given, payload)
        assert.equal(token, base32(Buffer.concat([payload, mac])))
        assert.equal(createToken(given, payload), token)
      }
    }),
  )
})

/** By definition: groups of five bits, the last one padded with zeros. */
function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  const digit = (group: string) => Number.parseInt(group.padEnd(5, '0'), 2)
  return groups.map((group) => 'abcdefghijklmnopqrstuvwxyz234567'[digit(group)]).join('')
}

test('a token gives its payload back, in either case, with the current or the previous key', () => {
  const payload = fc.uint8Array({ maxLength: 80 }).map((octets) => Buffer.from(octets))
  fc.assert(
    fc.property(payload, (octets) => {
      const token = createToken(key, octets)
      assert.deepEqual(readToken([key], token), octets)
      assert.deepEqual(readToken([otherKey, key], token.toUpperCase()), octets)
      assert.equal(createToken(createSecretKey(key), octets), token)
      assert.equal(readToken([otherKey], token), undefined)
      assert.equal(readToken([], token), undefined)
    }),
  )
})

test('S21: a token changed in any character, cut or lengthened is refused', () => {
  for (const size of [0, 1, 2, 3, 4, 16, 32]) {
    const token = createToken(key, randomBytes(size))
    for (let at = 0; at < token.length; at++) {
      for (const character of 'a7q1=\u212a') {
        if (token[at] === character) continue
        const changed = token.slice(0, at) + character + token.slice(at + 1)
        assert.equal(readToken([key], changed), undefined)
      }
      assert.equal(readToken([key], token.slice(0, at)), undefined)
    }
    for (const tail of ['a', 'aa', '=', ' ', '\n']) {
      assert.equal(readToken([key], token + tail), undefined)
    }
  }
})

test('a token has one spelling: stray bits after the last octet are refused', () => {
  const token = createToken(key, uuidBytes(emailId))
  const last = 'abcdefghijklmnopqrstuvwxyz234567'.indexOf(token.at(-1)!)
  assert.equal((token.length * 5) % 8, 2)
  assert.equal(last % 4, 0)
  for (const stray of [1, 2, 3]) {
    const spelled = token.slice(0, -1) + 'abcdefghijklmnopqrstuvwxyz234567'[last + stray]
    assert.equal(readToken([key], spelled), undefined)
  }
})

test('S21: no text of any length or alphabet is read as a token', () => {
  for (const text of ['', 'a', '\0', 'é'.repeat(42), 'a'.repeat(4096), 'a'.repeat(65_536)]) {
    assert.equal(readToken([key], text), undefined)
  }
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => {
      assert.equal(readToken([key], text), undefined)
      assert.equal(readPageToken([key], text), undefined)
      assert.equal(readReturnPathLocalPart([key], `b.${text}`), undefined)
    }),
  )
})

test('a return path has 60 octets of local part and gives the email and the digest back', () => {
  const localPart = createReturnPathLocalPart(key, emailId, digest)
  assert.match(localPart, /^b\.[a-z2-7]{58}$/)
  const email = { emailId, digest }
  assert.deepEqual(readReturnPathLocalPart([key], localPart), email)
  assert.deepEqual(readReturnPathLocalPart([otherKey, key], localPart.toUpperCase()), email)
})

test('the addresses and page links of earlier versions, without a digest, are still read', () => {
  const older = { emailId, digest: undefined }
  const localPart = createReturnPathLocalPart(key, emailId)
  assert.match(localPart, /^b\.[a-z2-7]{42}$/)
  assert.deepEqual(readReturnPathLocalPart([key], localPart), older)
  assert.deepEqual(readUnsubscribeLocalPart([key], createUnsubscribeLocalPart(key, emailId)), older)
  const page = createPageToken(key, { contactId, emailId })
  assert.deepEqual(readPageToken([key], page), { contactId, ...older })
})

test('a return path is read only with its own prefix, key and payload', () => {
  const localPart = createReturnPathLocalPart(key, emailId, digest)
  assert.equal(readReturnPathLocalPart([otherKey], localPart), undefined)
  assert.equal(readReturnPathLocalPart([key], localPart.slice(2)), undefined)
  assert.equal(readReturnPathLocalPart([key], `x${localPart}`), undefined)
  assert.equal(readReturnPathLocalPart([key], localPart.replace('b.', 'u.')), undefined)
  for (const page of [
    { contactId, emailId },
    { contactId, emailId, digest },
  ]) {
    assert.equal(readReturnPathLocalPart([key], `b.${createPageToken(key, page)}`), undefined)
  }
})

test('a mail-in unsubscribe address gives the email and the digest back', () => {
  const localPart = createUnsubscribeLocalPart(key, emailId, digest)
  assert.match(localPart, /^u\.[a-z2-7]{58}$/)
  assert.deepEqual(readUnsubscribeLocalPart([key], localPart), { emailId, digest })
  assert.equal(readUnsubscribeLocalPart([key], localPart.replace('u.', 'b.')), undefined)
})

test('a page token names a contact, an email and a digest, as far as there are any', () => {
  const pages = [
    { contactId, emailId, digest },
    { contactId, emailId: undefined, digest },
    { contactId: undefined, emailId, digest },
  ]
  const tokens = pages.map((page) => createPageToken(key, page))
  assert.deepEqual(
    tokens.map((token) => readPageToken([key], token)),
    pages,
  )
  assert.equal(new Set(tokens).size, 3)
  assert.equal(readPageToken([otherKey], tokens[0] ?? ''), undefined)
  assert.equal(readPageToken([key], createToken(key, uuidBytes(contactId))), undefined)
})

test('a UUID converts to 16 octets and back', () => {
  assert.equal(uuidBytes(emailId).toString('hex'), '0192f0c45d3b7c1e9a440123456789ab')
  assert.equal(uuidText(uuidBytes(emailId.toUpperCase())), emailId)
  for (const text of ['', emailId.slice(1), `${emailId}0`, emailId.replace('0', 'g')]) {
    assert.throws(() => uuidBytes(text), TypeError)
  }
  assert.throws(() => uuidText(Buffer.alloc(15)), TypeError)
})
