import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { displayDomain, parseAddress, parseDomain } from '../../../src/formats/address/address.ts'
import { anyCharacter } from '../../any-character.ts'
import { withinCpuMs } from '../../cpu-time.ts'

const accepted: [text: string, address: string, wire: string][] = [
  ['jane@example.com', 'jane@example.com', 'jane@example.com'],
  ['  Jane.Doe@Example.COM\t', 'jane.doe@example.com', 'jane.doe@example.com'],
  ['\u00a0jane@example.com\u00a0', 'jane@example.com', 'jane@example.com'],
  ["!#$%&'*+-/=?^_`{|}~@a.co", "!#$%&'*+-/=?^_`{|}~@a.co", "!#$%&'*+-/=?^_`{|}~@a.co"],
  ['user%other.com@example.com', 'user%other.com@example.com', 'user%other.com@example.com'],
  ['a@b--c.example.com', 'a@b--c.example.com', 'a@b--c.example.com'],
  ['Jürgen@BÜCHER.de', 'jürgen@bücher.de', 'jürgen@xn--bcher-kva.de'],
  ['ju\u0308rgen@bu\u0308cher.de', 'jürgen@bücher.de', 'jürgen@xn--bcher-kva.de'],
  ['a@XN--BCHER-KVA.de', 'a@bücher.de', 'a@xn--bcher-kva.de'],
  ['a@faß.de', 'a@faß.de', 'a@xn--fa-hia.de'],
  ['用户@例子.广告', '用户@例子.广告', '用户@xn--fsqu00a.xn--4rr70v'],
  ['संपर्क@डाटामेल.भारत', 'संपर्क@डाटामेल.भारत', 'संपर्क@xn--c2bd4bq1db8d.xn--h2brj9c'],
  [
    'δοκιμή@παράδειγμα.δοκιμή',
    'δοκιμή@παράδειγμα.δοκιμή',
    'δοκιμή@xn--hxajbheg2az3al.xn--jxalpdlp',
  ],
]

test('an address is trimmed, normalised and lower-cased, its domain shown in U-labels', () => {
  for (const [text, address, wire] of accepted) {
    const parsed = parseAddress(text)
    assert.ok(parsed, text)
    assert.equal(parsed.address, address)
    assert.equal(parsed.wire, wire)
    assert.equal(parsed.wire, `${parsed.localPart}@${parsed.domain}`)
    assert.equal(parsed.needsSmtputf8, /[^\x00-\x7f]/.test(parsed.localPart))
  }
})

const refused: [why: string, text: string][] = [
  ['nothing', ''],
  ['no at sign', 'example.com'],
  ['no local part', '@example.com'],
  ['no domain', 'a@'],
  ['a single label', 'a@localhost'],
  ['a quoted local part', '"a b"@example.com'],
  ['a quoted local part holding another address', '"a@evil.com x"@good.com'],
  ['two at signs', 'a@evil.com@good.com'],
  ['a display name', 'Jane <jane@example.com>'],
  ['angle brackets', '<jane@example.com>'],
  ['a comment', 'a(evil@evil.com)@good.com'],
  ['a comment after the domain', 'a@good.com (evil)'],
  ['a group', 'friends: a@good.com, b@good.com;'],
  ['a nested group', 'a:b:c@d.com;;'],
  ['a list', 'a@good.com,b@evil.com'],
  ['a list by semicolon', 'a@good.com;b@evil.com'],
  ['a source route', '@relay.com:a@good.com'],
  ['a backslash', 'a\\@evil.com@good.com'],
  ['inner space', 'a b@good.com'],
  ['space about the at sign', 'a @ good.com'],
  ['an inner tab', 'a\tb@good.com'],
  ['a line end after it', 'a@good.com\r\n'],
  ['a line feed and a header field', 'a@good.com\nBcc: b@evil.com'],
  ['NUL', 'a\0@good.com'],
  ['DEL', 'a\x7f@good.com'],
  ['a C1 control', 'a\x85b@good.com'],
  ['an IPv4 literal', 'a@[127.0.0.1]'],
  ['an IPv6 literal', 'a@[IPv6:::1]'],
  ['a bare IPv4 address', 'a@127.0.0.1'],
  ['a short IPv4 address', 'a@127.1'],
  ['a leading dot', '.a@good.com'],
  ['a trailing dot', 'a.@good.com'],
  ['two dots', 'a..b@good.com'],
  ['a trailing dot of the domain', 'a@good.com.'],
  ['an empty label', 'a@good..com'],
  ['a leading hyphen', 'a@-good.com'],
  ['a trailing hyphen', 'a@good-.com'],
  ['an underscore', 'a@go_od.com'],
  ['a percent escape in the domain', 'a@g%6fod.com'],
  ['a path after the domain', 'a@good.com/é'],
  ['a query in a domain beyond ASCII', 'a@évil.com?x'],
  ['a port', 'a@good.com:25'],
  ['65 octets of local part', `${'a'.repeat(65)}@good.com`],
  ['66 octets of local part in 33 characters', `${'é'.repeat(33)}@good.com`],
  ['a label of 64', `a@${'a'.repeat(64)}.com`],
  ['255 octets', `${'a'.repeat(64)}@${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(60)}.com`],
  ['a lone surrogate', '\ud800@good.com'],
  ['a bad A-label', 'a@xn--a.com'],
  ['an A-label that decodes to nothing', 'a@xn--.com'],
  ['an A-label of a mapped character', 'a@xn--zn7c.com'],
  ['an A-label that decodes to ASCII', 'a@xn--google-.com'],
  ['an A-label that decodes to ASCII beside one that does not', 'a@xn--abc-.xn--mnchen-3ya.de'],
  ['an A-label of a hyphen', 'a@xn---.com'],
]

