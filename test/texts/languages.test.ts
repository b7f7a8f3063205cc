import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LANGUAGES, matchLanguage } from '../../src/texts/languages.ts'

test('a locale matches the language of its texts', () => {
  const cases: [string | null | undefined, string | undefined][] = [
    ...LANGUAGES.map((language): [string, string] => [language, language]),
    ['EN', 'en'],
    ['en-GB', 'en'],
    ['pt_BR', 'pt'],
    ['de-Latn-DE-1996', 'de'],
    [' fr ', 'fr'],
    ['zh', 'zh-CN'],
    ['zh-Hans', 'zh-CN'],
    ['zh-SG', 'zh-CN'],
    ['zh-Hant', 'zh-TW'],
    ['zh-Hant-HK', 'zh-HK'],
    ['zh_MO', 'zh-HK'],
    ['zh-Hans-HK', 'zh-CN'],
    ['zh_Hans_TW', 'zh-CN'],
    ['ZH-tw', 'zh-TW'],
    ['xx', undefined],
    ['english', undefined],
    ['e', undefined],
    ['*', undefined],
    ['-en', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
    [`en-${'x'.repeat(1_000_000)}`, undefined],
  ]
  for (const [tag, language] of cases) assert.equal(matchLanguage(tag), language, String(tag))
})
