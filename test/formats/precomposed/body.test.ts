/**
 * A precomposed body must give the same octets as a full rendering. The first message of a text is
 * rendered in full; later ones of the same cache use a precomposed body if they can.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import {
  buildMessage,
  type MessageSource,
  renderMessage,
} from '../../../src/formats/compose/build-message.ts'
import { type Footer, kindOfFooter } from '../../../src/formats/html/footer.ts'
import { numberLinks } from '../../../src/formats/html/links.ts'
import { fillPrecomposedBody, precomposeBody } from '../../../src/formats/precomposed/body.ts'
import { createTemplateCache } from '../../../src/formats/precomposed/template-cache.ts'
import { compileTemplate } from '../../../src/formats/template/template.ts'
import { toBuffer } from '../read-message.ts'
import { baseUrl, testTracker } from '../tracker.ts'

type Values = Record<string, unknown>
type Case = {
  body: string
  stored?: Values
  request?: Values
  language?: string
  isTracked?: boolean
  footer?: Footer | null
}

const tracker = testTracker()
const unsubscribeUrl = `${baseUrl}/unsubscribe/token`
const footer: Footer = {
  ...{ language: 'de', projectName: 'Töpfe & <Co>', url: unsubscribeUrl },
  postalAddress: 'Bäckerstraße 1 & <2>, Köln',
}

function sourceOf(given: Case): MessageSource {
  const { body, stored = {}, request = {}, language = 'en', isTracked = false } = given
  return {
    emailId: '019a0000-0000-7000-8000-000000000001',
    isTracked,
    footer: given.footer ?? null,
    returnToken: 'token',
    unsubscribeMailbox: 'u.token@bounce.example.test',
    content: {
      id: 'one',
      subject: 'Hello {{ name }}',
      body,
      isText: false,
      text: null,
      attachments: [],
    },
    messageId: '1@example.test',
    createdAt: Date.parse('2026-11-21T12:00:00Z'),
    from: { address: 'shop@example.test', name: 'Shop' },
    to: { address: 'ada@dest.test', name: 'Ada' },
    replyTo: { address: 'shop@example.test', name: null },
    headers: null,
    variables: { stored, request, system: { unsubscribeUrl } },
    language,
    feedbackId: 'a:b:c:pillarbox',
    isBulk: false,
    oneClickUrl: unsubscribeUrl,
    isMarketing: false,
    preferenceUrls: [unsubscribeUrl],
  }
}

function isFilled({ body, ...rest }: Case): boolean {
  const { pieces = [] } = compileTemplate(body, 'html')
  const tracking = rest.isTracked ? { baseUrl, numbers: numberLinks(body) } : undefined
  const precomposed = precomposeBody(pieces, {
    footer: rest.footer ? kindOfFooter(rest.footer) : undefined,
    tracking,
  })
  if (precomposed === undefined) return false
  return fillPrecomposedBody(precomposed, sourceOf({ body, ...rest }), tracker) !== undefined
}

/** Asserts that both ways give the same octets for every kind, and returns those of the given one. */
function assertSame(given: Case): string {
  const { isTracked: isGivenTracked = false, footer: givenFooter = null } = given
  let octets = ''
  for (const isTracked of [true, false]) {
    for (const end of [footer, { ...footer, postalAddress: null }, null]) {
      const built = assertSameKind({ ...given, isTracked, footer: end })
      if (isTracked === isGivenTracked && end === givenFooter) octets = built
    }
  }
  return octets
}

function assertSameKind(given: Case): string {
  const source = sourceOf(given)
  const long = buildMessage(source, createTemplateCache(tracker))
  const cache = createTemplateCache(tracker)
  for (const name of ['Bo', 'Cy']) {
    buildMessage(sourceOf({ ...given, stored: { ...given.stored, name } }), cache)
  }
  assert.deepEqual(buildMessage(source, cache), long)
  return long.octets
}

const prose =
  '<h1>Order {{ order }}</h1>\n<p>Dear {{ name }}, your order {{ order }} of “{{ product }}” has left ' +
  'our house in {{ city ?? "town" }} today.</p>\n<ul><li>{{ product }}</li></ul>' +
  '<p><a href="https://shop.example/{{ order }}?to={{ city }}">Follow it</a>, ' +
  '<a href="{{ unsubscribeUrl }}">unsubscribe</a> or <a href="mailto:{{ email }}">{{ email }}</a></p>'
const values = { name: "Ada O'Neil", order: 4711, product: 'Tea & Co = 1', city: 'Zürich' }
const stored = { ...values, email: 'ada@example.org' }

test('ordinary mail is filled into a precomposed body, with the same octets as a full rendering', async () => {
  assert.ok(isFilled({ body: prose, stored }))
  const octets = assertSame({ body: prose, stored })
  const { subject, html, text } = renderMessage(
    sourceOf({ body: prose, stored }),
    createTemplateCache(tracker),
  )
  const mail = await simpleParser(toBuffer({ octets }))
  assert.equal(mail.subject, subject)
  assert.equal(mail.html, html)
  assert.equal(mail.text?.trimEnd(), text)
  assert.match(octets, /^List-Unsubscribe: <https:/m)
})

