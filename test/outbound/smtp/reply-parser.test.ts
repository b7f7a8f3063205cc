import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createKnownReplies,
  createReplyParser,
  type ServerReply,
} from '../../../src/outbound/smtp/reply-parser.ts'
import { anyCharacter } from '../../any-character.ts'

function parse(...chunks: (string | Buffer)[]): { replies: ServerReply[]; error: string | null } {
  const replies: ServerReply[] = []
  const parser = createReplyParser((reply) => replies.push(reply))
  let error: string | null = null
  for (const chunk of chunks) error = parser.push(Buffer.from(chunk as string).toString('latin1'))
  return { replies, error }
}

function format(text: string) {
  return parse(text).replies[0]!.stored
}

test('a reply of one line may lack its text, its CR or the space after its code', () => {
  for (const [line, text] of [
    ['250 Ok\r\n', 'Ok'],
    ['250\r\n', ''],
    ['250 \r\n', ''],
    ['250 Ok\n', 'Ok'],
    ['\r\n250 Ok\r\n', 'Ok'],
  ] as const) {
    assert.deepEqual(format(line), { code: 250, enhancedCode: null, text }, line)
  }
})

test('a reply of several lines keeps its lines and loses the repeated enhanced code', () => {
  const reply = format('550-5.1.1 No such user.\r\n550-5.1.1 Look again\r\n550 5.1.1 gsmtp\r\n')
  assert.deepEqual(reply, {
    code: 550,
    enhancedCode: '5.1.1',
    text: 'No such user.\nLook again\ngsmtp',
  })
})

test('an enhanced code counts only if it is well formed and has the class of the reply', () => {
  for (const [line, enhancedCode] of [
    ['550 5.1.1 x', '5.1.1'],
    ['550 5.1.1', '5.1.1'],
    ['550 #5.1.0 Address rejected.', '5.1.0'],
    ['550 sorry, no mailbox here by that name. (#5.1.1)', '5.1.1'],
    ['550 2.1.1 x', null],
    ['250 5.1.1 x', null],
    ['550 5.1.1.1 x', null],
    ['550 5.1 x', null],
    ['550 5.1.1234 x', null],
    ['550 see 5.1.1 in the list', null],
    ['450 4.7.650 x', '4.7.650'],
  ] as const) {
    assert.equal(format(`${line}\r\n`).enhancedCode, enhancedCode, line)
  }
})

test('S28: control bytes, terminal escapes and text direction marks are escaped', () => {
  const reply = format('550 a\x1b[31mb\x00c\td\x7f \u202ee\u0085\r\n')
  assert.equal(reply.text, 'a\\x1b[31mb\\x00c d\\x7f \\u202ee\\x85')
})

test('a repeated short reply is the same object on every connection', () => {
  const known = createKnownReplies()
  const [first, second] = [0, 1].map(() => {
    const replies: ServerReply[] = []
    const parser = createReplyParser((reply) => replies.push(reply), known)
    const long = `250 2.0.0 ${'x'.repeat(200)}`
    parser.push(`250 2.1.0 Ok\r\n250-2.1.0 Ok\r\n250 2.1.0 Ok\r\n${long}\r\n`)
    return replies
  }) as [ServerReply[], ServerReply[]]
  assert.equal(first[0], second[0])
  assert.deepEqual(first, second)
  assert.deepEqual(first[1]?.lines, ['2.1.0 Ok', '2.1.0 Ok'])
  assert.notEqual(first[2], second[2])
})

test('UTF-8 is decoded, and other octets are replaced', () => {
  assert.equal(format('550 Größe 好\r\n').text, 'Größe 好')
  const latin = parse(Buffer.from('550 Gr\xf6\xdfe\r\n', 'latin1')).replies[0]!
  assert.equal(latin.stored.text, 'Gr\ufffd\ufffde')
})

test('a long text is truncated before it is stored', () => {
  const { text } = format(`550 ${'x'.repeat(20_000)}\r\n`)
  assert.equal(text.length, 2_048)
  assert.ok(text.endsWith('…'))
})

