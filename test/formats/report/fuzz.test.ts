import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Report, readReport } from '../../../src/formats/report/read-report.ts'
import { withinCpuMs } from '../../cpu-time.ts'
import { samples } from './samples.ts'

const CORPUS = path.join(import.meta.dirname, '../../../../shared/corpus/bounces')
const MAX_CPU_MS = 3_000

/** Asserts the type and the bounds of a report. */
function assertSound(raw: Buffer): Report {
  const report = withinCpuMs(MAX_CPU_MS, () => readReport(raw))
  assert.ok(['bounce', 'complaint', 'auto-reply', 'other'].includes(report.kind))
  assert.ok(report.recipients.length <= 50 && report.tokens.length <= 20)
  for (const one of report.recipients) {
    assert.ok(one.diagnostic.length <= 4_000 && !/[\x00-\x1f\x7f-\x9f]/.test(one.diagnostic))
    assert.ok(one.recipient.length <= 600 && !/[\s<>]/.test(one.recipient.trim()))
    assert.ok(one.status === null || /^[245]\.\d{1,3}\.\d{1,3}$/.test(one.status))
    assert.equal(one.class === 'hard', one.verdict.isHard)
    if (one.action !== 'failed') assert.ok(!one.verdict.isHard && !one.verdict.isStrike)
  }
  return report
}

/** Our own reports, and some of the corpus if it is there. */
function listMessages(): Buffer[] {
  const own = samples.map(({ head, body }) => Buffer.from(`${head}\n\n${body}`))
  if (!existsSync(CORPUS)) return own
  const names = readdirSync(CORPUS).filter((name) => name.endsWith('.eml'))
  const real = names.filter((_, index) => index % 6 === 0)
  return own.concat(real.map((name) => readFileSync(path.join(CORPUS, name)).subarray(0, 30_000)))
}

test('no octets make readReport throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4_000 }), (octets) => {
      assertSound(Buffer.from(octets))
    }),
    { numRuns: 200 },
  )
})

const PHRASES = [
  '\n',
  '\r\n',
  '\n\n',
  ' ',
  '--b',
  '--b--',
  'Content-Type: multipart/report; boundary="b"',
  'Content-Type: multipart/mixed; boundary=',
  'Content-Type: message/rfc822',
  'Content-Type: message/delivery-status',
  'Content-Type: message/feedback-report',
  'Content-Type: text/html; charset=iso-2022-jp',
  'Content-Type: text/plain; charset="nonsense"',
  'Content-Transfer-Encoding: base64',
  'Content-Transfer-Encoding: quoted-printable',
  'Final-Recipient: rfc822; a@b.test',
  'Final-Recipient: utf-8; \\x{ffffff}@b.test',
  'Action: failed',
  'Status: 5.1.1',
  'Diagnostic-Code: smtp; 550 user unknown',
  'Feedback-Type: abuse',
  'Original-Rcpt-To: a@b.test',
  'From: MAILER-DAEMON@b.test',
  'Subject: =?utf-8?B?////?= =?x?q?=ff?=',
  'X-Failed-Recipients: a@b.test, c@d.test',
  '<a@b.test>: host said: 550 5.1.1 no',
  '>>> RCPT To:<a@b.test>',
  '<<< 550',
  '{"notificationType":"Bounce","bounce":{"bouncedRecipients":[{}]}}',
  '\x1b$B$3$N',
  '\xff\xfe',
  '=E2=82',
  '@@@@',
]

test('no sequence of phrases from reports makes readReport throw', () => {
  const message = fc.array(fc.constantFrom(...PHRASES), { maxLength: 60 })
  fc.assert(
    fc.property(message, fc.constantFrom('\n', '', ' '), (list, between) => {
      assertSound(Buffer.from(list.join(between), 'latin1'))
    }),
    { numRuns: 300 },
  )
})

const mutation = fc.record({
  kind: fc.constantFrom('cut', 'flip', 'double', 'swap', 'drop'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 2_000 }),
  octet: fc.integer({ min: 0, max: 255 }),
})

type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never

function mutate(raw: Buffer, { kind, at, length, octet }: Mutation): Buffer {
  const start = Math.floor(at * raw.length)
  const [head, middle, tail] = [
    raw.subarray(0, start),
    raw.subarray(start, start + length),
    raw.subarray(start + length),
  ]
  if (kind === 'cut') return head
  if (kind === 'drop') return Buffer.concat([head, tail])
  if (kind === 'double') return Buffer.concat([head, middle, middle, tail])
  if (kind === 'swap') return Buffer.concat([tail, middle, head])
  return Buffer.concat([head, middle.map((one) => one ^ octet), tail])
}

test('mutated reports are read without an error', () => {
  const messages = listMessages()
  const chosen = fc.constantFrom(...messages)
  fc.assert(
    fc.property(chosen, fc.array(mutation, { minLength: 1, maxLength: 4 }), (raw, mutations) => {
      assertSound(mutations.reduce((mutated, one) => mutate(mutated, one), raw))
    }),
    { numRuns: 300 },
  )
})

