/** More layouts of mail systems, list servers and gateways, composed for the tests. */
import type { Sample } from './samples.ts'

export const layoutSamples: Sample[] = [
  {
    name: 'IMail',
    head: 'From: Postmaster <postmaster@mx.test>\nSubject: Undeliverable Mail\nX-Mailer: <SMTP32 v8.22>',
    body: `Unknown user: ann@reader.test

Original message follows.

Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'IMail that gave up',
    head: 'From: Postmaster <postmaster@mx.test>\nSubject: Undeliverable Mail\nX-Mailer: <SMTP32 v8.22>',
    body: `Delivery failed 20 attempts: ann@reader.test

Original message follows.

Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,
`,
    expected: [['ann@reader.test', null, false, 'expired']],
  },
  {
    name: 'MDaemon with its session',
    head: 'From: "MDaemon at mx.test" <MDaemon@mx.test>\nSubject: [***SPAM***] Permanent Delivery Failure\nX-MDaemon-Deliver-To: news@sender.test',
    body: `The following message had permanent delivery errors:

Mail server: mx.reader.test
Failed recipient: ann@reader.test

--- Session Transcript ---
 Mon 2026-05-04 10:00:00: --> RCPT To:<ann@reader.test>
 Mon 2026-05-04 10:00:01: <-- 550 <ann@reader.test>, Recipient unknown
 Mon 2026-05-04 10:00:01: --> QUIT
--- End Transcript ---

: Message contains [1] file attachments
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'MailMarshal, the reply above the recipients',
    head: 'From: postmaster@mx.test\nReturn-Path: <>\nSubject: Undeliverable Mail: "Our letter"',
    body: `Your message:
   From:    news@sender.test
   Subject: Our letter

Could not be delivered because of

550 5.7.1 Rejected by MailMarshal: the message is spam

The following recipients were affected:
    ann@reader.test
`,
    expected: [['ann@reader.test', '5.7.1', false, 'spamdetected']],
  },
  {
    name: 'InterScan with its session',
    head: 'From: InterScan MSS <postmaster@mx.test>\nReturn-Path: <>\nSubject: Mail could not be delivered',
    body: `****** Message from InterScan Messaging Security Suite ******

Sent <<< RCPT TO:<ann@reader.test>
Received >>> 550 5.1.1 <ann@reader.test>... user unknown

Unable to deliver message to <ann@reader.test>.

************************     End of message     **********************
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Gmail, a state that is RCPT',
    head: 'From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nX-Failed-Recipients: ann@reader.test\nSubject: Delivery Status Notification (Failure)',
    body: `Delivery to the following recipient failed permanently:

     ann@reader.test

Technical details of permanent failure: 
Google tried to deliver your message, but it was rejected by the recipient domain. We recommend contacting the other email provider for further information about the cause of this error. The error that the other server returned was: 550 550 5.1.1 <ann@reader.test>: Recipient address rejected: User unknown (state 14).

----- Original message -----

Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Gmail, a state that is the end of the data',
    head: 'From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nX-Failed-Recipients: ann@reader.test\nSubject: Delivery Status Notification (Failure)',
    body: `Delivery to the following recipient failed permanently:

     ann@reader.test

Technical details of permanent failure: 
Google tried to deliver your message, but it was rejected by the recipient domain. The error that the other server returned was: 550 550 Unknown user ann@reader.test (state 18).

----- Original message -----

Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,
`,
    expected: [['ann@reader.test', null, false, 'filtered']],
  },
  {
    name: 'Exchange in French',
    head: 'From: Microsoft Exchange <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@mx.test>\nSubject: =?utf-8?q?Non_remis_:_Notre_lettre?=\nContent-Type: text/plain; charset=utf-8',
    body: `Échec de la remise à ces destinataires ou listes de distribution :

ann@reader.test<mailto:ann@reader.test>
Impossible de trouver l'adresse de messagerie du destinataire dans le système de messagerie du destinataire.

Informations de diagnostic pour les administrateurs :

Serveur de génération : mx.test

ann@reader.test
#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##

En-têtes de message d'origine :

`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Domino, a database that is full',
    head: 'From: Mail Router <postmaster@mx.test>\nReturn-Path: <>\nSubject: DELIVERY FAILURE: Error delivering to ann; Mail file full',
    body: `Your message

  Subject: Our letter

was not delivered to:

  ann@reader.test

because:

  Error delivering to ann/READER mail.nsf; Database has exceeded its size quota

`,
    expected: [['ann@reader.test', null, false, 'mailboxfull']],
  },
  {
    name: 'a firewall that quotes reasons',
    head: 'From: "Mail System" <postmaster@mx.test>\nSubject: Mail System Error - Returned Mail',
    body: `This Message was undeliverable due to the following reason:

Each of the following recipients was rejected by a remote mail server.
The reasons given by the server are included to help you determine why
each recipient was rejected.

    Recipient: <ann@reader.test>
    Reason:    User unknown

Please reply to <postmaster@mx.test>
if you feel this message to be in error.
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'cc:Mail',
    head: 'From: postmaster@mx.test\nReturn-Path: <>\nSubject: Undeliverable Message',
    body: `To:            ann@reader.test
Cc:            
Subject:       Our letter

Message not delivered to recipients below.  Press F1 for help with VNM    
error codes.               

	VNM3043:  ann@READER@TEST

VNM3043 -- MAILBOX IS FULL

`,
    expected: [['ann@reader.test', null, false, 'mailboxfull']],
  },
  {
    name: 'a qmail that runs a program',
    head: 'From: "Mail Delivery Subsystem" <postmaster@mx.test>\nReturn-Path: <>\nSubject: Delivery Failure',
    body: `Your mail message to the following address(es) could not be delivered. This
is a permanent error. Please verify the addresses and try again. If you are
still having difficulty sending mail to these addresses, please contact
Customer Support at 480-624-2500.

<ann@reader.test>:
child status 100...The e-mail message could not be delivered because the user's mailfolder does not exist.

--- Below this line is a copy of the message.

Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'CommuniGate that asked another server',
    head: 'From: <MAILER-DAEMON@mx.test>\nReturn-Path: <>\nSubject: Undeliverable mail: Our letter',
    body: `Failed to deliver to 'ann@reader.test'
SMTP module(domain reader.test) reports:
 host mx.reader.test says:
 550 5.1.1 unknown user account

`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'CommuniGate for its own account',
    head: 'From: <MAILER-DAEMON@mx.test>\nReturn-Path: <>\nSubject: Undeliverable mail: Our letter',
    body: `Failed to deliver to 'ann@reader.test'
LOCAL module(account ann) reports:
 account does not exist

`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'Haraka',
    head: 'From: MAILER-DAEMON@mx.test\nSubject: Returned mail: Our letter',
    body: `Hi. This is the Haraka Mailer program at mx.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

Intended Recipients: <ann@reader.test>
Failure Reason: <ann@reader.test>: host mx.reader.test said: 550 5.1.1 User unknown

--- Below this line is a copy of the message.

Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'James',
    head: 'From: postmaster@mx.test\nReturn-Path: <>\nSubject: Our letter',
    body: `Hi. This is the James mail server at mx.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.  Below
I include the list of recipients and the reason why I was unable to deliver
your message.

Failed recipient(s):
ann@reader.test

Error message:
550 5.1.1 user unknown

Message details:
  Subject: Our letter
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Mailman that rejects a post',
    head: 'From: list-bounces@reader.test\nX-Mailman-Version: 2.1.39\nList-Id: <list.reader.test>\nSubject: Your message to list@reader.test was rejected',
    body: `Your message to the list@reader.test mailing-list was rejected for the
following reasons:

You are not allowed to post to this mailing list, and your message has
been automatically rejected.  If you think that your messages are
being rejected in error, contact the mailing list owner at
list-owner@reader.test.
`,
    expected: [['list@reader.test', null, false, 'rejected']],
  },
  {
    name: 'Mailman whose moderator rejects',
    head: 'From: list-owner@reader.test\nX-Mailman-Version: 2.1\nList-Id: <l.reader.test>\nSubject: Request to mailing list L rejected',
    body: `Your request to the L mailing list

    Posting of your message titled "Our letter"

has been rejected by the list moderator.  The moderator gave the
following reason for rejecting your request:

"Non-members are not allowed to post messages to this list."

Any questions or comments should be directed to the list administrator
at:

    list-owner@reader.test
`,
    expected: [['', null, false, 'rejected']],
  },
  {
    name: 'fml',
    head: 'From: list-admin@reader.test\nX-MLServer: fml [fml 4.0.3]\nX-ML-Name: list\nSubject: You are not member (list ML)',
    body: `Hi, news@sender.test

You are not a member of this mailing list <list@reader.test>.
If you would like to join, please send a mail to list-ctl@reader.test.
`,
    expected: [['list@reader.test', null, false, 'rejected']],
  },
  {
    name: 'an X.400 gateway',
    head: 'From: <mta@gateway.test>\nReturn-Path: <>\nSubject: Delivery Report (failure) for ann\nContent-Type: multipart/report; report-type=delivery-status; boundary=B',
    body: `--B
Content-Type: text/plain

This report relates to your message: Our letter
Your message was not delivered to   ann@reader.test
for the following reason: Recipient's Mailbox unavailable; MTA 'reader.test' gives error message unknown user
The Original Message follows:

--B
Content-Type: message/delivery-status

Reporting-MTA: x400; mta gateway in /PRMD=x/ADMD=y/C=de/

Final-Recipient: x400; /S=ann/PRMD=x/ADMD=y/C=de/
Original-Recipient: rfc822; ann@reader.test
Action: failed
Status: 5.1.1
Diagnostic-Code: x400; unrecognised-OR-name

--B--
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'a mobile network',
    head: 'From: post_master@vtext.test\nReturn-Path: <>\nSubject: Undeliverable Message',
    body: `Error: No valid recipients for this MM

Message could not be delivered to mobile.
Recipient address: 5551234567@vtext.test
`,
    expected: [['5551234567@vtext.test', null, true, 'userunknown']],
  },
  {
    name: 'Yahoo without a session',
    head: 'From: MAILER-DAEMON@yahoo.co.jp\nReturn-Path: <>\nSubject: Failure Notice',
    body: `Message from  yahoo.co.jp.
Unable to deliver message to the following address(es).

<ann@reader.test>:
This user doesn't have a yahoo.co.jp account (ann@reader.test) [-9]

--- Original message follows.

Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
]
