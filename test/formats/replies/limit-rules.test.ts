/** What replies of providers limit: connections, one session, or the rate of mail. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyReply } from '../../../src/formats/replies/classify-reply.ts'
import type { ReplyClass, SiteAction, Stage } from '../../../src/formats/replies/reply.ts'

type Row = [server: string, stage: Stage, reply: string]

const LIMITS: Partial<Record<ReplyClass, { site: SiteAction; rows: Row[] }>> = {
  connections: {
    site: 'fewer connections',
    rows: [
      ['any', 'greeting', '421 4.3.2 too many connections'],
      ['any', 'ehlo', '421 4.7.0 Too many sessions from your host'],
      ['any', 'mail', '421 4.3.2 too many concurrent connections'],
      ['any', 'rcpt', '450 4.7.1 Too many simultaneous SMTP connections'],
      ['Postfix', 'greeting', '421 4.7.0 mx.dest.test Error: too many connections from 192.0.2.1'],
      [
        'Postfix',
        'starttls',
        '421 4.7.0 mx.dest.test Error: too many new TLS sessions from 192.0.2.1',
      ],
      [
        'Exim',
        'greeting',
        '421 mx.dest.test: Too many concurrent SMTP connections; please try again later.',
      ],
      [
        'Exim, cPanel',
        'greeting',
        '421 Too many concurrent SMTP connections from this IP address; please try again later.',
      ],
      [
        'Exchange',
        'greeting',
        '421 4.3.2 The maximum number of concurrent server connections has exceeded a limit, closing transmission channel',
      ],
      [
        'Exchange',
        'greeting',
        '421 4.3.2 The maximum number of concurrent connections has exceeded a limit, closing transmission channel',
      ],
      ['Exchange', 'mail', '452 4.3.2 Connection rate limit exceeded.'],
      [
        'Outlook.com',
        'greeting',
        '421 RP-003 The mail server IP connecting to Outlook.com server has exceeded the connection limit allowed.',
      ],
      ['Cisco', 'greeting', '421 #4.4.5 Too many connections from your host.'],
      ['Cisco', 'greeting', '421 #4.4.5 Too many TCP connections to this host'],
      ['Proofpoint', 'greeting', '421 4.7.0 mx.dest.test too many open sessions from 192.0.2.1'],
      ['Mimecast', 'greeting', '421 Too many simultaneous connections from your IP, please retry'],
      ['GMX', 'greeting', '421 Service unavailable\nToo many connections'],
      ['T-Online', 'greeting', '421 Zu viele gleichzeitige Verbindungen von 192.0.2.1'],
      [
        'Orange',
        'greeting',
        '421 mwinf5c04 ME Trop de connexions, veuillez verifier votre configuration. Too many connections, slow down. OFR004_104 [104]',
      ],
      ['Laposte', 'greeting', '421 4.7.0 LPN007_104'],
      ['Cox', 'greeting', '421 eastrmimpi306 cox too many sessions from 192.0.2.9 AUP#CXCNCT'],
      ['Spectrum', 'greeting', '421 AUP#In-1310'],
      ['NetEase', 'greeting', '421 HL:ICC 163 smtp8'],
      [
        'Comcast',
        'greeting',
        '421 4.1.0 192.0.2.1 has exceeded the maximum number of simultaneous connections',
      ],
      ['Amavis', 'greeting', '421 4.7.0 Maximum connection limit for this host'],
      ['any', 'greeting', '421 4.7.0 too many TCP/IP connections'],
      ['any', 'greeting', '421 4.7.0 Too many client connections, try again later'],
      ['any', 'greeting', '421 4.7.0 Too many host connections'],
      ['any', 'starttls', '421 4.7.0 too many unauthenticated TLS client connections'],
      ['any', 'greeting', '421 4.7.0 Maximum number of TCP/IP connections reached'],
      ['any', 'mail', '421 4.7.0 Maximum allowed client sessions exceeded'],
      ['any', 'greeting', '421 4.7.0 Number of inbound connections exceeds the limit'],
    ],
  },
  session: {
    site: 'reconnect',
    rows: [
      ['any', 'rcpt', '452 4.5.3 too many recipients'],
      ['any', 'rcpt', '452 Too many recipients'],
      ['any', 'rcpt', '452 4.5.3 whatever'],
      ['Postfix', 'rcpt', '452 4.5.3 Error: too many recipients'],
      ['Exim', 'rcpt', '452 too many recipients'],
      [
        'Google',
        'rcpt',
        '452 4.5.3 Your message has too many recipients. For more information, see https://support.google.com/mail',
      ],
      ['Yahoo', 'mail', '421 Max message per connection reached, closing transmission channel'],
      ['Yahoo', 'rcpt', '452 4.5.3 Too many recipients'],
      ['Exchange', 'rcpt', '452 4.5.3 Too many recipients'],
      [
        'Microsoft 365',
        'rcpt',
        '452 4.5.3 Recipients belong to multiple regions ATTR38 [BN8NAM11FT057.eop-nam11.prod.protection.outlook.com]',
      ],
      [
        'Barracuda',
        'rcpt',
        '452 4.5.3 Domain policy size per transaction exceeded, please try this recipient in a separate transaction.',
      ],
      ['OpenSMTPD', 'mail', '452 4.5.3 Too many recipients: Too many messages sent'],
      ['Mimecast', 'rcpt', '452 Too many recipients per connection'],
      ['Proofpoint', 'mail', '421 4.7.0 Too many messages in this session'],
      ['Exim', 'mail', '421 mx.dest.test: Too many messages in one connection'],
      ['any', 'mail', '450 4.7.1 Error: maximum number of messages per session exceeded'],
      [
        'GoDaddy',
        'mail',
        '421 mx.dest.test message limit per session reached, please open a new session',
      ],
      ['any', 'rcpt', '452 Recipient limit exceeded'],
      ['any', 'rcpt', '452 Recipients count exceeded, send the rest later'],
      ['any', 'rcpt', '452 RCPT limit reached'],
      ['any', 'rcpt', '452 Maximum number of recipients exceeded'],
      ['any', 'rcpt', '452 max recipients per message is 100, received 120'],
      ['any', 'rcpt', '452 Number of recipients exceeds limit'],
    ],
  },
  throttle: {
    site: 'throttle',
    rows: [
      ['Postfix', 'rcpt', '450 4.7.1 Error: too many recipients from 192.0.2.1'],
      ['any', 'rcpt', '452 Too many recipients received this hour'],
      ['any', 'rcpt', '452 4.5.3 Too many recipients per hour'],
      [
        'cPanel',
        'rcpt',
        '451 Domain reader.test has exceeded the max emails per hour (100/100 (100%)) allowed.',
      ],
      [
        'Google',
        'mail',
        '421 4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address.',
      ],
      [
        'Outlook.com',
        'mail',
        '421 RP-001 The mail server IP connecting to Outlook.com server has exceeded the rate limit allowed',
      ],
      [
        'Outlook.com',
        'mail',
        '451 4.7.652 The mail server has exceeded the maximum number of messages per minute',
      ],
      [
        'Yahoo',
        'mail',
        '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
      ],
      ['Comcast', 'greeting', '421 4.1.0 192.0.2.1 Throttled - RL000003'],
      ['Mimecast', 'rcpt', '451 Account service is temporarily unavailable'],
      ['any', 'mail', '421 4.7.0 Too many messages from your host, slow down'],
      ['any', 'rcpt', '421 4.7.1 Too many messages'],
      ['any', 'rcpt', '452 4.5.3 Recipient has too many messages today'],
      ['any', 'rcpt', '550 Too many invalid recipients'],
      ['any', 'mail', '421 4.7.0 Too many messages on open connections'],
      ['any', 'mail', '421 4.7.0 Too many errors in recent sessions'],
      ['any', 'rcpt', '452 Recipient limit per hour exceeded'],
      ['any', 'rcpt', '452 4.5.3 Recipient limit exceeded for this hour'],
      ['any', 'rcpt', '452 Hourly recipient limit exceeded'],
      ['any', 'rcpt', '452 Daily recipients limit reached'],
      ['any', 'rcpt', '452 Maximum number of recipients per day exceeded'],
      ['any', 'rcpt', '452 Maximum number of recipients exceeded in the last 24 hours'],
    ],
  },
  // A limit of one mailbox is none of its site.
  too_fast: {
    site: 'none',
    rows: [
      [
        'Google',
        'rcpt',
        '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
      ],
      ['any', 'rcpt', '450 4.2.1 Too many messages to this recipient'],
    ],
  },
  quota: {
    site: 'none',
    rows: [
      ['any', 'rcpt', '452 4.2.2 Recipient limit exceeded'],
      ['any', 'rcpt', '452 Recipient mailbox is full, limit exceeded'],
    ],
  },
}

for (const [replyClass, { site, rows }] of Object.entries(LIMITS)) {
  test(`these replies limit ${replyClass}, and ask of the site: ${site}`, () => {
    for (const [server, stage, line] of rows) {
      const [, code, enhancedCode = null, text = ''] =
        /^(\d{3}) (?:(\d\.\d{1,3}\.\d{1,3}) )?([\s\S]*)$/.exec(line) ?? []
      const verdict = classifyReply({ stage, reply: { code: Number(code), enhancedCode, text } })
      const about = `${server}: ${line}`
      assert.deepEqual([verdict.class, verdict.site], [replyClass, site], about)
      assert.equal(verdict.isFinal, false, about)
      assert.equal(verdict.countsAsFailure, site === 'none', about)
    }
  })
}
