import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import addressparser from 'nodemailer/lib/addressparser'
import {
  formatAddressField,
  formatMailboxField,
} from '../../../src/formats/compose/mailbox-field.ts'
import { hostileLine } from '../hostile-text.ts'
import { decodeWords } from '../read-message.ts'

const address = 'joe@example.com'

function format(name: string | null): string {
  return formatMailboxField('From', { address, name }).slice('From: '.length, -2)
}

test('a name is written as a phrase, a quoted string or encoded words, as needed', () => {
  const table: [string | null, string][] = [
    [null, 'joe@example.com'],
    ['', 'joe@example.com'],
    [' \t', 'joe@example.com'],
    ['Joe', 'Joe <joe@example.com>'],
    [' Joe Q Public ', 'Joe Q Public <joe@example.com>'],
    ['Joe Q. Public', '"Joe Q. Public" <joe@example.com>'],
    ['Giant; "Big" Box', '"Giant; \\"Big\\" Box" <joe@example.com>'],
    ['a\\b', '"a\\\\b" <joe@example.com>'],
    ['two  spaces', '"two  spaces" <joe@example.com>'],
    ['boss@evil.example', '"boss@evil.example" <joe@example.com>'],
    ['Jürgen', '=?UTF-8?Q?J=C3=BCrgen?= <joe@example.com>'],
    ['=?utf-8?Q?x?=', '=?UTF-8?Q?=3D=3Futf-8=3FQ=3Fx=3F=3D?= <joe@example.com>'],
    ['tab\there', '=?UTF-8?Q?tab=09here?= <joe@example.com>'],
  ]
  for (const [name, expected] of table) assert.equal(format(name), expected)
})

test('an address that is not one bare mailbox is refused', () => {
  const wrong = [
    ...['', 'joe', '@example.com', 'joe@', 'a@b@c', 'joe@example.com, eve@example.com'],
    ...['"a@evil.example x"@good.example', '<joe@example.com>', 'joe@example.com\r\nBcc: x@y.z'],
    ...['joe @example.com', 'joe@exam ple.com', 'joe(c)@example.com', 'joe\0@example.com'],
    ...['g: joe@example.com;', 'joe\u2028@example.com', `${'x'.repeat(400)}@example.com`],
  ]
  for (const text of wrong) {
    assert.throws(() => formatMailboxField('To', { address: text, name: null }), TypeError, text)
  }
})

test('S6: a name with CR, LF or NUL is refused', () => {
  for (const name of ['a\r\nBcc: b@c.d', 'a\rb', 'a\nb', 'a\0b']) {
    assert.throws(() => formatMailboxField('From', { address, name }), TypeError)
  }
})

test('with any name, a reader finds exactly the one address', () => {
  fc.assert(
    fc.property(hostileLine, (name) => {
      const value = format(name).replaceAll('\r\n', '')
      const found = addressparser(value)
      assert.equal(found.length, 1)
      assert.equal(found[0]?.address, address)
      const trimmed = name.replace(/^[ \t]+|[ \t]+$/g, '')
      assert.equal(decodeWords(found[0]?.name ?? ''), trimmed)
    }),
    { numRuns: 300 },
  )
})

test('in a field of addresses only names are encoded', () => {
  const table: [string, string][] = [
    ['Joe <joe@example.com>', 'Joe <joe@example.com>'],
    ['Jürgen <j@example.com>', '=?UTF-8?Q?J=C3=BCrgen?= <j@example.com>'],
    ['Jürgen Müller <j@e.de>', '=?UTF-8?Q?J=C3=BCrgen_M=C3=BCller?= <j@e.de>'],
    ['"Müller, J." <j@e.de>', '=?UTF-8?Q?M=C3=BCller=2C_J=2E?= <j@e.de>'],
    ['Dr. Jürgen<j@e.de>, x@y.z', 'Dr. =?UTF-8?Q?J=C3=BCrgen?=<j@e.de>, x@y.z'],
    ['=?utf-8?Q?J=C3=BC?= <j@e.de>', '=?utf-8?Q?J=C3=BC?= <j@e.de>'],
    ['jürgen@e.de', 'jürgen@e.de'],
    ['"Ü" <ü@e.de>', '=?UTF-8?B?w5w=?= <ü@e.de>'],
    ['Jürgen "Müller <j@e.de>', '=?UTF-8?Q?J=C3=BCrgen?= "=?UTF-8?Q?M=C3=BCller?= <j@e.de>'],
  ]
  for (const [value, expected] of table) {
    assert.equal(formatAddressField('Reply-To', value), `Reply-To: ${expected}\r\n`)
  }
})

test('a field of addresses stays legal with any content', () => {
  fc.assert(
    fc.property(hostileLine, (value) => {
      const field = formatAddressField('Reply-To', value)
      assert.doesNotMatch(field, /[\0\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/)
      assert.doesNotMatch(field.slice(0, -2), /\r(?!\n[ ])|(?<!\r)\n/)
      for (const line of field.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 998)
    }),
    { numRuns: 300 },
  )
})
