import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import { HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts'
import { classifyLocally, classifyReply } from '../../../src/formats/replies/classify-reply.ts'
import type {
  BounceReason,
  ReplyClass,
  ReplyVerdict,
  Stage,
} from '../../../src/formats/replies/reply.ts'
import { withinCpuMs } from '../../cpu-time.ts'

/** Classifies a line such as '550 5.1.1 text' at a stage. */
function classify(line: string, stage: Stage = 'rcpt', mxHost?: string): ReplyVerdict {
  const found = /^(\d{3}) ?(?:([245]\.\d+\.\d+) ?)?([\s\S]*)$/.exec(line)
  assert.ok(found, line)
  const [, code, enhancedCode = null, text = ''] = found
  const reply = { code: Number(code), enhancedCode, text }
  return classifyReply({ stage, reply, ...(mxHost ? { mxHost } : {}) })
}

type Row = [line: string, replyClass: ReplyClass, reason: BounceReason, stage?: Stage]

/** Replies with class and reason, grouped by effect; the default stage is `rcpt`. */
const REPLIES: [title: string, effect: Partial<ReplyVerdict>, rows: Row[]][] = [
  [
    'a bad mailbox or domain fails and suppresses the address at once',
    { isFinal: true, isHard: true, isStrike: false },
    [
      ['550 5.1.1 whatever', 'hard', 'userunknown'],
      ['550 5.1.2 whatever', 'hard', 'hostunknown'],
      ['553 5.1.3 whatever', 'hard', 'userunknown'],
      ['551 5.1.6 whatever', 'hard', 'hasmoved'],
      ['550 5.1.10 whatever', 'hard', 'hostunknown'],
      ['556 5.1.10 Recipient address has a null MX', 'hard', 'hostunknown'],
      ['556 domain does not accept mail', 'hard', 'hostunknown'],
      [
        '550 5.1.1 <b@sink.test>: Recipient address rejected: User unknown in virtual mailbox table',
        'hard',
        'userunknown',
      ],
      ['550 No such user here', 'hard', 'userunknown'],
      ['550 sorry, no mailbox here by that name.', 'hard', 'userunknown'],
      ['550 5.0.0 mailbox does not exist', 'hard', 'userunknown'],
      ['551 not our customer', 'hard', 'hasmoved'],
      [
        "550-5.1.1 The email account that you tried to reach does not exist. Please try\ndouble-checking the recipient's email address for typos",
        'hard',
        'userunknown',
      ],
      [
        '550 5.4.1 Recipient address rejected: Access denied. [AM7EUR03FT001.eop-EUR03.prod.protection.outlook.com]',
        'hard',
        'userunknown',
      ],
      ['550 5.5.0 Requested action not taken: mailbox unavailable', 'hard', 'userunknown'],
      ['552 1 Requested mail action aborted, mailbox not found', 'hard', 'userunknown'],
      [
        "554 delivery error: dd This user doesn't have a yahoo.com account [0]",
        'hard',
        'userunknown',
      ],
      ['550 5.1.2 Host unknown (Name server: .: host not found)', 'hard', 'hostunknown'],
    ],
  ],
  [
    'a disabled or full mailbox fails with a strike, and does not suppress at once',
    { isFinal: true, isHard: false, isStrike: true },
    [
      ['550 5.2.1 The email account that you tried to reach is disabled.', 'disabled', 'suspended'],
      ['525 5.7.13 User account disabled', 'disabled', 'suspended'],
      ['525 whatever', 'disabled', 'suspended'],
      [
        '554 30 Sorry, your message cannot be delivered. This mailbox is disabled (554.30)',
        'disabled',
        'suspended',
      ],
      ['550 Account closed due to inactivity', 'disabled', 'suspended'],
      ['550 5.2.1 whatever', 'disabled', 'suspended'],
      ['552 5.2.2 whatever', 'quota', 'mailboxfull'],
      [
        "552 5.2.2 The recipient's inbox is out of storage space and inactive. https://support.google.com/mail/?p=OverQuotaPerm",
        'quota',
        'mailboxfull',
      ],
      ['552 5.2.3 mailbox over quota', 'quota', 'mailboxfull'],
      ['550 Mailbox is full', 'quota', 'mailboxfull'],
    ],
  ],
  [
    'a mailbox that receives mail too fast waits an hour and never suppresses, even at 550',
    { isFinal: false, isHard: false, isStrike: false, retryAfterMs: HOUR_MS, site: 'none' },
    [
      [
        '450 4.2.1 The user you are trying to contact is receiving mail too quickly.',
        'too_fast',
        'ratelimited',
      ],
      [
        '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
        'too_fast',
        'ratelimited',
      ],
      ['450 4.2.1 whatever', 'too_fast', 'ratelimited'],
    ],
  ],
  [
    'greylisting waits 5 minutes and does not slow the site',
    { isFinal: false, retryAfterMs: 5 * MINUTE_MS, site: 'none' },
    [
      ['450 4.7.1 whatever', 'greylist', 'ratelimited'],
      ['451 4.7.1 Greylisting in action', 'greylist', 'ratelimited'],
      [
        '450 4.2.0 <b@sink.test>: Recipient address rejected: Greylisted, see http://postgrey.test',
        'greylist',
        'ratelimited',
      ],
      ['451 Temporarily rejected, please try again later', 'greylist', 'ratelimited'],
    ],
  ],
  [
    'a throttle does not count as a failure and slows the site, even at 5yz',
    { isFinal: false, site: 'throttle', countsAsFailure: false, isStrike: false },
    [
      ['421 4.7.0 whatever', 'throttle', 'ratelimited', 'greeting'],
      [
        '421 4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address.',
        'throttle',
        'ratelimited',
        'mail',
      ],
      [
        '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
        'throttle',
        'blocked',
        'mail',
      ],
      ['421 4.7.1 [TS02] All messages from 192.0.2.1 deferred', 'throttle', 'blocked', 'mail'],
      [
        '421 RP-001 The mail server IP connecting to Outlook.com server has exceeded the rate limit allowed',
        'throttle',
        'ratelimited',
        'mail',
      ],
      ['421 4.1.0 192.0.2.1 Throttled - RL000003', 'throttle', 'ratelimited', 'mail'],
      ['421 Peak SMTP relay limit exceeded for customer', 'throttle', 'ratelimited', 'rcpt'],
      ['550 5.7.1 Daily sending quota exceeded', 'throttle', 'ratelimited'],
      [
        '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation.',
        'throttle',
        'blocked',
      ],
    ],
  ],
  [
    'a block of our IP address is retried slowly and never suppresses',
    { isFinal: false, isHard: false, isStrike: false, site: 'block', retryAfterMs: HOUR_MS },
    [
      [
        '550 5.7.1 Service unavailable; client [192.0.2.1] blocked using zen.spamhaus.org',
        'block',
        'blocked',
      ],
      [
        '554 5.7.1 <out.example.org[192.0.2.1]>: Client host rejected: blocked using b.barracudacentral.org',
        'block',
        'blocked',
      ],
      [
        "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list",
        'block',
        'blocked',
      ],
      [
        "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. part of their network is on our block list (S3150).",
        'block',
        'blocked',
      ],
      ['550 5.7.606 Access denied, banned sending IP [192.0.2.1]', 'block', 'blocked'],
      ['550 5.7.511 Access denied, banned sender[192.0.2.1]', 'block', 'blocked'],
      ['554 No SMTP service here', 'block', 'blocked', 'greeting'],
      ['550 5.7.1 Access denied', 'block', 'blocked', 'ehlo'],
    ],
  ],
  [
    'authentication, policy, content, size and syntax fail without a strike',
    { isFinal: true, isHard: false, isStrike: false, site: 'none' },
    [
      [
        "550 5.7.26 Unauthenticated email from example.org is not accepted due to domain's DMARC policy.",
        'policy',
        'authfailure',
      ],
      ['550 5.7.27 whatever', 'policy', 'authfailure'],
      ['550 5.7.30 whatever', 'policy', 'authfailure'],
      ['550 5.7.23 whatever', 'policy', 'authfailure'],
      ['550 5.7.25 whatever', 'policy', 'blocked'],
      ['550 5.7.29 whatever', 'policy', 'securityerror'],
      [
        '550 5.7.515 Access denied, sending domain example.org does not meet the required authentication level.',
        'policy',
        'authfailure',
      ],
      ['554 5.7.9 Message not accepted for policy reasons.', 'policy', 'policyviolation'],
      ['550 5.7.1 fix reverse DNS for 192.0.2.1', 'policy', 'blocked'],
      [
        '550 5.7.1 Our system has detected that this message is likely unsolicited mail.',
        'content',
        'spamdetected',
        'message',
      ],
      ['554 message rejected as spam', 'content', 'spamdetected', 'message'],
      ['554 5.7.1 Blacklisted URL in message (URIBL)', 'content', 'spamdetected', 'message'],
      [
        '552 5.7.0 This message was blocked because its content presents a potential security issue.',
        'content',
        'policyviolation',
        'message',
      ],
      ['550 Virus detected', 'content', 'virusdetected', 'message'],
      ['552 5.3.4 whatever', 'size', 'toobig', 'mail'],
      [
        "552 5.2.3 Your message exceeded Google's message size limits.",
        'size',
        'toobig',
        'message',
      ],
      ['552 whatever', 'size', 'toobig', 'message'],
      ['503 5.5.1 whatever', 'syntax', 'systemerror'],
      ['501 whatever', 'syntax', 'systemerror'],
      ['553 bad address form', 'syntax', 'systemerror'],
      ['501 Bad address syntax', 'syntax', 'systemerror'],
      ['553 5.1.8 Domain of sender address does not exist', 'syntax', 'rejected', 'mail'],
      ['554 5.7.1 <b@sink.test>: Relay access denied', 'unknown', 'policyviolation'],
    ],
  ],
]

for (const [title, effect, rows] of REPLIES) {
  describe(title, () => {
    for (const [line, replyClass, reason, stage] of rows) {
      it(`${stage ?? 'rcpt'}: ${line}`, () => {
        assert.partialDeepStrictEqual(classify(line, stage), {
          class: replyClass,
          reason,
          ...effect,
        })
      })
    }
  })
}

test('a throttle that says that retrying is useless suspends the site', () => {
  const verdict = classify(
    '421 4.7.1 [TS03] All messages from 192.0.2.1 will be permanently deferred; Retrying will NOT succeed.',
  )
  assert.deepEqual([verdict.isFinal, verdict.site], [false, 'suspend'])
})

test('an unexplained 5yz fails with a strike', () => {
  for (const line of ['550', '550 no', '554 5.0.0 no', '554 go away']) {
    const { isFinal, isHard, isStrike, class: replyClass } = classify(line)
    assert.deepEqual([isFinal, isHard, isStrike, replyClass], [true, false, true, 'unknown'], line)
  }
})

test('a rule can be limited to a provider', () => {
  assert.equal(classify('501 5.0.2 x', 'mail', 'smtp-in.orange.fr').class, 'policy')
  assert.equal(classify('501 5.0.2 x', 'mail', 'mx.example.net').class, 'syntax')
})

test('a reply before RCPT never counts against the address, and a reply to the data never against the mailbox', () => {
  for (const [line, stage, reason, isHard] of [
    ['550 5.1.2 Unknown domain', 'ehlo', 'blocked', false],
    ['550 no such user', 'greeting', 'blocked', false],
    ['550 5.1.1 User unknown', 'mail', 'rejected', false],
    ['550 5.1.2 x', 'mail', 'rejected', false],
    ['550 User unknown', 'message', 'filtered', false],
    ['550 mailbox unavailable', 'data', 'filtered', false],
    ['550 5.1.1 User unknown', 'message', 'userunknown', true],
    ['550 User unknown', 'rcpt', 'userunknown', true],
    ['550 5.2.1 User unknown', 'rcpt', 'userunknown', true],
  ] as const) {
    const verdict = classify(line, stage)
    assert.deepEqual([verdict.reason, verdict.isHard], [reason, isHard], `${stage}: ${line}`)
  }
  const filtered = (host: string) => classify('550 : User unknown', 'message', host).reason
  assert.deepEqual([filtered('lsean.ezweb.ne.jp'), filtered('mx.test')], ['filtered', 'filtered'])
  const docomo = (stage: Stage) => classify('550 Unknown user', stage, 'mfsmax.docomo.ne.jp').isHard
  assert.deepEqual([docomo('rcpt'), docomo('message')], [true, false])
})

test('text beats the enhanced code, which beats the reply code', () => {
  assert.equal(classify('550 5.2.2 User unknown').reason, 'userunknown')
  assert.equal(classify('552 5.1.1 no').reason, 'userunknown')
  assert.equal(classify('550 5.1.1 mailbox is full').class, 'quota')
})

test('words in an address match no rule', () => {
  for (const line of [
    '550 <user.unknown@spamhaus.org>: no',
    '550 spam-quota.exceeded@blocked.example no',
  ]) {
    assert.equal(classify(line).class, 'unknown', line)
  }
})

test('a 421 in a session means a new connection; at the beginning it slows the site', () => {
  assert.equal(classify('421 closing', 'rcpt').site, 'reconnect')
  assert.equal(classify('421 4.4.2 idle timeout', 'mail').site, 'reconnect')
  assert.equal(classify('421 4.3.2 shutting down', 'greeting').site, 'slow')
  assert.equal(classify('451 4.3.0 later', 'rcpt').site, 'slow')
})

test('a refusal of credentials or TLS by a smarthost does not fail the message', () => {
  for (const [line, stage] of [
    ['535 5.7.8 authentication failed', 'auth'],
    ['530 5.7.0 user unknown', 'auth'],
    ['502 5.5.1 what?', 'starttls'],
  ] as const) {
    const { isFinal, reason } = classify(line, stage)
    assert.deepEqual([isFinal, reason], [false, 'securityerror'], line)
  }
})

test('a delay named in the reply is used, from a second to six hours', () => {
  for (const [line, ms] of [
    ['451 4.7.1 Greylisted, try again in 300 seconds', 300_000],
    ['450 4.2.0 Greylisted for 60 seconds', 60_000],
    ['451 try again in 5 minutes', 5 * MINUTE_MS],
    ['450 4.7.1 Please retry after 2 hours', 2 * HOUR_MS],
    ['450 Greylisting in action, please come back in 00:04:30', 270_000],
    ['421 4.7.0 wait at least 15 min', 15 * MINUTE_MS],
    ['451 4.3.0 try again in 10m', 10 * MINUTE_MS],
    ['451 try again in 0 seconds', 1_000],
    ['451 try again in 999999 hours', 6 * HOUR_MS],
    ['451 4.3.0 database down', null],
    ['451 4.3.0 in 2026 we moved', null],
    ['550 5.1.1 user unknown, try again in 5 minutes', null],
  ] as const) {
    assert.equal(classify(line).retryAfterMs, ms, line)
  }
})

test('a late bounce is always final, and only the class hard suppresses', () => {
  for (const [line, reason, isHard, isStrike] of [
    ['450 4.1.1 User unknown in virtual alias table', 'userunknown', true, false],
    ['550 5.1.1 no', 'userunknown', true, false],
    ['452 4.2.2 over quota', 'mailboxfull', false, true],
    ['421 4.7.0 [TSS04] deferred', 'blocked', false, false],
    ['421 4.4.7 delivery time expired', 'expired', false, false],
    ['550 5.7.1 blocked using zen.spamhaus.org', 'blocked', false, false],
  ] as const) {
    const verdict = classify(line, 'late')
    assert.deepEqual(
      [verdict.isFinal, verdict.reason, verdict.isHard, verdict.isStrike],
      [true, reason, isHard, isStrike],
      line,
    )
    assert.deepEqual([verdict.site, verdict.retryAfterMs], ['none', null], line)
  }
})

test('a late report without a reply code is classified by its status', () => {
  const late = (enhancedCode: string | null) =>
    classifyReply({ stage: 'late', reply: { code: 0, enhancedCode, text: '' } })
  assert.deepEqual([late('5.1.1').isHard, late('4.4.7').reason], [true, 'expired'])
  assert.deepEqual([late(null).isFinal, late(null).isHard], [true, false])
})

test('an attempt without a reply gets a verdict of its own', () => {
  assert.equal(classifyLocally('network').isFinal, false)
  assert.equal(classifyLocally('dns').isFinal, false)
  assert.equal(classifyLocally('tls').reason, 'securityerror')
  assert.deepEqual(
    [classifyLocally('unknown-host').isHard, classifyLocally('null-mx').isHard],
    [true, true],
  )
  for (const cause of ['loop', 'size', 'smtputf8', '8bit'] as const) {
    const { isFinal, isHard, isStrike } = classifyLocally(cause)
    assert.deepEqual([isFinal, isHard, isStrike], [true, false, false], cause)
  }
})

/** Words of the rules, for random texts. */
const WORDS = [
  'user',
  'unknown',
  'mailbox',
  'full',
  'blocked',
  'spam',
  'try',
  'again',
  'in',
  '5',
  'minutes',
  'a@b.c',
  'is',
  'not',
  'exceeded',
  'rate',
  'limit',
  'policy',
  'sender',
  '<',
  '5.1.1',
  '\n',
]
const SESSION_STAGES: Stage[] = ['connect', 'greeting', 'ehlo', 'mail', 'rcpt', 'data', 'message']
const anyReply = fc.record({
  code: fc.integer({ min: 400, max: 599 }),
  enhancedCode: fc.option(fc.tuple(fc.nat(8), fc.nat(60)).map(([x, y]) => `5.${x}.${y}`)),
  text: fc.oneof(
    fc.array(fc.constantFrom(...WORDS)).map((list) => list.join(' ')),
    fc.string(),
  ),
})

test('a 5yz about DNS or the network is final, except at AUTH and STARTTLS', () => {
  for (const [reply, replyClass] of [
    [{ code: 550, enhancedCode: '5.4.3', text: 'trouble with the directory' }, 'dns'],
    [{ code: 550, enhancedCode: null, text: 'DNS lookup failure for your domain' }, 'dns'],
    [{ code: 554, enhancedCode: '5.4.7', text: 'no luck' }, 'network'],
  ] as const) {
    const { isFinal, isHard, isStrike, ...verdict } = classifyReply({ stage: 'rcpt', reply })
    assert.deepEqual([verdict.class, isFinal], [replyClass, true], reply.text)
    assert.deepEqual([isHard, isStrike], [false, false], reply.text)
    const transient = { ...reply, code: reply.code - 100 }
    assert.equal(classifyReply({ stage: 'rcpt', reply: transient }).isFinal, false)
    assert.equal(classifyReply({ stage: 'auth', reply }).isFinal, false)
    assert.equal(classifyReply({ stage: 'starttls', reply }).isFinal, false)
  }
})

test('in session a 4yz is never final and never suppresses; only its class retries a 5yz', () => {
  const retried = new Set<ReplyClass>(['too_fast', 'throttle', 'connections', 'session', 'block'])
  fc.assert(
    fc.property(anyReply, fc.constantFrom(...SESSION_STAGES), (reply, stage) => {
      const verdict = classifyReply({ stage, reply })
      if (reply.code < 500) {
        assert.deepEqual([verdict.isFinal, verdict.isHard, verdict.isStrike], [false, false, false])
      } else {
        assert.equal(verdict.isFinal, !retried.has(verdict.class))
      }
      if (verdict.isHard) assert.equal(verdict.class, 'hard')
      assert.ok(verdict.retryAfterMs === null || verdict.retryAfterMs <= 6 * HOUR_MS)
    }),
    { numRuns: 400 },
  )
})

test('a hostile text of 64 KB takes milliseconds', () => {
  const pieces = [
    'user ',
    'account a ',
    'exceed ',
    'a',
    'a@',
    'is the mailbox ',
    'sender ',
    ' ',
    '(',
  ]
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(65_536 / piece.length))
    const reply = { code: 550, enhancedCode: null, text }
    withinCpuMs(1_000, () => classifyReply({ stage: 'rcpt', reply }), piece)
  }
})
