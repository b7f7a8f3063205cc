import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simpleParser } from 'mailparser'
import {
  buildMessage,
  type MessageSource,
  renderMessage,
} from '../../../src/formats/compose/build-message.ts'
import type { Footer } from '../../../src/formats/html/footer.ts'
import { linkNumber } from '../../../src/formats/html/links.ts'
import { createTemplateCache } from '../../../src/formats/precomposed/template-cache.ts'
import { readClickToken, readOpenToken } from '../../../src/formats/signed-tokens.ts'
import { baseUrl, testTracker } from '../tracker.ts'

const unsubscribe = `${baseUrl}/unsubscribe/token`
const emailId = '019a0000-0000-7000-8000-000000000001'
const tracker = testTracker()

function makeSource(
  change: Partial<MessageSource> = {},
  body = '<p>Dear {{ name }}</p>',
): MessageSource {
  return {
    content: {
      id: Math.random().toString(),
      subject: 'Hello {{ name }}',
      body,
      isText: false,
      text: null,
      attachments: [],
    },
    emailId,
    isTracked: false,
    footer: null,
    returnToken: 'token',
    unsubscribeMailbox: null,
    messageId: '1@example.test',
    createdAt: Date.parse('2026-11-21T12:00:00Z'),
    from: { address: 'shop@example.test', name: 'Shop' },
    to: { address: 'ada@dest.test', name: 'Ada' },
    replyTo: { address: 'shop@example.test', name: null },
    headers: null,
    variables: { stored: { name: 'Ada <3' }, request: {}, system: { unsubscribeUrl: unsubscribe } },
    language: 'en',
    feedbackId: 'a:b:c:pillarbox',
    isBulk: false,
    oneClickUrl: unsubscribe,
    isMarketing: false,
    preferenceUrls: [unsubscribe],
    ...change,
  }
}

const build = (source: MessageSource) => buildMessage(source, createTemplateCache(tracker)).octets
const head = (message: string) => message.slice(0, message.indexOf('\r\n\r\n'))

test('the same source gives the same octets, after any other messages', () => {
  const cache = createTemplateCache(tracker)
  const source = makeSource({}, '<p>{{ "now" | date: "%s" }} {{ name }}</p>')
  const first = buildMessage(source, cache).octets
  buildMessage(makeSource(), cache)
  assert.equal(buildMessage(source, cache).octets, first)
  assert.equal(buildMessage(source, createTemplateCache(tracker)).octets, first)
})

test('a text part of the content replaces the one made from the HTML, for every recipient', async () => {
  const cache = createTemplateCache(tracker)
  const own = 'Dear {{ name | upcase }},\n\n  by hand <b>\n'
  // The third message is filled into a precomposed body.
  for (const name of ['Ada', 'Bob', 'Cyd']) {
    const source = makeSource({ variables: { stored: { name }, request: {}, system: {} } })
    const message = { ...source, content: { ...source.content, id: 'shared', text: own } }
    const { html, text } = await simpleParser(buildMessage(message, cache).octets)
    assert.equal(text, `Dear ${name.toUpperCase()},\n\n  by hand <b>\n`)
    assert.match(String(html), new RegExp(`<p>Dear ${name}</p>`))
    assert.equal(
      renderMessage(message, cache).text,
      `Dear ${name.toUpperCase()},\n\n  by hand <b>\n`,
    )
  }
})

test('a text part of the content ends with the marketing footer', () => {
  const footer: Footer = {
    ...{ language: 'en', projectName: 'Shop', url: unsubscribe, postalAddress: null },
  }
  const source = makeSource({ footer })
  const message = { ...source, content: { ...source.content, text: 'By hand\n' } }
  const { text } = renderMessage(message, createTemplateCache(tracker))
  assert.match(text, /^By hand\n\n[^\n]+Shop[^\n]*\n.*unsubscribe\/token\)\n$/s)
})

test('each fault names its part', () => {
  const source = makeSource({}, '<p>{{ name | shout }}</p>')
  const content = { ...source.content, subject: '{% if %}', text: 'x\n{{ y' }
  const cache = createTemplateCache(tracker)
  const places = [
    ['subject', 1, 6],
    ['body', 1, 4],
    ['text', 2, 1],
  ]
  for (const make of [renderMessage, buildMessage, buildMessage, buildMessage]) {
    const { faults } = make({ ...source, content }, cache)
    assert.deepEqual(
      faults.map(({ part, line, column }) => [part, line, column]),
      places,
    )
  }
})

