import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  assertFieldName,
  assertOneLine,
  formatField,
  formatTextField,
} from '../../../src/formats/compose/header-field.ts'
import { hostileLine } from '../hostile-text.ts'
import { decodeWords, readFields } from '../read-message.ts'

function read(field: string): { value: string; lines: string[] } {
  assert.ok(field.endsWith('\r\n'))
  const [only, ...others] = readFields(Buffer.from(`${field}\r\n`))
  assert.ok(only !== undefined && others.length === 0)
  return only
}

test('a value that could end its line is refused', () => {
  for (const value of ['a\r\nBcc: b', 'a\rb', 'a\nb', 'a\0b', '\n']) {
    assert.throws(() => assertOneLine('subject', value), {
      name: 'TypeError',
      message: 'subject must not contain CR, LF or NUL',
    })
  }
  assertOneLine('subject', 'a\tb\u0085\u2028')
})

test('a header name is a token that fits a line', () => {
  for (const name of ['', 'a b', 'a:', 'a\r', 'é', 'a\t', '\x7f', 'x'.repeat(998)]) {
    assert.throws(() => assertFieldName(name), TypeError, name)
  }
  for (const name of ['X-A', 'a', '!#$%', 'x'.repeat(997)]) assertFieldName(name)
})

test('a short value stays on the line of its name; an empty value leaves only the name', () => {
  assert.equal(formatField('X-A', 'b'), 'X-A: b\r\n')
  assert.equal(formatField('X-A', ''), 'X-A:\r\n')
  assert.equal(formatField('X-A', ' \t b \t'), 'X-A: b\r\n')
})

test('a long value is folded at single spaces only', () => {
  const field = formatField('X-A', `${'one two '.repeat(20)} three\tfour`.trim())
  assert.ok(read(field).lines.length > 1)
  assert.ok(read(field).lines.every((line) => line.length <= 76))
  assert.ok(
    read(field)
      .lines.slice(1)
      .every((line) => /^ [^ \t]/.test(line)),
  )
  assert.equal(read(field).value, `${'one two '.repeat(20)} three\tfour`.trim())
})

test('a long first word stays on the line of its name as long as the line is legal', () => {
  assert.equal(read(formatField('X-A', 'u'.repeat(990))).lines.length, 1)
  assert.equal(read(formatField('X-A', 'u'.repeat(997))).lines.length, 2)
})

test('a word too long for any line is cut into encoded words', () => {
  const field = formatTextField('X-A', 'u'.repeat(998))
  assert.ok(read(field).lines.every((line) => line.length <= 76))
  assert.equal(decodeWords(read(field).value), 'u'.repeat(998))
})

test('text that looks like an encoded word is encoded, at any length', () => {
  const text = `=?utf-8?${'x'.repeat(80)}`
  const { value, lines } = read(formatTextField('Subject', text))
  assert.ok(lines.every((line) => line.length <= 76))
  assert.equal(decodeWords(value), text)
})

test('any text survives, in legal lines', () => {
  const name = fc.constantFrom('Subject', 'X', `X-${'long-'.repeat(14)}Name`, 'x'.repeat(997))
  fc.assert(
    fc.property(name, hostileLine, (field, text) => {
      const { value, lines } = read(formatTextField(field, text))
      assert.equal(decodeWords(value), text.replace(/^[ \t]+|[ \t]+$/g, ''))
      for (const [i, line] of lines.entries()) {
        assert.match(line, i === 0 ? /^[\t\x20-\x7e]{1,998}$/ : /^ [\t\x20-\x7e]{1,997}$/)
        if (i > 0 && line.includes('=?')) assert.ok(line.length <= 76)
      }
    }),
    { numRuns: 300 },
  )
})
