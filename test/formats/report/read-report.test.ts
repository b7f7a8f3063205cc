import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Report, readReport } from '../../../src/formats/report/read-report.ts'
import { familySamples } from './family-samples.ts'
import { layoutSamples } from './layout-samples.ts'
import { samples } from './samples.ts'

const read = (text: string) => readReport(Buffer.from(text))

/** The properties of a recipient that the tests compare. */
function brief({ recipients }: Report) {
  return recipients.map((one) => [one.recipient, one.action, one.status, one.class, one.reason])
}

const token = 'b.aebagbafaydqqcikbmga2dqpcaireeyuculbogazdinryhi6d4'.slice(0, 44)
const mailInToken = `u.${token.slice(2)}`

const originalHead = `Return-Path: <${token}@bounce.sender.test>
Received: from app by mail.sender.test; Mon, 4 May 2026 10:00:00 +0000
From: News <news@sender.test>
To: ann@reader.test
Subject: =?utf-8?q?Caf=C3=A9?= news
Message-ID: <letter-1@sender.test>
List-Unsubscribe: <mailto:${mailInToken}@bounce.sender.test>, <https://sender.test/u/x>
X-Pillarbox-Id: ${token.slice(2)}`

type Dsn = { status: string; returned?: string; notice?: string; type?: string }

/** A multipart/report around the fields of a delivery status. */
function dsn({ status, returned = originalHead, notice = 'See below.', type }: Dsn): string {
  return `From: Mail Delivery Subsystem <MAILER-DAEMON@mx.test>
To: <${token}@bounce.sender.test>
Subject: Returned mail
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="=_b/1"

preamble
--=_b/1
Content-Type: text/plain; charset=utf-8

${notice}

--=_b/1
Content-Type: ${type ?? 'message/delivery-status'}

${status}

--=_b/1
Content-Type: message/rfc822

${returned}

Dear reader
--=_b/1--
`
}

const oneFailed = `Reporting-MTA: dns; mx.test

Final-Recipient: rfc822; ann@reader.test
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 User unknown
`

