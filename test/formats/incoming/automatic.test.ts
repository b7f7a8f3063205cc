import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import {
  type AutomaticReason,
  findAutomaticReason,
} from '../../../src/formats/incoming/automatic.ts'
import { readEntities } from '../../../src/formats/parse/entity.ts'
import { readReportIn } from '../../../src/formats/report/read-report.ts'
import { dsn } from '../report/build-report.ts'

const CORPUS = path.join(import.meta.dirname, '../../../../shared/corpus')
const skip = existsSync(CORPUS) ? false : 'the corpus ../shared/corpus is not there'

function reasonOf(message: string | Buffer, isNullSender = false): AutomaticReason | null {
  const raw = Buffer.from(message)
  const entities = readEntities(raw)
  const report = readReportIn(entities, { sizeBytes: raw.length, isNullSender })
  return findAutomaticReason({ entities, isNullSender, report })
}

const mail = (fields: string, body = 'Hello.') =>
  `From: Ann <ann@reader.test>\nTo: hello@sender.test\n${fields}\n\n${body}\n`

const MACHINES: [AutomaticReason, string][] = [
  ['auto-reply', 'Auto-Submitted: auto-replied'],
  ['auto-reply', 'Auto-Submitted: (vacation) auto-replied'],
  ['auto-reply', 'Auto-Submitted: no\nAuto-Submitted: auto-replied'],
  ['auto-reply', 'AUTO-SUBMITTED: Auto-Replied (vacation)'],
  ['auto-reply', 'Auto-Submitted: auto-replied; owner-email="x@y.test"'],
  ['auto-reply', 'Auto-Submitted: auto-generated\nIn-Reply-To: <1@sender.test>'],
  ['auto-reply', 'X-Autoreply: yes'],
  ['auto-reply', 'X-Autorespond: Vacation'],
  ['auto-reply', 'X-Autoreply-From: ann@reader.test'],
  ['auto-reply', 'Precedence: auto_reply'],
  ['auto-reply', 'Delivered-To: Autoresponder'],
  // Gmail and Exchange.
  ['auto-reply', 'Precedence: bulk\nX-Autoreply: yes\nAuto-Submitted: auto-replied'],
  ['auto-reply', 'Subject: Automatic reply: Your order\nX-Auto-Response-Suppress: All'],
  ['auto-reply', 'Subject: Out of Office: Your order'],
  ['auto-reply', 'Subject: Out of office'],
  ['auto-reply', 'Subject: =?utf-8?q?R=C3=A9ponse_automatique=C2=A0=3A_Nouvelles?='],
  ['auto-reply', 'Subject: =?utf-8?b?6Ieq5Yqo5Zue5aSNOiDkvaDlpb0=?='],
  ['auto-reply', 'Subject: Automatische Antwort: Rechnung'],
  ['auto-submitted', 'Auto-Submitted: auto-generated'],
  ['auto-submitted', 'Auto-Submitted: (a) (b) auto-generated (c)'],
  ['auto-submitted', 'Auto-Submitted: no\nAuto-Submitted: auto-generated'],
  ['precedence', 'Precedence: (x) bulk'],
  ['precedence', 'Precedence: normal\nPrecedence: bulk'],
  ['auto-submitted', 'Auto-Submitted: auto-notified'],
  ['list', 'List-Id: <news.reader.test>'],
  ['list', 'List-Unsubscribe: <https://reader.test/u>'],
  ['list', 'Mailing-List: contact news-help@reader.test; run by ezmlm'],
  ['list', 'Content-Type: multipart/digest; boundary=b'],
  ['precedence', 'Precedence: bulk'],
  ['precedence', 'Precedence: Junk'],
  ['precedence', 'Precedence: list'],
  ['auto-response-suppress', 'X-Auto-Response-Suppress: All'],
  ['auto-response-suppress', 'X-Auto-Response-Suppress: DR, OOF, AutoReply'],
  ['loop', 'X-Loop: hello@sender.test'],
  ['report', 'Subject: Report domain: sender.test Submitter: google.com Report-ID: 1'],
]

