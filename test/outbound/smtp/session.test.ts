import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SmtpEnvelope } from '../../../src/outbound/smtp/commands.ts'
import { openSession, type SessionOptions } from '../../../src/outbound/smtp/open-session.ts'
import type { SendOptions } from '../../../src/outbound/smtp/session.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import {
  drop,
  type Sink,
  type SinkAction,
  type SinkCommand,
  type SinkOptions,
  silence,
  startSink,
} from '../../fakes/smtp-sink.ts'

const message = 'Subject: x\r\n\r\n.dot\r\nx\r\n'

async function sessionWith(
  t: TestContext,
  options: SinkOptions = {},
  client: Partial<SessionOptions> = {},
) {
  const sink = await startSink(options)
  t.after(() => sink.stop())
  const opened = await openSession({
    host: 'mx.sink.test',
    address: '127.0.0.1',
    port: sink.port,
    ehloName: 'out.example.org',
    ...client,
  })
  assert.ok(opened.ok)
  t.after(() => opened.session.close())
  const { session } = opened
  const send = async (input: Partial<SmtpEnvelope> & SendOptions & { message?: string } = {}) => {
    const { outcome, isStale } = await session.send(
      { ...envelope, ...input },
      input.message ?? message,
      input,
    )
    return { ...outcome, isStale }
  }
  return { sink, session, send }
}

const envelope = { reversePath: 'a@example.org', recipient: 'b@sink.test', needsSmtputf8: false }
const certificate = makeCertificate(['mx.sink.test'])
const octetsOf = (text: string) => Buffer.from(text).toString('latin1')
const sequential = ['8BITMIME']

/** Gives this reply to the first command of the verb, and the usual reply to later ones. */
function firstTime(verb: string, action: SinkAction) {
  return (command: SinkCommand) =>
    command.verb === verb && command.count === 1 ? action : undefined
}

function assertOne(sink: Sink): void {
  assert.equal(sink.messages.length, 1)
  assert.deepEqual(sink.messages[0]?.bytes.toString(), message)
}

test('messages go one after another over one connection, each with its four steps', async (t) => {
  const { sink, session, send } = await sessionWith(t)
  for (let n = 0; n < 3; n++) {
    const result = await send({ recipient: `r${n}@sink.test` })
    assert.equal(result.result, 'delivered')
    assert.equal(result.isMaybeDelivered, false)
    assert.deepEqual(result.reply, { code: 250, enhancedCode: '2.0.0', text: 'Ok: queued' })
    assert.deepEqual(
      result.steps.map(({ step, reply }) => [step, reply?.code]),
      [
        ['mail', 250],
        ['rcpt', 250],
        ['data', 354],
        ['message', 250],
      ],
    )
  }
  assert.equal(sink.connectionCount(), 1)
  assert.equal(session.sendCount, 3)
  assert.deepEqual(
    sink.messages.map(({ from, to }) => [from, ...to]),
    [0, 1, 2].map((n) => ['a@example.org', `r${n}@sink.test`]),
  )
  assert.deepEqual(sink.messages[2]?.bytes.toString(), message)
  assert.equal(sink.lines.includes('RSET'), false)
})

test('without PIPELINING each command waits for its reply, and the null sender is <>', async (t) => {
  const { sink, send } = await sessionWith(t, { ehlo: [] })
  assert.equal((await send({ reversePath: '' })).result, 'delivered')
  assert.deepEqual(sink.lines.slice(1), ['MAIL FROM:<>', 'RCPT TO:<b@sink.test>', 'DATA'])
})

