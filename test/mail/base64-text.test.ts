import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isBase64 } from '../../src/mail/base64-text.ts'

const good = ['aGk=', 'aGk', 'aGVsbG8=', 'aGVs\r\nbG8=\r\n', '_-8=', '+/8=', ' aGk= ']
for (const text of good) {
  test(`${JSON.stringify(text)} is base64`, () => assert.equal(isBase64(text), true))
}

const bad = ['', ' ', '=', '====', 'a', 'aGk===', 'aG=k', 'aGk=aGk=', 'hello world!', 'abcde', 'é']
for (const text of [...bad, 'data:text/plain;base64,aGk=', '<p>Hi</p>']) {
  test(`${JSON.stringify(text)} is not base64`, () => assert.equal(isBase64(text), false))
}

test('whatever was encoded is base64, in either alphabet and in lines', () => {
  const octets = fc.uint8Array({ minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(octets, (bytes) => {
      const encoded = Buffer.from(bytes).toString('base64')
      assert.ok(isBase64(encoded))
      assert.ok(isBase64(Buffer.from(bytes).toString('base64url')))
      assert.ok(isBase64(encoded.replace(/.{76}/g, '$&\r\n')))
    }),
  )
})
