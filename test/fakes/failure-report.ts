/** A report of a mailbox that does not exist, as a mail server sends it (RFC 3464). */

/** Returns its lines. `returned` are the header fields of the message, if the report has them. */
export function failureReport(recipient: string, returned?: string): string[] {
  return [
    'From: MAILER-DAEMON@mx.dest.test',
    'Subject: Undelivered Mail Returned to Sender',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b1',
    '',
    '--b1',
    'Content-Type: text/plain',
    '',
    'Your message could not be delivered.',
    '--b1',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.dest.test',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    'Status: 5.1.1',
    `Diagnostic-Code: smtp; 550 5.1.1 <${recipient}>: user unknown`,
    '',
    ...(returned === undefined ? [] : ['--b1', 'Content-Type: text/rfc822-headers', '', returned]),
    '--b1--',
  ]
}