test('S7: a text that is not exactly one address is refused', () => {
  for (const [why, text] of refused) assert.equal(parseAddress(text), undefined, why)
})

const confusable: [why: string, text: string][] = [
  ['a full-width letter', 'a@ｅxample.com'],
  ['a full-width at sign', 'a＠evil.com@good.com'],
  ['an ideographic full stop', 'a@evil。com'],
  ['a soft hyphen', 'a@good\u00ad.com'],
  ['a zero width space', 'a@go\u200bod.com'],
  ['a joiner without context', 'a@go\u200dod.com'],
  ['an invisible character in the local part', 'a\u200bb@good.com'],
  ['a right-to-left override', 'moc.live\u202e@good.com'],
  ['a circled letter', 'a@ⓔvil.com'],
  ['a ligature', 'oﬃce@good.com'],
  ['a fraction slash', 'a@evil.com\u2044good.com'],
  ['a division slash', 'a@evil.com\u2215good.com'],
  ['a symbol in the domain', 'a@☃.net'],
  ['a mark that combines with what precedes it', '\u0338a@good.com'],
  ['an ideographic space', 'a\u3000b@good.com'],
  ['a private character', 'a\ue000@good.com'],
]

test('S7: Unicode that normalisation would change is refused, not mapped', () => {
  for (const [why, text] of confusable) assert.equal(parseAddress(text), undefined, why)
})

test('the longest address and local part fit', () => {
  const domain = `${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(59)}.com`
  const text = `${'a'.repeat(64)}@${domain}`
  assert.equal(text.length, 254)
  assert.equal(parseAddress(text)?.wire, text)
  assert.equal(parseAddress(`${'é'.repeat(32)}@good.com`)?.localPart, 'é'.repeat(32))
})

test('the octets of the wire form count, not the characters shown', () => {
  const label = '例'.repeat(10)
  const domain = Array.from({ length: 12 }, () => label).join('.')
  const parsed = parseAddress(`a@${domain}.com`)
  assert.ok(parsed && Buffer.byteLength(parsed.address) > 254 && parsed.wire.length <= 254)
  assert.equal(parseAddress(`a@${domain}.${domain}.com`), undefined)
})

test('a domain is trimmed, lower-cased, stripped of its trailing dot and converted to A-labels', () => {
  const names: [string, string | undefined][] = [
    [' Example.COM. ', 'example.com'],
    ['Bücher.DE', 'xn--bcher-kva.de'],
    ['xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['a.b', 'a.b'],
    ['localhost', undefined],
    ['example.com..', undefined],
    ['.', undefined],
    ['', undefined],
    ['1.2.3.4', undefined],
    ['[::1]', undefined],
    ['https://example.com', undefined],
    ['example.com/x', undefined],
    ['a@example.com', undefined],
    [`${'a'.repeat(63)}.`.repeat(4), undefined],
  ]
  for (const [text, domain] of names) assert.equal(parseDomain(text), domain, text)
})

test('a domain is shown in U-labels', () => {
  assert.equal(displayDomain('xn--bcher-kva.de'), 'bücher.de')
  assert.equal(displayDomain('example.com'), 'example.com')
})

test('S7: any text gives one address or none, and parsing the result gives the same address', () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 6 }),
    fc.constantFrom(
      '@',
      '.',
      ',',
      '"',
      '<',
      '>',
      ':',
      '(',
      ')',
      '%',
      '\r\n',
      ' ',
      'xn--',
      'com',
      '.de',
    ),
    fc.constantFrom(
      'bücher',
      'faß',
      'İ',
      'Σ',
      'ΌΣΟΣ',
      '\u0307',
      '\u0338',
      '＠',
      '。',
      '例子',
      'ا',
      '\u200d',
    ),
  )
  const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))
  const shaped = fc.tuple(text, text).map(([local, domain]) => `a${local}@b${domain}.com`)
  fc.assert(
    fc.property(fc.oneof(text, shaped), (input) => {
      const parsed = parseAddress(input)
      if (parsed === undefined) return
      assert.doesNotMatch(parsed.wire, /[\s"(),:;<>[\\\]\p{Cc}\p{Cf}]/u)
      assert.match(parsed.domain, /^[a-z0-9.-]+$/)
      assert.equal(parsed.wire.split('@').length, 2)
      assert.ok(Buffer.byteLength(parsed.wire) <= 254)
      assert.deepEqual(parseAddress(parsed.address), parsed)
      assert.deepEqual(parseAddress(parsed.wire), parsed)
      assert.equal(parseDomain(parsed.domain), parsed.domain)
      assert.equal(parseDomain(displayDomain(parsed.domain)), parsed.domain)
    }),
    { numRuns: 500 },
  )
})

test('S7: parsing any text of 64 KB is fast', () => {
  const hostile = ['a', 'a.', 'a-', '@', '(', '"', ' ', 'é', 'xn--', 'a@', '\u0338', 'a:']
  const parse = (text: string) => {
    assert.equal(parseAddress(text), undefined)
    assert.equal(parseAddress(`a@${text}.com`), undefined)
    assert.equal(parseDomain(`${text}.${text}`), undefined)
  }
  for (const piece of hostile) {
    for (const sizeBytes of [1000, 65_536]) {
      withinCpuMs(1_000, () => parse(piece.repeat(sizeBytes / piece.length)), piece)
    }
  }
})
