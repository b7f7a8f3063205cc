import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APP_TRANSLATIONS } from '../../../../src/http/pages/app/translations.ts'
import { LANGUAGES } from '../../../../src/mail/languages.ts'

/** `home.title` -> text. */
function flatten(value: object, prefix = ''): [string, string][] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' ? [[prefix + key, inner]] : flatten(inner, `${prefix}${key}.`),
  ) as [string, string][]
}

const english = flatten(APP_TRANSLATIONS.en)
const placeholders = (text: string) => text.match(/\{\w*\}/g) ?? []

test('every language has every text, with the names of the English one', () => {
  for (const language of LANGUAGES) {
    const texts = new Map(flatten(APP_TRANSLATIONS[language]))
    assert.deepEqual([...texts.keys()], [...new Map(english).keys()])
    for (const [key, model] of english) {
      const text = texts.get(key) ?? ''
      assert.deepEqual(placeholders(text), placeholders(model), `${language} ${key}`)
      assert.equal(text, text.trim().normalize('NFC'))
      assert.ok(text.length > 1, `${language} ${key}`)
      assert.doesNotMatch(text, /[<>"&]| {2}/, `${language} ${key}`)
      if (language !== 'en') assert.notEqual(text, model, `${language} ${key}`)
    }
  }
})

test('texts are in the script of their language, and texts of a language differ', () => {
  const scripts: Record<string, RegExp> = {
    hi: /\p{Script=Devanagari}/u,
    bg: /\p{Script=Cyrillic}/u,
    ja: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
    'zh-TW': /\p{Script=Han}/u,
    'zh-HK': /\p{Script=Han}/u,
    'zh-CN': /\p{Script=Han}/u,
  }
  for (const language of LANGUAGES) {
    for (const [key, text] of flatten(APP_TRANSLATIONS[language])) {
      assert.match(text, scripts[language] ?? /\p{Script=Latin}/u, `${language} ${key}`)
    }
    const failures = Object.values(APP_TRANSLATIONS[language].failures)
    assert.equal(new Set(failures).size, failures.length, language)
    assert.match(APP_TRANSLATIONS[language].login.api, /POST \/auth\/login/)
  }
})