test('SIZE, 8BITMIME and SMTPUTF8 are used if they are offered and needed', async (t) => {
  const ehlo = ['SIZE 1000', '8bitmime', 'SMTPUTF8', 'PIPELINING']
  const { sink, send } = await sessionWith(t, { ehlo })
  await send()
  await send({ message: octetsOf('a: ü\r\n'), recipient: 'ü@sink.test', needsSmtputf8: true })
  const mails = sink.lines.filter((line) => line.startsWith('MAIL'))
  assert.deepEqual(mails, [
    `MAIL FROM:<a@example.org> SIZE=${message.length}`,
    'MAIL FROM:<a@example.org> SIZE=7 BODY=8BITMIME SMTPUTF8',
  ])
  assert.equal(sink.messages[1]?.to[0], 'ü@sink.test')
})

test('a message that the server cannot accept is refused locally, and nothing is sent', async (t) => {
  const { sink, session, send } = await sessionWith(t, { ehlo: ['SIZE 10', 'PIPELINING'] })
  for (const [input, replyClass, error] of [
    [{}, 'size', /5\.3\.4/],
    [{ message: 'a: b\r\n', needsSmtputf8: true }, 'syntax', /5\.6\.7/],
    [{ message: octetsOf('ü') }, 'syntax', /5\.6\.3/],
  ] as const) {
    const { result, verdict, error: text } = await send(input)
    assert.deepEqual([result, verdict?.class, verdict?.isHard], ['bounced', replyClass, false])
    assert.match(text ?? '', error)
  }
  assert.deepEqual(sink.lines, ['EHLO out.example.org'])
  assert.equal(session.isUsable, true)
  assert.equal((await send({ message: 'a: b\r\n' })).result, 'delivered')
})

test('S6: CR, LF, NUL, blanks and brackets in an envelope are never sent', async (t) => {
  const { sink, send } = await sessionWith(t)
  for (const bad of [
    'a@b\r\nRCPT TO:<x@y',
    'a@b\n',
    'a\0@b',
    'a b@c',
    'a@b>',
    '<a@b',
    'ü@b',
    '\ud800@b',
    `${'a'.repeat(255)}@b`,
  ]) {
    await assert.rejects(send({ recipient: bad }), TypeError, JSON.stringify(bad))
    await assert.rejects(send({ reversePath: bad }), TypeError, JSON.stringify(bad))
  }
  await assert.rejects(send({ recipient: '' }), TypeError)
  await assert.rejects(send({ message: 'a\n.\nb' }), TypeError)
  assert.deepEqual(sink.lines, ['EHLO out.example.org'])
  assert.equal((await send()).result, 'delivered')
})

test('a session sends one message at a time', async (t) => {
  const { session, send } = await sessionWith(t)
  const first = send()
  assert.equal(session.isUsable, false)
  await assert.rejects(send(), TypeError)
  assert.equal((await first).result, 'delivered')
})

for (const ehlo of [undefined, sequential]) {
  const how = ehlo ? 'in turn' : 'pipelined'

  for (const [verb, step] of [
    ['MAIL', 'mail'],
    ['RCPT', 'rcpt'],
    ['DATA', 'data'],
    ['MESSAGE', 'message'],
  ] as const) {
    for (const [reply, outcome] of [
      ['451 4.3.0 later', 'deferred'],
      ['550 5.7.1 no', 'bounced'],
    ] as const) {
      test(`F5: ${reply.slice(0, 3)} at ${verb}, ${how}: ${outcome}, and the next message goes`, async (t) => {
        const { sink, session, send } = await sessionWith(t, {
          ...(ehlo ? { ehlo } : {}),
          respond: firstTime(verb, reply),
        })
        const refused = await send()
        assert.equal(refused.result, outcome)
        assert.equal(refused.reply?.code, Number(reply.slice(0, 3)))
        assert.equal(
          refused.steps.find((entry) => entry.reply?.code === refused.reply?.code)?.step,
          step,
        )
        assert.equal(refused.isMaybeDelivered, false)
        assert.equal(sink.messages.length, 0)
        assert.equal(session.isUsable, true)
        assert.equal((await send()).result, 'delivered')
        assertOne(sink)
        assert.equal(sink.connectionCount(), 1)
        assert.equal(
          sink.lines.filter((line) => line === 'RSET').length,
          verb === 'MESSAGE' ? 0 : 1,
        )
      })
    }
  }

  test(`F2: a connection lost in MAIL, RCPT or DATA, ${how}, defers and is not maybe delivered`, async (t) => {
    for (const verb of ['MAIL', 'RCPT', 'DATA']) {
      const { sink, session, send } = await sessionWith(t, {
        ...(ehlo ? { ehlo } : {}),
        respond: firstTime(verb, drop),
      })
      const result = await send()
      assert.equal(result.result, 'deferred', verb)
      assert.equal(result.isMaybeDelivered, false, verb)
      assert.equal(result.isStale, false, verb)
      assert.match(result.error ?? '', new RegExp(verb.toLowerCase()))
      assert.equal(result.verdict?.class, 'network')
      assert.equal(session.isUsable, false)
      assert.equal(sink.messages.length, 0)
    }
  })
}