const report = 'Content-Type: multipart/report; boundary=b; report-type=delivery-status\n\n'
const status =
  '--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nFinal-Recipient: rfc822; a@b.test\nAction: failed\nStatus: 5.1.1\n\n'

function nest(levels: number, boundary: (level: number) => string): string {
  const opened: string[] = []
  for (let level = 0; level < levels; level += 1) {
    const name = boundary(level)
    opened.push(`Content-Type: multipart/mixed; boundary="${name}"\n\n--${name}\n`)
  }
  return opened.join('')
}

const expensiveReports: [name: string, text: () => string][] = [
  ['10,000 nested parts', () => nest(10_000, (level) => `n${level}`)],
  ['10,000 nested parts of one boundary', () => nest(10_000, () => 'same')],
  ['boundaries that begin alike', () => nest(2_000, (level) => 'a'.repeat(1 + (level % 60)))],
  ['10,000 nested messages', () => 'Content-Type: message/rfc822\n\n'.repeat(10_000)],
  [
    '100,000 parts',
    () => `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(100_000)}`,
  ],
  ['a header section of 5 MB', () => `${'X-A: b\n'.repeat(700_000)}\nbody`],
  ['one header field of 5 MB', () => `Subject: ${'a '.repeat(2_500_000)}\n\nbody`],
  ['a field folded 500,000 times', () => `Subject: a\n${' b\n'.repeat(500_000)}\nbody`],
  [
    'a base64 line of 8 MB',
    () => `Content-Transfer-Encoding: base64\n\n${'QUFB'.repeat(2_000_000)}`,
  ],
  [
    'quoted-printable without end',
    () => `Content-Transfer-Encoding: quoted-printable\n\n${'=\n='.repeat(300_000)}`,
  ],
  [
    '200,000 recipients',
    () =>
      `${report}${status}${'Final-Recipient: rfc822; a@b.test\nAction: failed\n\n'.repeat(60_000)}`,
  ],
  [
    '300,000 addresses',
    () =>
      `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n${'<a@b.test>:\n550 no\n'.repeat(150_000)}`,
  ],
  [
    'half addresses',
    () => `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n${'a'.repeat(300_000)}@`,
  ],
  [
    'only at signs',
    () => `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n${'a@'.repeat(300_000)}`,
  ],
  [
    'only blanks',
    () => `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n${'\n '.repeat(500_000)}`,
  ],
  [
    'one long run of spaces',
    () => `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\nx${' '.repeat(2_000_000)}y`,
  ],
  ['only encoded words', () => `Subject: ${'=?utf-8?q?=41?= '.repeat(100_000)}\n\n`],
  ['only dashes', () => `${report}${'-'.repeat(3_000_000)}`],
  ['delimiters within a line', () => `${report}${'--b'.repeat(1_000_000)}`],
  [
    'HTML of tags alone',
    () =>
      `Content-Type: text/html\nFrom: MAILER-DAEMON@x.test\n\n${'<b><a href=x>'.repeat(100_000)}`,
  ],
  [
    'JSON of brackets',
    () => `From: x@y.test\n\n{"notificationType":"Bounce",${'['.repeat(100_000)}`,
  ],
  [
    'digits and dots',
    () =>
      `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n<a@b.test>: ${'5.1.1.'.repeat(50_000)}`,
  ],
  [
    '60 long diagnostics',
    () => {
      const words = 'the user account of a mailbox is not sender address rejected by '.repeat(40)
      const group = (n: number) =>
        `Final-Recipient: rfc822; a${n}@b.test\nAction: failed\nDiagnostic-Code: smtp; 550 ${words}\n\n`
      return `${report}${status}${Array.from({ length: 60 }, (_, n) => group(n)).join('')}`
    },
  ],
  [
    '20,000 recipients in prose',
    () => {
      const lines = Array.from({ length: 20_000 }, (_, n) => `<a${n}@b.test>:\n550 no\n`)
      return `From: MAILER-DAEMON@x.test\nSubject: failure notice\n\n${lines.join('')}`
    },
  ],
  [
    'closing brackets',
    () =>
      `${report}${status}Final-Recipient: rfc822; c@d.test\nAction: failed\nStatus: 5.0.0 ${')'.repeat(500_000)}\n`,
  ],
]

for (const [name, text] of expensiveReports) {
  test(`${name} cost little`, () => {
    assertSound(Buffer.from(text(), 'latin1'))
  })
}

test('unknown charsets and wrongly labelled bodies are read', () => {
  for (const charset of [
    'x-unknown',
    '',
    '"',
    'utf-7',
    'utf-16le',
    'iso-2022-jp',
    'gb18030',
    'big5',
  ]) {
    const head = `From: MAILER-DAEMON@x.test\nContent-Type: text/plain; charset=${charset}\n\n`
    const body = '<a@b.test>: 550 user unknown \xff\xfe\x1b$B\xe3\x81'
    assertSound(Buffer.from(head + body, 'latin1'))
  }
})
