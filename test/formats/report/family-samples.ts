/** Bounces of further families of mail systems, composed for the tests, each in its own layout. */
import { returned } from './build-report.ts'
import type { Sample } from './samples.ts'

const DAEMON_HEADER = 'From: Mail Delivery System <MAILER-DAEMON@mx.test>\nReturn-Path: <>'

export const familySamples: Sample[] = [
  {
    name: 'the session that a Postfix server tells its postmaster of',
    head: 'From: MAILER-DAEMON@mx.test\nSubject: Postfix SMTP server: errors from app[192.0.2.9]',
    body: `Transcript of session follows.

 Out: 220 mx.test ESMTP
 In:  MAIL FROM:<news@sender.test>
 Out: 250 2.1.0 Ok
 In:  RCPT TO:<ann@reader.test>
 Out: 550 5.1.1 <ann@reader.test>: Recipient address rejected: User unknown
 In:  QUIT
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Smail, as T-Online has it',
    head: `${DAEMON_HEADER}\nSubject: mail failed, returning to sender`,
    body: `|------------------------- Failed addresses follow: ---------------------|
 <ann@reader.test>
   552 5.2.2 <ann@reader.test> Quota exceeded (mailbox for user is full)
 bob@nowhere.test ... unknown host

|------------------------- Message header follows: ----------------------|
${returned}`,
    expected: [
      ['ann@reader.test', '5.2.2', false, 'mailboxfull'],
      ['bob@nowhere.test', null, true, 'hostunknown'],
    ],
  },
  {
    name: 'GMX that gave up',
    head: `${DAEMON_HEADER}\nSubject: Mail delivery failed: returning message to sender`,
    body: `This message was created automatically by mail delivery software.

The following address failed:

<ann@reader.test>

Reason:
delivery retry timeout exceeded

--- The header of the original message is following. ---
${returned}`,
    expected: [['ann@reader.test', null, false, 'expired']],
  },
  {
    name: 'IONOS, refused with a number of Orange',
    head: `${DAEMON_HEADER}\nSubject: Mail delivery failed: returning message to sender`,
    body: `The following address failed:

    ann@reader.test:
    SMTP error from remote server for TEXT command, host: mx.test (192.0.2.65) reason: 550 5.2.0 Mail rejete. ofr_506 [506]

--- The header of the original message is following. ---
${returned}`,
    expected: [['ann@reader.test', '5.2.0', false, 'spamdetected']],
  },
  {
    name: 'Mimecast',
    head: 'From: Postmaster@mx.test\nReturn-Path: <>\nSubject: [Postmaster] Email Delivery Failure',
    body: `An email that you attempted to send to the following address could not be delivered:
 -- ann@reader.test

The problem appears to be :
 -- Recipient email address is possibly incorrect

Additional information follows :
 -- 5.4.1 Recipient address rejected: Access denied.
`,
    expected: [['ann@reader.test', '5.4.1', true, 'userunknown']],
  },
  {
    name: 'GroupWise',
    head: 'From: Mailer-Daemon@mx.test\nSubject: Message status - undeliverable',
    body: `The message that you sent was undeliverable to the following:

\tann@reader.test (user not found)
\tbob@reader.test (mailbox full)
`,
    expected: [
      ['ann@reader.test', null, true, 'userunknown'],
      ['bob@reader.test', null, false, 'mailboxfull'],
    ],
  },
  {
    name: 'Courier that waits, its From without an address',
    head: 'From: "Courier mail server at mx.test" <@>\nReturn-Path: <>\nSubject: WARNING: delayed mail.',
    body: `                    DELAYS IN DELIVERING YOUR MESSAGE

Your message to the following recipients has not been delivered yet:

<ann@reader.test>:
     mx.reader.test [192.0.2.1]:
     DNS lookup failed.
`,
    expected: [['ann@reader.test', null, false, 'networkerror']],
    action: 'delayed',
  },
  {
    name: 'au, where the state of the account stands above what the reply says',
    head: 'From: Postmaster@mx.test\nReturn-Path: <>\nSubject: Mail System Error - Returned Mail',
    body: `The user(s) account is temporarily over quota.

<ann@reader.test>: 550 user unknown (in reply to RCPT TO command)
`,
    expected: [['ann@reader.test', null, false, 'mailboxfull']],
  },
  {
    name: 'Domino in French',
    head: 'From: Mail Router <postmaster@mx.test>\nReturn-Path: <>\nSubject: DELIVERY FAILURE',
    body: `Your message

  Subject: Our letter

was not delivered to:

  ann@reader.test

because:

  Utilisateur ann (ann@reader.test) non répertorié dans l'annuaire
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'an Exchange 5.5 that knows two of that name',
    head: 'From: System Administrator <postmaster@mx.test>\nReturn-Path: <>\nSubject: Undeliverable: Our letter',
    body: `Your message

  To:      ann@reader.test
  Subject: Our letter

did not reach the following recipient(s):

ann@reader.test on Thu, 29 Apr 2010 18:14:35 +0000
    MSEXCH:IMS:ORG:SITE:SERVER 0 (000C0595) Ambiguous Recipient
`,
    expected: [['ann@reader.test', null, false, 'filtered']],
  },
  {
    name: 'an OpenSMTPD that finds no mail server willing',
    head: 'From: Mailer Daemon <MAILER-DAEMON@mx.test>\nSubject: Delivery status notification: error',
    body: `    An error has occurred while attempting to deliver a message for
    the following list of recipients:

ann@reader.test: Destination seem to reject all mails

    Below is a copy of the original message:

${returned}`,
    expected: [['ann@reader.test', null, true, 'rejected']],
  },
  {
    name: 'a list manager in a loop',
    head: 'From: list-admin@reader.test\nSubject: Loop Back Warning: [list]',
    body: `The mailing list <list@reader.test> has detected a loop condition

Original mail as follows:
${returned}`,
    expected: [['list@reader.test', null, false, 'systemerror']],
  },
  {
    name: 'Exim, whose header names another address than its text',
    head: `${DAEMON_HEADER}\nX-Failed-Recipients: ann@reader.test\nSubject: Mail delivery failed`,
    body: `A message that you sent could not be delivered:

  ann@elsewhere.test
    SMTP error from remote mail server after end of data:
    host mx.test [192.0.2.20]: 554 5.7.0 Header error
`,
    expected: [['ann@reader.test', '5.7.0', false, 'policyviolation']],
  },
  {
    name: 'PowerMTA, which says more in its category than the reply does',
    head: `${DAEMON_HEADER}\nSubject: Delivery report\nContent-Type: multipart/report; report-type=delivery-status; boundary=b`,
    body: `--b
Content-Type: message/delivery-status

Reporting-MTA: dns;mx.test

Final-Recipient: rfc822;ann@reader.test
Action: failed
Status: 5.0.0 (undefined status)
Diagnostic-Code: smtp;550 refused
X-PowerMTA-BounceCategory: quota-issues

--b--`,
    expected: [['ann@reader.test', '5.0.0', false, 'mailboxfull']],
  },
]
