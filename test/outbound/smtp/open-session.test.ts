import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  type OpenFailure,
  openSession,
  type SessionOptions,
} from '../../../src/outbound/smtp/open-session.ts'
import type { SmtpSession } from '../../../src/outbound/smtp/session.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { drop, type Sink, type SinkOptions, silence, startSink } from '../../fakes/smtp-sink.ts'

const certificate = makeCertificate(['mx.sink.test'])

async function sinkFor(t: TestContext, options: SinkOptions = {}): Promise<Sink> {
  const sink = await startSink(options)
  t.after(() => sink.stop())
  return sink
}

function open(sink: { port: number }, options: Partial<SessionOptions> = {}) {
  return openSession({
    host: 'mx.sink.test',
    address: '127.0.0.1',
    port: sink.port,
    ehloName: 'out.example.org',
    ...options,
  })
}

async function opened(t: TestContext, sink: Sink, options?: Partial<SessionOptions>) {
  const result = await open(sink, options)
  assert.ok(result.ok, JSON.stringify(result))
  t.after(() => result.session.close())
  return result.session
}

async function refused(sink: { port: number }, options?: Partial<SessionOptions>) {
  const result = await open(sink, options)
  assert.ok(!result.ok, 'the session must not open')
  return result
}

async function deliver(session: SmtpSession): Promise<string> {
  const message = 'Subject: x\r\n\r\nx\r\n'
  const envelope = { reversePath: 'a@example.org', recipient: 'b@sink.test', needsSmtputf8: false }
  return (await session.send(envelope, message)).outcome.result
}

function assertDeferred({ outcome }: OpenFailure, error: RegExp): void {
  assert.equal(outcome.result, 'deferred')
  assert.equal(outcome.verdict?.isFinal, false)
  assert.match(outcome.error ?? '', error)
}

test('a session waits for the greeting, sends EHLO and records each step', async (t) => {
  const sink = await sinkFor(t)
  const session = await opened(t, sink)
  assert.equal(session.tls, null)
  assert.equal(session.isUsable, true)
  assert.deepEqual(sink.lines, ['EHLO out.example.org'])
  assert.deepEqual(
    session.steps.map(({ step, reply }) => [step, reply?.code ?? null]),
    [
      ['connect', null],
      ['greeting', 220],
      ['ehlo', 250],
    ],
  )
  assert.deepEqual(
    [session.steps[0]?.host, session.steps[0]?.address],
    ['mx.sink.test', '127.0.0.1'],
  )
})

test('S6: a host name in place of an address, and an EHLO name of two words, throw', async () => {
  await assert.rejects(open({ port: 25 }, { address: 'localhost' }), TypeError)
  for (const ehloName of ['', 'a b', 'a\r\nMAIL FROM:<x@y>', 'a\0b', 'ä.example']) {
    await assert.rejects(open({ port: 25 }, { ehloName }), TypeError, JSON.stringify(ehloName))
  }
})

test('a refused connection is deferred, and its step is recorded', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const failure = await refused({ port })
  assertDeferred(failure, /ECONNREFUSED/)
  assert.equal(failure.outcome.verdict?.class, 'network')
  assert.match(failure.outcome.steps[0]?.error ?? '', /ECONNREFUSED/)
})

test('a server without EHLO gets HELO, and no extensions are used', async (t) => {
  const sink = await sinkFor(t, {
    respond: ({ verb }) => (verb === 'EHLO' ? '502 5.5.1 what?' : undefined),
  })
  const session = await opened(t, sink)
  assert.equal(await deliver(session), 'delivered')
  assert.deepEqual(sink.lines.slice(0, 4), [
    'EHLO out.example.org',
    'HELO out.example.org',
    'MAIL FROM:<a@example.org>',
    'RCPT TO:<b@sink.test>',
  ])
})

test('a 554 greeting defers the message and blocks the site', async (t) => {
  const sink = await sinkFor(t, { respond: () => '554 No SMTP service here' })
  const { outcome } = await refused(sink)
  assert.equal(outcome.result, 'deferred')
  assert.deepEqual([outcome.verdict?.class, outcome.verdict?.site], ['block', 'block'])
  assert.equal(outcome.reply?.code, 554)
})

test('a 421 greeting and a 451 to EHLO are deferred', async (t) => {
  const busy = await sinkFor(t, { respond: () => '421 4.3.2 too busy' })
  assert.equal((await refused(busy)).outcome.result, 'deferred')
  const later = await sinkFor(t, {
    respond: ({ verb }) => (verb === 'EHLO' ? '451 4.3.0 later' : undefined),
  })
  const { outcome } = await refused(later)
  assert.deepEqual([outcome.result, outcome.reply?.code], ['deferred', 451])
})

test('S12: a server with the name of this server in its greeting or EHLO reply is a loop', async (t) => {
  const ownName = 'Out.Example.Org'
  const greets = await sinkFor(t, { name: 'out.example.org' })
  const answers = await sinkFor(t, {
    respond: ({ verb }) => (verb === 'EHLO' ? '250 out.example.org. Hello' : undefined),
  })
  for (const sink of [greets, answers]) {
    const { outcome } = await refused(sink, { ownName })
    assert.equal(outcome.result, 'failed')
    assert.equal(outcome.verdict?.isFinal, true)
    assert.equal(outcome.verdict?.isHard, false)
    assert.match(outcome.error ?? '', /loop/)
  }
})

test('a server that greets this server by name is no loop', async (t) => {
  const sink = await sinkFor(t, {
    respond: ({ verb }) => (verb === 'EHLO' ? '250 mx.sink.test Hello out.example.org' : undefined),
  })
  await opened(t, sink, { ownName: 'out.example.org' })
})