test('stored values are escaped in the HTML, and plain in subject and text', async () => {
  const { subject, html, text } = renderMessage(makeSource(), createTemplateCache(tracker))
  assert.equal(subject, 'Hello Ada <3')
  assert.match(html as string, /<p>Dear Ada &lt;3<\/p>/)
  assert.match(text, /^Dear Ada <3$/m)
  const parsed = await simpleParser(build(makeSource()))
  assert.equal(parsed.subject, 'Hello Ada <3')
})

test('a value with line breaks cannot add a header field', () => {
  const variables = { stored: { name: 'x\r\nBcc: evil@example.test' }, request: {}, system: {} }
  assert.doesNotMatch(head(build(makeSource({ variables }))), /^Bcc:/im)
})

test('mail that links to its unsubscribe page has List-Unsubscribe, and other mail does not', () => {
  assert.doesNotMatch(head(build(makeSource())), /List-Unsubscribe/)
  const linked = head(build(makeSource({}, '<p><a href="{{ unsubscribeUrl }}">Stop</a></p>')))
  assert.match(linked, /List-Unsubscribe: <https:\/\/mail\.example\.test\/unsubscribe\/token>/)
  assert.match(linked, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/)
  assert.match(head(build(makeSource({ isMarketing: true }))), /List-Unsubscribe-Post/)
  const unreachable = makeSource({ isMarketing: true, oneClickUrl: null })
  assert.doesNotMatch(head(build(unreachable)), /List-Unsubscribe/)
})

const mailbox = 'u.token@bounce.example.test'

test('List-Unsubscribe has the mailbox beside the page, or alone without one-click', () => {
  const both = head(build(makeSource({ isMarketing: true, unsubscribeMailbox: mailbox })))
  assert.match(
    both.replaceAll('\r\n ', ' '),
    /^List-Unsubscribe: <https:\/\/mail\.example\.test\/unsubscribe\/token>, <mailto:u\.token@bounce\.example\.test\?subject=unsubscribe>\r$/m,
  )
  assert.match(both, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m)
  const change = { isMarketing: true, unsubscribeMailbox: mailbox, oneClickUrl: null }
  const alone = head(build(makeSource(change)))
  assert.match(alone, /^List-Unsubscribe: <mailto:u\.token@[^,]*>\r$/m)
  assert.doesNotMatch(alone, /List-Unsubscribe-Post/)
  assert.doesNotMatch(head(build(makeSource({ unsubscribeMailbox: mailbox }))), /List-Unsubscribe/)
})

test('a caller\u2019s own List-Unsubscribe removes List-Unsubscribe-Post', () => {
  const headers = { 'list-unsubscribe': '<mailto:stop@example.test>' }
  const fields = head(build(makeSource({ isMarketing: true, headers })))
  assert.match(fields, /^list-unsubscribe: <mailto:stop@example\.test>\r$/m)
  assert.doesNotMatch(fields, /List-Unsubscribe-Post|One-Click/)
})

test('every message has X-Pillarbox-Id, and callers cannot set it', () => {
  const headers = { 'x-pillarbox-id': 'forged', 'X-Pillarbox-Other': 'forged' }
  for (const change of [{}, { headers }, { isTracked: true }, { isMarketing: true }]) {
    const fields = head(build(makeSource(change)))
    assert.match(fields, /^X-Pillarbox-Id: token\r$/m)
    assert.equal(fields.match(/x-pillarbox-/gi)?.length, 1)
  }
})

const shop = '<p><a href="https://shop.example/a?b=1&amp;c=2">Shop</a> {{ name }}</p>'

