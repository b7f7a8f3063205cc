import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { CurrentStep } from '../../../src/outbound/attempt.ts'
import type { SmtpEnvelope } from '../../../src/outbound/smtp/commands.ts'
import type { SendOptions } from '../../../src/outbound/smtp/session.ts'
import {
  type SmarthostOptions,
  smarthostSecurity,
} from '../../../src/outbound/smtp/smarthost-connection.ts'
import { openSmarthostSession } from '../../../src/outbound/smtp/smarthost-session.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import {
  drop,
  type SinkCommand,
  type SinkOptions,
  silence,
  startSink,
} from '../../fakes/smtp-sink.ts'
import { pause } from '../../pause.ts'

const certificate = makeCertificate(['relay.test'])
const message = 'Subject: x\r\n\r\n.dot\r\nx\r\n'
const envelope = { reversePath: 'a@example.org', recipient: 'b@example.net', needsSmtputf8: false }

type Received = { from: string; to: string[]; text: string; user: string | undefined; tls: boolean }

async function startSmarthost(t: TestContext, options: SMTPServerOptions = {}) {
  const received: Received[] = []
  const server = new SMTPServer({
    ...certificate,
    hideENHANCEDSTATUSCODES: false,
    closeTimeout: 1,
    onAuth: ({ username, password }, _session, callback) =>
      username === 'pillarbox' && password === 'sécret'
        ? callback(null, { user: username })
        : callback(new Error('no such credentials')),
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString(),
          user: session.user as string | undefined,
          tls: session.secure,
        })
        callback(null, 'Ok: queued as 4XyZ-1')
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  const listener = server.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return { port: (listener.address() as AddressInfo).port, received }
}

function open(port: number, options: Partial<SmarthostOptions> = {}) {
  return openSmarthostSession({
    host: 'relay.test',
    address: '127.0.0.1',
    port,
    ehloName: 'out.example.org',
    tls: 'starttls',
    username: 'pillarbox',
    password: 'sécret',
    ...options,
  })
}

async function sessionWith(t: TestContext, port: number, options?: Partial<SmarthostOptions>) {
  const opened = await open(port, options)
  assert.ok(opened.ok, JSON.stringify(opened))
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
  return { session, send }
}

async function sinkSession(
  t: TestContext,
  options: SinkOptions,
  client: Partial<SmarthostOptions> = {},
) {
  const sink = await startSink(options)
  t.after(() => sink.stop())
  const plain = { tls: 'none', username: null, password: null } as const
  return { sink, ...(await sessionWith(t, sink.port, { ...plain, ...client })) }
}

async function refused(port: number, options?: Partial<SmarthostOptions>) {
  const result = await open(port, options)
  assert.ok(!result.ok, 'the session must not open')
  assert.equal(result.outcome.result, 'deferred')
  assert.equal(result.outcome.verdict?.isFinal, false)
  return result.outcome
}

const firstTime = (wanted: string, action: NonNullable<ReturnType<Respond>>) =>
  (({ verb, count }) => (verb === wanted && count === 1 ? action : undefined)) satisfies Respond
type Respond = (command: SinkCommand) => ReturnType<NonNullable<SinkOptions['respond']>>

