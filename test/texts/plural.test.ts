import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formFor } from '../../src/texts/texts.ts'

test('the form follows the plural rules of the language', () => {
  const polish = { one: 'mail', few: 'maile', many: 'maili', other: 'maila' }
  const counts = [0, 1, 2, 5, 12, 22, 1.5]
  assert.deepEqual(
    counts.map((count) => formFor('pl', polish, count)),
    ['maili', 'mail', 'maile', 'maili', 'maili', 'maile', 'maila'],
  )
  const english = { one: 'email', other: 'emails' }
  assert.deepEqual(
    [0, 1, 2].map((count) => formFor('en', english, count)),
    ['emails', 'email', 'emails'],
  )
  assert.equal(formFor('ja', { other: '通' }, 1), '通')
})
