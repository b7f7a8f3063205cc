import assert from 'node:assert/strict'
import { it } from 'node:test'
import { languageOfAccount } from '../../src/dashboard/logic/account-language.ts'

const read = (language: string, timezone = 'UTC') =>
  languageOfAccount({ language, timezone }, ['en', 'de'])

it('the language of the account counts, also with a region', () => {
  assert.equal(read('de'), 'de')
  assert.equal(read('de-AT'), 'de')
  assert.equal(read('en', 'Europe/London'), 'en')
})

it('an account that never chose, or whose language is not there, leaves that of the browser', () => {
  assert.equal(read('en'), undefined)
  assert.equal(read('pt-BR', 'America/Lisbon'), undefined)
})
