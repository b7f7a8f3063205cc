/** The texts of pages and mail in each language. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { PLACEHOLDERS } from '../../src/texts/fill.ts'
import { LANGUAGES } from '../../src/texts/languages.ts'
import { formFor, textsOf } from '../../src/texts/texts.ts'
import { findFaults, flatten, formatTexts } from './text-faults.ts'

const folder = path.join(import.meta.dirname, '../../src/texts')
const english = flatten(textsOf('en'))

test('each language has a file, and each file is a language', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  assert.deepEqual(files.sort(), LANGUAGES.map((language) => `${language}.json`).sort())
})

test('every language has every text, with the placeholders of the English one', () => {
  for (const language of LANGUAGES) {
    assert.deepEqual(findFaults(language, textsOf('en'), textsOf(language)), [], language)
  }
})

test('every file has the order of the English one, and one form', () => {
  for (const language of LANGUAGES) {
    const text = readFileSync(path.join(folder, `${language}.json`), 'utf8')
    const texts = JSON.parse(text)
    assert.deepEqual(texts, textsOf(language), language)
    assert.equal(text, formatTexts(language, textsOf('en'), texts), language)
  }
})

test('every placeholder is used, and no text has another', () => {
  const used = english.flatMap(([, text]) => text.match(/(?<=\{)[^{}]*(?=\})/g) ?? [])
  assert.deepEqual([...new Set(used)].sort(), [...PLACEHOLDERS].sort())
})

test('no translation contains a text of another language', () => {
  for (const language of LANGUAGES.filter((each) => each !== 'en')) {
    const texts = new Map(flatten(textsOf(language)))
    for (const [key, model] of english) {
      assert.notEqual(texts.get(key), model, `${language} ${key}`)
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
    for (const [key, text] of flatten(textsOf(language))) {
      assert.match(text, scripts[language] ?? /\p{Script=Latin}/u, `${language} ${key}`)
    }
  }
})

test('questions end with a question mark, and buttons are short', () => {
  for (const language of LANGUAGES) {
    const { unsubscribe, subscribe, manage } = textsOf(language).contact
    for (const { ask } of [unsubscribe, subscribe]) assert.match(ask, /[?？]$/)
    const { accept, logIn, accepted } = textsOf(language).invitation
    const ofInvitations = [accept, logIn.button, accepted.button]
    const ofContacts = [unsubscribe.button, subscribe.button, manage.on, manage.off]
    for (const button of [...ofContacts, ...ofInvitations]) {
      assert.ok(button.length <= 28, `${language} ${button}`)
    }
  }
})

test('the texts about limits say which mail they are about, and until when', () => {
  const texts = new Set<string>()
  for (const language of LANGUAGES) {
    const { usage } = textsOf(language).mail
    for (const text of ['{project}', '{server}', '{used}', '{limit}', '{category}']) {
      assert.equal(usage.text.split(text).length, 2, `${language} ${text}`)
    }
    assert.match(usage.warning, /\{project\}/, language)
    assert.match(usage.warning, /80/, language)
    assert.match(usage.reached, /\{project\}/, language)
    const { inbound, ...refusing } = usage.atLimit
    for (const text of Object.values(refusing)) assert.match(text, /UTC/, language)
    for (const text of [...Object.values(usage.atLimit), ...Object.values(usage.categories)]) {
      assert.ok(!texts.has(text), `${language}: ${text}`)
      texts.add(text)
    }
    assert.ok(inbound.length > 10)
  }
})

test('every footer names the project once, and no two languages have the same', () => {
  const said = new Set<string>()
  for (const language of LANGUAGES) {
    const { sentence, link } = textsOf(language).footer
    assert.equal(sentence.split('{project}').length, 2, language)
    said.add(sentence).add(link)
  }
  assert.equal(said.size, 2 * LANGUAGES.length)
})

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
