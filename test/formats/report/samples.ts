/** Bounces of families of mail systems, composed for the tests. */
import type { BounceReason } from '../../../src/formats/replies/reply.ts'

export type Sample = {
  name: string
  /** Header fields besides To and Date. */
  head: string
  body: string
  expected: [recipient: string, status: string | null, isHard: boolean, reason: BounceReason][]
  action?: 'delayed'
}

const returned = `Return-Path: <news@sender.test>
Received: from app (localhost [127.0.0.1]) by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: Someone <someone@else.test>
Subject: Our letter
Message-ID: <letter-1@sender.test>

Dear reader,`

const DAEMON_HEADER = 'From: Mail Delivery Subsystem <MAILER-DAEMON@mx.test>\nReturn-Path: <>'

export const samples: Sample[] = [
  {
    name: 'Postfix without a delivery status',
    head: `${DAEMON_HEADER}\nSubject: Undelivered Mail Returned to Sender`,
    body: `This is the mail system at host mx.test.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

For further assistance, please send mail to postmaster@mx.test.

                   The mail system

<ann@reader.test>: host mx.reader.test[192.0.2.1] said: 550 5.1.1
    <ann@reader.test>: Recipient address rejected: User unknown in virtual
    mailbox table (in reply to RCPT TO command)

<bob@full.test>: host mx.full.test[192.0.2.2] said: 552 5.2.2 <bob@full.test>:
    Mailbox is full / Blocks limit exceeded (in reply to RCPT TO command)

${returned}`,
    expected: [
      ['ann@reader.test', '5.1.1', true, 'userunknown'],
      ['bob@full.test', '5.2.2', false, 'mailboxfull'],
    ],
  },
  {
    name: 'Sendmail in plain text',
    head: `${DAEMON_HEADER}\nSubject: Returned mail: see transcript for details`,
    body: `The original message was received at Mon, 4 May 2026 10:00:00 GMT
from app.sender.test [192.0.2.9]

   ----- The following addresses had permanent fatal errors -----
<ann@reader.test>
    (reason: 550 5.7.1 Message rejected as spam by Content Filtering.)

   ----- Transcript of session follows -----
... while talking to mx.reader.test.:
>>> DATA
<<< 550 5.7.1 Message rejected as spam by Content Filtering.
554 5.0.0 Service unavailable

   ----- Original message follows -----
${returned}`,
    expected: [['ann@reader.test', '5.7.1', false, 'spamdetected']],
  },
  {
    name: 'Exim, two recipients, one of them an unrouteable domain',
    head: 'From: Mail Delivery System <Mailer-Daemon@mx.test>\nX-Failed-Recipients: ann@reader.test,\n bob@nowhere.test\nAuto-Submitted: auto-replied\nSubject: Mail delivery failed: returning message to sender',
    body: `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ann@reader.test
    host mx.reader.test [192.0.2.1]
    SMTP error from remote mail server after RCPT TO:<ann@reader.test>:
    550 No Such User Here
  bob@nowhere.test
    Unrouteable address

------ This is a copy of the message, including all the headers. ------

${returned}`,
    expected: [
      ['ann@reader.test', null, true, 'userunknown'],
      ['bob@nowhere.test', null, true, 'hostunknown'],
    ],
  },
  {
    name: 'Exim: retry time',
    head: 'From: Mail Delivery System <Mailer-Daemon@mx.test>\nX-Failed-Recipients: ann@reader.test\nSubject: Mail delivery failed: returning message to sender',
    body: `  ann@reader.test
    retry timeout exceeded
    
------ This is a copy of the message's header ------
${returned}`,
    expected: [['ann@reader.test', null, false, 'expired']],
  },
  {
    name: 'Exim: delay',
    head: 'From: Mail Delivery System <Mailer-Daemon@mx.test>\nAuto-Submitted: auto-replied\nSubject: Warning: message 1tX-00 delayed 24 hours',
    body: `This message was created automatically by mail delivery software.
A message that you have sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on mx.test.

The address to which the message has not yet been delivered is:

  ann@reader.test
    host mx.reader.test [192.0.2.1]
    Delay reason: Connection timed out

No action is required on your part. Delivery attempts will continue for
some time.`,
    expected: [['ann@reader.test', null, false, 'expired']],
    action: 'delayed',
  },
  {
    name: 'qmail',
    head: 'From: MAILER-DAEMON@mx.test\nReturn-Path: <>\nSubject: failure notice',
    body: `Hi. This is the qmail-send program at mx.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<ann@reader.test>:
192.0.2.1 does not like recipient.
Remote host said: 550 no such user
Giving up on 192.0.2.1.

<bob@full.test>:
user is over quota. (#5.2.2)

<carl@nowhere.test>:
Sorry, I couldn't find any host named nowhere.test. (#5.1.2)

--- Below this line is a copy of the message.

${returned}`,
    expected: [
      ['ann@reader.test', null, true, 'userunknown'],
      ['bob@full.test', '5.2.2', false, 'mailboxfull'],
      ['carl@nowhere.test', '5.1.2', true, 'hostunknown'],
    ],
  },
  {
    name: 'Courier',
    head: `From: "Courier mail server at mx.test" <postmaster@mx.test>\nReturn-Path: <>\nSubject: NOTICE: mail delivery status.`,
    body: `This is a delivery status notification from mx.test,
running the Courier mail server, version 0.65.2.

The original message was received on Mon, 4 May 2026 10:00:00 +0000
from app.sender.test

---------------------------------------------------------------------------

                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<ann@reader.test>:
    mx.reader.test [192.0.2.1]:
>>> RCPT TO:<ann@reader.test>
<<< 550 5.1.1 <ann@reader.test>... User Unknown

---------------------------------------------------------------------------
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Exchange 2003, in German',
    head: 'From: Systemadministrator <postmaster@mx.test>\nSubject: Unzustellbar: Our letter',
    body: `Ihre Nachricht hat einige oder alle Empf\u00e4nger nicht erreicht.

      Betreff:  Our letter
      Gesendet am:  04.05.2026 10:00

Folgende Empf\u00e4nger konnten nicht erreicht werden:

      ann@reader.test am 04.05.2026 10:01
            Das E-Mail-Konto ist in der Organisation nicht vorhanden, an die diese Nachricht gesendet wurde.
            <mx.test #5.1.1>
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Exchange 2010 in plain text',
    head: 'From: Microsoft Exchange <postmaster@mx.test>\nSubject: Undeliverable: Our letter',
    body: `Delivery has failed to these recipients or groups:

Ann<mailto:ann@reader.test>
The recipient's mailbox is full and can't accept messages now. Please try resending this message later, or contact the recipient directly.

Diagnostic information for administrators:

Generating server: mx.test

ann@reader.test
#554 5.2.2 mailbox full ##

Original message headers:

${returned}`,
    expected: [['ann@reader.test', '5.2.2', false, 'mailboxfull']],
  },
  {
    name: 'Lotus Domino',
    head: 'From: Postmaster@mx.test\nSubject: DELIVERY FAILURE: User ann (ann@reader.test) not listed in Domino Directory',
    body: `Your message

  Subject: Our letter

was not delivered to:

  ann@reader.test

because:

  User ann (ann@reader.test) not listed in Domino Directory
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'GroupWise',
    head: 'From: Mailer-Daemon@mx.test\nSubject: Message status - undeliverable',
    body: `The message that you sent was undeliverable to the following:
\tann@reader.test (user not found)
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'MDaemon',
    head: 'From: MAILER-DAEMON@mx.test\nSubject: Permanent Delivery Failure',
    body: `The attached message had PERMANENT fatal delivery errors!

Failed address: ann@reader.test

--- Session Transcript ---
  Attempting SMTP connection to [192.0.2.1:25]
  <-- 220 mx.reader.test ESMTP
  --> RCPT To:<ann@reader.test>
  <-- 550 5.1.1 <ann@reader.test>: Email address could not be found, or was misspelled
--- End Transcript ---
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'hMailServer',
    head: 'From: mailer-daemon@mx.test\nSubject: Message undeliverable: Our letter',
    body: `Your message did not reach some or all of the intended recipients.

   Sent: Mon, 4 May 2026 10:00:00 +0000
   Subject: Our letter

The following recipient(s) could not be reached:

ann@reader.test
   Error Type: SMTP
   Remote server (192.0.2.1) issued an error.
   hMailServer sent: RCPT TO:<ann@reader.test>
   Remote server replied: 550 Unknown user

hMailServer
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'SmarterMail',
    head: 'From: System Administrator <postmaster@mx.test>\nSubject: Delivery Failure',
    body: `Could not deliver message to the following recipient(s):

Failed Recipient: ann@reader.test
Reason: Remote host said: 554 5.7.1 Service unavailable; Client host [192.0.2.9] blocked using bl.spamcop.net

   -- The header and top 20 lines of the message follows --

${returned}`,
    expected: [['ann@reader.test', '5.7.1', false, 'blocked']],
  },
  {
    name: 'MailMarshal',
    head: 'From: PostMaster@mx.test\nSubject: Undeliverable Mail: Our letter',
    body: `Your message:
   From:    news@sender.test
   Subject: Our letter
Could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected:
    ann@reader.test

Additional Information
======================
Original Sender:    <news@sender.test>
Sender-MTA:         <192.0.2.9>
Remote-MTA:         <192.0.2.1>
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Kerio',
    head: 'From: Mail Delivery Subsystem <postmaster@mx.test>\nSubject: Mail delivery failed: Our letter',
    body: `This is an automatically generated message. Delivery to the following recipients failed.

ann@reader.test
The mailbox quota was exceeded (452 4.2.2)
`,
    expected: [['ann@reader.test', '4.2.2', false, 'mailboxfull']],
  },
  {
    name: 'CommuniGate Pro',
    head: 'From: <MAILER-DAEMON@mx.test>\nSubject: Undeliverable mail: Our letter',
    body: `Failed to deliver to 'ann@reader.test'
SMTP module(domain reader.test) reports:
 host mx.reader.test says:
 550 5.1.1 unknown or illegal alias: ann@reader.test
`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'Yahoo',
    head: 'From: MAILER-DAEMON@yahoo.test\nSubject: Failure Notice',
    body: `Sorry, we were unable to deliver your message to the following address.

<ann@reader.test>:
554: delivery error: dd Not a valid recipient - atlas123.free.mail.test [RCPT_TO]

--- Below this line is a copy of the message.

${returned}`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'Zoho',
    head: 'From: mailer-daemon@mail.zoho.test\nSubject: Undelivered Mail Returned to Sender',
    body: `This message was created automatically by mail delivery software.
A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.

ann@reader.test Address Lookup Failed, ERROR_CODE :550, ERROR_CODE :5.1.2 domain not found

${returned}`,
    expected: [['ann@reader.test', '5.1.2', true, 'hostunknown']],
  },
  {
    name: 'Yandex, in Russian',
    head: 'From: mailer-daemon@yandex.test\nSubject: =?UTF-8?B?0J3QtdC00L7RgdGC0LDQstC70LXQvdC90L7QtSDRgdC+0L7QsdGJ0LXQvdC40LU=?=',
    body: `К сожалению, мы вынуждены сообщить Вам о том, что Ваше письмо не может
быть отправлено одному или нескольким адресатам.

<ann@reader.test>: Почтовый ящик получателя переполнен
`,
    expected: [['ann@reader.test', null, false, 'mailboxfull']],
  },
  {
    name: 'a Chinese provider',
    head: 'From: PostMaster@qq.test\nSubject: =?UTF-8?B?57O757uf6YCA5L+h?=',
    body: `您的邮件未能送达以下收件人：

ann@reader.test

退信原因：收件人不存在
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'a Japanese provider',
    head: 'From: MAILER-DAEMON@mx.test\nSubject: =?UTF-8?B?6YCB5L+h44Ko44Op44O8?=',
    body: `次のアドレスへメールを送信できませんでした。

<ann@reader.test>
メールボックスが一杯です。
`,
    expected: [['ann@reader.test', null, false, 'mailboxfull']],
  },
  {
    name: 'a French provider',
    head: 'From: Postmaster <postmaster@mx.test>\nSubject: Echec de la remise du message',
    body: `Votre message n'a pas pu être remis à l'adresse suivante :

ann@reader.test : utilisateur inconnu
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'a Brazilian provider',
    head: 'From: MAILER-DAEMON@mx.test\nSubject: Mensagem não entregue',
    body: `Sua mensagem não foi entregue ao destinatário:

<ann@reader.test>: caixa postal cheia
`,
    expected: [['ann@reader.test', null, false, 'mailboxfull']],
  },
  {
    name: 'a Spanish provider',
    head: 'From: MAILER-DAEMON@mx.test\nSubject: No se ha podido entregar su mensaje',
    body: `<ann@reader.test>: El usuario no existe
`,
    expected: [['ann@reader.test', null, true, 'userunknown']],
  },
  {
    name: 'Gmail in HTML alone',
    head: 'From: Mail Delivery Subsystem <mailer-daemon@googlemail.test>\nContent-Type: text/html; charset=utf-8\nX-Failed-Recipients: ann@reader.test\nSubject: Delivery Status Notification (Failure)',
    body: `<html><body><h2>Address not found</h2><p>Your message wasn't delivered to <b>ann@reader.test</b> because the address couldn't be found.</p><p>The response was:</p><p>550 5.1.1 The email account that you tried to reach does not exist.</p></body></html>`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
  {
    name: 'OpenSMTPD',
    head: 'From: Mailer Daemon <MAILER-DAEMON@mx.test>\nSubject: Delivery status notification: error',
    body: `    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

ann@reader.test: 550 5.1.1 <ann@reader.test>: Recipient address rejected: User unknown

    Below is a copy of the original message:

${returned}`,
    expected: [['ann@reader.test', '5.1.1', true, 'userunknown']],
  },
]
