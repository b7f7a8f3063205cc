import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costOfContent, MAX_QUICK_COST_US } from '../../../src/formats/compose/message-cost.ts'
import { makeSource } from '../../outbound/harness.ts'

const isQuick = (content: Parameters<typeof makeSource>[0]) =>
  costOfContent(makeSource(content).content) <= MAX_QUICK_COST_US

const attachment = (bytes: number) => ({
  filename: 'a.pdf',
  contentType: 'application/pdf',
  content: 'x'.repeat(bytes),
  contentId: null,
  disposition: 'attachment' as const,
})
const row =
  '<tr><td style="padding: 0 12px">Some words of text that go on for a while, and ' +
  '<a href="https://shop.test/item/1?utm=1">a link</a>.</td></tr>\n'

test('usual mail is quick to compose', () => {
  assert.ok(isQuick({}))
  assert.ok(
    isQuick({ body: row.repeat(Math.floor(102_000 / row.length)) }),
    'as much as Gmail shows',
  )
  assert.ok(isQuick({ body: '{{ name }} '.repeat(1_400) }), 'whatever is in 16 KB')
  assert.ok(isQuick({ attachments: [attachment(2_000_000)] }), 'an invoice')
})

test('mail that takes longer than about 50 ms for any reason is not quick', () => {
  const heavy: [why: string, content: Parameters<typeof makeSource>[0]][] = [
    ['its length', { body: 'x'.repeat(300_000) }],
    ['its text part', { text: 'x'.repeat(300_000) }],
    ['its markup', { body: '<b>'.repeat(40_000) }],
    ['its links', { body: '<a HREF=//a.b>c</a>'.repeat(3_500) }],
    ['its placeholders', { body: '{{ a }}'.repeat(9_000) }],
    ['its files', { attachments: [attachment(2_000_000), attachment(1_000_000)] }],
  ]
  for (const [why, content] of heavy) assert.ok(!isQuick(content), why)
})
