import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findFaults, formatTexts, type Section } from './text-faults.ts'

const english = {
  page: { title: 'Hello {email}', text: 'Some text' },
  sent: { one: '{used} email', other: '{used} emails' },
}
const plural = {
  one: '{used} mail',
  few: '{used} maile',
  many: '{used} maili',
  other: '{used} maila',
}
const polish = { page: { title: 'Witaj {email}', text: 'Tekst' }, sent: plural }

describe('the check of texts', () => {
  it('finds nothing in texts that are complete', () => {
    assert.deepEqual(findFaults('en', english, english), [])
    assert.deepEqual(findFaults('pl', english, polish), [])
    const japanese = { page: { title: '{email}さん', text: '本文' }, sent: { other: '{used}通' } }
    assert.deepEqual(findFaults('ja', english, japanese), [])
  })

  const wrong: [string, Section, string[]][] = [
    [
      'a text that is missing, and one too many',
      { ...polish, page: { title: 'Witaj {email}', note: 'Tekst' } },
      ['page.text is missing', 'page.note is not in English'],
    ],
    [
      'a plural form that is missing, and one of another language',
      { ...polish, sent: { one: '{used} mail', two: '{used} maila', other: '{used} maili' } },
      ['sent.few is missing', 'sent.many is missing', 'sent.two is not in English'],
    ],
    [
      'a text in place of a part',
      { ...polish, page: 'Witaj' },
      ['page.title is missing', 'page.text is missing', 'page is not in English'],
    ],
    [
      'a placeholder that is missing, and one too many',
      { ...polish, page: { title: 'Witaj', text: 'Tekst {email}' } },
      [
        'page.title has other placeholders than English',
        'page.text has other placeholders than English',
      ],
    ],
    [
      'a placeholder that no text has',
      { ...polish, page: { title: 'Witaj {mail}', text: 'Tekst' } },
      [
        'page.title has other placeholders than English',
        'page.title has a brace of no placeholder',
      ],
    ],
    [
      'an empty text',
      { ...polish, page: { title: 'Witaj {email}', text: '' } },
      ['page.text is empty'],
    ],
    [
      'HTML, white space at an end, and letters in two pieces',
      { ...polish, page: { title: 'Witaj <b>{email}</b>', text: ' e\u0301' } },
      [
        'page.title has a character of HTML',
        'page.text has white space at an end or twice',
        'page.text is not in the normal form NFC',
      ],
    ],
  ]
  for (const [title, texts, expected] of wrong) {
    it(`sees ${title}`, () => assert.deepEqual(findFaults('pl', english, texts), expected))
  }

  it('writes the keys in the order of English', () => {
    const { page, sent } = polish
    const mixed = { sent, page: { text: page.text, title: page.title } }
    const written = formatTexts('pl', english, mixed)
    assert.deepEqual(JSON.parse(written), polish)
    assert.match(written, /^\{\n {2}"page": \{\n {4}"title": [\s\S]*"sent": \{[\s\S]*\}\n\}\n$/)
  })
})
