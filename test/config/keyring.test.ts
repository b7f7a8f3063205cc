import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyring } from '../../src/config/keyring.ts'

test('each purpose has a key of its own, the same after every start', () => {
  const keyring = createKeyring('one')
  const [page] = keyring.keys('page')
  assert.equal(page.symmetricKeySize, 32)
  assert.ok(!page.equals(keyring.keys('click')[0]))
  assert.ok(page.equals(createKeyring('one').keys('page')[0]))
  assert.ok(!page.equals(createKeyring('two').keys('page')[0]))
})

test('keys of the previous secret come second: they are accepted and never used to sign or seal', () => {
  const [old] = createKeyring('old').keys('page')
  const keys = createKeyring('new', 'old').keys('page')
  assert.equal(keys.length, 2)
  assert.ok(keys[1]?.equals(old))
})

test('a sealed text is unreadable and opens only with the secret that sealed it', () => {
  const keyring = createKeyring('one')
  const sealed = keyring.seal('a private key')
  assert.notEqual(sealed, keyring.seal('a private key'))
  assert.doesNotMatch(Buffer.from(sealed, 'base64').toString('latin1'), /private/)
  assert.equal(keyring.unseal(sealed), 'a private key')
  assert.equal(createKeyring('two', 'one').unseal(sealed), 'a private key')
  assert.throws(() => createKeyring('two').unseal(sealed), TypeError)
})

test('a sealed text that was changed or truncated does not open', () => {
  const keyring = createKeyring('one')
  const bytes = Buffer.from(keyring.seal('a private key'), 'base64')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.throws(() => keyring.unseal(changed.toString('base64')), TypeError)
    assert.throws(() => keyring.unseal(bytes.toString('base64', 0, at)), TypeError)
  }
})

test('reseal seals texts of the previous secret again and keeps those of the current one', () => {
  const old = createKeyring('old').seal('a private key')
  const keyring = createKeyring('new', 'old')
  const resealed = keyring.reseal(old)
  assert.equal(createKeyring('new').unseal(resealed), 'a private key')
  assert.equal(keyring.reseal(resealed), resealed)
  assert.throws(() => createKeyring('other').reseal(old), TypeError)
})
