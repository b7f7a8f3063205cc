/** A person asks about a report and attaches, quotes or pastes it: the mail stays the person's. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { readEntities } from '../../../src/formats/parse/entity.ts'
import { readReport, readReportIn } from '../../../src/formats/report/read-report.ts'
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

type Letter = { from: string; subject: string; words: string }

const QUESTION = 'Please help, why do I get this?'
const ann: Letter = {
  from: 'Ann <ann@reader.test>',
  subject: 'Fwd: what is this?',
  words: QUESTION,
}

/** Letters of people. Some people have an address or a name as programs have, and use such words. */
const LETTERS: Record<string, Letter> = {
  Ann: ann,
  'a person at admin@': {
    from: 'admin@firm.test',
    subject: 'Delivery failure',
    words: 'My message could not be delivered, see attached.',
  },
  'a person at no-reply@ who names the recipient': {
    from: 'Firm <no-reply@firm.test>',
    subject: 'Undelivered mail',
    words: 'The message to ann@reader.test was rejected. Why is the user unknown?',
  },
  'a person named as a mail system': {
    from: '"System Administrator" <jo@firm.test>',
    subject: 'Mail delivery',
    words: 'This message for ann@reader.test was returned to sender.',
  },
  'a person who complains': {
    from: 'Ann <ann@reader.test>',
    subject: 'Abuse complaint: our customer got this',
    words: QUESTION,
  },
  'a person at server@ who complains in HTML': {
    from: 'server@firm.test',
    subject: 'Spam report',
    words: `</p><p>${QUESTION}`,
  },
}

const isHtml = ({ words }: Letter) => words.startsWith('<')

const head = ({ from, subject }: Letter, type: string) => `From: ${from}
To: hello@sender.test
Subject: ${subject}
MIME-Version: 1.0
Content-Type: ${type}

`

const text = (letter: Letter) => `Content-Type: text/${isHtml(letter) ? 'html' : 'plain'}

${letter.words}
`

const mixed = (part: string, letter: Letter) =>
  `${head(letter, 'multipart/mixed; boundary="outer"')}--outer
${text(letter)}--outer
${part}
--outer--
`

type Way = (report: string, letter: Letter) => string

/** The ways in which mail programs forward a message. */
const WAYS: Record<string, Way> = {
  'as an attachment': (report, letter) =>
    mixed(`Content-Type: message/rfc822\n\n${report}`, letter),
  'as an attachment, under the same subject': (report, letter) => {
    const subject = /^subject: ?(.*)$/im.exec(report)?.[1]?.replace(/^/, 'Fwd: ') ?? letter.subject
    return mixed(`Content-Type: message/rfc822\n\n${report}`, { ...letter, subject })
  },
  'in base64': (report, letter) =>
    mixed(
      `Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n${Buffer.from(report, 'latin1').toString('base64')}`,
      letter,
    ),
  'as the parts of the report': (report, letter) => {
    const boundary = /boundary="?([^\s";]+)"?/i.exec(report)?.[1]
    const body = report.slice(report.search(/\r?\n\r?\n/))
    const inner = boundary === undefined ? body : body.replaceAll(`--${boundary}`, '--outer')
    return `${head(letter, 'multipart/mixed; boundary="outer"')}--outer
${text(letter)}${inner}`
  },
  'as quoted text': (report, letter) =>
    `${head(letter, 'text/plain')}${letter.words}\n\n${report.replace(/^/gm, '> ')}`,
  'as pasted text': (report, letter) =>
    `${head(letter, 'text/plain')}${letter.words}\n\n${report.replaceAll('\r\n', '\n')}`,
}

for (const [way, forward] of Object.entries(WAYS)) {
  for (const [person, letter] of Object.entries(LETTERS)) {
    test(`a report that ${person} forwards ${way} is mail of the person`, () => {
      const all = [...composed, ...collected]
      const taken = all.filter(([, report]) => {
        const raw = Buffer.from(forward(report, letter), 'latin1')
        const session = { sizeBytes: raw.length, isToMailbox: true }
        return readReportIn(readEntities(raw), session).kind !== 'other'
      })
      assert.deepEqual(
        taken.map(([name]) => name),
        [],
      )
    })
  }
}

test('mail to the server of a person at admin@ with a report attached is no report', () => {
  const { 'a person at admin@': letter = ann } = LETTERS
  const taken = composed.filter(([, report]) => {
    const raw = mixed(`Content-Type: message/rfc822\n\n${report}`, letter)
    return readReport(Buffer.from(raw)).kind !== 'other'
  })
  assert.deepEqual(taken, [])
})

test('a gateway that names the recipient in its prose bounces mail at the return path alone', () => {
  const raw = Buffer.from(`From: Gateway <admin@reader.test>
To: b.token@bounce.sender.test
Subject: Delivery failure

Your message to <ann@reader.test> could not be delivered: 550 5.1.1 User unknown
`)
  const read = (isToMailbox: boolean) =>
    readReportIn(readEntities(raw), { sizeBytes: raw.length, isToMailbox })
  assert.equal(read(false).kind, 'bounce')
  assert.deepEqual(
    read(false).recipients.map((one) => [one.recipient, one.class]),
    [['ann@reader.test', 'hard']],
  )
  assert.equal(read(true).kind, 'other')
})

test('the same mail with the null reverse path may be a report', () => {
  const [, report = ''] = composed[0] ?? []
  const raw = Buffer.from(mixed(`Content-Type: message/rfc822\n\n${report}`, ann))
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
    readReport(
      Buffer.from(`${head({ ...ann, subject: 'AWS Notification Message' }, 'text/plain')}${text}`),
    ).kind
  assert.deepEqual([kindOf(json), kindOf(`${QUESTION}\n\n${json}`)], ['bounce', 'other'])
})