test('F5: DATA accepted without a recipient gets a lone dot, and no empty message is delivered', async (t) => {
  for (const dotReply of ['554 5.5.1 no valid recipients', '250 2.0.0 Ok']) {
    const { sink, session, send } = await sessionWith(t, {
      respond: ({ verb, count }) => {
        if (count > 1) return undefined
        if (verb === 'RCPT') return '550 5.1.1 No such user'
        if (verb === 'DATA') return '354 go on then'
        return verb === 'MESSAGE' ? dotReply : undefined
      },
    })
    const refused = await send()
    assert.deepEqual([refused.result, refused.verdict?.isHard], ['bounced', true])
    assert.equal(refused.reply?.enhancedCode, '5.1.1')
    assert.equal(session.isUsable, true)
    assert.equal((await send()).result, 'delivered')
    assert.deepEqual(sink.messages.at(-1)?.bytes.toString(), message)
    assert.ok(
      sink.messages.slice(0, -1).every(({ to, bytes }) => to.length === 0 && bytes.length === 0),
    )
  }
})

test('F5: if recipient and DATA are accepted after a refused sender, no dot is sent', async (t) => {
  const { sink, session, send } = await sessionWith(t, {
    respond: ({ verb }) => {
      if (verb === 'MAIL') return '550 5.7.1 not you'
      if (verb === 'RCPT') return '250 2.1.5 Ok'
      return verb === 'DATA' ? '354 go on' : undefined
    },
  })
  assert.equal((await send()).result, 'bounced')
  assert.equal(session.isUsable, false)
  assert.equal(sink.messages.length, 0)
})

test('F2: a peer lost after the final dot may have the message', async (t) => {
  const { session, send } = await sessionWith(t, { respond: firstTime('MESSAGE', drop) })
  const result = await send()
  assert.deepEqual([result.result, result.isMaybeDelivered], ['deferred', true])
  assert.equal(result.steps.at(-1)?.step, 'message')
  assert.equal(session.isUsable, false)
})

test('a peer lost after the final dot under TLS may have the message', async (t) => {
  const { session, send } = await sessionWith(t, {
    tls: certificate,
    respond: firstTime('MESSAGE', drop),
  })
  const result = await send()
  assert.match(session.tls ?? '', /^TLSv1/)
  assert.deepEqual([result.result, result.isMaybeDelivered], ['deferred', true])
})

test('F2: a peer without a reply to the final dot in time may have the message', async (t) => {
  const { send } = await sessionWith(
    t,
    { respond: firstTime('MESSAGE', silence) },
    { timeouts: { message: 30 } },
  )
  const result = await send()
  assert.deepEqual([result.result, result.isMaybeDelivered], ['deferred', true])
  assert.match(result.error ?? '', /timed out/)
})

