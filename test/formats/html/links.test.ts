import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { linkNumber, listLinks, numberLinks, readLink } from '../../../src/formats/html/links.ts'
import { withinCpuMs } from '../../cpu-time.ts'

test('a link number is the first four octets of the link\u2019s SHA-256', () => {
  const octets = createHash('sha256').update('https://shop.example/').digest()
  assert.equal(linkNumber('https://shop.example/'), octets.readUInt32BE())
  assert.equal(linkNumber('https://shop.example/'), 0x0e_bc_ee_a5)
})

test('the links of a content are listed once each, in order, decoded', () => {
  const body = `<p><a href="https://a.example/?x=1&amp;y=2">a</a>
    <A class=x HREF='HTTP://b.example/%20'>b</A> <map><area href=https://c.example/></map>
    <a href="https://a.example/?x=1&#38;y=2">again</a>
    <a href="
      https://d.example/long
      er ">d</a>`
  assert.deepEqual(listLinks(body), [
    'https://a.example/?x=1&y=2',
    'HTTP://b.example/%20',
    'https://c.example/',
    'https://d.example/long      er',
  ])
})

test('an address that is not http or https has no number', () => {
  const bodies = [
    ...['mailto:a@b.example', 'tel:+49123', 'sms:1', '#top', '', 'cid:logo', 'data:text/html,x'],
    ...['javascript:alert(1)', 'java\nscript:x', '//a.example/', '/path', 'page.html', 'ftp://a.b'],
    ...['https://', 'https:a.example', 'https://a b.example/', 'http://[::1', 'xhttps://a.example'],
    ...['https://x.example/{{ id }}', 'https://x.example/{% if a %}b{% endif %}', '{{ url }}'],
    ...['https&colon;//x.example/', 'https://x.example/&lbrack;', 'https://x.example/&#104ttp'],
  ].map((address) => `<a href="${address}">x</a>`)
  const others = [
    '<!-- <a href="https://a.example/">x</a> -->',
    '<!--[if mso]><a href="https://a.example/">x</a><![endif]-->',
    '<style><a href="https://a.example/">x</a></style>',
    '<script>"<a href=https://a.example/>"</script>',
    '<textarea><a href="https://a.example/"></textarea>',
    '<base href="https://a.example/"><link href="https://a.example/"><img src="https://a.example/">',
    '<form action="https://a.example/">',
    '<a href>x</a><a href="" href="https://a.example/">x</a>',
    '<a data-href="https://a.example/">x</a><ahref="https://a.example/">',
    '</a href="https://a.example/">',
    '<a href="https://a.example/>x</a>',
    '<a title="<a href=https://a.example/>">x</a>',
    '< a href="https://a.example/">x</a>',
    '<a {{ x }}href="https://a.example/">x</a>',
  ]
  for (const body of [...bodies, ...others]) assert.deepEqual(listLinks(body), [], body)
})

test('a link is read as a browser reads the attribute', () => {
  const table: [value: string, link: string | undefined][] = [
    [' \x01https://a.example/\t\r\nb ', 'https://a.example/b'],
    ['https://a.example/?a=1&copy=2', 'https://a.example/?a=1&copy=2'],
    ['https://a.example/?a=1&copy;', 'https://a.example/?a=1\u00a9'],
    ['https://a.example/?a&b=c&d', 'https://a.example/?a&b=c&d'],
    ['https://a.example/&amp;lt;', 'https://a.example/&lt;'],
    ['h&#116;tps&#x3a;//a.example/', 'https://a.example/'],
    ['https://b\u00fccher.example/\u4f60', 'https://b\u00fccher.example/\u4f60'],
    ['https://a.example/?a=1&unknown;', undefined],
    ['https://a.example/&#;', undefined],
    ['https://a.example/?a&REG', undefined],
    ['https://a.example/?a&REG=1&LTD', 'https://a.example/?a&REG=1&LTD'],
    ['https://a.example/&#0000000000038;', undefined],
  ]
  for (const [value, link] of table) assert.equal(readLink(value), link, value)
})

test('tags and comments end where a browser ends them', () => {
  const link = '<a href="https://a.example/">x</a>'
  const table: [body: string, links: string[]][] = [
    [
      `<a href=https://b.example/?q="b>c" ${link}`,
      ['https://b.example/?q="b', 'https://a.example/'],
    ],
    [`<p ="a>${link}`, ['https://a.example/']],
    [`<p a"=b>${link}`, ['https://a.example/']],
    [`<p a=/>${link}`, ['https://a.example/']],
    ['<a href=https://b.example/\u00a0c>', ['https://b.example/\u00a0c']],
    ['<a x\u00a0href="https://b.example/">', []],
    ['<a\u000bhref="https://b.example/">', []],
    [`<style></style\u00a0>${link}</style>`, []],
    [`<!-->${link}`, ['https://a.example/']],
    [`<!--->${link}`, ['https://a.example/']],
    [`<!-- a --!>${link}`, ['https://a.example/']],
    [`<!--!>${link}-->`, []],
    [`<!---!>${link}-->`, []],
    [`<!--[if !mso]><!-->${link}<!--<![endif]-->`, ['https://a.example/']],
  ]
  for (const [body, links] of table) assert.deepEqual(listLinks(body), links, body)
})

test('links beyond the scanned length have no number', () => {
  const link = (at: number) => `<a href="https://a.example/${at}">x</a>\n`
  const many = Array.from({ length: 10_000 }, (_, at) => link(at)).join('')
  assert.equal(numberLinks(many).size, 10_000)
  const filled = `${'x'.repeat(512 * 1024 - 10)}${link(1)}${link(2)}`
  assert.deepEqual(listLinks(filled), [])
  assert.deepEqual(listLinks(link(0) + filled), ['https://a.example/0'])
})

test('a content that the database would cut at a NUL has no numbered links', () => {
  const link = '<a href="https://a.example/">x</a>'
  assert.deepEqual(listLinks(`${link}\0`), [])
  assert.deepEqual(listLinks(`\0${link}`), [])
  assert.deepEqual(listLinks(`${link}${'x'.repeat(512 * 1024)}\0`), ['https://a.example/'])
})

test('hostile markup takes linear time', () => {
  for (const part of [
    '<a href="',
    '<a ',
    '<a href=https://',
    '<!--',
    '<script>',
    '&amp',
    '&#1',
    ' ',
  ]) {
    const link = `<a href="https://a.example/${part.replaceAll('"', '').repeat(60_000)}b">`
    withinCpuMs(1_000, () => listLinks(part.repeat(60_000)), part)
    withinCpuMs(1_000, () => listLinks(link), part)
  }
})

test('for any markup, every listed link is http or https, and the list is the same each time', () => {
  const piece = fc.constantFrom(
    ...[
      '<a ',
      '<area ',
      'href=',
      'HREF = ',
      '"',
      "'",
      '>',
      '</a>',
      'https://',
      'x.example/',
      '&amp;',
    ],
    ...[
      '&',
      '#38;',
      ' ',
      '\n',
      '{{',
      '}}',
      '{%',
      '<!--',
      '-->',
      '<style>',
      '</style>',
      '\u00e4',
      '\ud800',
    ],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const body = pieces.join('')
      const links = listLinks(body)
      assert.deepEqual(listLinks(body), links)
      assert.equal(new Set(links).size, links.length)
      for (const link of links) assert.match(new URL(link).protocol, /^https?:$/)
    }),
    { numRuns: 300 },
  )
})
