/**
 * A thread remembers what it wrote last: header fields, and the values of slots. Each message of a sequence must
 * have the octets that it has alone.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { buildMessage, type MessageSource } from '../../../src/formats/compose/build-message.ts'
import { createTemplateCache } from '../../../src/formats/precomposed/template-cache.ts'
import { baseUrl, testTracker } from '../tracker.ts'

const tracker = testTracker()

const value = fc.constantFrom<unknown>(
  'Ada',
  'Zoë',
  'a & b',
  'a &amp; b',
  '',
  '<b>',
  17,
  'x'.repeat(80),
)
const values = fc.record({ a: value, b: value }, { requiredKeys: [] })
const piece = fc.constantFrom(
  ...['<p>{{ a }}</p>\n', '{{ b }} ', '{{ a | upcase }}', 'Zoë ', 'plain words '.repeat(8)],
  ...['<a href="https://shop.example/{{ b }}">look</a>', '<a href="https://shop.example/x">x</a>'],
  ...[
    '<a href="{{ unsubscribeUrl }}">leave</a>',
    '<i title="{{ a }}">i</i>',
    '<a href="{{ a }}">l</a>',
  ],
)
const mailbox = fc.record({
  address: fc.constantFrom('shop@example.test', 'zoë@example.test'),
  name: fc.constantFrom(null, 'Shop', 'Zoë’s Shop'),
})
const headers = fc.constantFrom<MessageSource['headers']>(
  ...[null, { 'X-Own': '1' }, { 'x-own': '1', 'X-Own': '2' }, { Subject: 'Other' }],
  ...[{ 'Reply-To': 'Ada <a@b.test>' }, { 'List-Unsubscribe': '<https://own.example/>' }],
  ...[{ 'Feedback-ID': 'own' }, { subject: 'low', 'Message-ID': '<own@b.test>' }],
)
const recipient = fc.record({
  ...{
    number: fc.nat(9),
    stored: values,
    request: values,
    from: mailbox,
    replyTo: mailbox,
    headers,
  },
  createdAt: fc.constantFrom(0, 1_790_000_000_000, 1_790_000_000_999, 1_790_000_001_000),
  ...{ isBulk: fc.boolean(), isTracked: fc.boolean(), isTest: fc.boolean() },
  projectName: fc.constantFrom('Töpfe & <Co>', 'Shop'),
  language: fc.constantFrom('de', 'en'),
})
const template = fc.record({
  subject: fc.constantFrom('Hello', 'Hello {{ a }}', 'Grüße {{ b }}'),
  body: fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join('')),
})

type Recipient = typeof recipient extends fc.Arbitrary<infer R> ? R : never
type Template = typeof template extends fc.Arbitrary<infer T> ? T : never

function sourceOf(texts: Template, { number, stored, request, ...rest }: Recipient): MessageSource {
  const { projectName, language, ...own } = rest
  const unsubscribeUrl = `${baseUrl}/unsubscribe/token${number}`
  return {
    ...own,
    emailId: `019a0000-0000-7000-8000-00000000000${number}`,
    messageId: `${number}@example.test`,
    content: { id: 'one', ...texts, isText: false, text: null, attachments: [] },
    to: { address: `person${number}@dest.test`, name: null },
    variables: { stored, request, system: { unsubscribeUrl } },
    footer: { language, projectName, url: unsubscribeUrl, postalAddress: null },
    ...{ language, feedbackId: 'a:b:c:pillarbox', returnToken: `token${number}` },
    ...{ oneClickUrl: unsubscribeUrl, unsubscribeMailbox: `u.${number}@bounce.example.test` },
    ...{ isMarketing: true, preferenceUrls: [unsubscribeUrl] },
  }
}

test('each message of a sequence has the octets that it has alone', () => {
  fc.assert(
    fc.property(template, fc.array(recipient, { minLength: 3, maxLength: 6 }), (texts, all) => {
      const cache = createTemplateCache(tracker)
      for (const each of all) {
        const source = sourceOf(texts, each)
        const alone = buildMessage(source, createTemplateCache(tracker))
        assert.deepEqual(buildMessage(source, cache), alone)
      }
    }),
    { numRuns: 400 },
  )
})
