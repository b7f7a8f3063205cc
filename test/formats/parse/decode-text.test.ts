import assert from 'node:assert/strict'
import { it } from 'node:test'
import { decodeHeader } from '../../../src/formats/parse/decode-text.ts'

it('adjacent words are decoded together, so that a character may be split between two', () => {
  const [first, second] = [Buffer.from([0x47, 0xc3]), Buffer.from([0xbc, 0x6e])]
  const split = `=?UTF-8?B?${first.toString('base64')}?= =?utf-8?B?${second.toString('base64')}?=`
  assert.equal(decodeHeader(`Re: ${split} x`), 'Re: Gün x')
})

it('words of different charsets are decoded separately', () => {
  assert.equal(decodeHeader('=?iso-8859-1?Q?=E4?= =?utf-8?Q?=C3=A4_?=b'), 'ää b')
})
