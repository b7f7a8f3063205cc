import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { normalize } from '../../src/base/nfc.ts'
import { anyCharacter } from '../any-character.ts'

const MARKS = '\u0301\u0323'

test('texts are normalised as the engine does', () => {
  const unit = fc.oneof(anyCharacter, fc.constantFrom('e\u0301', '\u1100\u1161', MARKS, '\ufb01'))
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 14 }), (text) => {
      for (const form of ['NFC', 'NFKC', 'NFKD'] as const) {
        assert.equal(normalize(text, form), text.normalize(form))
      }
    }),
  )
})

test('F10: a run of marks is normalised in pieces, whatever its length', (t) => {
  const spy = t.mock.method(String.prototype, 'normalize')
  const text = `cafe\u0301 ${MARKS.repeat(100_000)}`
  const normalized = normalize(text)
  assert.ok(normalized.startsWith('caf\u00e9 '))
  assert.equal(normalized.length, text.length - 1)
  const lengths = spy.mock.calls.map(({ this: piece }) => String(piece).length)
  assert.ok(Math.max(...lengths) <= 64)
})

test('F10: nothing else normalises a text', () => {
  const cwd = path.join(import.meta.dirname, '../..')
  const files = globSync('src/**/*.ts', { cwd }).filter((file) => {
    return /\.normalize\((?:'NF|"NF|\)|form)/.test(readFileSync(path.join(cwd, file), 'utf8'))
  })
  const names = files.map((file) => file.split(path.sep).join('/'))
  // A password has at most 1,000 characters, and its hash stays what it is.
  assert.deepEqual(names.sort(), [
    'src/base/nfc.ts',
    'src/features/tenancy/accounts/passwords/passwords.ts',
  ])
})