test('STARTTLS is used if offered, with any certificate, and EHLO is sent again', async (t) => {
  const sink = await sinkFor(t, { tls: certificate })
  const session = await opened(t, sink)
  assert.match(session.tls ?? '', /^TLSv1\.3, certificate not verified \(TLS_\w+\)$/)
  assert.equal(await deliver(session), 'delivered')
  assert.equal(sink.messages[0]?.isTls, true)
  assert.deepEqual(sink.lines.slice(0, 3), [
    'EHLO out.example.org',
    'STARTTLS',
    'EHLO out.example.org',
  ])
})

test('a session goes on without TLS if the server refuses STARTTLS', async (t) => {
  const sink = await sinkFor(t, {
    tls: certificate,
    respond: ({ verb }) => (verb === 'STARTTLS' ? '454 4.7.0 TLS not available' : undefined),
  })
  const session = await opened(t, sink)
  assert.equal(session.tls, null)
  assert.equal(await deliver(session), 'delivered')
})

test('a broken handshake is reported, and a new connection works without TLS', async (t) => {
  const sink = await sinkFor(t, {
    ehlo: ['STARTTLS', 'PIPELINING'],
    respond: ({ verb }) =>
      verb === 'STARTTLS'
        ? (socket) => socket.write('220 go\r\n', () => void answerGarbage(socket))
        : undefined,
  })
  const failure = await refused(sink)
  assert.equal(failure.isTlsBroken, true)
  assertDeferred(failure, /./)
  const session = await opened(t, sink, { starttls: 'never' })
  assert.equal(await deliver(session), 'delivered')
})

async function answerGarbage(socket: Socket): Promise<void> {
  socket.removeAllListeners('data')
  await once(socket, 'data')
  socket.write('this is not TLS at all\r\n')
}

test('a hung handshake ends at its time limit and counts as broken', async (t) => {
  const sink = await sinkFor(t, {
    ehlo: ['STARTTLS'],
    respond: ({ verb }) =>
      verb === 'STARTTLS'
        ? (socket) => void socket.removeAllListeners('data').write('220 go\r\n')
        : undefined,
  })
  const failure = await refused(sink, { timeouts: { handshake: 50 } })
  assert.equal(failure.isTlsBroken, true)
  assertDeferred(failure, /timed out: the TLS handshake/)
})

test('S28: data after the reply to STARTTLS ends the session and is never read as TLS', async (t) => {
  for (const extra of ['250-mx.sink.test\r\n250 SIZE 1\r\n', '250-mx.si']) {
    const sink = await sinkFor(t, {
      tls: certificate,
      respond: ({ verb }) =>
        verb === 'STARTTLS' ? (socket) => socket.write(`220 go\r\n${extra}`) : undefined,
    })
    const failure = await refused(sink)
    assert.equal(failure.isTlsBroken, false)
    assertDeferred(failure, /STARTTLS|without a command/)
  }
})

test('S28: hostile greetings and EHLO replies end the session', async (t) => {
  const attacks: [string, RegExp][] = [
    ['250-x\r\n'.repeat(1_000), /100 lines/],
    ['2'.repeat(200_000), /64 KB/],
    [`250 ${'x'.repeat(80_000)}\r\n`, /64 KB/],
    ['250-a\r\n251 b\r\n', /different codes/],
    ['250 a\r\n250 b\r\n', /without a command/],
    ['GARBAGE\r\n', /not an SMTP reply/],
    ['354 go on\r\n', /not a valid reply/],
  ]
  for (const at of ['CONNECT', 'EHLO']) {
    for (const [bytes, error] of attacks) {
      if (at === 'CONNECT' && bytes.startsWith('250 a')) continue
      const sink = await sinkFor(t, {
        respond: ({ verb }) => (verb === at ? (socket) => socket.write(bytes) : undefined),
      })
      assertDeferred(await refused(sink), error)
    }
  }
})

test('S28: a silent, a dripping and a closing server end within the limit of the phase', async (t) => {
  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write('2'), 5)
    socket.once('close', () => clearInterval(timer))
  }
  for (const at of ['CONNECT', 'EHLO']) {
    for (const action of [silence, drip, drop]) {
      const sink = await sinkFor(t, {
        respond: ({ verb }) => (verb === at ? action : undefined),
      })
      const failure = await refused(sink, { timeouts: { greeting: 40, command: 40 } })
      assertDeferred(failure, action === drop ? /closed|ECONNRESET/ : /timed out/)
    }
  }
})

test('S28: a server that is slow at every step ends at the limit of the whole session', async (t) => {
  const sink = await sinkFor(t, {
    respond: ({ verb }) => (verb === 'EHLO' ? silence : undefined),
  })
  assertDeferred(await refused(sink, { timeouts: { whole: 40 } }), /as a whole/)
})

test('QUIT is sent, and its reply is awaited only for a moment', async (t) => {
  const polite = await sinkFor(t)
  await (await opened(t, polite)).quit()
  assert.equal(polite.lines.at(-1), 'QUIT')
  const rude = await sinkFor(t, { respond: ({ verb }) => (verb === 'QUIT' ? silence : undefined) })
  const session = await opened(t, rude, { timeouts: { quit: 20 } })
  await session.quit()
  assert.equal(session.isUsable, false)
})

test('a connection comes from the given local address', async (t) => {
  const sink = await sinkFor(t)
  const session = await opened(t, sink, { localAddress: '127.0.0.2' })
  assert.equal(await deliver(session), 'delivered')
  const failure = await refused(sink, { localAddress: '192.0.2.1' })
  assertDeferred(failure, /EADDRNOTAVAIL|EINVAL/)
})
