import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unflow } from '../../../src/formats/reading/part-text.ts'
import { withinCpuMs } from '../../cpu-time.ts'

const table: [title: string, text: string, expected: string][] = [
  ['lines that end in a space go on', 'one \nline\ntwo', 'one line\ntwo'],
  ['a blank line ends a paragraph', 'Hello, \n\nhow are \nyou\n', 'Hello, \n\nhow are you\n'],
  ['a quoted line goes on in one as deep', '> so \n> it is\nyes', '> so it is\nyes'],
  ['a deeper quote is another paragraph', '> a \n>> b \n> c', '> a \n>> b \n> c'],
  ['quote marks stay together', '>>one \n>> two\n>\n>three', '>> one two\n>\n> three'],
  [
    'the space put before a line is taken away',
    ' From me \n to you\n > no quote',
    'From me to you\n> no quote',
  ],
  ['a signature stands alone', 'bye \n-- \nme \nhere', 'bye \n-- \nme here'],
]
for (const [title, text, expected] of table) {
  test(title, () => assert.equal(unflow(text, false), expected))
}

test('with DelSp the space before a line end is not part of the text', () => {
  assert.equal(
    unflow('https://example.test/a \nb\n> 日 \n> 本', true),
    'https://example.test/ab\n> 日本',
  )
})

test('no word is lost or added', () => {
  const line = fc.stringMatching(/^>{0,2} ?[ab]{0,3} ?$/)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), (lines, isDelSp) => {
      const letters = (text: string) => text.replace(/[^ab]/g, '')
      const text = lines.join('\n')
      assert.equal(letters(unflow(text, isDelSp)), letters(text))
    }),
  )
})

test('a paragraph of very many lines takes time in proportion to its lines', () => {
  const text = withinCpuMs(2_000, () => unflow('a \n'.repeat(300_000), true))
  assert.equal(text.length, 300_002)
  assert.equal(unflow('a \nb \n>c \n>d\n', true), 'ab \n> cd\n')
})