test('tracked mail and marketing use precomposed bodies too', () => {
  for (const isTracked of [true, false]) {
    for (const end of [footer, null]) {
      assert.ok(isFilled({ body: prose, stored, isTracked, footer: end }))
    }
  }
  const octets = assertSame({ body: prose, stored, isTracked: true, footer })
  const html = octets.slice(octets.indexOf('text/html')).replaceAll('=\r\n', '')
  assert.equal(html.match(/\/t\/c\//g)?.length, 1)
  assert.equal(html.match(/\/t\/o\//g)?.length, 1)
  assert.doesNotMatch(html, /shop\.example/)
})

test('links that consist of values are tracked, or not, as in a full rendering', () => {
  const body = `${'<p>plain English words</p>\n'.repeat(9)}<a href='{{ a }}'>x</a><a href="https://{{ b }}?{{ a }}">y</a>`
  const long = 'x'.repeat(240)
  for (const a of [
    'https://shop.example/?x=1&amp;y',
    'a@b.example',
    'http://',
    `${baseUrl}/t/c/x`,
  ]) {
    for (const b of ['shop.example', 'mail.example.test/manage/x', '&bogus;', '[', long]) {
      const given = { body, request: { a, b }, isTracked: true }
      assert.ok(isFilled(given), JSON.stringify([a, b]))
      assertSame(given)
    }
  }
})

test('a document whose links cannot be precomposed is rendered in full', () => {
  const lines = '<a href="https://shop.example/\n{{ name }}">x</a>'
  const many = Array.from({ length: 6_500 }, (_, n) => `<a href="https://s.example/${n}">x</a>`)
  for (const body of [lines, `{{ name }}${many.join('')}`]) {
    const given = { body, stored: { name: 'Ada' } }
    assert.equal(isFilled({ ...given, isTracked: true }), false)
    assert.ok(isFilled({ ...given, isTracked: false }))
    assertSameKind({ ...given, isTracked: true, footer })
    assertSameKind({ ...given, isTracked: false })
  }
})

test('templates with placeholders elsewhere than in text and attributes are rendered in full', () => {
  const bodies = [
    '<{{ name }}>',
    '</{{ name }}>',
    '<p {{ name }}>x',
    '<p title={{ name }}>x',
    '<a href="x" {{ name }}="y">x</a>',
    '<!-- {{ name }} -->x',
    '<!{{ name }}>x',
    'x <b{{ name }}',
    '&am{{ name }} &#{{ name }}',
    '<a href="java{{ name }}">x</a>',
    '<a href="mailto:c{{ name }}">x</a>',
    '\ue000{{ name }}',
  ]
  for (const body of bodies) {
    assert.equal(isFilled({ body, stored: { name: 'a' } }), false, body)
    for (const name of ['a', 'p;', 'script:x', '-->', 'title', '1;', 'ata:']) {
      assertSame({ body, request: { name } })
    }
  }
})

test('values that could change their surroundings are rendered in full', () => {
  const table: [body: string, value: string][] = [
    ['<p>a {{ name }} b</p>', ''],
    ['<p>a {{ name }} b</p>', ' x'],
    ['<p>a {{ name }} b</p>', 'x '],
    ['<p>a {{ name }} b</p>', 'x  y'],
    ['<p>a {{ name }} b</p>', 'x\ny'],
    ['<p>a {{ name }} b</p>', 'x\u00ady'],
    ['<p>a {{ name }}b;</p>', 'x&am'],
    ['<p>a {{ name }} b</p>', '<b>x</b>'],
    ['<p>a {{ name }} b</p>', '<table>'],
    ['<p>a {{ name }} b</p>', 'x'.repeat(300)],
    ['<p>a {{ name }} b</p>', '\ud800'],
    ['<p title="a {{ name }}">b</p>', 'x" id="y'],
    ['<p><a href="{{ name }}">b</a></p>', 'javascript:x'],
    ['<p><a href="{{ name }}">b</a></p>', '#x'],
    ['<p><a href="{{ name }}">b</a></p>', 'mailto:x@example.org'],
    ['<p><a href="https://{{ name }}">b</a></p>', 'x y'],
    ['<p><a href="{{ name }}">https://shop.example</a></p>', 'https://shop.example'],
  ]
  for (const [body, name] of table) {
    assert.equal(isFilled({ body, request: { name } }), false, JSON.stringify([body, name]))
    assertSame({ body, request: { name } })
  }
})

test('a short body stays 7-bit, and non-Latin text uses base64, as in a full rendering', () => {
  const custom = '<div>Dear {{ name }}</div>'
  assert.match(assertSame({ body: custom, stored: { name: 'Ada' } }), /html.*\r\n.*: 7bit/)
  assert.match(assertSame({ body: custom, stored: { name: '你好世界' } }), /html.*\r\n.*: base64/)
  const foreign = `<div>${'Привет '.repeat(30)}{{ name }}</div>`
  assert.match(assertSame({ body: foreign, stored: { name: 'Ada' } }), /html.*\r\n.*: base64/)
  const line = `<div>${'plain English words '.repeat(5)} {{ name }}</div>`
  assert.ok(isFilled({ body: line, stored: { name: '你'.repeat(50) } }))
  assert.match(assertSame({ body: line, stored: { name: '你'.repeat(50) } }), /: base64/)
  assert.match(
    assertSame({ body: line, stored: { name: 'Zoë' } }),
    /html.*\r\n.*: quoted-printable/,
  )
})

test('an invalid language is written as in a full rendering', () => {
  for (const language of ['', 'de-AT', '"><script>', ' en ', 'x'.repeat(300)]) {
    assertSame({ body: prose, stored, language })
  }
})

const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<unknown>('Ada', "O'Neil & Söhne", 'Zürich', 4711, true) },
  fc.constantFrom<unknown>('', null, ' x', 'a  b', '=', '你好', '😀😀', '\u00a0', '\u00adx', '\r'),
  fc.constantFrom<unknown>('<b>', '"', "' id='x", '&amp', '&', 'p;', '&nbsp;', ['a', 'b'], '-->'),
  fc.constantFrom<unknown>('https://x.example/a', 'http://a b', '#top', 'javascript:x', 'a@b.c'),
  fc.constantFrom<unknown>('a>b', 'mailto:', 'cid:x', 'script', '\ud800', '\udc00', 'y'.repeat(90)),
  fc.string({ maxLength: 8 }),
)
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('{{ a }}', '{{ b }}', '{{ c }}', '{{ b ?? "none" }}') },
  { weight: 3, arbitrary: fc.constantFrom(' ', '\n', '. ', 'Dear ', 'Zoë', 'x'.repeat(74), '  ') },
  fc.constantFrom(
    '<p>',
    '</p>',
    '<br>',
    '<ul><li>',
    '</li></ul>',
    '<pre>',
    '</pre>',
    '<h2>',
    '<hr>',
  ),
  fc.constantFrom(
    '<a href="{{ a }}">',
    '<a href="https://x.example/{{ b }}">',
    '</a>',
    '<b>',
    '</b>',
  ),
  fc.constantFrom('<a href="mailto:{{ c }}">', "<a href='{{ a }}{{ b }}'>", '<a href={{ c }}>'),
  fc.constantFrom('<img alt="{{ b }}">', '<img alt="" src="{{ a }}">', '<i title="{{ c }} ', '">'),
  fc.constantFrom(
    '<div>',
    '<td>',
    '<tr>',
    '<title>',
    '</title>',
    '<style>',
    '</style>',
    '<script>',
  ),
  fc.constantFrom(
    '&#xe001;',
    '&#61514;',
    '&#57344;',
    '<i alt="&#xe002;">',
    '<p\u00a0title="{{ a }}">',
  ),
  fc.constantFrom('<!--', '-->', '<', '</', '&', '&am', '&nbsp;', '&#6', ';', '"', "'", '=', '>'),
  fc.constantFrom(
    'https://x.example/a',
    'data:',
    '\r',
    '\r\n',
    '\t',
    '\u00ad',
    'é'.repeat(40),
    '你',
  ),
)
const link = fc.constantFrom(
  '<a href="https://x.example/?a=1&amp;b=2">x</a>',
  "<a class='{{ c }}' HREF = ' https://x.example/{{ b }} '>y</a>",
  '<area href="{{ a }}/{{ c }}">',
  '<a href=https://x.example/bare>',
  '<a href="https://x.example/\n{{ a }}">',
  '<a href="{{ unsubscribeUrl }}">',
  '<a href="https://x.example/&copy{{ c }}">',
  '</body>',
  '</body {{ a }}>',
  '<body class="{{ b }}">',
)
const kind = fc.record({
  isTracked: fc.boolean(),
  footer: fc.constantFrom(
    footer,
    null,
    { ...footer, projectName: ' ' },
    { ...footer, postalAddress: null },
  ),
})
const body = fc
  .array(fc.oneof({ weight: 6, arbitrary: piece }, link), { minLength: 1, maxLength: 14 })
  .map((pieces) => pieces.join(''))
const record = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] })

test('for any template and values, both ways give the same octets', () => {
  let filled = 0
  fc.assert(
    fc.property(body, record, record, kind, (text, stored, request, how) => {
      const given = { body: text, stored, request, ...how }
      assertSameKind(given)
      if (isFilled(given)) filled += 1
    }),
    { numRuns: 600 },
  )
  assert.ok(filled > 24, `only ${filled} used a precomposed body`)
})
