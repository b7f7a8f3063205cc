import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simpleParser } from 'mailparser'
import {
  buildMessage,
  createTemplateCache,
  type MessageSource,
  renderMessage,
} from '../../src/mail/message.ts'

const unsubscribe = 'https://mail.example.test/unsubscribe/token'

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
      attachments: [],
    },
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

const build = (source: MessageSource) => buildMessage(source, createTemplateCache()).octets
const head = (message: string) => message.slice(0, message.indexOf('\r\n\r\n'))

test('the same source gives the same bytes, whatever was built before', () => {
  const cache = createTemplateCache()
  const source = makeSource({}, '<p>{{ "now" | date: "%s" }} {{ name }}</p>')
  const first = buildMessage(source, cache).octets
  buildMessage(makeSource(), cache)
  assert.equal(buildMessage(source, cache).octets, first)
  assert.equal(buildMessage(source, createTemplateCache()).octets, first)
})

test('stored values are escaped in the HTML, and plain in subject and text', async () => {
  const { subject, html, text } = renderMessage(makeSource(), createTemplateCache())
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

test('mail that links its unsubscribe page says so in the header, other mail does not', () => {
  assert.doesNotMatch(head(build(makeSource())), /List-Unsubscribe/)
  const linked = head(build(makeSource({}, '<p><a href="{{ unsubscribeUrl }}">Stop</a></p>')))
  assert.match(linked, /List-Unsubscribe: <https:\/\/mail\.example\.test\/unsubscribe\/token>/)
  assert.match(linked, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/)
  assert.match(head(build(makeSource({ isMarketing: true }))), /List-Unsubscribe-Post/)
  const unreachable = makeSource({ isMarketing: true, oneClickUrl: null })
  assert.doesNotMatch(head(build(unreachable)), /List-Unsubscribe/)
})

test('bulk mail asks that no robot answers', () => {
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

test('the caller\u2019s fields replace ours of the same name', () => {
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

test('attachments arrive as they were given', async () => {
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