test('a tracked message has tracking links and a pixel in HTML, and the original links in text', async () => {
  const source = makeSource({ isTracked: true }, shop)
  const mail = await simpleParser(build(source))
  const html = String(mail.html)
  const [, click = ''] =
    /<a href="https:\/\/mail\.example\.test\/t\/c\/([a-z2-7]+)">/.exec(html) ?? []
  const number = linkNumber('https://shop.example/a?b=1&c=2')
  assert.deepEqual(readClickToken([tracker.clickKey], click), { emailId, link: number })
  const [, open = ''] =
    /<img src="https:\/\/mail\.example\.test\/t\/o\/([a-z2-7]+)"/.exec(html) ?? []
  assert.equal(readOpenToken([tracker.openKey], open), emailId)
  assert.match(html, /<img [^>]*>\n<\/body>/)
  assert.match(mail.text ?? '', /Shop \(https:\/\/shop\.example\/a\?b=1&c=2\)/)
  assert.doesNotMatch(mail.text ?? '', /\/t\//)
})

test('an untracked message has no pixel and unchanged links', async () => {
  const mail = await simpleParser(build(makeSource({}, shop)))
  assert.match(String(mail.html), /<a href="https:\/\/shop\.example\/a\?b=1&amp;c=2">/)
  assert.doesNotMatch(build(makeSource({}, shop)), /\/t\/|<img/)
})

test('a preview contains no tracking token', () => {
  const source = makeSource({ isTracked: true }, shop)
  const rendered = renderMessage(source, createTemplateCache(tracker))
  assert.doesNotMatch(JSON.stringify(rendered), /\/t\/[co]\//)
  assert.match(String(rendered.html), /shop\.example/)
})

const footer: Footer = {
  ...{ language: 'fr', projectName: 'Pots & <Pans>', url: unsubscribe },
  postalAddress: '1 Rue du <Four> & Co',
}

test('marketing ends with its footer, which is never tracked', async () => {
  const source = makeSource({ isTracked: true, isMarketing: true, footer }, shop)
  const mail = await simpleParser(build(source))
  assert.match(String(mail.html), /abonné\(e\) à Pots &amp; &lt;Pans&gt;\./)
  assert.match(String(mail.html), /<a href="https:\/\/mail\.example\.test\/unsubscribe\/token"/)
  assert.match(mail.text ?? '', /Pots & <Pans>\.\n[^\n]+ \(https:\/\/mail\.example\.test\/unsub/)
  assert.doesNotMatch(build(makeSource({}, shop)), /abonn/)
})

test('plain-text marketing ends with the footer as text', () => {
  const source = makeSource({ isTracked: true, isMarketing: true, footer }, 'Dear {{ name }}\n\n')
  const { html, text } = renderMessage(
    { ...source, content: { ...source.content, isText: true } },
    createTemplateCache(tracker),
  )
  assert.equal(html, null)
  assert.match(
    text,
    /^Dear Ada <3\n\nVous .* Pots & <Pans>\.\nSe [^\n]+ \(https:[^\n]+\)\n1 Rue du <Four> & Co\n$/,
  )
})

test('bulk mail asks autoresponders not to reply', () => {
  const bulk = head(build(makeSource({ isBulk: true })))
  for (const field of [
    'Precedence: bulk',
    'Auto-Submitted: auto-generated',
    'X-Auto-Response-Suppress: All',
  ]) {
    assert.ok(bulk.includes(field), field)
  }
  assert.doesNotMatch(head(build(makeSource())), /Precedence/)
})

test('the caller\u2019s fields replace generated fields of the same name', () => {
  const headers = { precedence: 'first-class', 'X-Order': '7' }
  const fields = head(build(makeSource({ isBulk: true, headers })))
  assert.equal(fields.match(/^precedence:/gim)?.length, 1)
  assert.match(fields, /^precedence: first-class$/im)
  assert.match(fields, /^X-Order: 7$/m)
})

test('a text message stays text', async () => {
  const source = makeSource()
  const parsed = await simpleParser(
    build({ ...source, content: { ...source.content, isText: true, body: 'Dear {{ name }}' } }),
  )
  assert.equal(parsed.text?.trim(), 'Dear Ada <3')
  assert.equal(parsed.html, false)
})

test('attachments keep their octets', async () => {
  const source = makeSource()
  const attachment = {
    filename: 'b\u00fccher.bin',
    contentType: 'application/octet-stream',
    content: Buffer.from([0, 255, 13, 10]).toString('base64'),
    contentId: null,
    disposition: 'attachment' as const,
  }
  const content = { ...source.content, attachments: [attachment] }
  const parsed = await simpleParser(build({ ...source, content }))
  assert.deepEqual(parsed.attachments[0]?.content, Buffer.from([0, 255, 13, 10]))
  assert.equal(parsed.attachments[0]?.filename, 'b\u00fccher.bin')
})
