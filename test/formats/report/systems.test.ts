/** Complete reports of many systems, with recipients, actions and codes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readReport } from '../../../src/formats/report/read-report.ts'
import { dsn, exim, prose, qmail } from './build-report.ts'
import { systemReports } from './systems.ts'

const greetings: Record<string, string> = {
  postfix: `This is the mail system at host mx.test.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

For further assistance, please send mail to postmaster.

                   The mail system

`,
  sendmail: `The original message was received at Mon, 4 May 2026 10:00:00 GMT
from app.sender.test [192.0.2.9]

`,
}

function write(layout: string, text: string): string {
  const [family = '', ...rest] = layout.split(' ')
  const detail = rest.join(' ')
  const [notice = '', fields] = text.split('{{fields}}\n')
  if (fields !== undefined) {
    const from = family === 'status' ? detail : 'MAILER-DAEMON@mx.test'
    return dsn(`${greetings[family] ?? ''}${notice.trim()}`, fields.trim(), from)
  }
  if (family === 'head') return prose(text, `From: MAILER-DAEMON@mx.test\nSubject: ${detail}`)
  if (family === 'exim') return exim(text.slice(text.indexOf('\n')).replace(/^\s+/gm, ''), detail)
  if (family !== 'qmail') return `To: news@sender.test\n${text}\n`
  const [, address = ''] = /^<(\S+)>:\n/.exec(text) ?? []
  return qmail(text.slice(text.indexOf('\n') + 1), address)
}

describe('a report', () => {
  for (const block of systemReports.trim().split(/^=== /m).slice(1)) {
    const [head = '', ...lines] = block.split('\n')
    const [name = '', layout = '', recipients = ''] = head.split(' | ')
    it(`is classified: ${name.replaceAll('-', ' ')}`, () => {
      const report = readReport(Buffer.from(write(layout, lines.join('\n').trim())))
      assert.equal(report.kind, 'bounce')
      assert.deepEqual(
        report.recipients.map((one) =>
          [
            one.action,
            one.status ?? '-',
            one.replyCode ?? '-',
            one.class,
            one.reason,
            one.recipient,
          ].join(' '),
        ),
        recipients.split('; '),
      )
    })
  }
})
