/** What settles disputes between the words, the codes and the layout of a report. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brief, dsn, exim, fieldsOnly, postfix, prose, qmail, sendmail } from './report-makers.ts'

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

test('"no such user" quoted from the other server is believed where nothing speaks against it', () => {
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

test('KDDI names the address that it does not know, and names none where its filter refuses', () => {
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

test('docomo says of its filters that the user is unknown, too', () => {
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

test("qmail-remote's phrases tell what was answered to", () => {
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

test('a domain that is unknown at HELO is ours, never the one of the recipient', () => {
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

test('a host that takes no mail at all is hard, whatever it answers to', () => {
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
