import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { encodeWords, needsEncodedWords } from '../../../src/formats/compose/encoded-word.ts'
import { hostileLine } from '../hostile-text.ts'
import { decodeWords } from '../read-message.ts'

test('printable ASCII needs no encoded words; other text and lookalikes do', () => {
  for (const text of ['', 'plain', 'https://x.example/?a=b?=', 'tab\there', '= ?utf-8?Q?']) {
    assert.equal(needsEncodedWords(text), false, text)
  }
  for (const text of ['é', '\u0001', '\u007f', '\u0085', '=?utf-8?Q?', 'x =?utf-8?Q?y z?= z']) {
    assert.equal(needsEncodedWords(text), true, text)
  }
})

test('the names of RFC 2047 section 8 are encoded as in the RFC, in UTF-8', () => {
  assert.equal(encodeWords('Keld Jørn Simonsen'), '=?UTF-8?Q?Keld_J=C3=B8rn_Simonsen?=')
  assert.equal(encodeWords('André'), '=?UTF-8?Q?Andr=C3=A9?=')
  assert.equal(encodeWords('please (a_b)?"'), '=?UTF-8?Q?please_=28a=5Fb=29=3F=22?=')
})

test('the B encoding is used if most of the text is not ASCII', () => {
  assert.equal(encodeWords('你好'), '=?UTF-8?B?5L2g5aW9?=')
  assert.match(encodeWords('Grüße aus Köln'), /^=\?UTF-8\?Q\?/)
})

test('the first word fits the rest of its line', () => {
  const words = encodeWords('é'.repeat(60), 40).split(' ')
  assert.ok((words[0] as string).length <= 40)
  assert.ok(words.slice(1).every((word) => word.length <= 75))
  assert.ok((encodeWords('é'.repeat(60), 12).split(' ')[0] as string).length > 40)
})

test('a lone surrogate becomes U+FFFD', () => {
  assert.equal(decodeWords(encodeWords('a\ud800b')), 'a\ufffdb')
})

test('any text survives, in words of at most 75 characters that do not split characters', () => {
  fc.assert(
    fc.property(hostileLine, fc.integer({ min: 0, max: 80 }), (text, width) => {
      const words = encodeWords(text, width)
      for (const word of words.split(' ')) {
        assert.match(word, /^=\?UTF-8\?(?:Q\?[A-Za-z0-9!*+/=_-]*|B\?[A-Za-z0-9+/=]*)\?=$/)
        assert.ok(word.length <= 75)
      }
      assert.equal(decodeWords(words), text)
    }),
    { numRuns: 300 },
  )
})