test('a line that is not a reply is an error, and nothing after it is read', () => {
  for (const line of [
    'HTTP/1.1 400 Bad Request',
    '25 0 Ok',
    '2500 Ok',
    '150 Ok',
    '650 Ok',
    '000 Ok',
    '250_Ok',
    '٢٥٠ Ok',
    ' 250 Ok',
    'x',
  ]) {
    const { replies, error } = parse(`${line}\r\n250 Ok\r\n`)
    assert.equal(replies.length, 0, line)
    assert.match(error ?? '', /not an SMTP reply/, line)
  }
})

test('lines of one reply with different codes are an error', () => {
  const { replies, error } = parse('250-a\r\n550 b\r\n')
  assert.equal(replies.length, 0)
  assert.match(error ?? '', /different codes/)
  assert.notEqual(parse('250-a\r\n\r\n250 b\r\n').error, null)
})

test('S28: a reply has at most 100 lines and 64 KB, in portions of any size', () => {
  const lines = (count: number) => `${'250-x\r\n'.repeat(count - 1)}250 x\r\n`
  assert.equal(parse(lines(100)).replies.length, 1)
  assert.match(parse(lines(101)).error ?? '', /100 lines/)
  assert.match(parse('250-x\r\n'.repeat(5_000)).error ?? '', /100 lines/)
  assert.match(parse('\r\n'.repeat(200)).error ?? '', /100 lines/)
  assert.match(parse(`250 ${'x'.repeat(70_000)}\r\n`).error ?? '', /64 KB/)
  const endless = Array.from({ length: 70 }, () => 'x'.repeat(1_024))
  assert.match(parse('250 ', ...endless).error ?? '', /64 KB/)
  assert.match(parse(...Array(90).fill(`250-${'y'.repeat(800)}\r\n`)).error ?? '', /64 KB/)
})

test('a reply that arrives octet by octet takes linear time', () => {
  const parser = createReplyParser(() => assert.fail('no reply is complete'))
  const byte = '2'
  for (let count = 0; count < 64 * 1_024; count++) assert.equal(parser.push(byte), null)
  assert.match(parser.push(byte) ?? '', /64 KB/)
})

const replyText = fc
  .array(
    fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((c) => String.fromCharCode(c)) }),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .chain((lines) => fc.tuple(fc.integer({ min: 200, max: 599 }), fc.constant(lines)))

function write([code, lines]: [number, string[]]): string {
  return lines
    .map((line, at) => `${code}${at === lines.length - 1 ? ' ' : '-'}${line}\r\n`)
    .join('')
}

test('the octets parse to the same replies in portions of any size', () => {
  fc.assert(
    fc.property(
      fc.array(replyText, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(400), { maxLength: 20 }),
      (replies, cuts) => {
        const bytes = Buffer.from(replies.map(write).join(''), 'latin1')
        const places = [0, ...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b)]
        const chunks = places.map((at, n) => bytes.subarray(at, places[n + 1] ?? bytes.length))
        const parsed = parse(...chunks)
        assert.equal(parsed.error, null)
        assert.deepEqual(
          parsed.replies.map(({ code, lines }) => ({ code, lines })),
          replies.map(([code, lines]) => ({ code, lines })),
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('the parser never throws, and its texts are bounded and printable', () => {
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: anyCharacter, maxLength: 100 }).map((text) => Buffer.from(`250-${text}`)),
    fc.constantFrom('250 ', '250-', '550 5.1.1 ', '\r\n', '\n', '\r', '421 ').map(Buffer.from),
  )
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 30 }), (chunks) => {
      const { replies } = parse(...chunks.map((chunk) => Buffer.from(chunk)))
      for (const { stored: reply } of replies) {
        assert.ok(reply.code >= 200 && reply.code <= 599)
        assert.ok(reply.text.length <= 2_048)
        assert.doesNotMatch(reply.text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
      }
    }),
    { numRuns: 500 },
  )
})
