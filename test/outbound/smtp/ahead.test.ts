/** Envelopes that are written behind the previous message, in one write (RFC 2920 section 3.1). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SmtpEnvelope } from '../../../src/outbound/smtp/commands.ts'
import { openSession, type SessionOptions } from '../../../src/outbound/smtp/open-session.ts'
import { createPatientHosts, type NextMessage } from '../../../src/outbound/smtp/session.ts'
import {
  drop,
  type SinkCommand,
  type SinkOptions,
  silence,
  startSink,
} from '../../fakes/smtp-sink.ts'

const text = 'Subject: x\r\n\r\n.dot\r\nx\r\n'

async function sessionWith(
  t: TestContext,
  options: SinkOptions = {},
  client: Partial<SessionOptions> = {},
) {
  const sink = await startSink(options)
  t.after(() => sink.stop())
  const open = async () => {
    const opened = await openSession({
      host: 'mx.sink.test',
      address: '127.0.0.1',
      port: sink.port,
      ehloName: 'out.example.org',
      ...client,
    })
    assert.ok(opened.ok)
    t.after(() => opened.session.close())
    return opened.session
  }
  const session = await open()
  /** Sends a message with `following` behind it, if it may; tells what was asked for. */
  const send = async (
    own: NextMessage,
    { following, on = session }: { following?: NextMessage; on?: typeof session } = {},
  ) => {
    let isAsked = false
    const next = () => {
      isAsked = true
      return following ?? null
    }
    const { outcome, isStale } = await on.send(own.envelope, own.message, { next })
    return { ...outcome, isStale, isAsked }
  }
  return { sink, session, open, send }
}

function to(recipient: string, message = text): NextMessage {
  const envelope: SmtpEnvelope = { reversePath: 'a@example.org', recipient, needsSmtputf8: false }
  return { envelope, message }
}

const [first, second, third] = [to('1@sink.test'), to('2@sink.test'), to('3@sink.test')]

/** Answers the final dot of message `count` only when the next MAIL has arrived, with these replies. */
function afterNextMail(count: number, replies: string) {
  return ({ verb, count: seen }: SinkCommand) => {
    if (verb === 'MESSAGE' && seen === count) return () => undefined
    return verb === 'MAIL' && seen === count + 1 ? replies : undefined
  }
}

test('the envelope of the next message is written with the final dot', async (t) => {
  const respond = afterNextMail(2, '250 2.0.0 second\r\n250 2.1.0 Ok')
  const { sink, send } = await sessionWith(t, { respond })
  await send(first)
  const two = await send(second, { following: third })
  assert.deepEqual([two.result, two.reply?.text], ['delivered', 'second'])
  const three = await send(third)
  assert.equal(three.result, 'delivered')
  assert.deepEqual(
    three.steps.map(({ step, reply }) => [step, reply?.code]),
    [
      ['mail', 250],
      ['rcpt', 250],
      ['data', 354],
      ['message', 250],
    ],
  )
  assert.ok(three.steps.every(({ at, durationMs }) => at >= 0 && durationMs >= 0))
  assert.equal(sink.connectionCount(), 1)
  assert.deepEqual(
    sink.lines.filter((line) => /^(?:RCPT|RSET)/.test(line)),
    ['RCPT TO:<1@sink.test>', 'RCPT TO:<2@sink.test>', 'RCPT TO:<3@sink.test>'],
  )
  assert.ok(sink.messages.every(({ bytes }) => bytes.toString() === text))
})

test('the reply to a message is known before the replies to the next envelope', async (t) => {
  let answer = () => undefined as unknown
  const { send } = await sessionWith(t, {
    respond: ({ verb, count }) => {
      if (!['MAIL', 'RCPT', 'DATA'].includes(verb) || count !== 3) return undefined
      return (socket) => {
        answer = () => socket.write('250 2.1.0 Ok\r\n550 5.1.1 unknown\r\n554 5.5.1 no\r\n')
      }
    },
  })
  await send(first)
  // Nothing of the next envelope has an answer yet.
  assert.equal((await send(second, { following: third })).result, 'delivered')
  const rest = send(third)
  answer()
  const { reply, isStale } = await rest
  assert.deepEqual([reply?.code, isStale], [550, false])
})

test('nothing is asked for where the server is new, slow or takes no commands together', async (t) => {
  const clock = { at: 1_000 }
  const respond = ({ verb, count }: SinkCommand) => {
    if (verb === 'MESSAGE' && count === 2) clock.at += 251
    return undefined
  }
  const quick = await sessionWith(t, { respond }, { now: () => clock.at })
  assert.equal((await quick.send(first)).isAsked, false)
  assert.equal((await quick.send(second)).isAsked, true)
  assert.equal((await quick.send(third)).isAsked, false)
  assert.equal((await quick.send(first)).isAsked, true)
  const plain = await sessionWith(t, { ehlo: ['8BITMIME'] })
  await plain.send(first)
  assert.equal((await plain.send(second)).isAsked, false)
})

