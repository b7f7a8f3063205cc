import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAIL_TRANSLATIONS } from '../../../src/features/tenancy/accounts/platform-mail/translations.ts'
import { LANGUAGES, type Language } from '../../../src/formats/languages.ts'
import { ACCOUNT_TRANSLATIONS } from '../../../src/http/pages/translations/account.ts'
import { APP_TRANSLATIONS } from '../../../src/http/pages/translations/app.ts'
import { CONTACT_TRANSLATIONS } from '../../../src/http/pages/translations/contact.ts'
import { INVITATION_TRANSLATIONS } from '../../../src/http/pages/translations/invitation.ts'

/** `unsubscribe.ask` -> text. */
function flatten(value: object, prefix = ''): [string, string][] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' ? [[prefix + key, inner]] : flatten(inner, `${prefix}${key}.`),
  ) as [string, string][]
}

const ALL = Object.fromEntries(
  LANGUAGES.map((language) => [
    language,
    {
      contact: CONTACT_TRANSLATIONS[language],
      account: ACCOUNT_TRANSLATIONS[language],
      app: APP_TRANSLATIONS[language],
      invitation: INVITATION_TRANSLATIONS[language],
      mail: MAIL_TRANSLATIONS[language],
    },
  ]),
) as Record<Language, object>

const english = flatten(ALL.en)
const placeholders = (text: string) => (text.match(/\{\w*\}/g) ?? []).sort()

test('every language has every text, with the names of the English one', () => {
  for (const language of LANGUAGES) {
    const texts = new Map(flatten(ALL[language]))
    assert.deepEqual([...texts.keys()].sort(), english.map(([key]) => key).sort())
    for (const [key, model] of english) {
      const text = texts.get(key) ?? ''
      assert.deepEqual(placeholders(text), placeholders(model), `${language} ${key}`)
      assert.equal(text, text.trim())
      assert.equal(text, text.normalize('NFC'))
      assert.ok(text.length > 1, `${language} ${key}`)
      assert.doesNotMatch(text, /[<>"&]| {2}/, `${language} ${key}`)
    }
  }
})

test('no translation contains a text of another language', () => {
  for (const [key, model] of english) {
    for (const language of LANGUAGES.filter((each) => each !== 'en')) {
      const text = new Map(flatten(ALL[language])).get(key)
      assert.notEqual(text, model, `${language} ${key}`)
    }
  }
  const scripts: Readonly<Record<string, RegExp>> = {
    hi: /\p{Script=Devanagari}/u,
    bg: /\p{Script=Cyrillic}/u,
    ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
    'zh-TW': /\p{Script=Han}/u,
    'zh-HK': /\p{Script=Han}/u,
    'zh-CN': /\p{Script=Han}/u,
  }
  for (const language of LANGUAGES) {
    for (const [key, text] of flatten(ALL[language])) {
      assert.match(text, scripts[language] ?? /\p{Script=Latin}/u, `${language} ${key}`)
    }
  }
})

test('questions end with a question mark, and buttons are short', () => {
  for (const language of LANGUAGES) {
    const { unsubscribe, subscribe, manage } = CONTACT_TRANSLATIONS[language]
    for (const { ask } of [unsubscribe, subscribe]) assert.match(ask, /[?？]$/)
    const { accept, logIn, accepted } = INVITATION_TRANSLATIONS[language]
    const ofInvitations = [accept, logIn.button, accepted.button]
    const ofContacts = [unsubscribe.button, subscribe.button, manage.on, manage.off]
    for (const button of [...ofContacts, ...ofInvitations]) {
      assert.ok(button.length <= 28, `${language} ${button}`)
    }
  }
})

test('each reason of a failed login has a text of its own', () => {
  for (const language of LANGUAGES) {
    const { failures, login } = APP_TRANSLATIONS[language]
    const texts = Object.values(failures)
    assert.equal(new Set(texts).size, texts.length, language)
    assert.match(login.api, /POST \/auth\/login/)
  }
})
