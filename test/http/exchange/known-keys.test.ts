import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKey } from '../../../src/features/tenancy/accounts/callers/authenticate.ts'
import {
  createKeyReader,
  MAX_KNOWN_KEYS,
  MAX_KNOWN_LENGTH,
} from '../../../src/http/exchange/admission.ts'

/** How often fields were read that the connection did not know. */
function reader() {
  const seen = { reads: 0 }
  const read = createKeyReader((authorization) => {
    seen.reads += 1
    return readKey(authorization)
  })
  return { read, seen }
}

const field = (digit: number) => `Bearer sk_${digit.toString(16).padStart(64, '0')}`

test('the key of a connection is digested once, and another one has its own digest', () => {
  const { read, seen } = reader()
  for (const digit of [1, 2, 1, 2, 1]) assert.deepEqual(read(field(digit)), readKey(field(digit)))
  assert.equal(seen.reads, 2)
  assert.notDeepEqual(read(field(1)), read(field(2)))
  const publicKey = `pk_${'a'.repeat(64)}`
  assert.deepEqual(read(`Bearer ${publicKey}`), { kind: 'public', publicKey })
})

test('a connection remembers few keys, and nothing that is none', () => {
  const { read, seen } = reader()
  for (let digit = 0; digit <= MAX_KNOWN_KEYS; digit += 1) read(field(digit))
  read(field(MAX_KNOWN_KEYS))
  assert.equal(seen.reads, MAX_KNOWN_KEYS + 1)
  read(field(0))
  assert.equal(seen.reads, MAX_KNOWN_KEYS + 2)
  for (const other of [undefined, '', 'Basic x', 'Bearer x', 'Bearer x']) {
    assert.deepEqual(read(other), readKey(other))
  }
  assert.equal(seen.reads, MAX_KNOWN_KEYS + 7)
})

test('a connection remembers no field that a stranger has made long', () => {
  const { read, seen } = reader()
  for (const key of [`sk_${'a'.repeat(64)}`, `pk_${'a'.repeat(64)}`]) {
    const padded = (length: number) => `Bearer ${key}`.replace(' ', ' '.repeat(length - 73))
    for (const [length, reads] of [
      [MAX_KNOWN_LENGTH, 1],
      [MAX_KNOWN_LENGTH + 1, 2],
      [14_000, 2],
    ] as const) {
      const before = seen.reads
      const field = padded(length)
      assert.equal(field.length, length)
      for (let time = 0; time < 2; time += 1) assert.deepEqual(read(field), readKey(field))
      assert.equal(seen.reads - before, reads, `${length} characters`)
    }
  }
})
