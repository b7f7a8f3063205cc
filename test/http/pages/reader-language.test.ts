import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readerLanguage } from '../../../src/http/pages/reader-language.ts'
import { LANGUAGES } from '../../../src/texts/languages.ts'

test('the supported language that the reader prefers is chosen', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['fr', 'fr'],
    ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
    ['xx, nl;q=0.4, de-AT;q=0.8', 'de'],
    ['da, en-gb;q=0.8, en;q=0.7', 'en'],
    ['de;q=0, nl;q=0.1', 'nl'],
    ['de;q=0', 'en'],
    ['zh-Hant-HK', 'zh-HK'],
    ['de ; q=0.2 , sv', 'sv'],
    [`${'xx,'.repeat(100_000)}de`, 'en'],
  ]
  for (const [header, language] of cases) assert.equal(readerLanguage(header), language, header)
})

test('any header gives a supported language', () => {
  fc.assert(fc.property(fc.string(), (header) => LANGUAGES.includes(readerLanguage(header))))
})