for (const tls of ['starttls', 'implicit'] as const) {
  test(`messages go to a smarthost over ${tls} with AUTH, one after another`, async (t) => {
    const { port, received } = await startSmarthost(t, { secure: tls === 'implicit' })
    const { session, send } = await sessionWith(t, port, { tls })
    assert.match(session.tls ?? '', /^TLSv1\.3, certificate not verified \(TLS_\w+\)$/)
    for (let n = 0; n < 2; n++) {
      const result = await send()
      assert.equal(result.result, 'relayed')
      assert.equal(result.reply?.text, 'Ok: queued as 4XyZ-1')
      assert.equal(result.tls, session.tls)
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
    assert.equal(session.sendCount, 2)
    const taken = { from: 'a@example.org', to: ['b@example.net'], text: message }
    assert.deepEqual(received, Array(2).fill({ ...taken, user: 'pillarbox', tls: true }))
  })
}

test('the steps of opening are recorded without any secret', async (t) => {
  const { port } = await startSmarthost(t)
  const { session } = await sessionWith(t, port)
  assert.deepEqual(
    session.steps.map(({ step, reply }) => [step, reply?.code]),
    [
      ['connect', undefined],
      ['greeting', 220],
      ['ehlo', 250],
      ['starttls', 220],
      ['ehlo', 250],
      ['auth', 235],
    ],
  )
  assert.equal(session.steps[0]?.address, '127.0.0.1')
  const kept = JSON.stringify(session.steps)
  assert.equal(/s.cret|\\0pillarbox/.test(kept), false)
  assert.equal(kept.includes(Buffer.from('\0pillarbox\0sécret').toString('base64')), false)
})

test('the current step of a session with a smarthost is known', async (t) => {
  const opening: CurrentStep = { step: 'waiting', since: 0, peer: null }
  let isGreeted = false
  const onGreeted = () => {
    isGreeted = true
  }
  const { session } = await sinkSession(
    t,
    { respond: ({ verb }) => (verb === 'RCPT' || verb === 'DATA' ? silence : undefined) },
    { current: opening, onGreeted },
  )
  assert.deepEqual([opening.step, isGreeted], ['ehlo', true])
  const current: CurrentStep = { step: 'waiting', since: 0, peer: null }
  const before = Date.now()
  const sending = session.send(envelope, message, { current })
  while (current.step !== 'rcpt') await pause()
  assert.ok(current.since >= before)
  session.close()
  await sending
})

test('a verified certificate is shown as verified', async (t) => {
  const { port } = await startSmarthost(t, { secure: true })
  const usual = getCACertificates()
  t.after(() => setDefaultCACertificates(usual))
  setDefaultCACertificates([...usual, certificate.cert])
  const { session } = await sessionWith(t, port, { tls: 'implicit' })
  assert.match(session.tls ?? '', /^TLSv1\.3, certificate verified \(TLS_\w+\)$/)
  const other = await sessionWith(t, port, { tls: 'implicit', host: 'other.test' })
  assert.match(other.session.tls ?? '', /^TLSv1\.3, certificate not verified/)
})

test('a password goes without TLS to loopback only, and other certificates are checked', () => {
  const security = (address: string, tls: SmarthostOptions['tls']) =>
    smarthostSecurity({ address, tls })
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) {
    assert.deepEqual(security(address, 'none'), { checksCertificate: false, allowsAuth: true })
  }
  for (const address of ['192.0.2.1', '10.0.0.1', '2001:db8::1', '::ffff:192.0.2.1']) {
    assert.deepEqual(security(address, 'none'), { checksCertificate: true, allowsAuth: false })
    assert.deepEqual(security(address, 'starttls'), { checksCertificate: true, allowsAuth: true })
    assert.deepEqual(security(address, 'implicit'), { checksCertificate: true, allowsAuth: true })
  }
})

test('AUTH without TLS beyond loopback is refused before any connection is opened', async () => {
  const outcome = await refused(9, { address: '192.0.2.1', tls: 'none' })
  assert.match(outcome.error ?? '', /loopback only/)
  assert.deepEqual(outcome.steps, [])
})

test('no message goes to a smarthost without STARTTLS if TLS is required', async (t) => {
  const { port, received } = await startSmarthost(t, {
    hideSTARTTLS: true,
    disabledCommands: ['STARTTLS'],
  })
  await refused(port)
  assert.equal(received.length, 0)
})

test('the octets of a message arrive unchanged', async (t) => {
  const { sink, send } = await sinkSession(t, {})
  const wide = 'a: b\r\n\r\n\x80\xe4\xff\r\n'
  assert.equal((await send({ message: wide })).result, 'relayed')
  assert.equal(sink.messages[0]?.bytes.toString('latin1'), wide)
})

test('wrong credentials defer the message', async (t) => {
  const { port } = await startSmarthost(t)
  const outcome = await refused(port, { password: 'wrong' })
  assert.equal(outcome.reply?.code, 535)
  assert.equal(outcome.verdict?.reason, 'securityerror')
  assert.equal(JSON.stringify(outcome).includes('wrong'), false)
})

test("the text of a smarthost's refusal is escaped everywhere", async (t) => {
  const sink = await startSink({
    ehlo: ['AUTH PLAIN'],
    respond: ({ verb }) => (verb === 'AUTH' ? '535 \x1b[2Jno' : undefined),
  })
  t.after(() => sink.stop())
  const outcome = await refused(sink.port, { tls: 'none' })
  assert.equal(outcome.reply?.text, '\\x1b[2Jno')
  const greets = await startSink({ respond: () => '220 \x1b[2Jhi\r\n\x1b[2J' })
  t.after(() => greets.stop())
  const other = await refused(greets.port, { tls: 'none' })
  assert.equal(/\x1b/.test(JSON.stringify(outcome) + JSON.stringify(other)), false)
  assert.equal(/\\u001b/.test(JSON.stringify(outcome) + JSON.stringify(other)), false)
})

test('a refused connection and a silent smarthost defer within their limits', async (t) => {
  const silentSink = await startSink({ respond: () => silence })
  t.after(() => silentSink.stop())
  const late = await refused(silentSink.port, { timeouts: { greeting: 30 } })
  assert.match(late.error ?? '', /timed out/)
  assert.deepEqual(
    late.steps.map(({ step }) => step),
    ['connect', 'greeting'],
  )
  const gone = await startSink()
  await gone.stop()
  const unreachable = await refused(gone.port)
  assert.match(unreachable.error ?? '', /ECONNREFUSED/)
  assert.match(unreachable.steps[0]?.error ?? '', /ECONNREFUSED/)
})

