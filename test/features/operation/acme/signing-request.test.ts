import assert from 'node:assert/strict'
import { generateKeyPairSync, verify } from 'node:crypto'
import { test } from 'node:test'
import { createSigningRequest } from '../../../../src/features/operation/acme/order.ts'

/** The content of the DER element at `at`, and where it ends. */
function element(der: Buffer, at: number): { from: number; to: number } {
  const first = der[at + 1]!
  if (first < 0x80) return { from: at + 2, to: at + 2 + first }
  const size = first & 0x7f
  const length = der.readUIntBE(at + 2, size)
  return { from: at + 2 + size, to: at + 2 + size + length }
}

test('a signing request is signed by its key and has every name, however many there are', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (const count of [1, 2, 5, 100]) {
    const names = Array.from({ length: count }, (_, index) => `name${index}.example.test`)
    const der = createSigningRequest(privateKey, names)
    const whole = element(der, 0)
    assert.equal(whole.to, der.length)
    const info = element(der, whole.from)
    const algorithm = element(der, info.to)
    const signature = element(der, algorithm.to)
    assert.equal(signature.to, der.length)
    const signed = der.subarray(whole.from, info.to)
    assert.ok(verify('sha256', signed, publicKey, der.subarray(signature.from + 1)))
    const spki = publicKey.export({ type: 'spki', format: 'der' })
    assert.ok(signed.includes(spki))
    for (const name of names)
      assert.ok(
        signed.includes(Buffer.concat([Buffer.from([0x82, name.length]), Buffer.from(name)])),
      )
  }
})