describe('a delivery status (RFC 3464)', () => {
  it('takes the first word of a recipient that is no address', () => {
    const recipientOf = (value: string) => {
      const status = `Final-Recipient: ${value}\nAction: failed\nStatus: 5.1.1`
      return read(dsn({ status, returned: '' })).recipients[0]?.recipient
    }
    assert.equal(recipientOf('x400; /S=ann/PRMD=x/C=de/ Action: failed'), '/s=ann/prmd=x/c=de/')
    assert.equal(recipientOf('rfc822; <ann> (no such user)'), 'ann')
  })

  it('lists every recipient in the order of the report', () => {
    const report = read(
      dsn({
        status: `Reporting-MTA: dns; cs.utk.edu

Original-Recipient: rfc822;arathib@vnet.ibm.com
Final-Recipient: rfc822;arathib@vnet.ibm.com
Action: failed
Status: 5.0.0 (permanent failure)
Diagnostic-Code: smtp;  550 'arathib@vnet.IBM.COM' is not a
 registered gateway user
Remote-MTA: dns; vnet.ibm.com

Original-Recipient: rfc822;johnh@hpnjld.njd.hp.com
Final-Recipient: rfc822;johnh@hpnjld.njd.hp.com
Action: delayed
Status: 4.0.0 (hpnjld.njd.hp.com: host name lookup failure)

Original-Recipient: rfc822;wsnell@sdcc13.ucsd.edu
Final-Recipient: rfc822;wsnell@sdcc13.ucsd.edu
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 user unknown
Remote-MTA: dns; sdcc13.ucsd.edu
`,
      }),
    )
    assert.deepEqual([report.kind, report.reportingMta], ['bounce', 'cs.utk.edu'])
    assert.deepEqual(brief(report), [
      ['arathib@vnet.ibm.com', 'failed', '5.0.0', 'soft', 'rejected'],
      ['johnh@hpnjld.njd.hp.com', 'delayed', '4.0.0', 'soft', 'networkerror'],
      ['wsnell@sdcc13.ucsd.edu', 'failed', '5.1.1', 'hard', 'userunknown'],
    ])
    const [first] = report.recipients
    assert.equal(first?.replyCode, 550)
    assert.match(first?.diagnostic ?? '', /is not a registered gateway user$/)
  })

  it('is hard only if the action is failed, with any text', () => {
    for (const action of ['delayed', 'delivered', 'relayed', 'expanded']) {
      const [one] = read(dsn({ status: oneFailed.replace('failed', action) })).recipients
      assert.ok(one)
      assert.deepEqual(
        [one.action, one.verdict.isHard, one.verdict.isStrike],
        [action, false, false],
      )
      assert.notEqual(one.class, 'hard')
      assert.equal(one.reason === 'delivered', action !== 'delayed')
    }
  })

  it("prefers the other server's reply if it is more specific than the reporting system's status", () => {
    for (const [status, diagnostic, expected] of [
      ['5.0.0', 'smtp; 554 5.7.1 Relay access denied', '5.7.1'],
      ['5.1.1', 'smtp; 552 5.2.2 over quota', '5.2.2'],
      ['5.1.1', 'smtp; 550 no', '5.1.1'],
      ['5.2.2', 'smtp; 550 5.0.0 no', '5.2.2'],
      ['4.4.7', 'smtp; 554 4.4.7 expired <421 4.4.2 timed out>', '4.4.2'],
      ['5.2.2', 'smtp; 550 5.2.0 no', '5.2.2'],
      ['5.3.0', 'smtp; 550 5.2.1 no', '5.2.1'],
      ['5.7.1', 'smtp; 550 5.1.1 no', '5.7.1'],
      ['4.4.7', 'smtp; 550 5.7.1 no', '5.7.1'],
      ['', 'smtp; 550 no', null],
    ] as const) {
      const fields = `Final-Recipient: rfc822; a@b.test\nAction: failed\nStatus: ${status}\nDiagnostic-Code: ${diagnostic}`
      assert.equal(read(dsn({ status: fields })).recipients[0]?.status, expected, diagnostic)
    }
  })

  it('accepts "no such user" from the reporting system itself and from another server', () => {
    const prose = 'From: Mailer-Daemon@mx.test\nSubject: Mail delivery failed\n\n'
    const fields = 'Final-Recipient: rfc822;ann@reader.test\nAction: failed\nStatus: 5.0.0'
    const withDiagnostic = `${fields}\nDiagnostic-Code: smtp; 550 unknown user`
    const found = `${prose}  ann@reader.test\n    Unknown user\n\n${fields}`
    assert.equal(read(found).recipients[0]?.class, 'hard')
    assert.equal(read(dsn({ status: withDiagnostic })).recipients[0]?.class, 'hard')
  })

  it('reads the reply that an IronPort quotes, not its own guess', () => {
    const diagnostic = `5.1.0 - Unknown address error 550-'5.7.1 Client host blocked using zen.spamhaus.org'`
    const status = `Final-Recipient: rfc822;a@b.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; ${diagnostic}`
    assert.deepEqual(brief(read(dsn({ status }))), [
      ['a@b.test', 'failed', '5.7.1', 'soft', 'blocked'],
    ])
  })

  it('accepts types, brackets, names, missing blank lines and unfolded lines', () => {
    const report = read(
      dsn({
        status: `Reporting-MTA: dns; mx.test
Final-Recipient: RFC822; "Ann" <Ann@Reader.test>
Action: Failed (no more tries)
Status: 5.1.1 (bad destination)
Diagnostic-Code: smtp; 550-no
550-such
550 user here
Final-Recipient: bob@reader.test
Action: failed
Status: 5.2.2`,
      }),
    )
    assert.deepEqual(brief(report), [
      ['ann@reader.test', 'failed', '5.1.1', 'hard', 'userunknown'],
      ['bob@reader.test', 'failed', '5.2.2', 'soft', 'mailboxfull'],
    ])
    assert.equal(report.recipients[0]?.diagnostic, '550-no 550-such 550 user here')
  })

  it('uses Original-Recipient if Final-Recipient is missing or not an address', () => {
    const status = `Original-Recipient: <ann@reader.test>\nAction: failed\nDiagnostic-Code: smtp; 550 5.1.1 no`
    assert.equal(read(dsn({ status })).recipients[0]?.recipient, 'ann@reader.test')
    const rewritten = `Final-Recipient: rfc822; @mx.test\nAction: failed\nStatus: 5.1.2`
    assert.equal(read(dsn({ status: rewritten })).recipients[0]?.recipient, 'ann@reader.test')
  })

  it('returns the original recipient beside the final one', () => {
    const status = `${oneFailed}Original-Recipient: rfc822;info@reader.test\n`
    const [one] = read(dsn({ status })).recipients
    assert.deepEqual(
      [one?.recipient, one?.originalRecipient],
      ['ann@reader.test', 'info@reader.test'],
    )
  })

  it('reads international addresses (RFC 6533)', () => {
    for (const address of ['j\u00f6rg@d\u00f6rf.test', 'j\\x{F6}rg@d\\x{F6}rf.test']) {
      const status = oneFailed.replace('rfc822; ann@reader.test', `utf-8; ${address}`)
      const report = read(dsn({ status, type: 'message/global-delivery-status' }))
      assert.equal(report.recipients[0]?.recipient, 'j\u00f6rg@d\u00f6rf.test')
    }
  })

  it('is found in plain text, in base64 and with a boundary that never occurs', () => {
    const head = 'From: MAILER-DAEMON@mx.test\nSubject: Returned mail\n'
    const base64 = Buffer.from(oneFailed).toString('base64')
    for (const text of [
      `${head}\nTechnical report:\n\n${oneFailed}`,
      `${head}Content-Type: multipart/report; boundary=x\n\n${oneFailed}`,
      `${head}Content-Type: multipart/mixed; boundary=x\n\n--y\nContent-Type: message/delivery-status\n\n${oneFailed}\n--y--`,
      `${head}Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\n${base64}\n--x--`,
      `${head}\n--y\nContent-Type: message/delivery-status\n\n${oneFailed}\n--y--`,
    ]) {
      const crlf = text.replaceAll('\n', '\r\n')
      for (const form of [text, crlf]) {
        assert.deepEqual(brief(read(form)), [
          ['ann@reader.test', 'failed', '5.1.1', 'hard', 'userunknown'],
        ])
      }
    }
  })

  it('is read if a filter on the way wrapped the report', () => {
    const wrapped = `From: MAILER-DAEMON@filter.test\nSubject: Returned mail\nContent-Type: multipart/mixed; boundary=w\n\n--w\nContent-Type: text/plain\n\nThe following could not be delivered\n--w\nContent-Type: message/rfc822\n\n${dsn({ status: oneFailed })}\n--w--`
    assert.equal(read(wrapped).recipients[0]?.recipient, 'ann@reader.test')
  })

  it('escapes control characters and bounds the diagnostic', () => {
    const status = oneFailed.replace('User unknown', `\x1b[31mred\x07 ${'long '.repeat(1_000)}`)
    const { diagnostic = '' } = read(dsn({ status })).recipients[0] ?? {}
    assert.match(diagnostic, /^550 5\.1\.1 \\x1b\[31mred\\x07 long/)
    assert.ok(diagnostic.length <= 1_020)
  })
})

describe('a bounce in prose', () => {
  for (const { name, head, body, expected, action = 'failed' } of [
    ...samples,
    ...familySamples,
    ...layoutSamples,
  ]) {
    it(`is classified: ${name}`, () => {
      const report = read(`To: ${token}@bounce.sender.test\n${head}\n\n${body}`)
      assert.equal(report.kind, 'bounce')
      assert.deepEqual(
        brief(report),
        expected.map(([recipient, status, isHard, reason]) => [
          recipient,
          action,
          status,
          isHard ? 'hard' : 'soft',
          reason,
        ]),
      )
      if (body.includes('letter-1@')) {
        assert.equal(report.original.messageId, '<letter-1@sender.test>')
      }
    })
  }

  it('uses the recipient of the returned message if the prose names none', () => {
    const text = `From: MAILER-DAEMON@mx.test\nSubject: Undeliverable\n\nMailbox full.\n\n--- Original message ---\n${originalHead}\n`
    assert.deepEqual(brief(read(text)), [
      ['ann@reader.test', 'failed', null, 'soft', 'mailboxfull'],
    ])
  })

  it('may be a notification of Amazon SES in JSON', () => {
    const notice = {
      notificationType: 'Bounce',
      bounce: {
        bounceType: 'Permanent',
        bouncedRecipients: [
          {
            emailAddress: 'Ann@reader.test',
            status: '5.1.1',
            diagnosticCode: 'smtp; 550 5.1.1 user unknown',
          },
        ],
        reportingMTA: 'dns; a1.amazonses.test',
      },
    }
    const plain = read(`From: x@sns.test\n\n${JSON.stringify(notice)}`)
    const wrapped = read(
      `From: x@sns.test\n\n${JSON.stringify({ Type: 'Notification', Message: JSON.stringify(notice) }, null, 2)}`,
    )
    for (const report of [plain, wrapped]) {
      assert.deepEqual([report.kind, report.reportingMta], ['bounce', 'a1.amazonses.test'])
      assert.deepEqual(brief(report), [
        ['ann@reader.test', 'failed', '5.1.1', 'hard', 'userunknown'],
      ])
    }
  })
})

const feedback = (fields: string, returned = originalHead) => `From: <abusedesk@example.com>
Subject: FW: Earn money
Content-Type: multipart/report; report-type=feedback-report; boundary="part1_13d"

--part1_13d
Content-Type: text/plain; charset="US-ASCII"

This is an email abuse report.

--part1_13d
Content-Type: message/feedback-report

${fields}

--part1_13d
Content-Type: message/rfc822

${returned}

Spam Spam Spam
--part1_13d--
`

describe('a complaint', () => {
  it('is a feedback report (RFC 5965 appendix B.1)', () => {
    const report = read(
      feedback('Feedback-Type: abuse\nUser-Agent: SomeGenerator/1.0\nVersion: 1', originalHead),
    )
    assert.deepEqual([report.kind, report.feedbackType], ['complaint', 'abuse'])
    assert.deepEqual(brief(report), [['ann@reader.test', 'delivered', null, 'soft', 'feedback']])
    assert.equal(report.original.messageId, '<letter-1@sender.test>')
    assert.equal(report.recipients[0]?.verdict.isHard, false)
  })

  it('has all recipients and the return path of a full report (RFC 5965 appendix B.2)', () => {
    const report = read(
      feedback(
        `Feedback-Type: fraud
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <${token}@bounce.sender.test>
Original-Rcpt-To: <user@example.com>
Original-Rcpt-To: <other@example.com>
Reporting-MTA: dns; mail.example.com
Source-IP: 192.0.2.1`,
        'From: <news@sender.test>\nSubject: Earn money',
      ),
    )
    assert.equal(report.feedbackType, 'fraud')
    assert.equal(report.reportingMta, 'mail.example.com')
    assert.deepEqual(
      report.recipients.map(({ recipient }) => recipient),
      ['user@example.com', 'other@example.com'],
    )
    assert.deepEqual(report.tokens, [token])
  })

  it('has an empty recipient for a removed address', () => {
    const report = read(feedback('Feedback-Type: not-spam', 'From: a@b.test\nTo: <redacted>'))
    assert.deepEqual([report.feedbackType, report.recipients.length], ['not-spam', 1])
    assert.equal(report.recipients[0]?.recipient, '')
  })

  it('is recognised without a feedback report', () => {
    const jmrp = `From: staff@hotmail.com\nSubject: complaint about message from 192.0.2.1\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: ann@hotmail.test\n${originalHead}\n\nhi\n--b--`
    const report = read(jmrp)
    assert.deepEqual([report.kind, report.feedbackType], ['complaint', 'abuse'])
    assert.equal(report.recipients[0]?.recipient, 'ann@hotmail.test')
    assert.ok(report.tokens.includes(token))
    const optOut = read(
      'From: ann@icloud.test\nX-Apple-Unsubscribe: true\nSubject: unsubscribe\n\n',
    )
    assert.deepEqual([optOut.kind, optOut.feedbackType], ['complaint', 'opt-out'])
  })

  it('in free form has words only if the message may be a report', () => {
    const kindOf = (from: string, text: string) =>
      read(
        `From: ${from}\nSubject: Spam report\nContent-Type: multipart/mixed; boundary=b\n\n--b\n${text}\n--b\nContent-Type: message/rfc822\n\n${originalHead}\n\nhi\n--b--`,
      ).kind
    const words = 'Content-Type: text/html\n\n<p>Our customer got this.</p>'
    const none = 'Content-Type: text/html\n\n<div><br></div>'
    assert.equal(kindOf('mailer-daemon@reader.test', words), 'complaint')
    assert.equal(kindOf('ann@reader.test', none), 'complaint')
    assert.equal(kindOf('ann@reader.test', words), 'other')
    assert.equal(kindOf('admin@reader.test', words), 'other')
  })
})

describe('an automatic reply (RFC 3834)', () => {
  const replies: [head: string, kind: Report['kind']][] = [
    ['Auto-Submitted: auto-replied\nSubject: Re: Our letter', 'auto-reply'],
    ['Auto-Submitted: auto-replied (vacation)\nSubject: Gone', 'auto-reply'],
    ['Precedence: auto_reply\nSubject: Gone', 'auto-reply'],
    ['X-Autoreply: yes\nSubject: Gone', 'auto-reply'],
    ['X-Autorespond: Our letter\nSubject: Gone', 'auto-reply'],
    ['Subject: Automatic reply: Our letter', 'auto-reply'],
    ['Subject: Out of Office: Our letter', 'auto-reply'],
    ['Subject: Automatische Antwort: Unser Brief', 'auto-reply'],
    ['Subject: R\u00e9ponse automatique : Notre lettre', 'auto-reply'],
    ['Subject: =?utf-8?b?6Ieq5Yqo5Zue5aSN?= letter', 'auto-reply'],
    ['Subject: Abwesenheitsnotiz', 'auto-reply'],
    ['Auto-Submitted: no\nSubject: Re: Our letter', 'other'],
    ['Auto-Submitted: auto-generated\nSubject: Your invoice', 'other'],
    ['Subject: Re: Our letter', 'other'],
    ['Subject: A vacation offer', 'other'],
  ]
  for (const [head, kind] of replies) {
    it(`${kind}: ${head.replaceAll('\n', ' | ')}`, () => {
      const report = read(`From: Ann <Ann@reader.test>\n${head}\n\nI am back on Monday.`)
      assert.equal(report.kind, kind)
      const expected = [['ann@reader.test', 'delivered', null, 'soft', 'vacation']]
      assert.deepEqual(brief(report), kind === 'auto-reply' ? expected : [])
    })
  }

  it('may be a receipt (RFC 8098)', () => {
    const head = 'Content-Type: multipart/report; report-type=disposition-notification; boundary=b'
    assert.equal(
      read(`From: ann@reader.test\nSubject: Read: Our letter\n${head}\n\n--b--`).kind,
      'auto-reply',
    )
  })
})

describe('mail from people', () => {
  for (const [head, body] of [
    ['Subject: Re: Our letter', 'Thank you! Mailbox full of joy.'],
    ['Subject: My parcel was not delivered', 'It could not be delivered to me. Failed again.'],
    ['Subject: Delivery failed?', 'My mail to ann@reader.test was rejected: 550 user unknown.'],
    ['Subject: Re: Undelivered Mail Returned to Sender', 'Why did I get this?'],
    ['', ''],
    ['Subject: spam report', 'the numbers of this month'],
  ]) {
    it(`is not a report: ${head}`, () => {
      const report = read(`From: Ann <ann@reader.test>\nTo: info@sender.test\n${head}\n\n${body}`)
      assert.deepEqual([report.kind, report.recipients], ['other', []])
    })
  }
})

describe('tokens', () => {
  it('come from the returned message', () => {
    const { tokens, original } = read(dsn({ status: oneFailed }))
    assert.deepEqual(tokens, [token, mailInToken, token.slice(2)])
    assert.deepEqual(original, { messageId: '<letter-1@sender.test>', subject: 'Caf\u00e9 news' })
  })

  it('come from a header section alone and from text after a separator line', () => {
    const head = 'From: MAILER-DAEMON@mx.test\nSubject: failure notice\n'
    for (const text of [
      `${head}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/rfc822-headers\n\n${originalHead}\n--b--`,
      `${head}\n<ann@reader.test>:\nuser unknown\n\n--- Below this line is a copy of the message.\n\n${originalHead}\n\nDear reader`,
    ]) {
      assert.deepEqual(read(text).tokens, [token, mailInToken, token.slice(2)])
    }
  })

  it("in the report's own header, in prose or in a body are ignored", () => {
    const elsewhere = `From: ann@reader.test
To: ${token}@bounce.sender.test
Return-Path: <${token}@bounce.sender.test>
X-Pillarbox-Id: ${token.slice(2)}
List-Unsubscribe: <mailto:${mailInToken}@bounce.sender.test>
Subject: Hello

X-Pillarbox-Id: ${token.slice(2)}
${token}@bounce.sender.test`
    assert.deepEqual(read(elsewhere).tokens, [])
    const returned = `From: x@y.test\nSubject: z\n\nReturn-Path: <${token}@bounce.sender.test>`
    assert.deepEqual(read(dsn({ status: oneFailed, returned })).tokens, [])
  })

  it('are at most twenty and well-formed', () => {
    const many = Array.from({ length: 60 }, (_, n) => {
      const letter = String.fromCharCode(97 + (n % 26))
      return `X-A: b.${letter.repeat(41)}${n % 2 ? 'a' : 'c'}@h.test`
    }).join('\n')
    assert.equal(read(dsn({ status: oneFailed, returned: many })).tokens.length, 20)
    const wrong = `X-A: b.short@h.test\nX-B: c.${'a'.repeat(42)}@h.test\nX-Pillarbox-Id: no`
    assert.deepEqual(read(dsn({ status: oneFailed, returned: wrong })).tokens, [])
  })
})

describe('text of any charset', () => {
  it('is decoded by its charset label', () => {
    const prose = 'メールボックスが一杯です。'
    const iso2022 = Buffer.from('\x1b$B%a!<%k%\\%C%/%9$,0lGU$G$9!#\x1b(B', 'latin1')
    for (const [charset, octets] of [
      ['utf-8', Buffer.from(prose)],
      ['unheard-of', Buffer.from(prose)],
      ['iso-2022-jp', iso2022],
      ['', iso2022],
    ] as const) {
      const type = charset === '' ? '' : `Content-Type: text/plain; charset=${charset}\n`
      const head = `From: MAILER-DAEMON@mx.test\nSubject: Returned mail: error\n${type}\n<ann@reader.test>\n`
      const report = readReport(Buffer.concat([Buffer.from(head), octets]))
      assert.equal(report.recipients[0]?.reason, 'mailboxfull', charset)
    }
  })
})
