import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeSevenBit, guessSevenBit } from '../../../src/formats/parse/seven-bit.ts'

const octet = (min: number, max: number) =>
  fc.integer({ min, max }).map((code) => String.fromCharCode(code))
const character = fc.tuple(octet(0x21, 0x77), octet(0x21, 0x7e)).map((pair) => pair.join(''))
const characters = fc.array(character, { minLength: 1, maxLength: 20 }).map((all) => all.join(''))

/** The charset of 8 bit with the same characters, and what is around them. */
const forms = [
  { charset: 'hz-gb-2312', eightBit: 'gbk', before: '~{', after: '~}' },
  { charset: 'iso-2022-kr', eightBit: 'euc-kr', before: '\x1b$)C\x0e', after: '\x0f' },
  { charset: 'iso-2022-cn', eightBit: 'gbk', before: '\x1b$)A\x0e', after: '\x0f' },
]

for (const { charset, eightBit, before, after } of forms) {
  test(`each character of ${charset} is that of ${eightBit}`, () => {
    fc.assert(
      fc.property(characters, (text) => {
        const high = Buffer.from(text, 'latin1').map((code) => code | 0x80)
        const expected = `x~ ${new TextDecoder(eightBit).decode(high)} y`
        const raw = Buffer.from(`x~ ${before}${text}${after} y`, 'latin1')
        assert.equal(decodeSevenBit(raw, charset), expected)
      }),
    )
  })
}

test('any octets are decoded', () => {
  const piece = fc.constantFrom(
    ...[
      '\x1b',
      '$',
      ')',
      'A',
      'C',
      'G',
      'N',
      '\x0e',
      '\x0f',
      '~',
      '{',
      '}',
      '\r',
      '\n',
      'a',
      '\xff',
    ],
  )
  fc.assert(
    fc.property(
      fc.array(piece).map((all) => Buffer.from(all.join(''), 'latin1')),
      (raw) => {
        for (const charset of ['iso-2022-jp', ...forms.map((form) => form.charset)]) {
          assert.equal(typeof decodeSevenBit(raw, charset), 'string')
        }
      },
    ),
  )
})

test('two ASCII characters are no sign of HZ by themselves', () => {
  assert.equal(guessSevenBit('a ~{VPND~}', []), undefined)
  assert.equal(guessSevenBit('a ~{VPND~}', ['hz-gb-2312']), 'hz-gb-2312')
  assert.equal(guessSevenBit('a \x0eGQ\x0f', ['gbk']), undefined)
})
