import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { appendToBody } from '../../../src/formats/html/document.ts'
import { htmlToText } from '../../../src/formats/html/html-to-text.ts'
import { findHrefs, linkNumber, numberLinks, readLink } from '../../../src/formats/html/links.ts'
import { trackDocument } from '../../../src/formats/html/tracking.ts'
import { readClickToken, readOpenToken } from '../../../src/formats/signed-tokens.ts'
import { baseUrl, testTracker } from '../tracker.ts'

const tracker = testTracker()
const emailId = '019a0000-0000-7000-8000-000000000001'
const CLICK_URL = /^https:\/\/mail\.example\.test\/t\/c\/([a-z2-7]+)$/
const PIXEL = /<img src="https:\/\/mail\.example\.test\/t\/o\/([a-z2-7]+)"[^>]*>\n/

/** `body`: the content that the HTML was rendered from. */
function track(html: string, body = html): string {
  return trackDocument(html, tracker, { emailId, numbers: numberLinks(body) })
}

/** The contents of the click tokens of a document; undefined for an untracked link. */
function clicks(html: string): (number | string | undefined)[] {
  return findHrefs(html).map(({ value }) => {
    const token = CLICK_URL.exec(value)?.[1]
    if (token === undefined) return undefined
    const click = readClickToken([tracker.clickKey], token)
    assert.equal(click?.emailId, emailId)
    return click?.link
  })
}

const link = (address: string) => `<a href="${address}">x</a>`

test('a link of the content is sent as its number, a link with values as itself', () => {
  const html = link('https://a.example/?x=1&amp;y=2') + link('https://b.example/?id=7&amp;n=8')
  assert.deepEqual(clicks(track(html, link('https://a.example/?x=1&amp;y=2'))), [
    linkNumber('https://a.example/?x=1&y=2'),
    'https://b.example/?id=7&n=8',
  ])
})

test('the text around the addresses is unchanged', () => {
  const html = `<A Class=x HREF = 'https://a.example/' title="b">c</A><map><area href=https://b.example/></map>`
  const tracked = track(html)
  const [first = '', second = ''] = findHrefs(tracked).map(({ value }) => value)
  const pixel = PIXEL.exec(tracked)?.[0] ?? ''
  assert.equal(
    tracked,
    `<A Class=x HREF = "${first}" title="b">c</A><map><area href="${second}"></map>${pixel}`,
  )
  assert.equal(readOpenToken([tracker.openKey], PIXEL.exec(tracked)?.[1] ?? ''), emailId)
})

test('the pixel is inserted once, before the closing body tag', () => {
  const tracked = track('<body><p>a</p></body></html>')
  assert.match(tracked, /^<body><p>a<\/p><img [^>]*>\n<\/body><\/html>$/)
})

test('addresses that are not http(s) and links to the hosted pages are unchanged', () => {
  const own = ['unsubscribe', 'subscribe', 'manage', 't/c', 't/o', 'contacts/public']
  const addresses = [
    ...['mailto:a@b.example', 'tel:+49', '#top', 'cid:x', 'javascript:x', '/a', '//a.example/'],
    ...own.map((page) => `${baseUrl}/${page}/token`),
    `${baseUrl.toUpperCase()}/unsubscribe/token?e=1`,
    ' https://mail.example.test/manage/&#116;oken',
  ]
  for (const address of addresses) {
    const tracked = track(link(address))
    assert.ok(tracked.startsWith(link(address)), address)
    assert.match(tracked, PIXEL)
  }
})

test("other URLs of the base URL's host, and URLs that only begin like it, are tracked", () => {
  const addresses = [`${baseUrl}/terms`, `${baseUrl}.evil.example/unsubscribe/x`, baseUrl]
  for (const address of addresses) {
    assert.deepEqual(clicks(track(link(address))), [linkNumber(address)], address)
  }
})

test('a link is never rewritten twice', () => {
  const once = track(link('https://a.example/'))
  const twice = track(once)
  assert.deepEqual(
    findHrefs(twice).map(({ value }) => value),
    findHrefs(once).map(({ value }) => value),
  )
})