test('a refusal at any stage decides, and the next message is delivered', async (t) => {
  for (const ehlo of [['PIPELINING'], []]) {
    for (const verb of ['MAIL', 'RCPT', 'DATA', 'MESSAGE']) {
      const { sink, session, send } = await sinkSession(t, {
        ehlo,
        respond: firstTime(verb, '550 5.1.1 user unknown'),
      })
      const result = await send()
      assert.deepEqual([result.result, result.reply?.code], ['bounced', 550], verb)
      assert.equal(sink.messages.length, 0)
      assert.equal(session.isUsable, true, verb)
      assert.equal((await send()).result, 'relayed', verb)
      assert.deepEqual(sink.messages[0]?.bytes.toString(), message)
      assert.equal(sink.connectionCount(), 1)
    }
  }
})

test('F5: DATA accepted without a recipient delivers nothing', async (t) => {
  const { sink, send } = await sinkSession(t, {
    respond: ({ verb, count }) => {
      if (count > 1) return undefined
      if (verb === 'RCPT') return '451 4.3.0 later'
      if (verb === 'DATA') return '354 go on'
      return verb === 'MESSAGE' ? '554 5.5.1 no recipients' : undefined
    },
  })
  assert.equal((await send()).result, 'deferred')
  assert.equal((await send()).result, 'relayed')
  assert.equal(sink.messages.length, 1)
})

test('a lost smarthost defers; after the final dot the message is maybe delivered', async (t) => {
  for (const [verb, isMaybeDelivered] of [
    ['MAIL', false],
    ['RCPT', false],
    ['DATA', false],
    ['MESSAGE', true],
  ] as const) {
    const { session, send } = await sinkSession(t, { respond: firstTime(verb, drop) })
    const result = await send()
    assert.equal(result.result, 'deferred', verb)
    assert.equal(result.isMaybeDelivered, isMaybeDelivered, verb)
    assert.equal(result.isStale, false, verb)
    assert.equal(session.isUsable, false, verb)
  }
})

test('the next message is stale if the smarthost closed the idle connection', async (t) => {
  const { session, send } = await sinkSession(t, {
    respond: firstTime('MESSAGE', (socket) => void socket.end('250 Ok\r\n')),
  })
  assert.equal((await send()).result, 'relayed')
  const again = await send()
  assert.deepEqual([again.result, again.isStale, session.isUsable], ['deferred', true, false])
})

test('S28: a hostile smarthost ends the session', async (t) => {
  for (const [verb, bytes] of [
    ['RCPT', `250-x\r\n`.repeat(200)],
    ['MESSAGE', `552 ${'x'.repeat(80_000)}`],
    ['MESSAGE', 'what?'],
    ['DATA', '354 go on\r\n250 taken already'],
  ] as const) {
    const { sink, session, send } = await sinkSession(t, { respond: firstTime(verb, bytes) })
    const result = await send()
    assert.equal(result.result, 'deferred', bytes.slice(0, 20))
    assert.equal(session.isUsable, false, bytes.slice(0, 20))
    assert.equal(sink.messages.length, 0)
  }
})

test('every reply has a limit, which dripping octets do not extend', async (t) => {
  const { send } = await sinkSession(
    t,
    {
      ehlo: [],
      respond: firstTime('RCPT', (socket) => {
        const timer = setInterval(() => socket.write('2'), 5)
        socket.once('close', () => clearInterval(timer))
      }),
    },
    { timeouts: { rcpt: 40 } },
  )
  const result = await send()
  assert.deepEqual([result.result, result.steps.at(-1)?.step], ['deferred', 'rcpt'])
  assert.match(result.error ?? '', /timed out/)
})

test('a message that the smarthost cannot accept is refused locally', async (t) => {
  const { sink, send } = await sinkSession(t, { ehlo: ['SIZE 10'] })
  assert.equal((await send()).verdict?.class, 'size')
  assert.equal((await send({ needsSmtputf8: true, recipient: 'ü@x' })).verdict?.class, 'syntax')
  await assert.rejects(send({ recipient: 'a@b\r\nDATA' }), TypeError)
  await assert.rejects(send({ message: 'a\n.\nb' }), TypeError)
  assert.deepEqual(sink.lines, ['EHLO out.example.org'])
})

test('QUIT is sent, and its reply is awaited only for a moment', async (t) => {
  const { sink, session } = await sinkSession(t, {})
  await session.quit()
  assert.equal(sink.lines.at(-1), 'QUIT')
  const rude = await sinkSession(
    t,
    { respond: firstTime('QUIT', silence) },
    { timeouts: { quit: 20 } },
  )
  await rude.session.quit()
  assert.equal(rude.session.isUsable, false)
})