test('every phase has a time limit', async (t) => {
  for (const verb of ['MAIL', 'RCPT', 'DATA']) {
    const limits = { mail: 5_000, rcpt: 5_000, data: 5_000, [verb.toLowerCase()]: 30 }
    const { send } = await sessionWith(
      t,
      { ehlo: sequential, respond: firstTime(verb, silence) },
      { timeouts: limits },
    )
    const result = await send()
    assert.equal(result.result, 'deferred')
    assert.match(result.error ?? '', new RegExp(`timed out.*${verb.toLowerCase()}`))
  }
})

test('a 421 at any command closes the connection and defers', async (t) => {
  for (const verb of ['MAIL', 'RCPT', 'DATA', 'MESSAGE']) {
    const { sink, session, send } = await sessionWith(t, {
      respond: firstTime(verb, '421 4.7.0 slow down'),
    })
    const result = await send()
    assert.equal(result.result, 'deferred', verb)
    assert.equal(result.reply?.code, 421, verb)
    assert.equal(result.verdict?.countsAsFailure, false, verb)
    assert.equal(result.isStale, false, verb)
    assert.equal(result.isMaybeDelivered, false, verb)
    assert.equal(session.isUsable, false, verb)
    assert.equal(sink.messages.length, 0)
  }
})

test('a connection that the peer closed while idle makes the message stale', async (t) => {
  const { session, send } = await sessionWith(t, {
    respond: ({ verb }) =>
      verb === 'MESSAGE' ? (socket) => socket.end('250 Ok\r\n421 idle, bye\r\n') : undefined,
  })
  assert.equal((await send()).result, 'delivered')
  assert.equal(session.isUsable, false)
  const again = await send()
  assert.deepEqual([again.result, again.isStale], ['deferred', true])
  assert.equal(again.isMaybeDelivered, false)
})

test('a close or a 421 that crosses the next MAIL makes it stale, not an attempt', async (t) => {
  for (const action of [drop, '421 4.4.2 idle timeout']) {
    const { sink, send } = await sessionWith(t, {
      respond: ({ verb, count }) => (verb === 'MAIL' && count === 2 ? action : undefined),
    })
    assert.equal((await send()).result, 'delivered')
    const second = await send()
    assert.deepEqual([second.result, second.isStale], ['deferred', true])
    assert.equal(sink.messages.length, 1)
  }
})

test('a 421 with a reason at the next MAIL decides about the message', async (t) => {
  const { send } = await sessionWith(t, {
    respond: ({ verb, count }) =>
      verb === 'MAIL' && count === 2 ? '421 4.7.28 unusual rate of mail' : undefined,
  })
  await send()
  const second = await send()
  assert.deepEqual([second.isStale, second.verdict?.site], [false, 'throttle'])
})

test('an unexpected reply ends the connection and never decides about the message', async (t) => {
  const early = '354 go on\r\n250 2.0.0 accepted already'
  const { sink, session, send } = await sessionWith(t, { respond: firstTime('DATA', early) })
  const result = await send()
  assert.equal(result.result, 'deferred')
  assert.equal(result.isMaybeDelivered, false)
  assert.match(result.error ?? '', /without a command/)
  assert.equal(session.isUsable, false)
  assert.equal(sink.messages.length, 0)
})

test('an unexpected reply after the last one ends the session; the message stays delivered', async (t) => {
  const { session, send } = await sessionWith(t, {
    respond: firstTime('MESSAGE', '250 Ok\r\n250 and the next one too'),
  })
  assert.equal((await send()).result, 'delivered')
  assert.equal(session.isUsable, false)
  assert.equal((await send()).isStale, true)
})

test('replies of the wrong kind end the connection', async (t) => {
  for (const [verb, reply] of [
    ['MAIL', '354 go on'],
    ['RCPT', '334 who'],
    ['DATA', '250 Ok'],
    ['MESSAGE', '354 more'],
    ['MESSAGE', 'what?'],
    ['MESSAGE', `552-${'x'.repeat(70_000)}`],
  ] as const) {
    const { sink, session, send } = await sessionWith(t, { respond: firstTime(verb, reply) })
    const result = await send()
    assert.equal(result.result, 'deferred', reply.slice(0, 20))
    assert.equal(session.isUsable, false, reply.slice(0, 20))
    assert.equal(sink.messages.length, 0)
  }
})

