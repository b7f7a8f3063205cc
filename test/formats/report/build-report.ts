/** Builds reports in the layouts of common mail systems around given texts. */
import { readReport } from '../../../src/formats/report/read-report.ts'

type ReportInput = {
  recipient?: string
  /** The lines of the other server's reply. */
  said: string
  status?: string
  action?: string
  /** As Postfix writes: `RCPT TO`, `end of DATA`. */
  command?: string
  remote?: string
  /** More fields of the recipient's group. */
  fields?: string
}

/** The message that the reports return. */
export const returned = `Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: Someone <someone@else.test>
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,`

const defaults = { recipient: 'ann@reader.test', remote: 'mx.reader.test' }

/** A report with the fields of RFC 3464. */
export function dsn(notice: string, status: string, from = 'MAILER-DAEMON@mx.test'): string {
  return `From: Mail Delivery System <${from}>
Return-Path: <>
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b/1"

--b/1
Content-Type: text/plain; charset=us-ascii

${notice}

--b/1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

${status}

--b/1
Content-Type: message/rfc822

${returned}

--b/1--
`
}

/** Fields only: the report names no command. */
export function fieldsOnly(input: ReportInput): string {
  const { recipient, said, status = '5.0.0', action = 'failed', remote } = { ...defaults, ...input }
  return dsn(
    'Your message could not be delivered.',
    `Final-Recipient: rfc822; ${recipient}
Action: ${action}
Status: ${status}
Remote-MTA: dns; ${remote}
Diagnostic-Code: smtp; ${said.replaceAll('\n', '\n ')}
${input.fields ?? ''}`,
  )
}

export function postfix(input: ReportInput): string {
  const {
    recipient,
    said,
    status = '5.0.0',
    remote,
    command = 'RCPT TO',
  } = { ...defaults, ...input }
  const words = said.replaceAll('\n', ' ')
  return dsn(
    `This is the mail system at host mx.test.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

For further assistance, please send mail to postmaster.

                   The mail system

<${recipient}>: host ${remote}[192.0.2.7] said: ${words}
    (in reply to ${command} command)`,
    `Final-Recipient: rfc822; ${recipient}
Original-Recipient: rfc822;${recipient}
Action: failed
Status: ${status}
Remote-MTA: dns; ${remote}
Diagnostic-Code: smtp; ${words}`,
  )
}

/** The field has only the first line of the reply; the transcript has all lines. */
export function sendmail(input: ReportInput): string {
  const { recipient, said, status = '5.0.0', remote, command = 'DATA' } = { ...defaults, ...input }
  const [first = ''] = said.split('\n')
  return dsn(
    `The original message was received at Mon, 4 May 2026 10:00:00 GMT
from app.sender.test [192.0.2.9]

   ----- The following addresses had permanent fatal errors -----
<${recipient}>
    (reason: ${first})

   ----- Transcript of session follows -----
... while talking to ${remote}.:
>>> ${command}
${said
  .split('\n')
  .map((line) => `<<< ${line}`)
  .join('\n')}
554 5.0.0 Service unavailable`,
    `Final-Recipient: RFC822; ${recipient}
Action: failed
Status: ${status}
Remote-MTA: DNS; ${remote}
Diagnostic-Code: SMTP; ${first}
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT`,
  )
}

export function prose(body: string, head = 'From: MAILER-DAEMON@mx.test'): string {
  return `${head}
Return-Path: <>
Subject: failure notice

${body}

--- Below this line is a copy of the message.

${returned}
`
}

export function qmail(body: string, recipient = 'ann@reader.test'): string {
  return prose(`Hi. This is the qmail-send program at mx.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<${recipient}>:
${body}`)
}

export function exim(body: string, recipient = 'ann@reader.test', host = 'mx.test'): string {
  return prose(
    `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ${recipient}
    ${body.replaceAll('\n', '\n    ')}`,
    `From: Mail Delivery System <Mailer-Daemon@${host}>\nX-Failed-Recipients: ${recipient}\nAuto-Submitted: auto-replied`,
  )
}

/** One line per recipient, such as `hard userunknown 5.1.1`. */
export function brief(report: string): string[] {
  return readReport(Buffer.from(report)).recipients.map(
    (one) => `${one.class} ${one.reason} ${one.status}`,
  )
}
