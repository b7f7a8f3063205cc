/**
 * Reports in the layouts of many systems. Each block begins with `=== name | layout | recipients`. A
 * layout is the message around the text (`systems.test.ts`); a recipient is
 * `action status reply-code class reason address`. `{{fields}}` begins the delivery status.
 */
export const systemReports = `
=== postfix-nxdomain | postfix | failed 5.4.4 - hard hostunknown kijitora@example.invalid
<kijitora@example.invalid>: Host or domain name not found. Name service error for
    name=example.invalid type=AAAA: Host not found
{{fields}}
Final-Recipient: rfc822; kijitora@example.invalid
Original-Recipient: rfc822;kijitora@example.invalid
Action: failed
Status: 5.4.4
Diagnostic-Code: X-Postfix; Host or domain name not found. Name service error
    for name=example.invalid type=AAAA: Host not found
=== postfix-dns-try-again | postfix | delayed 4.4.3 - soft networkerror neko@example.org
<neko@example.org>: Host or domain name not found. Name service error for
    name=example.org type=MX: Host not found, try again
{{fields}}
Final-Recipient: rfc822; neko@example.org
Original-Recipient: rfc822;neko@example.org
Action: delayed
Status: 4.4.3
Diagnostic-Code: X-Postfix; Host or domain name not found. Name service error
    for name=example.org type=MX: Host not found, try again
Will-Retry-Until: Fri, 8 May 2026 10:00:00 +0000 (UTC)
=== postfix-loop-myself | postfix | failed 5.4.6 - soft systemerror neko@example.org
<neko@example.org>: mail for example.org loops back to myself
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.4.6
Diagnostic-Code: X-Postfix; mail for example.org loops back to myself
=== postfix-size-local | postfix | failed 5.3.4 - soft toobig neko@example.org
<neko@example.org>: message size 26480123 exceeds size limit 20480000 of server
    mx.example.org[192.0.2.25]
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.3.4
Diagnostic-Code: X-Postfix; message size 26480123 exceeds size limit 20480000 of
    server mx.example.org[192.0.2.25]
=== postfix-pipe | postfix | failed 5.3.0 - soft mailererror neko@example.org
<neko@example.org> (expanded from <cats@example.org>): Command died with status 127:
    "/usr/local/bin/vacation neko". Command output: /bin/sh: 1:
    /usr/local/bin/vacation: not found
{{fields}}
Final-Recipient: rfc822; neko@example.org
Original-Recipient: rfc822;cats@example.org
Action: failed
Status: 5.3.0
Diagnostic-Code: x-unix; /bin/sh: 1: /usr/local/bin/vacation: not found
=== postfix-quota-write | postfix | failed 5.2.2 - soft mailboxfull neko@example.org
<neko@example.org>: cannot update mailbox /var/mail/neko for user neko. error
    writing message: Disk quota exceeded
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.2.2
Diagnostic-Code: X-Postfix; cannot update mailbox /var/mail/neko for user neko.
    error writing message: Disk quota exceeded
=== postfix-maildir-full | postfix | failed 5.2.2 - soft mailboxfull neko@example.org
<neko@example.org>: maildir delivery failed: Sorry, the user's maildir has overdrawn his
    diskspace quota, please try again later.
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.2.2
Diagnostic-Code: X-Postfix; maildir delivery failed: Sorry, the user's maildir
    has overdrawn his diskspace quota, please try again later.
=== postfix-tls-required | postfix | failed 5.7.4 - soft securityerror neko@example.org
<neko@example.org>: TLS is required, but was not offered by host
    mx.example.org[192.0.2.25]
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.7.4
Diagnostic-Code: X-Postfix; TLS is required, but was not offered by host
    mx.example.org[192.0.2.25]
=== postfix-helo-fqdn | postfix | failed 5.5.2 504 soft blocked neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 504 5.5.2 <localhost>: Helo
    command rejected: need fully-qualified hostname (in reply to RCPT TO
    command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.5.2
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 504 5.5.2 <localhost>: Helo command rejected: need
    fully-qualified hostname
=== postfix-sender-domain | postfix | failed 4.1.8 450 soft rejected neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 450 4.1.8
    <news@sender.test>: Sender address rejected: Domain not found (in reply to
    RCPT TO command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 4.1.8
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 450 4.1.8 <news@sender.test>: Sender address rejected:
    Domain not found
=== postfix-sender-unknown | postfix | failed 5.1.0 550 soft rejected neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 550 5.1.0
    <news@sender.test>: Sender address rejected: User unknown in relay recipient table (in reply to
    RCPT TO command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.1.0
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 550 5.1.0 <news@sender.test>: Sender address rejected:
    User unknown in relay recipient table
=== postfix-ptr | postfix | failed 4.7.1 450 soft blocked neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 450 4.7.1 Client host rejected: cannot
    find your hostname, [192.0.2.9] (in reply to RCPT TO command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 4.7.1
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 450 4.7.1 Client host rejected: cannot find your
    hostname, [192.0.2.9]
=== postfix-access-denied | postfix | failed 5.7.1 554 soft securityerror neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 554 5.7.1
    <neko@example.org>: Recipient address rejected: Access denied (in reply to RCPT TO command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.7.1
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 554 5.7.1 <neko@example.org>: Recipient address rejected: Access denied
=== postfix-unverified | postfix | failed 5.1.1 550 hard userunknown neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 550 5.1.1
    <neko@example.org>: Recipient address rejected: undeliverable address: host
    store.example.org[192.0.2.30] said: 550 5.1.1 <neko@example.org> User unknown; rejecting (in
    reply to RCPT TO command) (in reply to RCPT TO command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 550 5.1.1 <neko@example.org>: Recipient address
    rejected: undeliverable address: host store.example.org[192.0.2.30] said: 550
    5.1.1 <neko@example.org> User unknown; rejecting (in reply to RCPT TO command)
=== postfix-data-unknown | postfix | failed 5.0.0 550 soft filtered neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 550 Unknown user
    neko@example.org (in reply to end of DATA command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.0.0
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 550 Unknown user neko@example.org
=== postfix-conn-refused-dsn | postfix | delayed 4.4.1 - soft expired neko@example.org
<neko@example.org>: connect to mx.example.org[192.0.2.25]:25: Connection refused
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: delayed
Status: 4.4.1
Diagnostic-Code: X-Postfix; connect to mx.example.org[192.0.2.25]:25: Connection
    refused
Will-Retry-Until: Fri, 8 May 2026 10:00:00 +0000 (UTC)
=== postfix-smtputf8 | postfix | failed 5.6.7 - soft contenterror neko@example.org
<neko@example.org>: SMTPUTF8 is required, but was not offered by host
    mx.example.org[192.0.2.25]
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.6.7
Diagnostic-Code: X-Postfix; SMTPUTF8 is required, but was not offered by host
    mx.example.org[192.0.2.25]
=== sendmail-generic-status | sendmail | failed 5.1.1 550 hard userunknown kijitora@example.co.jp
   ----- The following addresses had permanent fatal errors -----
<kijitora@example.co.jp>
    (reason: 550 <kijitora@example.co.jp>: User unknown)

   ----- Transcript of session follows -----
... while talking to mx.example.co.jp.:
>>> RCPT To:<kijitora@example.co.jp>
<<< 550 <kijitora@example.co.jp>: User unknown
550 5.1.1 <kijitora@example.co.jp>... User unknown
{{fields}}
Final-Recipient: RFC822; kijitora@example.co.jp
Action: failed
Status: 5.1.1
Remote-MTA: DNS; mx.example.co.jp
Diagnostic-Code: SMTP; 550 <kijitora@example.co.jp>: User unknown
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT
=== sendmail-local-alias | sendmail | failed 5.1.1 550 hard userunknown cats@host.example.jp
   ----- The following addresses had permanent fatal errors -----
neko
    (reason: 550 5.1.1 User unknown)
    (expanded from: <cats@host.example.jp>)

   ----- Transcript of session follows -----
550 5.1.1 neko... User unknown
{{fields}}
Final-Recipient: RFC822; cats@host.example.jp
X-Actual-Recipient: RFC822; neko@host.example.jp
Action: failed
Status: 5.1.1
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT
=== sendmail-hostunknown | sendmail | failed 5.1.2 550 hard hostunknown neko@nowhere.example
   ----- The following addresses had permanent fatal errors -----
<neko@nowhere.example>
    (reason: 550 Host unknown)

   ----- Transcript of session follows -----
550 5.1.2 <neko@nowhere.example>... Host unknown (Name server: nowhere.example: host not found)
{{fields}}
Final-Recipient: RFC822; neko@nowhere.example
Action: failed
Status: 5.1.2
Remote-MTA: DNS; nowhere.example
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT
=== sendmail-mailer | sendmail | failed 5.3.0 550 soft mailererror neko@host.example.jp
   ----- The following addresses had permanent fatal errors -----
"|/home/neko/bin/filter"
    (reason: Can't create output)
    (expanded from: <neko@host.example.jp>)

   ----- Transcript of session follows -----
procmail: Couldn't create "/var/mail/neko"
550 5.0.0 "|/home/neko/bin/filter"... Can't create output
{{fields}}
Final-Recipient: RFC822; neko@host.example.jp
X-Actual-Recipient: X-Unix; |/home/neko/bin/filter
Action: failed
Status: 5.3.0
Diagnostic-Code: X-Unix; 73
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT
=== sendmail-toobig | sendmail | failed 5.2.3 552 soft toobig neko@example.co.jp
   ----- The following addresses had permanent fatal errors -----
<neko@example.co.jp>
    (reason: 552 5.2.3 Message exceeds maximum fixed size (10485760))

   ----- Transcript of session follows -----
... while talking to mx.example.co.jp.:
>>> MAIL From:<news@sender.test> SIZE=16600348
<<< 552 5.2.3 Message exceeds maximum fixed size (10485760)
554 5.0.0 Service unavailable
{{fields}}
Final-Recipient: RFC822; neko@example.co.jp
Action: failed
Status: 5.2.3
Remote-MTA: DNS; mx.example.co.jp
Diagnostic-Code: SMTP; 552 5.2.3 Message exceeds maximum fixed size (10485760)
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT
=== sendmail-multiline-gmail | sendmail | failed 5.7.1 550 soft spamdetected neko@gmail.com
   ----- The following addresses had permanent fatal errors -----
<neko@gmail.com>
    (reason: 550-5.7.1 [192.0.2.9      12] Our system has detected that this message is)

   ----- Transcript of session follows -----
... while talking to gmail-smtp-in.l.google.com.:
>>> DATA
<<< 550-5.7.1 [192.0.2.9      12] Our system has detected that this message is
<<< 550-5.7.1 likely unsolicited mail. To reduce the amount of spam sent to Gmail,
<<< 550-5.7.1 this message has been blocked. Please visit
<<< 550-5.7.1 http://support.google.com/mail/bin/answer.py?hl=en&answer=188131 for
<<< 550 5.7.1 more information. z10si2046517qab.5
554 5.0.0 Service unavailable
{{fields}}
Final-Recipient: RFC822; neko@gmail.com
Action: failed
Status: 5.7.1
Remote-MTA: DNS; gmail-smtp-in.l.google.com
Diagnostic-Code: SMTP; 550-5.7.1 [192.0.2.9      12] Our system has detected that this message is
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT
=== sendmail-auth | sendmail | failed 5.7.0 530 soft securityerror neko@example.co.jp
   ----- The following addresses had permanent fatal errors -----
<neko@example.co.jp>
    (reason: 530 5.7.0 Must issue a STARTTLS command first.)

   ----- Transcript of session follows -----
... while talking to smtp.example.co.jp.:
>>> MAIL From:<news@sender.test>
<<< 530 5.7.0 Must issue a STARTTLS command first.
554 5.0.0 Service unavailable
{{fields}}
Final-Recipient: RFC822; neko@example.co.jp
Action: failed
Status: 5.7.0
Diagnostic-Code: SMTP; 530 5.7.0 Must issue a STARTTLS command first.
=== sendmail-moved | sendmail | failed 5.1.6 551 hard hasmoved neko@example.co.jp
   ----- The following addresses had permanent fatal errors -----
<neko@example.co.jp>
    (reason: 551 5.1.6 User has moved; please try <neko@new.example>)

   ----- Transcript of session follows -----
... while talking to smtp.example.co.jp.:
>>> RCPT To:<neko@example.co.jp>
<<< 551 5.1.6 User has moved; please try <neko@new.example>
551 <neko@example.co.jp>... User not local; please try <neko@new.example>
{{fields}}
Final-Recipient: RFC822; neko@example.co.jp
Action: failed
Status: 5.1.6
Remote-MTA: DNS; smtp.example.co.jp
Diagnostic-Code: SMTP; 551 5.1.6 User has moved; please try <neko@new.example>
=== v5sendmail-unknown | head Returned mail: User unknown | failed - 550 hard userunknown kijitora@example.org
   ----- Transcript of session follows -----
While talking to smtp.example.org:
>>> RCPT To:<kijitora@example.org>
<<< 550 <kijitora@example.org>, User Unknown
550 <kijitora@example.org>... User unknown

   ----- Unsent message follows -----
=== v5sendmail-host | head Returned mail: Host unknown | failed - 550 hard hostunknown kijitora@host.nowhere.example
   ----- Transcript of session follows -----
550 kijitora@host.nowhere.example (Host unknown (Name server: host.nowhere.example: host not found))

   ----- Unsent message follows -----
=== v5sendmail-deferred | head Returned mail: Cannot send message within 3 days | failed - 421 soft expired kijitora@example.org
   ----- Transcript of session follows -----
421 example.org.tcp... Deferred: Connection timed out during user open with example.org

   ----- Recipients of this delivery -----
Bounced, cannot deliver:
<kijitora@example.org>

   ----- Unsent message follows -----
=== exim-unroute-remote | exim kijitora@nowhere.example | failed - - hard hostunknown kijitora@nowhere.example
  kijitora@nowhere.example
    all relevant MX records point to non-existent hosts
=== exim-quota | exim kijitora@mx.test | failed - - soft mailboxfull kijitora@mx.test
  kijitora@mx.test
    (ultimately generated from cats@mx.test)
    mailbox is full: retry timeout exceeded
=== exim-lmtp-quota | exim kijitora@mx.test | failed 5.2.2 552 soft mailboxfull kijitora@mx.test
  kijitora@mx.test
    LMTP error from remote mail server after RCPT TO:<kijitora@mx.test>:
    552 5.2.2 <kijitora@mx.test> Quota exceeded (mailbox for user is full)
=== exim-loop | exim kijitora@mx.test | failed - - soft networkerror kijitora@mx.test
  kijitora@mx.test
    Too many "Received" headers - suspected mail loop
=== exim-data-spam | exim kijitora@example.jp | failed - 550 soft spamdetected kijitora@example.jp
  kijitora@example.jp
    host mx.example.jp [192.0.2.31]
    SMTP error from remote mail server after end of data:
    550 This message was classified as SPAM and may not be delivered
=== exim-pipe | exim kijitora@mx.test | failed - - soft mailererror kijitora@mx.test
  pipe to |/usr/local/bin/autorespond
    generated by kijitora@mx.test
    Child process of virtual_address_pipe transport returned 2 from command:
    /usr/local/bin/autorespond
=== exim-relay | exim kijitora@example.jp | failed - 550 soft policyviolation kijitora@example.jp
  kijitora@example.jp
    SMTP error from remote mail server after RCPT TO:<kijitora@example.jp>:
    host mx.example.jp [192.0.2.31]: 550 relay not permitted
=== exim-helo-block | exim kijitora@example.jp | failed 5.7.1 554 soft blocked kijitora@example.jp
  kijitora@example.jp
    host mx.example.jp [192.0.2.31]
    SMTP error from remote mail server after initial connection:
    554 5.7.1 - Connection refused. IP name lookup failed for 192.0.2.9
=== exim-callout | exim kijitora@example.jp | failed - 550 soft rejected kijitora@example.jp
  kijitora@example.jp
    host mx.example.jp [192.0.2.31]
    SMTP error from remote mail server after RCPT TO:<kijitora@example.jp>:
    550-Verification failed for <news@sender.test>
    550-The mail server could not deliver mail to news@sender.test.  The account or domain may not exist, they may be blacklisted, or missing the proper dns entries.
    550 Sender verify failed
=== exim-delay |  | delayed - - soft expired kijitora@slow.example
From: Mail Delivery System <Mailer-Daemon@mx.test>
Subject: Warning: message 1cJ9Bp-0002nN-7y delayed 24 hours
Auto-Submitted: auto-replied

This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on mx.test.

The message identifier is:     1cJ9Bp-0002nN-7y
The subject of the message is: Our letter
The date of the message is:    Sun, 3 May 2026 10:00:00 +0000

The address to which the message has not yet been delivered is:

  kijitora@slow.example
    Delay reason: Connection timed out

No action is required on your part. Delivery attempts will continue for
some time, and this warning may be repeated at intervals if the message
remains undelivered. Eventually the mail delivery software will give up,
and when that happens, the message will be returned to you.
=== exim-mailru |  | failed 5.2.1 550 soft suspended kijitora@mail.example.ru
From: mailer-daemon@corp.mail.ru
Subject: Mail failure.
X-Failed-Recipients: kijitora@mail.example.ru
Message-Id: <E1XX@fallback1.mail.ru>

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  kijitora@mail.example.ru
    SMTP error from remote mail server after RCPT TO:<kijitora@mail.example.ru>:
    host mx.example.ru [192.0.2.44]: 550 5.2.1 <kijitora@mail.example.ru>: mailbox inactive
=== gmx-userunknown |  | failed 5.1.1 - hard userunknown shironeko@example.jp
From: GMX Mailer Daemon <mailer-daemon@gmx.net>
Subject: Mail delivery failed: returning message to sender
X-GMX-Antispam: 0 (Mail was not recognized as spam)

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of
its recipients. This is a permanent error. The following address
failed:

"shironeko@example.jp":
SMTP error from remote server after RCPT command:
host: mx.example.jp
5.1.1 <shironeko@example.jp>... User Unknown

--- The header of the original message is following. ---
=== qmail-cname | qmail | failed 4.4.3 - soft networkerror kijitora@nowhere.example
<kijitora@nowhere.example>:
CNAME lookup failed temporarily. (#4.4.3)
I'm not going to try again; this message has been in the queue too long.
=== qmail-vpopmail-full | qmail | failed - - soft mailboxfull kijitora@mx.test
<kijitora@mx.test>:
user is over quota
=== qmail-data-refuse | qmail | failed 5.7.1 554 soft spamdetected kijitora@example.co.jp
<kijitora@example.co.jp>:
192.0.2.5 failed after I sent the message.
Remote host said: 554 5.7.1 Message rejected due to content: high spam probability
=== qmail-data-unknown | qmail | failed - 550 soft filtered kijitora@example.co.jp
<kijitora@example.co.jp>:
192.0.2.5 failed after I sent the message.
Remote host said: 550 Invalid recipient: <kijitora@example.co.jp>
=== qmail-sender | qmail | failed 5.7.1 553 soft rejected kijitora@example.co.jp
<kijitora@example.co.jp>:
Connected to 192.0.2.5 but sender was rejected.
Remote host said: 553 sorry, your envelope sender domain must exist (#5.7.1)
=== qmail-rcpthosts | qmail | failed 5.7.1 553 soft policyviolation kijitora@example.co.jp
<kijitora@example.co.jp>:
192.0.2.5 does not like recipient.
Remote host said: 553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)
Giving up on 192.0.2.5.
=== qmail-greeting | qmail | failed - 554 soft blocked kijitora@example.co.jp
<kijitora@example.co.jp>:
Connected to 192.0.2.5 but greeting failed.
Remote host said: 554 mx.example.co.jp Your IP address 192.0.2.9 has a poor reputation; contact postmaster@example.co.jp
=== qmail-nicap-disabled | qmail | failed - 550 soft suspended kijitora@example.co.jp
<kijitora@example.co.jp>:
192.0.2.5 does not like recipient.
Remote host said: 550 Requested action not taken: This account is currently suspended
Giving up on 192.0.2.5.
=== x4-qmail-clone |  | failed - - soft mailboxfull kijitora@mx.test
From: MAILER-DAEMON@mx.test
Subject: failure notice

We're sorry. There's a problem with the e-mail address(es) listed below.

<kijitora@mx.test>:
Sorry, the recipient's mailbox is full. Message returned to sender.

--- Below the next line is a copy of the message.
=== x2-account |  | failed - - hard userunknown kijitora@example.com
From: MAILER-DAEMON@example.com
Subject: Delivery failure

Message from example.com.
Unable to deliver message to the following address(es).

<kijitora@example.com>:
This user doesn't have a example.com account (kijitora@example.com) [-14]

--- Original message follows.
=== yahoo-com |  | failed - 554 hard userunknown kijitora@yahoo.example
From: MAILER-DAEMON@yahoo.com
Subject: Failure Notice
X-YMailISG: abc

Sorry, we were unable to deliver your message to the following address.

<kijitora@yahoo.example>:
Remote host said: 554 delivery error: dd This user doesn't have a yahoo.example account (kijitora@yahoo.example) [0] - mta1002.mail.example [BODY]
=== x1-bracket |  | failed - - hard userunknown kijitora@example.co.jp
From: "Mail Deliver System" <MAILER-DAEMON@example.co.jp>
Subject: Returned Mail: Our letter

The original message was received at Mon, 4 May 2026 10:00:00 +0900 (JST)
from news@sender.test

---The following addresses had delivery errors---

kijitora@example.co.jp [User unknown]

---Original message follows---
=== x6-smtp-server |  | failed 5.1.1 550 hard userunknown kijitora@example.org
From: Mail Delivery System <mailer-daemon@mta1.example.jp>
Subject: There was an error sending your mail

We had trouble delivering your message. Full details follow:

Subject: 'Our letter'
Date: 'Mon, 4 May 2026 10:00:00 +0000'

1 error(s):

SMTP Server <mta2.example.org> rejected recipient <kijitora@example.org>
  (Error following RCPT command). It responded as follows: [550 5.1.1 User unknown]
=== x5-style |  | failed 5.1.1 550 hard userunknown kijitora@example.org
From: Mail Delivery System <postmaster@example.jp>
Subject: Delivery status

 This is an automatically generated Delivery Status Notification.

 Failed recipient:
   kijitora@example.org

 Message from mx.example.org:
   550 5.1.1 kijitora@example.org... User unknown (in reply to RCPT TO)
=== courier-unknown | status Courier mail server at mx.test <@> | failed 5.1.1 550 hard userunknown kijitora@example.co.jp
This is a delivery status notification from mx.test,
running the Courier mail server, version 0.65.2.

The original message was received on Mon, 04 May 2026 10:00:00 +0000
from localhost (localhost [127.0.0.1])

---------------------------------------------------------------------------

                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<kijitora@example.co.jp>:
    mx.example.co.jp [192.0.2.77]:
>>> RCPT TO:<kijitora@example.co.jp>
<<< 550 5.1.1 <kijitora@example.co.jp>... User Unknown

---------------------------------------------------------------------------
{{fields}}
Final-Recipient: rfc822; kijitora@example.co.jp
Action: failed
Status: 5.0.0
Remote-MTA: dns; mx.example.co.jp [192.0.2.77]
Diagnostic-Code: smtp; 550 5.1.1 <kijitora@example.co.jp>... User Unknown
=== courier-filtered | status Courier mail server at mx.test <@> | failed 5.0.0 517 soft authfailure kijitora@example.co.jp
This is a delivery status notification from mx.test,
running the Courier mail server, version 0.65.2.

                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<kijitora@example.co.jp>:
    mx.example.co.jp [192.0.2.77]:
>>> MAIL FROM:<news@sender.test> SIZE=1234
<<< 517-Domain does not exist: sender.test.
<<< 517 SPF fail news@sender.test: Address does not pass the Sender Policy Framework
{{fields}}
Final-Recipient: rfc822; kijitora@example.co.jp
Action: failed
Status: 5.0.0
Remote-MTA: dns; mx.example.co.jp [192.0.2.77]
Diagnostic-Code: smtp; 517-Domain does not exist: sender.test.
=== courier-resolver | status Courier mail server at mx.test <@> | failed 5.0.0 - hard hostunknown kijitora@nowhere.example
                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<kijitora@nowhere.example>:
No such domain.
{{fields}}
Final-Recipient: rfc822; kijitora@nowhere.example
Action: failed
Status: 5.0.0
Diagnostic-Code: unknown; No such domain.
=== exchange2003 |  | failed 5.1.1 550 hard userunknown kijitora@example.co.jp
From: System Administrator <postmaster@ex.test>
Subject: Undeliverable: Our letter
X-Mailer: Internet Mail Service (5.5.2653.13)
X-MS-Embedded-Report:
MIME-Version: 1.0

Your message

  To:      kijitora@example.co.jp
  Subject: Our letter
  Sent:    Mon, 4 May 2026 10:00:00 +0900

did not reach the following recipient(s):

kijitora@example.co.jp on Mon, 4 May 2026 10:00:05 +0900
    The recipient name is not recognized
	The MTS-ID of the original message is: c=jp;a= ;p=neko
;l=EXCHANGE0905041000ABC
    MSEXCH:IMS:KIJITORA CAT:EXAMPLE:EXCHANGE 3550 (000B09B6) 550 5.1.1 unknown user
=== exchange2003-quota |  | failed 5.2.2 - soft mailboxfull kijitora@example.co.jp
From: postmaster@ex.test
Subject: Undeliverable: Our letter

Your message

      Subject:  Our letter
      Sent:     4/5/2026 10:00 AM

did not reach the following recipient(s):

      kijitora@example.co.jp on 4/5/2026 10:00 AM
            The recipient's mailbox was full.  Message not delivered.
            <ex.test #5.2.2>
=== exchange2007-auth | status postmaster@ex.test | failed 5.7.1 550 soft securityerror kijitora@example.org
Delivery has failed to these recipients or distribution lists:

kijitora@example.org
Your message wasn't delivered because of security policies. Microsoft Exchange will not try to redeliver this message for you.

Diagnostic information for administrators:

Generating server: ex.test

kijitora@example.org
#550 5.7.1 RESOLVER.RST.AuthRequired; authentication required ##
{{fields}}
Final-recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.7.1
Diagnostic-code: smtp;550 5.7.1 RESOLVER.RST.AuthRequired; authentication required
=== exchange2010-size | status postmaster@ex.test | failed 5.2.3 550 soft toobig kijitora@example.org
Delivery has failed to these recipients or groups:

kijitora@example.org
This message is too large. Please make the message smaller and try sending the message again.

Diagnostic information for administrators:

Generating server: ex.test

kijitora@example.org
#550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient ##
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.2.3
Diagnostic-Code: smtp;550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient
=== exchange-queue-expired | status postmaster@ex.test | failed 4.4.7 550 soft expired kijitora@example.org
Delivery has failed to these recipients or groups:

kijitora@example.org (kijitora@example.org)
Several attempts to deliver your message were unsuccessful and we stopped trying. It could be a temporary situation. Try to send your message again later.

The following organization rejected your message: mx.example.org.
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 4.4.7
Diagnostic-Code: smtp;550 4.4.7 QUEUE.Expired; message expired
=== office365-notfound | status postmaster@outlook.com | failed 5.1.10 550 hard userunknown kijitora@example.org
Delivery has failed to these recipients or groups:

kijitora@example.org
The email address you entered couldn't be found. Please check the recipient's email address and try to resend the message. If the problem continues, please contact your email admin.

Diagnostic information for administrators:

Generating server: AM0PR01MB0001.eurprd01.prod.exchangelabs.com

kijitora@example.org
Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup
=== office365-dns | status postmaster@outlook.com | failed 5.4.310 550 hard hostunknown kijitora@nowhere.example
Your message to kijitora@nowhere.example couldn't be delivered.

nowhere.example couldn't be found

Remote Server returned '550 5.4.310 DNS domain nowhere.example does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=nowhere.example]'
{{fields}}
Final-Recipient: rfc822;kijitora@nowhere.example
Action: failed
Status: 5.4.310
Diagnostic-Code: smtp;550 5.4.310 DNS domain nowhere.example does not exist [Message=InfoDomainNonexistent] [LastAttemptedServerName=nowhere.example]
=== office365-expired-316 | status postmaster@outlook.com | failed 5.4.316 550 soft expired kijitora@slow.example
Delivery has failed to these recipients or groups:

kijitora@slow.example
Your message couldn't be delivered. Despite repeated attempts to contact the recipient's email system it didn't respond.
{{fields}}
Final-Recipient: rfc822;kijitora@slow.example
Action: failed
Status: 5.4.316
Diagnostic-Code: smtp;550 5.4.316 Message expired, connection refused(Socket error code 10061)
=== office365-quota | status postmaster@outlook.com | failed 5.2.2 554 soft mailboxfull kijitora@example.org
Delivery has failed to these recipients or groups:

kijitora@example.org
The recipient's mailbox is full and can't accept messages now. Please try resending your message later, or contact the recipient directly.
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.2.2
Diagnostic-Code: smtp;554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded; Failed to process message due to a permanent exception
=== office365-loop | status postmaster@outlook.com | failed 5.4.14 554 soft networkerror kijitora@example.org
Delivery has failed to these recipients or groups:

kijitora@example.org
There is a problem with the recipient's mailbox. A mail loop was detected.
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.4.14
Diagnostic-Code: smtp;554 5.4.14 Hop count exceeded - possible mail loop ATTR34 [AM0EUR02FT004.eop-EUR02.prod.protection.outlook.com]
=== office365-badsender | status postmaster@outlook.com | failed 5.1.8 550 soft rejected kijitora@example.org
Your message couldn't be delivered because you weren't recognized as a valid sender. The most common reason for this is that your email address is suspected of sending spam and it's no longer allowed to send email.
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.1.8
Diagnostic-Code: smtp;550 5.1.8 Access denied, bad outbound sender AS(42003)
=== google-old |  | failed 5.1.1 550 hard userunknown kijitora@example.jp
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
Subject: Delivery Status Notification (Failure)
X-Failed-Recipients: kijitora@example.jp
Content-Type: text/plain; charset=ISO-8859-1

Delivery to the following recipient failed permanently:

     kijitora@example.jp

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the recipient domain. We recommend contacting the other email provider for further information about the cause of this error. The error that the other server returned was: 550 550 5.1.1 <kijitora@example.jp>... User Unknown (state 14).

----- Original message -----
=== google-old-state18 |  | failed - 550 soft filtered kijitora@example.jp
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
Subject: Delivery Status Notification (Failure)
X-Failed-Recipients: kijitora@example.jp
Content-Type: text/plain; charset=ISO-8859-1

Delivery to the following recipient failed permanently:

     kijitora@example.jp

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the recipient domain. We recommend contacting the other email provider for further information about the cause of this error. The error that the other server returned was: 550 550 Unknown user kijitora@example.jp (state 18).

----- Original message -----
=== google-dns |  | failed - - hard hostunknown kijitora@nowhere.example
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
Subject: Delivery Status Notification (Failure)
X-Failed-Recipients: kijitora@nowhere.example
Content-Type: text/plain; charset=ISO-8859-1

Delivery to the following recipient failed permanently:

     kijitora@nowhere.example

Technical details of permanent failure:
DNS Error: Domain name not found

----- Original message -----
=== google-delay |  | delayed - - soft expired kijitora@slow.example
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
Subject: Delivery Status Notification (Delay)
X-Failed-Recipients: kijitora@slow.example
Content-Type: text/plain; charset=ISO-8859-1

This is an automatically generated Delivery Status Notification

THIS IS A WARNING MESSAGE ONLY.

YOU DO NOT NEED TO RESEND YOUR MESSAGE.

Delivery to the following recipient has been delayed:

     kijitora@slow.example

Message will be retried for 2 more day(s)

Technical details of temporary failure:
The recipient server did not accept our requests to connect. Learn more at http://support.google.com/mail/bin/answer.py?answer=7720
[mx.slow.example (10): Connection timed out]

----- Original message -----
=== google-new | status mailer-daemon@googlemail.com | failed 5.1.1 550 hard userunknown kijitora@example.jp

** Address not found **

Your message wasn't delivered to kijitora@example.jp because the address couldn't be found, or is unable to receive mail.

Learn more here: https://support.google.com/mail/?p=NoSuchUser

The response from the remote server was:

550-5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. For more information, go to https://support.google.com/mail/?p=NoSuchUser d2e1a72fcca58-6 - gsmtp
{{fields}}
Final-Recipient: rfc822; kijitora@example.jp
Action: failed
Status: 5.1.1
Remote-MTA: dns; gmail-smtp-in.l.google.com. (2404:6800:4008:c02::1b, the server for the domain example.jp.)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try
 550-5.1.1 double-checking the recipient's email address for typos or
 550-5.1.1 unnecessary spaces. For more information, go to
 550 5.1.1  https://support.google.com/mail/?p=NoSuchUser d2e1a72fcca58-6 - gsmtp
Last-Attempt-Date: Mon, 04 May 2026 10:00:00 -0700 (PDT)
=== google-new-inactive | status mailer-daemon@googlemail.com | failed 5.2.1 550 soft suspended kijitora@gmail.com
** Message not delivered **

The response from the remote server was:
550 5.2.1 The email account that you tried to reach is inactive. For more information, go to https://support.google.com/mail/?p=DisabledUser a1-20020a17 - gsmtp
{{fields}}
Final-Recipient: rfc822; kijitora@gmail.com
Action: failed
Status: 5.2.1
Remote-MTA: dns; gmail-smtp-in.l.google.com. (2404:6800:4008:c02::1b, the server for the domain gmail.com.)
Diagnostic-Code: smtp; 550 5.2.1 The email account that you tried to reach is inactive. For more information, go to https://support.google.com/mail/?p=DisabledUser a1-20020a17 - gsmtp
=== google-new-expired | status mailer-daemon@googlemail.com | failed 4.4.1 - soft expired kijitora@slow.example
** Message not delivered **

There was a problem delivering your message to kijitora@slow.example. See the technical details below.

The response was:
The recipient server did not accept our requests to connect. Learn more at https://support.google.com/mail/answer/7720
[mx.slow.example. 192.0.2.77: timed out]
{{fields}}
Final-Recipient: rfc822; kijitora@slow.example
Action: failed
Status: 4.4.1
Diagnostic-Code: smtp; The recipient server did not accept our requests to connect. Learn more at https://support.google.com/mail/answer/7720 
 [mx.slow.example. 192.0.2.77: timed out]
=== ses-dsn | status MAILER-DAEMON@email-bounces.us-west-2.amazonses.com | failed 5.1.1 550 hard userunknown kijitora@example.org
An error occurred while trying to deliver the mail to the following recipients:
kijitora@example.org
{{fields}}
Action: failed
Final-Recipient: rfc822; kijitora@example.org
Diagnostic-Code: smtp; 550 5.1.1 RCP-P1 http://postmaster.facebook.com/response_codes?ip=192.0.2.1#rcp The attempted recipient address does not exist.
Status: 5.1.1
=== ses-receiving | status mailer-daemon@us-west-2.amazonses.com | failed 5.1.1 550 hard userunknown kijitora@example.org
The following message to <kijitora@example.org> was undeliverable.
The reason for the problem:
5.1.0 - Unknown address error 550-'5.1.1 mailbox does not exist'
{{fields}}
Reporting-MTA: dns; inbound-smtp.us-west-2.amazonaws.com
Action: failed
Final-Recipient: rfc822; kijitora@example.org
Diagnostic-Code: smtp; 550 5.1.1 mailbox does not exist
Status: 5.1.1
=== ironport-reason | status MAILER-DAEMON@ironport.example | failed 5.1.1 550 hard userunknown kijitora@example.org
The following message to <kijitora@example.org> was undeliverable.
The reason for the problem:
5.1.0 - Unknown address error 550-'5.1.1 <kijitora@example.org>... User unknown'
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.0.0 (permanent failure)
Remote-MTA: dns; [192.0.2.31]
Diagnostic-Code: smtp; 5.1.0 - Unknown address error 550-'5.1.1 <kijitora@example.org>... User unknown' (delivery attempts: 0)
=== ironport-perm-fail | status MAILER-DAEMON@ironport.example | failed 5.3.0 554 soft spamdetected kijitora@example.org
The following message to <kijitora@example.org> was undeliverable.
The reason for the problem:
5.3.0 - Other mail system problem 554-'Your email is considered spam (17.02/5.00)'
{{fields}}
Final-Recipient: rfc822;kijitora@example.org
Action: failed
Status: 5.0.0 (permanent failure)
Remote-MTA: dns; [192.0.2.31]
Diagnostic-Code: smtp; 5.3.0 - Other mail system problem 554-'Your email is considered spam (17.02/5.00)' (delivery attempts: 0)
=== facebook-rcp-p2 | status mailer-daemon@mx.facebook.com | failed 5.1.1 550 soft filtered neko@facebook.com
This message was created automatically by Facebook.

Sorry, your message couldn't be delivered to the following recipients:

neko@facebook.com

    Your message couldn't be delivered because of the recipient's preferences
{{fields}}
Reporting-MTA: dns; 10.138.205.200
Final-Recipient: rfc822; neko@facebook.com
Status: 5.1.1
Action: failed
Diagnostic-Code: smtp; 550 5.1.1 RCP-P2 http://postmaster.facebook.com/response_codes?ip=192.0.2.135#rcp Refused due to recipient preferences
=== ezweb-userunknown |  | failed - 550 hard userunknown kijitora@ezweb.ne.jp
From: <Postmaster@ezweb.ne.jp>
Subject: Mail System Error - Returned Mail

Your mail sent on Mon, 4 May 2026 10:00:00 +0900

Each of the following recipients was rejected by a remote mail server.

 -- Rejected recipients:
<kijitora@ezweb.ne.jp>
    550 <kijitora@ezweb.ne.jp>: User unknown

   ----- Transcript of session follows -----
... while talking to mx.ezweb.ne.jp.:
>>> RCPT TO:<kijitora@ezweb.ne.jp>
<<< 550 <kijitora@ezweb.ne.jp>: User unknown

   ----- Original message follows -----
=== ezweb-data | qmail | failed - 550 soft filtered kijitora@ezweb.ne.jp
<kijitora@ezweb.ne.jp>:
111.87.218.136 failed after I sent the message.
Remote host said: 550 : User unknown
=== ezweb-suspend |  | failed - - soft suspended kijitora@ezweb.ne.jp
From: <Postmaster@ezweb.ne.jp>
Subject: Mail System Error - Returned Mail

The user(s) account is disabled.

<kijitora@ezweb.ne.jp>
=== ezweb-overquota |  | failed - - soft mailboxfull kijitora@ezweb.ne.jp
From: <Postmaster@ezweb.ne.jp>
Subject: Mail System Error - Returned Mail

The user(s) account is temporarily over quota.

<kijitora@ezweb.ne.jp>
=== kddi-full |  | failed - - soft mailboxfull kijitora@dion.example
From: no-reply@app.auone-net.jp
Subject: Mail System Error

Your mail sent on: Mon, 4 May 2026 10:00:00 +0900
  Could not be delivered to: <kijitora@dion.example>
  As their mailbox is full.
=== docomo-data | sendmail | failed 5.0.0 550 soft filtered kijitora@docomo.ne.jp
   ----- The following addresses had permanent fatal errors -----
<kijitora@docomo.ne.jp>
    (reason: 550 Unknown user kijitora@docomo.ne.jp)

   ----- Transcript of session follows -----
... while talking to mfsmax.docomo.ne.jp.:
>>> DATA
<<< 550 Unknown user kijitora@docomo.ne.jp
554 5.0.0 Service unavailable
{{fields}}
Final-Recipient: RFC822; kijitora@docomo.ne.jp
Action: failed
Status: 5.0.0
Remote-MTA: DNS; mfsmax.docomo.ne.jp
Diagnostic-Code: SMTP; 550 Unknown user kijitora@docomo.ne.jp
=== mfilter-rcpt |  | failed 5.1.1 550 hard userunknown kijitora@example.jp
From: Mailer Daemon <postmaster@example.jp>
Subject: failure notice
X-Mailer: m-FILTER
Content-Type: text/plain; charset=us-ascii

-------server message
550 5.1.1 User unknown <kijitora@example.jp>

-------SMTP command
RCPT TO:<kijitora@example.jp>

-------original message
=== mfilter-data |  | failed - 550 soft filtered kijitora@docomo.ne.jp
From: Mailer Daemon <postmaster@example.jp>
Subject: failure notice
X-Mailer: m-FILTER
Content-Type: text/plain; charset=us-ascii

-------server message
550 Unknown user kijitora@docomo.ne.jp

-------SMTP command
DATA

-------original message
=== activehunter |  | failed 5.1.1 550 hard userunknown kijitora@example.org
From: MAILER-DAEMON@ah.example
Subject: FAILURE NOTICE :
X-AHMAILID: abc123

  ----- The following addresses had permanent fatal errors -----

>>> kijitora@example.org <kijitora@example.org>

  ----- Transcript of session follows -----

550 sorry, no mailbox here by that name (#5.1.1 - chkusr)

  ----- Original message follows -----
=== biglobe-full |  | failed - - soft mailboxfull kijitora@biglobe.example
From: postmaster@biglobe.ne.jp
Subject: Returned mail: see transcript for details

   ----- The following addresses had delivery problems -----
kijitora@biglobe.example

   ----- Non-delivered information -----
The number of messages in recipient's mailbox exceeded the local limit.
=== notes-not-listed |  | failed - - hard userunknown kijitora@notes.example.jp
From: Postmaster@notes.example.jp
Subject: DELIVERY FAILURE

------- Failure Reasons  --------

User not listed in public Name & Address Book
kijitora@notes.example.jp


------- Returned Message --------
=== domino-directory | status MAILER-DAEMON@domino.example | failed 5.1.1 - hard userunknown kijitora@example.net
Your message

  Subject: Our letter

was not delivered to:

  kijitora@example.net

because:

  User kijitora (kijitora@example.net) not listed in Domino Directory
{{fields}}
Final-Recipient: rfc822;kijitora@example.net
Action: failed
Status: 5.1.1
Diagnostic-Code: X-Notes; User kijitora (kijitora@example.net) not listed in Domino D
 irectory
=== groupwise-full |  | failed - - soft mailboxfull kijitora@example.net
From: Mailer-Daemon@gw.example
Subject: Message status - undeliverable

The message that you sent was undeliverable to the following:
	kijitora@example.net (mailbox is full)

Possibly truncated original message follows:
=== groupwise-user |  | failed - 550 hard userunknown kijitora@example.net
From: Mailer-Daemon@gw.example
Subject: Message status - undeliverable

The message that you sent was undeliverable to the following:
	kijitora@example.net (550 no such recipient)

Possibly truncated original message follows:
=== imail-full |  | failed - - soft mailboxfull kijitora@example.com
From: Postmaster <postmaster@imail.example>
Subject: Undeliverable Mail
X-Mailer: <SMTP32 v8.22>

User mailbox exceeds allowed size: kijitora@example.com

Original message follows.
=== imail-host |  | failed - - hard hostunknown kijitora@nowhere.example
From: Postmaster <postmaster@imail.example>
Subject: Undeliverable Mail
X-Mailer: <SMTP32 v8.22>

Unknown host: kijitora@nowhere.example

Original message follows.
=== interscan |  | failed 5.1.1 550 hard userunknown kijitora@example.co.jp
From: "InterScan MSS" <noreply@imss.example>
Subject: Mail could not be delivered

Unable to deliver message to <kijitora@example.co.jp>

Sent <<< RCPT TO:<kijitora@example.co.jp>
Received >>> 550 5.1.1 <kijitora@example.co.jp>... user unknown
=== mailmarshal |  | failed 5.1.1 550 hard userunknown kijitora@example.org
From: MailMarshal <postmaster@mm.example>
Subject: Undeliverable Mail: "Our letter"

Your message:
    From:    news@sender.test
    Subject: Our letter

Could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected:
    kijitora@example.org

Additional Information
======================
    Original Sender:    <news@sender.test>
    Sender-MTA:         <192.0.2.9>
    Remote-MTA:         <192.0.2.31>
    Reporting-MTA:      <relay.mm.example>
    MessageName:        <B549996730000.000000000001.0003.mml>
    Last-Attempt-Date:  <10:00:00 Mon, 4 May 2026>
=== mailfoundry |  | failed - 550 hard userunknown kijitora@example.org
From: MAILER-DAEMON@mf.example
Subject: Message delivery has failed

This is an automatically generated notice

Unable to deliver message to: <kijitora@example.org>
Delivery failed for the following reason:
Server mx22.example.org[192.0.2.222] failed with: 550 <kijitora@example.org> No such user here

This has been a permanent failure.  No further delivery attempts will be made.
=== mcafee |  | failed - - hard userunknown kijitora@example.co.jp
From: Mail Delivery Subsystem <MAILER-DAEMON@mc.example>
Subject: Delivery Status
X-NAI-Header: Modified by McAfee Email and Web Security Virtual Appliance

--- The following addresses had delivery problems ---

<kijitora@example.co.jp>   (User unknown kijitora@example.co.jp)

--- Original message follows ---
=== mxlogic |  | failed 5.1.1 550 hard userunknown kijitora@example.jp
From: Mail Delivery System <Mailer-Daemon@p02c12m123.mxlogic.net>
Subject: Mail delivery failed: returning message to sender
X-MX-Bounce: mta/src/queue/bounce
X-MXL-NoteHash: ffffffffffffffff-0000000000

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

<kijitora@example.jp>: 550 5.1.1 <kijitora@example.jp>... User Unknown

Included is a copy of the message header:
-----------------------------------------
=== surfcontrol |  | failed - 550 hard userunknown kijitora@example.com
From: Postmaster <postmaster@sc.example>
Subject: Message Notification
X-Mailer: SurfControl E-mail Filter

Your message could not be sent.
A transcript of the attempts to send the message follows.
The number of attempts made: 1
Addressed To: kijitora@example.com

Mon 4 May 2026 10:00:00 +0900
Failed to send to identified host,
kijitora@example.com: [192.0.2.5], 550 kijitora@example.com... No such user

--- Message non-deliverable.
=== messagingserver | status postmaster@iplanet.example | failed 5.1.1 550 hard userunknown kijitora@example.com
This report relates to a message you sent with the following header fields:

  Message-id: <letter-1@sender.test>
  Date: Mon, 04 May 2026 10:00:00 +0000
  From: News <news@sender.test>
  To: kijitora@example.com
  Subject: Our letter

Your message cannot be delivered to the following recipients:

  Recipient address: kijitora@example.com
  Original address: kijitora@example.com
  Reason: Remote SMTP server has rejected address
  Diagnostic code: smtp;550 5.1.1 <kijitora@example.com>... User Unknown
  Remote system: dns;mx.example.com (TCP|192.0.2.67|47323|192.0.2.225|25) (6jo.example.jp ESMTP SENDMAIL-VM)
{{fields}}
Original-recipient: rfc822;kijitora@example.com
Final-recipient: rfc822;kijitora@example.com
Action: failed
Status: 5.1.1 (Remote SMTP server has rejected address)
Remote-MTA: dns;mx.example.com (TCP|192.0.2.67|47323|192.0.2.225|25) (6jo.example.jp ESMTP SENDMAIL-VM)
Diagnostic-code: smtp;550 5.1.1 <kijitora@example.com>... User Unknown
=== james |  | failed 5.1.1 550 hard userunknown kijitora@example.jp
From: postmaster@james.example
Subject: [BOUNCE]

Hi. This is the James mail server at james.example.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out. Below
I include the list of recipients and the reason why I was unable to deliver
your message.

Failed recipient(s):
kijitora@example.jp

Error message:
550 - 550 5.1.1 Requested action not taken: mailbox unavailable
=== verizon-mm |  | failed - - hard userunknown 5555550000@vtext.com
From: post_master@vtext.com
Subject: Undelivered Message

Your message to the following recipient could not be delivered.

Error: No such subscriber

Message details:
  Subject: Our letter
  Sent date: Mon May 04 10:00:00 GMT 2026
  To: 5555550000@vtext.com
=== x3 |  | failed 5.1.1 550 hard userunknown kijitora@example.com
From: Mail Delivery System <mailer-daemon@x3.example>
Subject: Delivery status notification

      ===========================================================================
      This message was created automatically by mail delivery software.
      ===========================================================================

The following message to kijitora@example.com was undeliverable.

  * kijitora@example.com
      SMTP error from remote mail server: 550 5.1.1 User unknown
      Remote server: mx.example.com

Received: from app
=== aol-dsn | status MAILER-DAEMON@omr-m5.mx.aol.com | failed 5.1.1 550 hard userunknown kijitora@aol.example
Content analysis details: your e-mail could not be delivered to the address(es) listed below
   ----- The following addresses had permanent fatal errors -----
kijitora@aol.example

   ----- Transcript of session follows -----
>>> RCPT TO:<kijitora@aol.example>
<<< 550 5.1.1 <kijitora@aol.example>: Recipient address rejected: aol.example
{{fields}}
Final-Recipient: rfc822; kijitora@aol.example
Action: failed
Status: 5.1.1
Remote-MTA: DNS; mailin-02.mx.aol.com
Diagnostic-Code: SMTP; 550 5.1.1 <kijitora@aol.example>: Recipient address rejected: aol.example
=== zoho-bounce |  | failed 5.1.1 550 hard userunknown kijitora@example.jp
From: mailer-daemon@mail.zoho.com
Subject: Undelivered Mail Returned to Sender
X-ZohoMail: Zoho Mail

This message was created automatically by mail delivery software.
 A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.

kijitora@example.jp, ERROR CODE :550 - "5.1.1" <kijitora@example.jp>... User Unknown
=== mimecast-dsn | status postmaster@eu.mimecast.example | failed 5.0.0 550 hard userunknown kijitora@example.jp
The delivery of your message to kijitora@example.jp failed.
Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abc]
{{fields}}
Final-Recipient: rfc822; kijitora@example.jp
Action: failed
Status: 5.0.0
Diagnostic-Code: smtp; 550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abc]
=== messagelabs | status MAILER-DAEMON@messagelabs.com | failed 5.0.0 550 hard userunknown kijitora@example.jp
This is the mail delivery agent at messagelabs.com.
I was unable to deliver your message to the following addresses:

kijitora@example.jp

Reason: 550 kijitora@example.jp... No such user

The message subject was: Our letter
The message date was: Mon, 04 May 2026 10:00:00 +0000
The message identifier was: F4/08-20304-20834D64
The message reference was: server-12.tower-217.messagelabs.com!1300000000!20000000!1
Please do not reply to this email as it is sent from an unattended mailbox.
{{fields}}
Reporting-MTA: dns; server-15.bemta-3.messagelabs.com
Final-Recipient: rfc822; kijitora@example.jp
Action: failed
Status: 5.0.0
Diagnostic-Code: smtp; 550 kijitora@example.jp... No such user
=== status-generic-two | status MAILER-DAEMON@mx.test | failed 5.2.2 552 soft mailboxfull kijitora@example.jp
Your message could not be delivered.
{{fields}}
Final-Recipient: rfc822; kijitora@example.jp
Action: failed
Status: 5.0.0
Diagnostic-Code: smtp; 552 5.2.2 Mailbox size limit exceeded
=== status-conflict-4-5 | status MAILER-DAEMON@mx.test | failed 5.1.1 550 hard userunknown kijitora@example.jp
Your message could not be delivered.
{{fields}}
Final-Recipient: rfc822; kijitora@example.jp
Action: failed
Status: 4.4.7
Diagnostic-Code: smtp; 550 5.1.1 <kijitora@example.jp>: user unknown
=== amavis-nested | postfix | failed 5.1.1 550 hard userunknown neko@example.org
<neko@example.org>: host 127.0.0.1[127.0.0.1] said: 550 5.1.1 id=12345-06 - Rejected by
    next-hop MTA on relaying, from MTA(smtp:[127.0.0.1]:10025): 550 5.1.1
    <neko@example.org>: Recipient address rejected: User unknown in virtual mailbox table (in reply to
    end of DATA command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.1.1
Remote-MTA: dns; 127.0.0.1
Diagnostic-Code: smtp; 550 5.1.1 id=12345-06 - Rejected by next-hop MTA on
    relaying, from MTA(smtp:[127.0.0.1]:10025): 550 5.1.1 <neko@example.org>:
    Recipient address rejected: User unknown in virtual mailbox table
=== amavis-spam | status Content-filter at mail.example.org <postmaster@mail.example.org> | failed 5.7.0 554 soft spamdetected neko@example.org
A message from <news@sender.test> to:
-> neko@example.org

was considered unsolicited bulk e-mail (UBE).

Our internal reference code for your message is 12345-06/abc

Delivery of the email was stopped!
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.7.0
Diagnostic-Code: smtp; 554 5.7.0 Reject, id=12345-06 - spam
=== postfix-mailfrom-unknown | postfix | failed 5.1.1 550 soft rejected neko@example.org
<neko@example.org>: host mx.example.org[192.0.2.25] said: 550 5.1.1
    <news@sender.test>: User unknown (in reply to MAIL FROM command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 550 5.1.1 <news@sender.test>: User unknown
=== postfix-lmtp-dovecot | postfix | failed 5.2.2 552 soft mailboxfull neko@example.org
<neko@example.org>: host mail.example.org[private/dovecot-lmtp] said: 552 5.2.2
    <neko@example.org> Quota exceeded (mailbox for user is full) (in reply to
    end of DATA command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.2.2
Remote-MTA: dns; mail.example.org
Diagnostic-Code: smtp; 552 5.2.2 <neko@example.org> Quota exceeded (mailbox for
    user is full)
=== postfix-cyrus-unknown | postfix | failed 5.1.1 550 hard userunknown neko@example.org
<neko@example.org>: host mail.example.org[/var/imap/socket/lmtp] said:
    550-Mailbox unknown.  Either there is no mailbox associated with this
    550-name or you do not have authorization to see it. 550 5.1.1 User unknown
    (in reply to RCPT TO command)
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550-Mailbox unknown.  Either there is no mailbox
    associated with this 550-name or you do not have authorization to see it.
    550 5.1.1 User unknown
=== postfix-delay-warning | status MAILER-DAEMON@mx.test (Mail Delivery System) | delayed 4.4.1 - soft expired neko@slow.example
This is the mail system at host mx.test.

####################################################################
# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #
####################################################################

Your message could not be delivered for more than 4 hour(s).
It will be retried until it is 5 day(s) old.

<neko@slow.example>: connect to mx.slow.example[192.0.2.77]:25: Operation timed out
{{fields}}
Final-Recipient: rfc822; neko@slow.example
Action: delayed
Status: 4.4.1
Diagnostic-Code: X-Postfix; connect to mx.slow.example[192.0.2.77]:25: Operation timed out
Will-Retry-Until: Fri, 8 May 2026 10:00:00 +0000 (UTC)
=== exim-rt-style | exim neko@example.org | failed 5.1.1 550 hard userunknown neko@example.org
  neko@example.org
    SMTP error from remote mail server after RCPT TO:<neko@example.org>:
    host mx.example.org [192.0.2.31]: 550 5.1.1 The email account that you
    tried to reach does not exist.
=== exim-pipelined-mail | exim neko@example.org | failed - 550 soft blocked neko@example.org
  neko@example.org
    host mx.example.org [192.0.2.31]
    SMTP error from remote mail server after pipelined MAIL FROM:<news@sender.test> SIZE=4096:
    550 JunkMail rejected - mail.sender.test [192.0.2.9]:45000 is in an RBL, see http://www.spamhaus.org/query/bl?ip=192.0.2.9
=== exim-local-unrouteable | exim neko@mx.test | failed - - hard userunknown neko@mx.test
  neko@mx.test
    Unrouteable address
=== o365-no-diagnostic | status postmaster@ex.test | failed 5.7.1 550 soft policyviolation neko@example.org
Your message did not reach some or all of the intended recipients.

      Subject:	Our letter
      Sent:	4/5/2026 10:00 AM

The following recipient(s) could not be reached:

      neko@example.org on 4/5/2026 10:00 AM
            You do not have permission to send to this recipient.  For assistance, contact your system administrator.
            <ex.test #5.7.1 smtp;550 5.7.1 Unable to relay for neko@example.org>
{{fields}}
Final-Recipient: RFC822; neko@example.org
Action: failed
Status: 5.7.1
X-Display-Name: neko@example.org
=== exchange-fr | status postmaster@ex.test | failed 5.1.1 - hard userunknown neko@example.org
Votre message n'a pas pu être remis à certains ou à la totalité de ses destinataires.

Le(s) destinataire(s) suivant(s) ne peu(ven)t être joint(s) :

      neko@example.org le 04/05/2026 10:00
            Le compte de messagerie n'existe pas dans l'organisation dans laquelle ce message a été envoyé. Vérifiez l'adresse de messagerie, ou contactez le destinataire directement pour déterminer l'adresse correcte.
            <ex.test #5.1.1>
{{fields}}
Final-Recipient: RFC822; neko@example.org
Action: failed
Status: 5.1.1
=== exchange-system-unable | status postmaster@ex.test | failed 5.4.0 - soft networkerror neko@nowhere.example
The following recipient(s) could not be reached:

      neko@nowhere.example on 4/5/2026 10:00 AM
            There was a SMTP communication problem with the recipient's email server.  Please contact your system administrator.
            <ex.test #5.4.0>
{{fields}}
Final-Recipient: RFC822; neko@nowhere.example
Action: failed
Status: 5.4.0
=== exchange2007-nohub-dns | status postmaster@ex.test | failed 4.4.7 550 soft expired neko@slow.example
Delivery has failed to these recipients or distribution lists:

neko@slow.example
Your message was not delivered because the maximum time allowed elapsed.

Diagnostic information for administrators:

Generating server: ex.test

neko@slow.example
#< #4.4.7 smtp; 550 4.4.7 QUEUE.Expired; message expired> #SMTP#
{{fields}}
Final-Recipient: rfc822;neko@slow.example
Action: failed
Status: 4.4.7
=== o365-delay | status postmaster@ex.test | delayed 4.4.7 400 soft expired neko@slow.example
Delivery is delayed to these recipients or groups:

neko@slow.example (neko@slow.example)

Subject: Our letter

This message hasn't been delivered yet. Delivery will continue to be attempted.

The server will keep trying to deliver this message for the next 1 days, 19 hours and 51 minutes. You'll be notified if the message can't be delivered by that time.
{{fields}}
Final-Recipient: rfc822;neko@slow.example
Action: delayed
Status: 4.4.7
Diagnostic-Code: smtp;400 4.4.7 Message delayed
Will-Retry-Until: Fri, 8 May 2026 10:00:00 +0000
=== o365-5.1.351 | status postmaster@outlook.com | failed 5.1.351 550 hard userunknown neko@example.org
Your message to neko@example.org couldn't be delivered.
neko wasn't found at example.org.
{{fields}}
Final-Recipient: rfc822;neko@example.org
Action: failed
Status: 5.1.351
Remote-MTA: dns;mx.example.org
Diagnostic-Code: smtp;550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 5.1.1 The email account that you tried to reach does not exist
=== o365-5.0.350 | status postmaster@outlook.com | failed 5.0.350 550 soft blocked neko@example.org
Your message to neko@example.org couldn't be delivered.
{{fields}}
Final-Recipient: rfc822;neko@example.org
Action: failed
Status: 5.0.350
Remote-MTA: dns;mx.example.org
Diagnostic-Code: smtp;550 5.0.350 Remote server returned an error -> 554 5.7.1 Service unavailable; Client host [40.107.0.1] blocked using bl.spamcop.net
=== sendmail-two-recipients | sendmail | failed 5.1.1 550 hard userunknown neko@example.org; failed 5.2.2 552 soft mailboxfull tora@example.org
   ----- The following addresses had permanent fatal errors -----
<neko@example.org>
    (reason: 550 5.1.1 <neko@example.org>... User unknown)
<tora@example.org>
    (reason: 552 5.2.2 <tora@example.org>... Mailbox full)

   ----- Transcript of session follows -----
... while talking to mx.example.org.:
>>> DATA
<<< 550 5.1.1 <neko@example.org>... User unknown
550 5.1.1 <neko@example.org>... User unknown
<<< 552 5.2.2 <tora@example.org>... Mailbox full
550 5.1.1 <tora@example.org>... User unknown
<<< 503 5.0.0 Need RCPT (recipient)
{{fields}}
Final-Recipient: RFC822; neko@example.org
Action: failed
Status: 5.1.1
Remote-MTA: DNS; mx.example.org
Diagnostic-Code: SMTP; 550 5.1.1 <neko@example.org>... User unknown
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT

Final-Recipient: RFC822; tora@example.org
Action: failed
Status: 5.2.2
Remote-MTA: DNS; mx.example.org
Diagnostic-Code: SMTP; 552 5.2.2 <tora@example.org>... Mailbox full
Last-Attempt-Date: Mon, 4 May 2026 10:00:01 GMT
=== sendmail-transcript-511-policy | sendmail | failed 5.7.1 553 soft blocked neko@example.org
   ----- The following addresses had permanent fatal errors -----
<neko@example.org>
    (reason: 553 5.7.1 Your IP 192.0.2.9 is listed, see http://www.example.org/rbl)

   ----- Transcript of session follows -----
... while talking to mx.example.org.:
>>> RCPT To:<neko@example.org>
<<< 553 5.7.1 Your IP 192.0.2.9 is listed, see http://www.example.org/rbl
550 5.1.1 <neko@example.org>... User unknown
{{fields}}
Final-Recipient: RFC822; neko@example.org
Action: failed
Status: 5.1.1
Remote-MTA: DNS; mx.example.org
Diagnostic-Code: SMTP; 553 5.7.1 Your IP 192.0.2.9 is listed, see http://www.example.org/rbl
=== sendmail-550-relay-511 | sendmail | failed 5.7.1 550 soft policyviolation neko@example.org
   ----- The following addresses had permanent fatal errors -----
<neko@example.org>
    (reason: 550 5.7.1 <neko@example.org>... Relaying denied)

   ----- Transcript of session follows -----
... while talking to mx.example.org.:
>>> RCPT To:<neko@example.org>
<<< 550 5.7.1 <neko@example.org>... Relaying denied
550 5.1.1 <neko@example.org>... User unknown
{{fields}}
Final-Recipient: RFC822; neko@example.org
Action: failed
Status: 5.1.1
Remote-MTA: DNS; mx.example.org
Diagnostic-Code: SMTP; 550 5.7.1 <neko@example.org>... Relaying denied
=== sendmail-generic-blocked | sendmail | failed 5.0.0 554 soft blocked neko@example.org
   ----- The following addresses had permanent fatal errors -----
<neko@example.org>
    (reason: 554-mx.example.org)

   ----- Transcript of session follows -----
... while talking to mx.example.org.:
<<< 554-mx.example.org
<<< 554 Your access to this mail system has been rejected due to the sending MTA's poor reputation. If you believe that this failure is in error, please contact the intended recipient via alternate means.
554 5.0.0 Service unavailable
{{fields}}
Final-Recipient: RFC822; neko@example.org
Action: failed
Status: 5.0.0
Remote-MTA: DNS; mx.example.org
Diagnostic-Code: SMTP; 554-mx.example.org
=== courier-553 | status Courier mail server at mx.test <@> | failed 5.7.1 550 soft blocked neko@example.org
                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<neko@example.org>:
    mx.example.org [192.0.2.77]:
>>> RCPT TO:<neko@example.org>
<<< 550-5.7.1 You are not allowed to connect to this server. Your IP 192.0.2.9 is on the SpamCop list
<<< 550 5.7.1 See http://spamcop.net/bl.shtml
{{fields}}
Final-Recipient: rfc822; neko@example.org
Action: failed
Status: 5.0.0
Diagnostic-Code: smtp; 550 5.7.1 See http://spamcop.net/bl.shtml
=== courier-quota | status Courier mail server at mx.test <@> | failed 5.0.0 - soft mailboxfull neko@mx.test
                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<neko@mx.test>:
maildrop: maildir over quota.
{{fields}}
Final-Recipient: rfc822; neko@mx.test
Action: failed
Status: 5.0.0
Diagnostic-Code: x-unix; maildrop: maildir over quota.
=== courier-nouser | status Courier mail server at mx.test <@> | failed 5.1.1 550 hard userunknown neko@mx.test
                           UNDELIVERABLE MAIL

Your message to the following recipients cannot be delivered:

<neko@mx.test>:
550 User unknown.
{{fields}}
Final-Recipient: rfc822; neko@mx.test
Action: failed
Status: 5.1.1
Diagnostic-Code: unknown; 550 User unknown.
=== qmail-vpopmail-none | qmail | failed 5.1.1 - hard userunknown neko@mx.test
<neko@mx.test>:
Sorry, no mailbox here by that name. vpopmail (#5.1.1)
=== qmail-badrcptto | qmail | failed 5.7.1 553 hard userunknown neko@example.org
<neko@example.org>:
192.0.2.5 does not like recipient.
Remote host said: 553 sorry, badrcptto (#5.7.1)
Giving up on 192.0.2.5.
=== qmail-ldap-quota | qmail | failed 5.2.2 - soft mailboxfull neko@mx.test
<neko@mx.test>:
The user's mailbox is over the allowed quota (size). (#5.2.2)
=== qmail-deferral-helo | qmail | failed - 550 soft blocked neko@example.org
<neko@example.org>:
Connected to 192.0.2.5 but my name was rejected.
Remote host said: 550 Invalid or unknown domain: mail.sender.test
=== qmail-die | qmail | failed 5.4.6 - soft networkerror neko@mx.test
<neko@mx.test>:
Sorry. Although I'm listed as a best-preference MX or A for that host,
it isn't in my control/locals file, so I don't treat it as local. (#5.4.6)
=== nifty |  | failed - 550 hard userunknown neko@nifty.example
From: MAILER-DAEMON@nifty.com
Subject: Returned mail: User unknown
Content-Type: text/plain; charset=iso-2022-jp

The original message was received at Mon, 4 May 2026 10:00:00 +0900
from mail.sender.test [192.0.2.9]

   ----- The following addresses had permanent fatal errors -----
<neko@nifty.example>

   ----- Transcript of session follows -----
550 <neko@nifty.example>... User unknown
=== messagingserver-size | status postmaster@iplanet.example | failed 5.2.3 - soft toobig neko@example.com
Your message cannot be delivered to the following recipients:

  Recipient address: neko@example.com
  Reason: Message length exceeds administrative limit
{{fields}}
Original-recipient: rfc822;neko@example.com
Final-recipient: rfc822;neko@example.com
Action: failed
Status: 5.2.3 (Message length exceeds administrative limit)
=== messagingserver-illegal | status postmaster@iplanet.example | failed 5.4.4 - hard hostunknown neko@nowhere.example
Your message cannot be delivered to the following recipients:

  Recipient address: neko@nowhere.example
  Reason: Illegal host/domain name found
{{fields}}
Final-recipient: rfc822;neko@nowhere.example
Action: failed
Status: 5.4.4 (Illegal host/domain name found)
=== powermta-report | status postmaster@pmta.example | failed 5.1.1 550 hard userunknown neko@example.org
Hello, this is the mail server on pmta.example.

I am sending you this message to inform you on the delivery status of a
message you previously sent.  Immediately below you will find a list of
the affected recipients;  also attached is a Delivery Status Notification
(DSN) report in standard format, as well as the headers of the original
message.

  <neko@example.org>  delivery failed; will not continue trying
{{fields}}
Original-Recipient: rfc822;neko@example.org
Final-Recipient: rfc822;neko@example.org
Action: failed
Status: 5.1.1 (bad destination mailbox address)
Remote-MTA: dns;mx.example.org (192.0.2.31)
Diagnostic-Code: smtp;550 5.1.1 unknown or illegal alias: neko@example.org
X-PowerMTA-BounceCategory: bad-mailbox
=== powermta-full | status postmaster@pmta.example | failed 5.2.2 552 soft mailboxfull neko@example.org
Hello, this is the mail server on pmta.example.

  <neko@example.org>  delivery failed; will not continue trying
{{fields}}
Original-Recipient: rfc822;neko@example.org
Final-Recipient: rfc822;neko@example.org
Action: failed
Status: 5.2.2 (mailbox full)
Remote-MTA: dns;mx.example.org (192.0.2.31)
Diagnostic-Code: smtp;552 <neko@example.org> Mailbox limit exceeded
X-PowerMTA-BounceCategory: quota-issues
=== mdaemon-quota |  | failed - 552 soft mailboxfull neko@example.org
From: MDaemon <MDaemon@mx.test>
Subject: Permanent Delivery Failure

The following data may contain sections which represent BASE64 encoded
file attachments.

Failed address: neko@example.org

--- Session Transcript ---
Mon 2026-05-04 10:00:00: --> RCPT To:<neko@example.org>
Mon 2026-05-04 10:00:01: <-- 552 Requested mail action aborted: exceeded storage allocation
Mon 2026-05-04 10:00:01: --> QUIT
--- End Transcript ---
=== hmail-504 |  | failed - 550 soft blocked neko@example.org
From: mailer-daemon@hm.test
Subject: Message undeliverable: Our letter

Your message did not reach some or all of the intended recipients.

   Sent: Mon, 4 May 2026 10:00:00 +0900
   Subject: Our letter

The following recipient(s) could not be reached:

neko@example.org
   Error Type: SMTP
   Remote server (192.0.2.31) issued an error.
   hMailServer sent: RCPT TO:<neko@example.org>
   Remote server replied: 550 Your host is not allowed to send mail here, 192.0.2.9 is blacklisted.

hMailServer
`
