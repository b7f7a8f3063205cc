import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeBase64Lines } from '../../../src/formats/compose/base64-lines.ts'
import { encodeText } from '../../../src/formats/compose/text-body.ts'

test('the shortest safe encoding is chosen', () => {
  const table: [string, string][] = [
    ['', '7bit'],
    ['Hello,\n\nall is well.\n', '7bit'],
    ['x'.repeat(78), '7bit'],
    ['x'.repeat(79), 'quoted-printable'],
    ['Viele Grüße aus Wien', 'quoted-printable'],
    ['trailing \nspace', 'quoted-printable'],
    ['trailing tab\t', 'quoted-printable'],
    ['hi\nFrom here on', 'quoted-printable'],
    ['From here on', 'quoted-printable'],
    ['--=_0_boundary', 'quoted-printable'],
    ['nul \0', 'quoted-printable'],
    ['\u001b[1m', 'quoted-printable'],
    [`${'plain English text '.repeat(20)}你好`, 'quoted-printable'],
    ['你好世界', 'base64'],
    ['<p>Привет, мир! Как дела?</p>', 'base64'],
  ]
  for (const [text, expected] of table) {
    assert.equal(encodeText(text).transferEncoding, expected, JSON.stringify(text))
  }
})

test('S3: line ends are CRLF in every encoding', () => {
  for (const text of [
    'a\rb\nc\r\nd',
    'é a long plain word\r.\rb\nc\r\nd',
    '你好世界\r你\n好\r\n.',
  ]) {
    const { transferEncoding, body } = encodeText(text)
    const decoded = transferEncoding === 'base64' ? Buffer.from(body, 'base64').toString() : body
    assert.doesNotMatch(decoded, /\r(?!\n)|(?<!\r)\n/)
    assert.equal(decoded.split('\r\n').length, text.split(/\r\n?|\n/).length)
  }
})

test('base64 is in lines of 76 columns, CRLF between them', () => {
  for (const length of [0, 1, 2, 3, 56, 57, 58, 114, 115, 1000, 65_537]) {
    const octets = Uint8Array.from({ length }, (_, i) => (i * 7) & 255)
    const lines = encodeBase64Lines(octets).split('\r\n')
    assert.deepEqual(lines.join(''), Buffer.from(octets).toString('base64'))
    assert.ok(lines.slice(0, -1).every((line) => line.length === 76))
    assert.ok((lines.at(-1) as string).length <= 76)
  }
})

test('base64 of a view encodes only the view, not its buffer', () => {
  const whole = Buffer.from('not this, this, nor this')
  assert.equal(encodeBase64Lines(whole.subarray(10, 14)), 'dGhpcw==')
})
