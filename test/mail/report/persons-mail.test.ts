/** A person asks about a report and attaches, quotes or pastes it: the mail stays the person's. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { readReport } from '../../../src/mail/report/read-report.ts'
import { dsn, fieldsOnly } from './build-report.ts'
import { familySamples } from './family-samples.ts'
import { layoutSamples } from './layout-samples.ts'
import { samples } from './samples.ts'

const CORPUS = path.join(import.meta.dirname, '../../../../shared/corpus/bounces')

const composed: [string, string][] = [
  ['with status fields', fieldsOnly({ said: '550 5.1.1 User unknown', status: '5.1.1' })],
  ['with prose', dsn('It could not be delivered.', 'Final-Recipient: rfc822; ann@reader.test')],
  ...[...samples, ...familySamples, ...layoutSamples].map(
    ({ name, head, body }): [string, string] => [name, `${head}\nTo: news@sender.test\n\n${body}`],
  ),
]
const collected: [string, string][] = existsSync(CORPUS)
  ? readdirSync(CORPUS)
      .filter((name) => name.endsWith('.eml'))
      .map((name) => [name, readFileSync(path.join(CORPUS, name), 'latin1')])
  : []

const head = (subject: string, type: string) => `From: Ann <ann@reader.test>
To: hello@sender.test
Subject: ${subject}
MIME-Version: 1.0
Content-Type: ${type}

`

const QUESTION = 'Please help, why do I get this?'

const mixed = (part: string, subject = 'Fwd: what is this?') =>
  `${head(subject, 'multipart/mixed; boundary="outer"')}--outer
Content-Type: text/plain

${QUESTION}
--outer
${part}
--outer--
`

/** The ways in which mail programs forward a message. */
const WAYS: Record<string, (report: string) => string> = {
  'as an attachment': (report) => mixed(`Content-Type: message/rfc822\n\n${report}`),
  'as an attachment, under the same subject': (report) =>
    mixed(
      `Content-Type: message/rfc822\n\n${report}`,
      /^subject: ?(.*)$/im.exec(report)?.[1]?.replace(/^/, 'Fwd: '),
    ),
  'in base64': (report) =>
    mixed(
      `Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n${Buffer.from(report, 'latin1').toString('base64')}`,
    ),
  'as the parts of the report': (report) => {
    const boundary = /boundary="?([^\s";]+)"?/i.exec(report)?.[1]
    const body = report.slice(report.search(/\r?\n\r?\n/))
    const inner = boundary === undefined ? body : body.replaceAll(`--${boundary}`, '--outer')
    return `${head('Fwd: what is this?', 'multipart/mixed; boundary="outer"')}--outer
Content-Type: text/plain

${QUESTION}
${inner}`
  },
  'as quoted text': (report) =>
    `${head('Fwd: what is this?', 'text/plain')}${QUESTION}\n\n${report.replace(/^/gm, '> ')}`,
  'as pasted text': (report) =>
    `${head('what is this?', 'text/plain')}${QUESTION}\n\n${report.replaceAll('\r\n', '\n')}`,
}

for (const [way, forward] of Object.entries(WAYS)) {
  test(`a report that a person forwards ${way} is mail of the person`, () => {
    const all = [...composed, ...collected]
    const taken = all.filter(([, report]) => {
      const { kind } = readReport(Buffer.from(forward(report), 'latin1'))
      return kind !== 'other'
    })
    assert.deepEqual(
      taken.map(([name]) => name),
      [],
    )
  })
}

test('the same mail with the null reverse path may be a report', async () => {
  const { readReportIn } = await import('../../../src/mail/report/read-report.ts')
  const { readEntities } = await import('../../../src/mail/parse/entity.ts')
  const [, report = ''] = composed[0] ?? []
  const raw = Buffer.from(mixed(`Content-Type: message/rfc822\n\n${report}`))
  const read = (isNullSender: boolean) =>
    readReportIn(readEntities(raw), { sizeBytes: raw.length, isNullSender }).kind
  assert.deepEqual([read(true), read(false)], ['bounce', 'other'])
})

test('the JSON of a notification counts if nobody wrote anything above', () => {
  const json = JSON.stringify({
    notificationType: 'Bounce',
    bounce: {
      bounceType: 'Permanent',
      bouncedRecipients: [{ emailAddress: 'ann@reader.test', status: '5.1.1' }],
    },
  })
  const kindOf = (text: string) =>
    readReport(Buffer.from(`${head('AWS Notification Message', 'text/plain')}${text}`)).kind
  assert.deepEqual([kindOf(json), kindOf(`${QUESTION}\n\n${json}`)], ['bounce', 'other'])
})