const PEOPLE = [
  'Subject: Hello',
  'Auto-Submitted: no\nSubject: Hello',
  'Auto-Submitted: no (really)',
  'Subject: Vacation rental in July',
  'Subject: Absence of my son on Monday',
  'Subject: Away from home until Tuesday, where is my parcel?',
  'Subject: Out of office furniture, do you deliver?',
  'Subject: Auto reply does not work on my account',
  'Subject: Automatic response time of your pump',
  'Subject: Fwd: Automatic reply: Your order',
  'Precedence: normal',
  'Precedence: first-class',
  'X-Auto-Response-Suppress: None',
  'X-Auto-Response-Suppress: DR, RN, NRN',
  'X-Autoreply: no',
  'Importance: high\nX-Priority: 1\nX-Mailer: Outlook\nReturn-Receipt-To: ann@reader.test',
  'Disposition-Notification-To: ann@reader.test',
]

test('mail that a machine sent is told by its fields', () => {
  for (const [reason, fields] of MACHINES) assert.equal(reasonOf(mail(fields)), reason, fields)
})

test('mail of a person is not taken for automatic mail because of its words', () => {
  for (const fields of PEOPLE) assert.equal(reasonOf(mail(fields)), null, fields)
})

test('the null reverse path and mail systems are machines', () => {
  assert.equal(reasonOf(mail('Subject: Hello'), true), 'null-sender')
  assert.equal(
    reasonOf('From: MAILER-DAEMON@mx.test\nSubject: Quota\n\nYou have used 80 %.\n'),
    'mail-system',
  )
  assert.equal(reasonOf('From: <mailer-daemon>\nSubject: Hello\n\nHello.\n'), 'mail-system')
})

test('reports are told apart', () => {
  const report = (type: string) => mail(`Content-Type: multipart/report; report-type=${type}`)
  assert.equal(
    reasonOf(dsn('It failed.', 'Final-Recipient: rfc822; a@b.test\nAction: failed')),
    'bounce',
  )
  assert.equal(reasonOf(report('feedback-report')), 'complaint')
  assert.equal(reasonOf(report('disposition-notification')), 'read-receipt')
  assert.equal(reasonOf(report('tlsrpt')), 'report')
})

const calendar = (method: string, level = 'text/calendar') =>
  mail(
    'Subject: Accepted: Talk\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b',
    `--b\nContent-Type: text/plain\n\nYes\n--b\nContent-Type: ${level}; charset=utf-8; method=${method}\n\nBEGIN:VCALENDAR\n--b--`,
  )

test('a calendar answers an invitation, and a person sends one', () => {
  assert.equal(reasonOf(calendar('REPLY')), 'calendar-reply')
  assert.equal(reasonOf(calendar('"reply"')), 'calendar-reply')
  assert.equal(reasonOf(calendar('REQUEST')), null)
  assert.equal(reasonOf(calendar('COUNTER')), null)
})

test('marks inside a forwarded message are not marks of the message', () => {
  for (const [, fields] of MACHINES) {
    const forwarded = mail(
      'Subject: Fwd: what is this?\nContent-Type: multipart/mixed; boundary=o',
      `--o\n\nHelp!\n--o\nContent-Type: message/rfc822\n\n${mail(fields)}\n--o--`,
    )
    assert.equal(reasonOf(forwarded), null, fields)
  }
})

test('every collected bounce, complaint and automatic reply is automatic', { skip }, () => {
  const folder = path.join(CORPUS, 'bounces')
  const names = readdirSync(folder).filter((name) => name.endsWith('.eml'))
  const missed = names.filter((name) => reasonOf(readFileSync(path.join(folder, name))) === null)
  assert.deepEqual(missed, [])
})

test('the reported inputs: an automatic reply, and a question with a bounce', { skip }, () => {
  const read = (name: string) => readFileSync(path.join(CORPUS, 'reports', name))
  assert.equal(reasonOf(read('automatic-reply.eml'), true), 'auto-reply')
  assert.equal(reasonOf(read('question-with-a-bounce.eml')), null)
})