test("a recipient's own link is tracked up to 1,500 characters, and unchanged beyond", () => {
  const long = (length: number) => `https://a.example/${'b'.repeat(length - 18)}`
  assert.deepEqual(clicks(track(link(long(1_500)), '')), [long(1_500)])
  assert.deepEqual(clicks(track(link(long(1_501)), '')), [undefined])
  assert.deepEqual(clicks(track(link(long(5_000)))), [linkNumber(long(5_000))])
  const wide = `https://a.example/${'\u4f60'.repeat(1_000)}`
  assert.deepEqual(clicks(track(link(wide), '')), [undefined])
})

test('each token names its own email and link', () => {
  const html = link('https://a.example/') + link('https://b.example/')
  const other = '019a0000-0000-7000-8000-000000000002'
  const tokens = new Set<string>()
  for (const id of [emailId, other]) {
    for (const body of [html, '']) {
      const tracked = trackDocument(html, tracker, { emailId: id, numbers: numberLinks(body) })
      for (const { value } of findHrefs(tracked)) tokens.add(CLICK_URL.exec(value)?.[1] ?? '')
      assert.doesNotMatch(tracked, /[ab]\.example/)
    }
  }
  assert.equal(tokens.size, 8)
  for (const token of tokens) {
    const forged = `${token.slice(0, -9)}${token.at(-9) === 'a' ? 'b' : 'a'}${token.slice(-8)}`
    assert.notEqual(readClickToken([tracker.clickKey], token), undefined)
    assert.equal(readClickToken([tracker.clickKey], forged), undefined)
    assert.equal(readClickToken([tracker.openKey], token), undefined)
  }
})

test('10,000 links are tracked in linear time', () => {
  const processorTime = (count: number) => {
    const html = Array.from({ length: count }, (_, at) => link(`https://a.example/${at}`)).join('')
    const before = process.threadCpuUsage()
    const found = clicks(track(html))
    const { user, system } = process.threadCpuUsage(before)
    assert.equal(found.filter((each) => typeof each === 'number').length, count)
    return user + system
  }
  const few = processorTime(1_000)
  // Ten times the links: 100 times the work if each link read all others.
  assert.ok(processorTime(10_000) < 40 * few)
})

const piece = fc.constantFrom(
  ...['<a href="', '<a href="https://a.example/', '<a href=https://b.example ', '">x</a>', '">'],
  ...['<a ', '<A\n', '<area ', 'href=', 'HREF = ', 'title=', '"', "'", '>', '</a>', '</body>'],
  ...['https://a.example/', 'HTTP://B.example?x', baseUrl, '/unsubscribe/x', '&amp;', '&', '#38;'],
  ...[
    ' ',
    '\n',
    '\t',
    '{{',
    '}}',
    '<!--',
    '-->',
    '<style>',
    '</style>',
    '<script',
    '\u00e4',
    '\ud800',
  ],
  ...['\u00a0', 'javascript:', 'mailto:', '/', '=', '`', '<', 'text'],
)

test('for any markup, links keep their number, order and meaning', () => {
  let counted = 0
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const html = pieces.join('')
      const before = findHrefs(html)
      const tracked = track(html, '')
      const after = clicks(tracked)
      assert.equal(after.length, before.length)
      for (const [at, { value }] of before.entries()) {
        if (after[at] !== undefined) assert.equal(after[at], readLink(value)?.toWellFormed())
        else assert.equal(findHrefs(tracked)[at]?.value, value)
      }
      counted += after.filter((each) => each !== undefined).length
      // Only addresses changed: without them the texts are the same.
      const words = (text: string) => htmlToText(text).replace(/https?:\S*/gi, '')
      if (before.length === 0) assert.equal(words(tracked), words(html))
    }),
    { numRuns: 2_000 },
  )
  assert.ok(counted > 20, `only ${counted} were counted`)
})

test('the pixel stands where the body of the tracked document ends, whatever comes after it', () => {
  const parts = fc.constantFrom(
    ...[link('https://a.example/'), link('https://b.example/?q=1'), link('#x'), 'text'],
    ...[
      '</body>',
      '</BODY >',
      '<!-- </body> -->',
      '<style>a{}</style>',
      '<p>',
      '<!-- open',
      '<p a="',
    ],
  )
  const whole = (html: string) => html.replace(PIXEL, '')
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (pieces) => {
      const tracked = track(pieces.join('\n'))
      const [pixel = ''] = PIXEL.exec(tracked) ?? []
      assert.notEqual(pixel, '')
      // The document without its pixel is what gets one again at the same place.
      assert.equal(appendToBody(whole(tracked), pixel), tracked)
    }),
  )
})