test('a connection lost before the reply to a message is stale for the next one', async (t) => {
  const { send, session } = await sessionWith(t, {
    respond: ({ verb, count }) => (verb === 'MESSAGE' && count === 2 ? drop : undefined),
  })
  await send(first)
  const two = await send(second, { following: third })
  assert.deepEqual([two.result, two.isMaybeDelivered, two.isStale], ['deferred', true, false])
  assert.equal(session.isUsable, false)
  const three = await send(third)
  assert.deepEqual([three.isStale, three.isMaybeDelivered], [true, false])
})

test('a host that does not read an envelope behind a message gets none again', async (t) => {
  const patientHosts = createPatientHosts()
  const respond = ({ verb, count }: SinkCommand) =>
    verb === 'MAIL' && count === 3 ? drop : undefined
  const { send, open, sink } = await sessionWith(t, { respond }, { patientHosts })
  await send(first)
  assert.equal((await send(second, { following: third })).result, 'delivered')
  assert.equal((await send(third)).isStale, true)
  const on = await open()
  await send(third, { on })
  assert.equal((await send(first, { on })).isAsked, false)
  assert.equal(sink.acceptedCount(), 4)
})

test('a host that got no envelope behind a message for an hour is given one again', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let at = 1
  t.mock.method(performance, 'now', () => at)
  const patientHosts = createPatientHosts()
  patientHosts.set('mx.sink.test', true)
  const pass = (ms: number) => {
    at += ms
    t.mock.timers.tick(ms)
  }
  pass(3_599_000)
  assert.equal(patientHosts.get('mx.sink.test'), true)
  pass(2_000)
  assert.equal(patientHosts.get('mx.sink.test'), undefined)
})

test('a session that ends by this side, or by the reply to a message, makes no host patient', async (t) => {
  const patientHosts = createPatientHosts()
  let arrive: () => void
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const { send, session } = await sessionWith(
    t,
    {
      respond({ verb, count }) {
        if (count === 3 && verb === 'DATA') return () => arrive()
        return count === 3 && ['MAIL', 'RCPT'].includes(verb) ? silence : undefined
      },
    },
    { patientHosts },
  )
  await send(first)
  await send(second, { following: third })
  const rest = send(third)
  await arrived
  session.close()
  assert.equal((await rest).isStale, true)
  assert.equal(patientHosts.get('mx.sink.test'), undefined)
  for (const reply of ['421 4.3.2 bye', '354 what']) {
    const respond = ({ verb, count }: SinkCommand) =>
      verb === 'MESSAGE' && count === 2 ? reply : undefined
    const ended = await sessionWith(t, { respond }, { patientHosts })
    await ended.send(first)
    await ended.send(second, { following: third })
    assert.equal((await ended.send(third)).isStale, true)
    assert.equal(patientHosts.get('mx.sink.test'), undefined)
  }
})

test('a complaint about commands that came too early refuses no message', async (t) => {
  const patientHosts = createPatientHosts()
  const complaints = ['554 SMTP synchronization error', '503 5.5.0 Improper use of pipelining']
  for (const complaint of complaints) {
    const respond = ({ verb, count }: SinkCommand) =>
      verb === 'MAIL' && count === 3 ? complaint : undefined
    const { send } = await sessionWith(t, { respond }, { patientHosts: createPatientHosts() })
    await send(first)
    await send(second, { following: third })
    assert.equal((await send(third)).isStale, true)
  }
  // Of a message alone, the same reply is what the server says about it.
  const { send } = await sessionWith(
    t,
    { respond: ({ verb }) => (verb === 'MAIL' ? complaints[0] : undefined) },
    { patientHosts },
  )
  assert.deepEqual([(await send(first)).isStale, (await send(first)).reply?.code], [false, 554])
})

test('nothing is begun behind a message that the server no longer takes', async (t) => {
  const respond = ({ verb, count }: SinkCommand) =>
    verb === 'DATA' && count === 2 ? '354 go on\r\n421 4.3.2 bye' : undefined
  const { send } = await sessionWith(t, { respond })
  await send(first)
  const two = await send(second, { following: third })
  assert.deepEqual([two.result, two.isMaybeDelivered, two.isAsked], ['deferred', false, false])
})

test('a second reply to a message decides nothing about the next email', async (t) => {
  const unknown = ({ verb, line }: SinkCommand) =>
    verb === 'RCPT' && line.includes('3@') ? '550 5.1.1 unknown' : undefined
  const cases = [
    ['550 5.7.1 spam', () => undefined],
    ['250 2.0.0 Ok', () => undefined],
    ['250 2.0.0 Ok', unknown],
    ['550 5.7.1 spam', unknown],
  ] as const
  for (const [reply, others] of cases) {
    const patientHosts = createPatientHosts()
    const twice = ({ verb, count }: SinkCommand) =>
      verb === 'MESSAGE' && count === 2 ? `${reply}\r\n${reply}` : undefined
    const respond = (command: SinkCommand) => twice(command) ?? others(command)
    const { send, session } = await sessionWith(t, { respond }, { patientHosts })
    await send(first)
    assert.equal((await send(second, { following: third })).reply?.text, reply.slice(10))
    assert.equal((await send(third)).isStale, true, reply)
    assert.equal(session.isUsable, false)
  }
})