test('S18: control characters of a reply are escaped before they are stored', async (t) => {
  const { send } = await sessionWith(t, {
    respond: firstTime('RCPT', '550 5.1.1 \x1b[2Juser unknown\x07'),
  })
  const result = await send()
  assert.equal(result.reply?.text, '\\x1b[2Juser unknown\\x07')
  assert.equal(result.verdict?.reason, 'userunknown')
})

test('a RSET that is refused makes the next message stale', async (t) => {
  const { session, send } = await sessionWith(t, {
    respond: ({ verb, count }) => {
      if (verb === 'RCPT' && count === 1) return '450 4.2.1 later'
      return verb === 'RSET' ? '502 what?' : undefined
    },
  })
  assert.equal((await send()).result, 'deferred')
  const next = await send()
  assert.deepEqual([next.result, next.isStale], ['deferred', true])
  assert.equal(session.isUsable, false)
})

test('a large message goes in blocks and arrives whole', async (t) => {
  const { sink, send } = await sessionWith(t)
  const line = `.${'x'.repeat(76)}\r\n`
  const large = `a: b\r\n\r\n${line.repeat(13_000)}`
  assert.equal((await send({ message: large })).result, 'delivered')
  assert.ok(sink.messages[0]?.bytes.equals(Buffer.from(large)))
})

test('a refusal in the middle of a large message decides and ends the connection', async (t) => {
  const large = `a: b\r\n\r\n${'x\r\n'.repeat(2_000_000)}`
  const { session, send } = await sessionWith(t, {
    respond: firstTime('DATA', (socket) => {
      socket.removeAllListeners('data')
      socket.write('354 go on\r\n')
      socket.once('data', () => {
        socket.pause()
        socket.write('552 5.3.4 too large\r\n')
      })
    }),
  })
  const result = await send({ message: large })
  assert.deepEqual([result.result, result.verdict?.class], ['bounced', 'size'])
  assert.equal(session.isUsable, false)
})

test('a peer that stops reading a large message is left at the limit of a block', async (t) => {
  const large = `a: b\r\n\r\n${'x\r\n'.repeat(4_000_000)}`
  const { send } = await sessionWith(
    t,
    {
      respond: firstTime('DATA', (socket) => {
        socket.removeAllListeners('data')
        socket.pause()
        socket.write('354 go on\r\n')
      }),
    },
    { timeouts: { block: 50 } },
  )
  const result = await send({ message: large })
  assert.deepEqual([result.result, result.isMaybeDelivered], ['deferred', false])
  assert.match(result.error ?? '', /timed out/)
})

test('the octets of a message arrive unchanged, over TLS too', async (t) => {
  const octets = Array.from({ length: 256 }, (_, at) => String.fromCharCode(at)).join('')
  const wide = `a: b\r\n\r\n${octets.replace(/[\r\n]/g, '')}\r\n`.repeat(100)
  for (const options of [{}, { tls: certificate }]) {
    const { sink, send } = await sessionWith(t, options)
    assert.equal((await send({ message: wide })).result, 'delivered')
    assert.equal(sink.messages[0]?.bytes.toString('latin1'), wide)
  }
})

test('the times of the steps count from the beginning of the attempt', async (t) => {
  let clock = 5_000
  const { send } = await sessionWith(t, {}, { now: () => clock++ })
  const result = await send({ beganAt: clock - 100 })
  assert.ok(result.steps.every(({ at, durationMs }) => at >= 100 && durationMs >= 0))
  assert.ok(result.durationMs >= 100)
})
