import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillPieces, fillText } from '../../src/texts/fill.ts'

test('each placeholder becomes its value, and other braces stay', () => {
  const values = { project: 'Shop', used: '1' }
  const table: [text: string, filled: string][] = [
    ['', ''],
    ['{project}', 'Shop'],
    ['{project} {used}/{project}', 'Shop 1/Shop'],
    ['{limit}!', '!'],
    ['{none} {} {{used}}', '{none} {} {1}'],
  ]
  for (const [text, filled] of table) assert.equal(fillText(text, values), filled, text)
})

test('a value is never searched for placeholders or patterns', () => {
  const values = { project: '{email} $& $1 {project}', email: 'a@example.org' }
  assert.equal(fillText('{project}, {email}', values), '{email} $& $1 {project}, a@example.org')
})

test('values are shown as the caller wants, and words are not', () => {
  assert.equal(
    fillText('an {email}', { email: 'an' }, (value) => `<${value}>`),
    'an <an>',
  )
  const pieces = fillPieces('to {email} from {person}', { email: 'a', person: 'b' }, (name) => ({
    name,
  }))
  assert.deepEqual(pieces, ['to ', { name: 'a' }, ' from ', { name: 'b' }, ''])
})