test('a host that refuses the session, not an envelope behind a message, is given more', async (t) => {
  for (const [reply, isGivenMore] of [
    ['421 4.3.2 Service shutting down', true],
    ['452 4.5.3 Too many messages sent', true],
    ['451 4.3.0 later', true],
    ['550 5.7.1 no', false],
  ] as const) {
    const patientHosts = createPatientHosts()
    const respond = ({ verb, count }: SinkCommand) =>
      verb === 'MAIL' && count === 3 ? reply : undefined
    const { send } = await sessionWith(t, { respond }, { patientHosts })
    await send(first)
    await send(second, { following: third })
    assert.equal((await send(third)).isStale, true, reply)
    assert.equal(patientHosts.get('mx.sink.test') === undefined, isGivenMore, reply)
  }
})

test('a refusal that names an address like a word about pipelining is of the email', async (t) => {
  const respond = ({ verb, line }: SinkCommand) =>
    verb === 'RCPT' && line.includes('3@') ? '550 5.1.1 <pipeline@sink.test> unknown' : undefined
  const { send, sink } = await sessionWith(t, { respond })
  await send(first)
  await send(second, { following: third })
  const three = await send(third)
  assert.deepEqual([three.result, three.isStale], ['bounced', false])
  assert.equal((await send(first)).result, 'delivered')
  assert.equal(sink.lines.filter((line) => line === 'RSET').length, 1)
})

test('a refused message and a refused envelope are each of their own email', async (t) => {
  const { send, sink } = await sessionWith(t, {
    respond: ({ verb, count, line }) => {
      if (verb === 'MESSAGE' && count === 2) return '554 5.7.1 spam'
      return verb === 'RCPT' && line.includes('3@') ? '550 5.1.1 unknown' : undefined
    },
  })
  await send(first)
  assert.equal((await send(second, { following: third })).reply?.text, 'spam')
  const three = await send(third)
  assert.deepEqual([three.result, three.reply?.code, three.isStale], ['bounced', 550, false])
  assert.equal((await send(first)).result, 'delivered')
  assert.equal(sink.connectionCount(), 1)
  assert.equal(sink.lines.includes('RSET'), true)
})

test('a message that the server cannot take, or that is faulty, waits for its own turn', async (t) => {
  const { send, sink } = await sessionWith(t, { ehlo: ['PIPELINING'] })
  await send(first)
  const wide = to('wide@sink.test', 'Subject: x\r\n\r\n\xe9\r\n')
  const two = await send(second, { following: wide })
  assert.deepEqual([two.result, two.isAsked], ['delivered', true])
  assert.equal((await send(wide)).result, 'bounced')
  const faulty = to('faulty@sink.test', 'Subject: x\r\n\r\na\nb\r\n')
  assert.equal((await send(third, { following: faulty })).result, 'delivered')
  await assert.rejects(send(faulty), TypeError)
  assert.equal((await send(first)).result, 'delivered')
  assert.ok(!sink.lines.some((line) => /wide|faulty/.test(line)))
})

test('a session that has opened a message takes no other one', async (t) => {
  const { send } = await sessionWith(t)
  await send(first)
  await send(second, { following: third })
  await assert.rejects(send(first), /begun another message/)
  assert.equal((await send(third)).result, 'delivered')
})

test('a session that ends before its opened message is closed without QUIT', async (t) => {
  const patientHosts = createPatientHosts()
  const { send, session, sink, open } = await sessionWith(t, {}, { patientHosts })
  await send(first)
  await send(second, { following: third })
  await session.quit()
  assert.equal(session.isOpen, false)
  assert.equal(sink.lines.includes('QUIT'), false)
  assert.equal((await send(third)).isStale, true)
  // It is no fault of the host.
  const on = await open()
  await send(first, { on })
  assert.equal((await send(second, { on })).isAsked, true)
})

test('no message waits behind a large one, which takes long to write', async (t) => {
  const { send } = await sessionWith(t)
  await send(first)
  const large = to('large@sink.test', `Subject: x\r\n\r\n${'0123456789\r\n'.repeat(60_000)}`)
  const two = await send(large, { following: third })
  assert.deepEqual([two.result, two.isAsked], ['delivered', false])
})

test('the time of composing the next message is no time of the server', async (t) => {
  const clock = { at: 1_000 }
  const { send, session } = await sessionWith(t, {}, { now: () => clock.at })
  await send(first)
  const next = () => {
    clock.at += 300
    return third
  }
  const { outcome } = await session.send(second.envelope, second.message, { next })
  assert.equal(outcome.steps.at(-1)?.durationMs, 0)
  await send(third)
  // It still counts as quick.
  assert.equal((await send(first)).isAsked, true)
})
