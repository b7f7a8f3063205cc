/** Reports whose text, codes and layout contradict each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readReport } from '../../../src/formats/report/read-report.ts'
import { brief, dsn, exim, fieldsOnly, postfix, prose, qmail, sendmail } from './build-report.ts'

type Case = [report: string, expected: string]

function assertAll(cases: readonly Case[]): void {
  for (const [report, expected] of cases) assert.deepEqual(brief(report), [expected], report)
}

const powerMta = (said: string, status: string, category: string) =>
  fieldsOnly({ said, status, fields: `X-PowerMTA-BounceCategory: ${category}` })

test('an unknown user under X.2.1 is filtered, unless the address itself was refused', () => {
  assertAll([
    [fieldsOnly({ said: '550 5.2.1 User unknown', status: '5.2.1' }), 'soft filtered 5.2.1'],
    [fieldsOnly({ said: '550 User unknown', status: '5.2.1' }), 'soft filtered 5.2.1'],
    [fieldsOnly({ said: '550 5.2.1 No such user', status: '5.0.0' }), 'soft filtered 5.2.1'],
    [
      fieldsOnly({ said: '550 5.2.1 <ann@reader.test>: Mailbox not found', status: '5.2.1' }),
      'soft filtered 5.2.1',
    ],
    [
      postfix({ said: '550 5.2.1 no such user', status: '5.2.1', command: 'end of DATA' }),
      'soft filtered 5.2.1',
    ],
    [postfix({ said: '550 5.2.1 no such user', status: '5.2.1' }), 'hard userunknown 5.2.1'],
    [
      sendmail({ said: '550 5.2.1 user unknown', command: 'RCPT To:<ann@reader.test>' }),
      'hard userunknown 5.2.1',
    ],
    [
      exim(
        'SMTP error from remote mail server after RCPT TO:<ann@reader.test>:\nhost mx.reader.test [192.0.2.7]: 550 5.2.1 User unknown',
      ),
      'hard userunknown 5.2.1',
    ],
    [
      qmail(
        '192.0.2.7 does not like recipient.\nRemote host said: 550 5.2.1 no such user\nGiving up on 192.0.2.7.',
      ),
      'hard userunknown 5.2.1',
    ],
    [powerMta('550 5.2.1 unknown user', '5.2.1', 'bad-mailbox'), 'hard userunknown 5.2.1'],
    [powerMta('550 5.2.1 unknown user', '5.2.1', 'policy-related'), 'soft filtered 5.2.1'],
    [fieldsOnly({ said: '550 5.2.1 mailbox disabled', status: '5.2.1' }), 'soft suspended 5.2.1'],
  ])
})

test('"no such user" quoted from the other server counts unless a code contradicts it', () => {
  const said = [
    '550 User unknown',
    '550 No such user here',
    '554 unknown user',
    '550 mailbox unavailable',
    '553 no such user',
  ]
  for (const one of said) {
    assertAll([
      [fieldsOnly({ said: one }), 'hard userunknown 5.0.0'],
      [
        prose(
          `The following address failed:\n\n<ann@reader.test>\n    SMTP error from remote server, host: mx.reader.test (192.0.2.7) reason: ${one}`,
        ),
        'hard userunknown null',
      ],
    ])
  }
  assertAll([
    [fieldsOnly({ said: '550 5.7.1 User unknown', status: '5.7.1' }), 'soft filtered 5.7.1'],
    [postfix({ said: '550 User unknown', command: 'end of DATA' }), 'soft filtered 5.0.0'],
    [sendmail({ said: '550 no such user' }), 'soft filtered 5.0.0'],
    [
      postfix({ said: '550 5.1.1 User unknown', status: '5.1.1', command: 'end of DATA' }),
      'hard userunknown 5.1.1',
    ],
    [
      qmail('192.0.2.7 failed after I sent the message.\nRemote host said: 554 no such user'),
      'soft filtered null',
    ],
  ])
})

test('KDDI names the address of an unknown user, and no address if its filter refuses', () => {
  const carrier = { recipient: 'ann@ezweb.ne.jp', remote: 'lsean.ezweb.ne.jp' }
  const unknown = '550 <ann@ezweb.ne.jp>: User unknown'
  assertAll([
    [postfix({ ...carrier, said: unknown, status: '5.0.0' }), 'hard userunknown 5.0.0'],
    [sendmail({ ...carrier, said: unknown, status: '5.2.0' }), 'hard userunknown 5.2.0'],
    [sendmail({ ...carrier, said: '550 : User unknown', status: '5.1.1' }), 'soft filtered 5.1.1'],
    [
      postfix({ ...carrier, said: '550 : User unknown', status: '5.1.1', command: 'RCPT TO' }),
      'soft filtered 5.1.1',
    ],
    [
      fieldsOnly({ recipient: 'ann@au.com', remote: 'msmx.au.com', said: '550 : User unknown' }),
      'soft filtered 5.0.0',
    ],
    [prose(`<ann@ezweb.ne.jp>:\n550: <ann@ezweb.ne.jp>: User unknown`), 'hard userunknown null'],
    [fieldsOnly({ said: '550 : User unknown' }), 'hard userunknown 5.0.0'],
  ])
})

test('docomo says "unknown user" for refusals by its filters too', () => {
  const carrier = { recipient: 'ann@docomo.ne.jp', remote: 'mfsmax.docomo.ne.jp' }
  const said = '550 Unknown user ann@docomo.ne.jp'
  assertAll([
    [sendmail({ ...carrier, said, status: '5.2.0' }), 'soft filtered 5.2.0'],
    [postfix({ ...carrier, said, command: 'end of DATA' }), 'soft filtered 5.0.0'],
    [fieldsOnly({ ...carrier, said }), 'soft filtered 5.0.0'],
    [postfix({ ...carrier, said }), 'hard userunknown 5.0.0'],
    [fieldsOnly({ ...carrier, said, status: '5.1.1' }), 'hard userunknown 5.1.1'],
  ])
})

test("qmail-remote's phrases imply the command", () => {
  const after = (phrase: string, said: string) => qmail(`${phrase}\nRemote host said: ${said}`)
  assertAll([
    [
      after('Connected to 192.0.2.7 but greeting failed.', '550 Invalid or unknown domain'),
      'soft blocked null',
    ],
    [
      after('Connected to 192.0.2.7 but my name was rejected.', '550 Invalid or unknown domain'),
      'soft blocked null',
    ],
    [
      after('Connected to 192.0.2.7 but sender was rejected.', '550 User unknown'),
      'soft rejected null',
    ],
    [
      after('Connected to 192.0.2.7 but sender was rejected.', '553 5.1.2 host unknown'),
      'soft rejected 5.1.2',
    ],
    [
      after('192.0.2.7 does not like recipient.', '550 5.2.1 no such user'),
      'hard userunknown 5.2.1',
    ],
    [after('192.0.2.7 failed on DATA command.', '550 user unknown'), 'soft filtered null'],
    [after('192.0.2.7 failed after I sent the message.', '550 user unknown'), 'soft filtered null'],
    [
      qmail("Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)"),
      'soft networkerror 4.4.1',
    ],
    [qmail('Connected to 192.0.2.7 but connection died. (#4.4.2)'), 'soft networkerror 4.4.2'],
    [qmail('CNAME lookup failed temporarily. (#4.4.3)'), 'soft networkerror 4.4.3'],
    [
      qmail("Sorry, I couldn't find a mail exchanger or IP address. (#5.4.4)"),
      'hard rejected 5.4.4',
    ],
    [
      qmail(
        "Sorry. Although I'm listed as a best-preference MX or A for that host,\nit isn't in my control/locals file, so I don't treat it as local. (#5.4.6)",
      ),
      'soft networkerror 5.4.6',
    ],
    [
      qmail('SMTP cannot transfer messages with partial final lines. (#5.6.2)'),
      'soft contenterror 5.6.2',
    ],
    [qmail('System resources temporarily unavailable. (#4.3.0)'), 'soft systemerror 4.3.0'],
    [qmail('Unable to switch to home directory. (#4.3.0)'), 'soft systemerror 4.3.0'],
  ])
})

test("a domain that is unknown at HELO is this server's, not the recipient's", () => {
  assertAll([
    [postfix({ said: '550 Unknown domain', command: 'EHLO' }), 'soft blocked 5.0.0'],
    [postfix({ said: '550 5.1.2 Host not found', command: 'HELO' }), 'soft blocked 5.1.2'],
    [
      exim(
        'host mx.reader.test [192.0.2.7]\nSMTP error from remote mail server after HELO mail.sender.test:\n550 Invalid domain name',
      ),
      'soft blocked null',
    ],
    [
      exim(
        'SMTP error from remote mail server after initial connection:\nhost mx.reader.test [192.0.2.7]: 554 5.1.1 no such user',
      ),
      'soft blocked 5.1.1',
    ],
  ])
})

test('the state of the account above the recipients counts beside status fields too', () => {
  const fields =
    'Final-Recipient: rfc822; ann@ezweb.ne.jp\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 <ann@ezweb.ne.jp>: User unknown'
  const withState = (state: string) =>
    dsn(`${state}\n\n<ann@ezweb.ne.jp>: 550 user unknown (in reply to RCPT TO command)`, fields)
  assertAll([
    [withState('The user(s) account is temporarily over quota.'), 'soft mailboxfull 5.1.1'],
    [withState('The user(s) account is disabled.'), 'soft suspended 5.1.1'],
    [withState('The user(s) account is temporarily limited.'), 'soft suspended 5.1.1'],
    [withState('The following recipients failed.'), 'hard userunknown 5.1.1'],
  ])
})

test('a host that accepts no mail is hard, at any command', () => {
  assertAll([
    [postfix({ said: '521 5.3.2 this host accepts no mail' }), 'hard rejected 5.3.2'],
    [postfix({ said: '521 mx.reader.test does not accept mail' }), 'hard rejected 5.0.0'],
    [postfix({ said: '521 5.1.1 Recipient address rejected' }), 'hard rejected 5.1.1'],
    [postfix({ said: '521 no', command: 'MAIL FROM' }), 'hard rejected 5.0.0'],
    [postfix({ said: '556 5.1.10 Recipient address rejected: nullMX' }), 'hard rejected 5.1.10'],
    [fieldsOnly({ said: '556 Recipient rejected', status: '5.1.10' }), 'hard rejected 5.1.10'],
    [
      fieldsOnly({ said: '550 5.3.2 System not accepting network messages', status: '5.3.2' }),
      'hard rejected 5.3.2',
    ],
    [fieldsOnly({ said: '550 5.3.2 recipient rejected', status: '5.3.2' }), 'hard rejected 5.3.2'],
    [
      fieldsOnly({ said: '450 4.3.2 System not accepting network messages', status: '4.3.2' }),
      'soft systemerror 4.3.2',
    ],
    [
      postfix({
        said: '521 5.7.1 Service unavailable; client [192.0.2.9] blocked using zen.spamhaus.org',
      }),
      'soft blocked 5.7.1',
    ],
  ])
})

test('a quota of the sender or of the system is not a full mailbox', () => {
  const cases: [said: string, reason: string][] = [
    ['552 5.2.2 Mailbox full', 'mailboxfull'],
    ['552 ann has exceeded her mailbox quota', 'mailboxfull'],
    ['550 user is over quota', 'mailboxfull'],
    ['452 4.2.2 Over quota', 'mailboxfull'],
    ["452 The recipient's mailbox is full", 'mailboxfull'],
    ['552 The user has no space left on disk', 'mailboxfull'],
    ['552 Requested mail action aborted: exceeded storage allocation', 'mailboxfull'],
    ['452 Requested action not taken: insufficient system storage', 'systemerror'],
    ['452 4.3.1 Insufficient system resources', 'systemerror'],
    ['452 4.3.1 Out of disk space', 'systemerror'],
    ['452 no', 'systemerror'],
    ['550 No space left on device', 'systemerror'],
    ['554 5.3.0 disk full', 'systemerror'],
    ['451 4.3.1 Mail system full', 'systemerror'],
    ['451 not enough disk space, try later', 'systemerror'],
    ['550 Message rejected: hourly quota exceeded', 'ratelimited'],
    ['550 quota of 500 messages per day exceeded', 'ratelimited'],
    ['550 You have exceeded your sending quota', 'ratelimited'],
    ['550 5.7.1 relaying quota exceeded', 'ratelimited'],
    ['550 5.7.0 Your account has exceeded the outgoing quota', 'ratelimited'],
    ['452 4.3.1 daily sending quota exceeded for this domain', 'ratelimited'],
    ['550 Sender has exceeded quota', 'ratelimited'],
  ]
  for (const [said, reason] of cases) {
    for (const report of [
      fieldsOnly({ said }),
      exim(
        `SMTP error from remote mail server after RCPT TO:<ann@reader.test>:\nhost mx.reader.test [192.0.2.7]: ${said}`,
      ),
    ]) {
      assert.equal(brief(report)[0]?.split(' ')[1], reason, said)
    }
  }
})

test('a host name is removed only before an IP address in brackets', () => {
  assertAll([
    [fieldsOnly({ said: '550 5.1.1 [ab12] No such user' }), 'hard userunknown 5.1.1'],
    [
      fieldsOnly({ said: '550 5.7.1 [c0] refused by policy', status: '5.0.0' }),
      'soft policyviolation 5.7.1',
    ],
    [fieldsOnly({ said: '550 5.2.2 [cafe] x' }), 'soft mailboxfull 5.2.2'],
    [fieldsOnly({ said: '550 5.2.2 [192.0.2.7] x' }), 'soft mailboxfull 5.2.2'],
    [
      fieldsOnly({ said: 'host mx.spamhaus.test[2001:db8::7] said: 550 5.1.1 x' }),
      'hard userunknown 5.1.1',
    ],
    [
      fieldsOnly({ said: 'host spam.rejected.test[192.0.2.7]:25 said: 550 5.1.1 x' }),
      'hard userunknown 5.1.1',
    ],
  ])
})

test('only refusals in a transcript count, the last one first', () => {
  assertAll([
    [
      prose(`Could not deliver to <ann@reader.test>:

Out: 220 mx.reader.test ESMTP
In:  EHLO mx.test
Out: 250-SIZE 552000
In:  MAIL FROM:<news@sender.test>
Out: 250 2.1.0 Ok
In:  RCPT TO:<ann@reader.test>
Out: 250 2.1.5 Ok
In:  DATA
Out: 354 End data with <CR><LF>.<CR><LF>
Out: 554 5.7.1 Message rejected as spam
In:  QUIT
Out: 221 2.0.0 Bye`),
      'soft spamdetected 5.7.1',
    ],
    [
      prose(`<ann@reader.test>

   ----- Transcript of session follows -----
... while talking to mx1.reader.test.:
>>> MAIL From:<news@sender.test>
<<< 250 2.1.0 Sender ok
>>> RCPT To:<ann@reader.test>
<<< 450 4.7.1 Try again later
... while talking to mx2.reader.test.:
>>> RCPT To:<ann@reader.test>
<<< 550 5.1.1 User unknown
>>> DATA
<<< 503 5.5.1 Need RCPT (recipient)
550 5.1.1 <ann@reader.test>... User unknown`),
      'hard userunknown 5.1.1',
    ],
    [
      prose(`The mail to <ann@reader.test> failed.

--> MAIL FROM:<news@sender.test>
<-- 250 2.1.0 ok
--> RCPT TO:<ann@reader.test>
<-- 250 2.1.5 ok
--> DATA
<-- 354 go ahead
<-- 552 5.2.2 Mailbox full
--> QUIT`),
      'soft mailboxfull 5.2.2',
    ],
  ])
})

test('missing recipients at DATA mean that RCPT was refused, wherever the refusal stands', () => {
  assertAll([
    [
      sendmail({ said: '550 no such user\n554 5.5.1 Error: no valid recipients' }),
      'hard userunknown 5.0.0',
    ],
    [
      sendmail({ said: '550 no such user\n503 5.0.0 Need RCPT (recipient)' }),
      'hard userunknown 5.0.0',
    ],
    [sendmail({ said: '550 no such user' }), 'soft filtered 5.0.0'],
    [
      exim(
        'SMTP error from remote mail server after pipelined RCPT TO:<ann@reader.test>: 550 5.2.1 no such user',
      ),
      'hard userunknown 5.2.1',
    ],
  ])
})

test('a size or a count is not a reply code', () => {
  const codeOf = (said: string) =>
    readReport(Buffer.from(fieldsOnly({ said }))).recipients[0]?.replyCode
  for (const said of [
    'message size exceeds 550 kilobytes',
    'the limit of 500 messages is reached',
    'tried 421 times',
    'after 550 seconds',
    'maximum is 450 recipients',
    'mail of 512 bytes',
    'connect to port 587 failed, 465 as well',
  ]) {
    assert.equal(codeOf(said), null, said)
  }
  assert.equal(codeOf('550 Message size exceeds 500 kilobytes'), 550)
  assert.equal(codeOf('after 500 attempts: 450 no'), 450)
})

test('an error above the RCPT line belongs to that recipient', () => {
  assert.deepEqual(
    brief(
      prose(`The following errors occurred:

550 5.1.1 user unknown
RCPT TO:<ann@reader.test>

552 5.2.2 mailbox full
RCPT TO:<bob@reader.test>`),
    ),
    ['hard userunknown 5.1.1', 'soft mailboxfull 5.2.2'],
  )
})

test('a contact address for help is not the recipient', () => {
  for (const body of [
    'Your message was refused: 550 5.7.1 Your IP is blocked.\nFor further assistance, please contact <desk@mx.test>.',
    'Your message was refused: 550 5.7.1 Your IP is blocked.\n\nFor help, contact desk@mx.test',
    'Your message was refused: 550 5.7.1 Your IP is blocked.\nIf you have questions, write to\n<desk@mx.test>',
    'Your message was refused: 550 5.7.1 Your IP is blocked.\nSi vous avez des questions, contactez desk@mx.test',
  ]) {
    const { recipients } = readReport(Buffer.from(prose(body)))
    assert.deepEqual(
      recipients.map((one) => [one.recipient, one.reason]),
      [['someone@else.test', 'blocked']],
      body,
    )
  }
})

test('a delivery status within the text of a report is found', () => {
  const nested = prose(
    `Our filter returns this report:

From: MAILER-DAEMON@inner.test
Received: from inner.test by mx.test
Subject: Undelivered
Message-ID: <r-1@inner.test>
Content-Type: multipart/report; boundary="x"

--x
Content-Type: text/plain

Sorry.

--x
Content-Type: message/delivery-status

Reporting-MTA: dns; inner.test

Final-Recipient: rfc822; ann@reader.test
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 User unknown

--x--`,
    'From: MAILER-DAEMON@mx.test\nContent-Type: text/plain',
  )
  const { recipients } = readReport(Buffer.from(nested))
  assert.deepEqual(
    recipients.map((one) => [one.recipient, one.status, one.reason]),
    [['ann@reader.test', '5.1.1', 'userunknown']],
  )
})

test("all lines of a reply decide where sendmail's field keeps the first", () => {
  assertAll([
    [
      sendmail({
        status: '5.7.1',
        said: `550-5.7.1 [192.0.2.9] Our system has detected that this message is
550-5.7.1 likely unsolicited mail. To reduce the amount of spam sent to us,
550 5.7.1 this message has been blocked.`,
      }),
      'soft spamdetected 5.7.1',
    ],
    [
      sendmail({
        status: '5.0.0',
        said: `550-Transaction failed
550-because the domain owner publishes
550 a DMARC policy`,
      }),
      'soft authfailure 5.0.0',
    ],
  ])
})

test('prose about the actual recipient counts if the final recipient is an alias', () => {
  const report = dsn(
    `   ----- The following addresses had permanent fatal errors -----
<ann@elsewhere.test>
    (reason: 552 5.2.2 Over quota)
    (expanded from: <info@reader.test>)
<bob@elsewhere.test>
    (reason: 550 5.1.1 User unknown)
    (expanded from: <sales@reader.test>)`,
    `Final-Recipient: RFC822; info@reader.test
X-Actual-Recipient: RFC822; ann@elsewhere.test
Action: failed
Status: 5.0.0

Final-Recipient: RFC822; sales@reader.test
X-Actual-Recipient: RFC822; bob@elsewhere.test
Action: failed
Status: 5.0.0`,
  )
  assert.deepEqual(brief(report), ['soft mailboxfull 5.2.2', 'hard userunknown 5.1.1'])
})

test("an unrouteable address is an unknown host, unless it is the reporting system's own domain", () => {
  assertAll([
    [exim('Unrouteable address', 'ann@nowhere.test'), 'hard hostunknown null'],
    [exim('Unrouteable address', 'ann@reader.test', 'mx.reader.test'), 'hard userunknown null'],
    [exim('Unrouteable address', 'ann@reader.test', 'reader.test'), 'hard userunknown null'],
    [
      exim(
        'SMTP error from remote mail server after RCPT TO:<ann@reader.test>:\nhost mx.reader.test [192.0.2.7]: 550 Unrouteable address',
      ),
      'hard userunknown null',
    ],
  ])
})

test('notices of list managers are bounces', () => {
  const notice = (from: string, field: string, subject: string, body: string) =>
    readReport(
      Buffer.from(
        `From: ${from}\nTo: news@sender.test\n${field}\nSubject: ${subject}\n\n${body}\n`,
      ),
    ).kind
  const refusal =
    'Your mail to the list <list@reader.test> was rejected: you are not a member of the list.'
  for (const from of [
    'list-admin@reader.test',
    'list-owner@reader.test',
    'list-request@reader.test',
    'owner-list@reader.test',
    'list-bounces@reader.test',
  ]) {
    for (const field of [
      'X-MLServer: fml [fml 4.0]',
      'X-Mailman-Version: 2.1.39',
      'X-ML-Name: list',
      'List-Id: <list.reader.test>',
    ]) {
      assert.equal(
        notice(from, field, 'Your message was rejected: returned mail', refusal),
        'bounce',
        from + field,
      )
    }
  }
  assert.equal(notice('ann@reader.test', 'X-MLServer: fml', 'Re: returned mail', refusal), 'other')
  assert.equal(
    notice(
      'list-request@reader.test',
      'X-Mailman-Version: 2.1.39',
      'Welcome to the list',
      'To post, write to the list.',
    ),
    'other',
  )
})

test("a text about the sender's IP address or host without a blocklist is a block", () => {
  const blocks = [
    '550 Mail from 192.0.2.9 is refused. Contact postmaster@reader.test',
    '554 192.0.2.9: please contact postmaster@reader.test',
    '550 5.7.1 Rejected [192.0.2.9]; send questions to postmaster@reader.test',
    '550 HELO name does not match the IP address of the client',
    '550 5.7.1 Your HELO does not match your PTR',
    '554 EHLO mail.sender.test does not match 192.0.2.9',
    '550 sender domain does not match the client IP',
    '550 The hostname in your HELO does not resolve to your IP',
    '550 helo name is faked',
  ]
  for (const said of blocks) {
    assert.equal(
      brief(fieldsOnly({ said }))[0]?.split(' ').slice(0, 2).join(' '),
      'soft blocked',
      said,
    )
  }
})

test('a line that is too long for SMTP is a content error', () => {
  for (const said of [
    '500 5.5.2 Line too long',
    '550 maximum allowed line length is 998 octets, got 1200',
    '550 5.6.0 line length exceeds the limit of RFC 5321',
    '552 lines longer than SMTP allows found in message',
    '500 line length exceeded',
  ]) {
    assert.equal(brief(fieldsOnly({ said }))[0]?.split(' ')[1], 'contenterror', said)
  }
  assert.equal(
    brief(exim('message has lines too long for transport'))[0]?.split(' ')[1],
    'contenterror',
  )
})

test("Microsoft's codes for expired mail outweigh the socket error that they quote", () => {
  for (const [status, words] of [
    ['5.4.300', 'Message expired'],
    ['5.4.312', 'Message expired, DNS query failed(ErrorRetry)'],
    ['5.4.316', 'Message expired, connection refused(Socket error code 10061)'],
    ['5.4.317', 'Message expired, cannot connect to remote server(SendConnectionError)'],
    ['5.4.318', 'Message expired, connection reset(ConnectionReset)'],
    ['5.4.315', 'x(Socket error code 10060)'],
    [
      '4.4.316',
      'Connection refused [Message=Socket error code 10061] [LastAttemptedServerName=mx.reader.test]',
    ],
    [
      '4.4.317',
      'Cannot connect to remote server [Message=451 4.4.0 Primary target IP address responded with: 421 4.4.2 Connection dropped due to SocketError]',
    ],
    ['4.4.318', 'Connection was closed abruptly (SuspiciousRemoteServerError)'],
    ['4.4.7', 'QUEUE.Expired; message expired'],
  ] as const) {
    const said = `550 ${status} ${words}`
    assert.deepEqual(brief(fieldsOnly({ said, status })), [`soft expired ${status}`], said)
  }
  assertAll([
    [
      fieldsOnly({ said: '550 5.4.310 DNS domain reader.test does not exist', status: '5.4.310' }),
      'hard hostunknown 5.4.310',
    ],
  ])
})

test('an address that the reporting system finds malformed is hard', () => {
  assertAll([
    [
      exim('malformed address: domain missing or malformed', 'ann@reader.test'),
      'hard userunknown null',
    ],
    [
      fieldsOnly({ said: '553 5.1.3 <ann>... Hostname required', status: '5.1.3' }),
      'hard userunknown 5.1.3',
    ],
    [
      fieldsOnly({ said: '501 5.1.3 Bad recipient address syntax', status: '5.1.3' }),
      'hard userunknown 5.1.3',
    ],
  ])
})

test('advice after the refusal does not decide', () => {
  const cases: [said: string, expected: string][] = [
    [
      '550 5.1.1 No such user. Please set up SPF and DKIM before you write again',
      'hard userunknown 5.1.1',
    ],
    [
      '550 User unknown; contact your administrator if your mail server is blocked',
      'hard userunknown 5.0.0',
    ],
    [
      '552 5.2.2 Mailbox full. If you think this is spam protection, contact us',
      'soft mailboxfull 5.2.2',
    ],
    ['550 5.7.25 no PTR record. To fix this, set up an SPF record', 'soft blocked 5.7.25'],
    [
      '550 5.1.1 unknown user, see https://reader.test/spam-policy for details',
      'hard userunknown 5.1.1',
    ],
    [
      '550 5.7.1 Refused. Please see http://www.spamhaus.org/query/bl?ip=192.0.2.9',
      'soft blocked 5.7.1',
    ],
  ]
  for (const [said, expected] of cases)
    assert.deepEqual(brief(fieldsOnly({ said })), [expected], said)
})

test('a refusal of one recipient does not decide about another', () => {
  const notice = `<ann@reader.test>: host mx.reader.test[192.0.2.7] said: 550 no such user (in
    reply to end of DATA command)

<bob@other.test>: host mx.other.test[192.0.2.8] said: 550 no such user`
  const group = (recipient: string) =>
    `Final-Recipient: rfc822; ${recipient}\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 no such user`
  assert.deepEqual(
    brief(dsn(notice, `${group('ann@reader.test')}\n\n${group('bob@other.test')}`)),
    ['soft filtered 5.0.0', 'hard userunknown 5.0.0'],
  )
  assertAll([
    [
      fieldsOnly({ said: '550 5.1.1 user unknown (helo=mx.test)', status: '5.1.1' }),
      'hard userunknown 5.1.1',
    ],
  ])
})
