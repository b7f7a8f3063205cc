import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNamedMailbox, parseShownAddress } from '../../../src/formats/address/named-mailbox.ts'

const mailboxes: [text: string, address: string, name: string | null][] = [
  ['ada@example.com', 'ada@example.com', null],
  [' ada@example.com ', 'ada@example.com', null],
  ['<ada@example.com>', 'ada@example.com', null],
  ['Ada <ada@example.com>', 'ada@example.com', 'Ada'],
  ['Ada Lovelace<ADA@Example.com>', 'ada@example.com', 'Ada Lovelace'],
  ['"Lovelace, Ada" <ada@example.com>', 'ada@example.com', 'Lovelace, Ada'],
  ['"The \\"Countess\\"" <ada@example.com>', 'ada@example.com', 'The "Countess"'],
  ['"" <ada@example.com>', 'ada@example.com', null],
  ['" " <ada@example.com>', 'ada@example.com', null],
  ['ada@example.com <ADA@example.com>', 'ada@example.com', null],
  ['"Ada@example.com" <ada@example.com>', 'ada@example.com', null],
  ["'ada@example.com' <ada@example.com>", 'ada@example.com', null],
  ['"bob@example.com" <ada@example.com>', 'ada@example.com', 'bob@example.com'],
  ['Ada @ Example <ada@example.com>', 'ada@example.com', 'Ada @ Example'],
  ['Zoë (Sales) <zoë@bücher.example>', 'zoë@bücher.example', 'Zoë (Sales)'],
]

for (const [text, address, name] of mailboxes) {
  test(`${text} is one mailbox`, () => {
    const parsed = parseNamedMailbox(text)
    assert.deepEqual([parsed?.address.address, parsed?.name], [address, name])
  })
}

const NOT_ONE_MAILBOX = [
  '',
  'Ada',
  'Ada <>',
  'Ada <ada>',
  'Ada <ada@example.com',
  'Ada ada@example.com>',
  'Ada <ada@example.com> tail',
  'a@example.com, b@example.com',
  'a@example.com, Bob <b@example.com>',
  'Ann <a@example.com>, Bob <b@example.com>',
  'a@evil.example <b@example.com>',
  'see a@evil.example <b@example.com>',
  'team: Ann <a@example.com>',
  'Smith, John <j@example.com>',
  '"open <a@example.com>',
  'Ann\r\nBcc: x <a@example.com>',
  'Ann\u0000 <a@example.com>',
  `${'x'.repeat(2_000)} <a@example.com>`,
]

for (const text of NOT_ONE_MAILBOX) {
  test(`S7: ${JSON.stringify(text.slice(0, 60))} is not exactly one mailbox`, () => {
    assert.equal(parseNamedMailbox(text), undefined)
  })
}

test('an address without a name may show itself, where a name has no place', () => {
  const shown = [
    'a@b.test <a@b.test>',
    '"a@b.test" <A@b.test>',
    "'a@b.test' <a@b.test>",
    '<a@b.test>',
  ]
  for (const text of shown) assert.equal(parseShownAddress(text)?.address, 'a@b.test', text)
  for (const text of ['Ann <a@b.test>', '"x@b.test" <a@b.test>', 'x@b.test <a@b.test>', '']) {
    assert.equal(parseShownAddress(text), undefined, text)
  }
})
