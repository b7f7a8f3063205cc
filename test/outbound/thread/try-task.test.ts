import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { afterEach, test } from 'node:test'
import { createComposedBytes } from '../../../src/outbound/composing/composer.ts'
import type { PoolSettings, SmtpTask, ThreadSettings } from '../../../src/outbound/protocol.ts'
import type { SmtpTarget } from '../../../src/outbound/routing/targets.ts'
import type { SmtpSession } from '../../../src/outbound/smtp/session.ts'
import type { ReadyMessage, Withdrawal } from '../../../src/outbound/thread/begun-tasks.ts'
import { createConnector } from '../../../src/outbound/thread/connector.ts'
import { type TryDeps, type TryInput, tryTask } from '../../../src/outbound/thread/try-task.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import {
  drop,
  type Sink,
  type SinkAction,
  type SinkOptions,
  silence,
  startSink,
} from '../../fakes/smtp-sink.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const certificate = makeCertificate(['mx.test'])
const task = { task: 1, recipient: 'a@b.test', reversePath: 'r@s.test' } as SmtpTask

/** Sinks on 127.0.0.2, .3 and so on, all on one port, in the order of their preference. */
async function startSinks(
  ...options: SinkOptions[]
): Promise<{ sinks: Sink[]; pool: PoolSettings }> {
  const sinks: Sink[] = []
  for (const [at, option] of options.entries()) {
    const port = sinks[0]?.port ?? 0
    const sink = await startSink({ host: `127.0.0.${at + 2}`, port, ...option })
    stops.push(() => sink.stop())
    sinks.push(sink)
  }
  const targets = sinks.map(({ host }, at) => ({
    host: `mx${at}.test`,
    address: host,
    preference: at,
  }))
  return { sinks, pool: poolFor(targets, sinks[0]?.port ?? 0) }
}

function poolFor(
  targets: SmtpTarget[],
  port: number,
  changes: Partial<PoolSettings> = {},
): PoolSettings {
  return {
    key: 'pool',
    site: 'site',
    mode: 'direct',
    port,
    targets,
    brokenTls: [],
    requiresTls: false,
    isReceivedHere: false,
    source: {},
    messagesPerConnection: 100,
    ...changes,
  }
}

async function attempt(pool: PoolSettings, own: Attempt = {}) {
  const tried = await tryOnce(pool, own)
  const { result } = tried
  assert.ok(result.kind === 'attempted')
  return { ...tried, result, outcome: result.outcome }
}

async function tryOnce(
  pool: PoolSettings,
  { session = null, deps = {}, ready = null, next, ...own }: Attempt,
) {
  const withdrawal = own.withdrawal ?? { isAsked: false, session: null }
  const settings = {
    ehloName: 'us.test',
    relay: null,
    idleMs: 1000,
    timeouts: { greeting: 100, mail: 100, handshake: 100 },
  } as unknown as ThreadSettings
  const tried = await tryTask(
    {
      ...createConnector(settings),
      compose: () => ({
        octets: 'S: x\r\n\r\nx\r\n',
        subject: 'x',
        needsSmtputf8: false,
        faults: [],
      }),
      contentBytes: () => 1e6,
      composedBytes: createComposedBytes(1e6),
      findFamilies: () => ({ hasIpv4: true, hasIpv6: true }),
      now: Date.now,
      random: Math.random,
      ...deps,
    },
    {
      ...{ pool, session, withdrawal, ready },
      ...(next && { next }),
      task: own.task ?? task,
      current: { step: 'waiting', since: 0, peer: null },
    },
  )
  stops.push(() => tried.session?.close())
  return tried
}

type Attempt = {
  session?: SmtpSession | null
  task?: SmtpTask
  deps?: Partial<TryDeps>
  withdrawal?: Withdrawal
} & Partial<Pick<TryInput, 'ready' | 'next'>>

const at = (verb: string, reply: string): SinkOptions => ({
  respond: (command) => (command.verb === verb ? reply : undefined),
})

const asked = (verb: string, act: () => SinkAction | undefined): SinkOptions => ({
  respond: (command) => (command.verb === verb ? act() : undefined),
})

test('the most preferred MX gets the message, and its session stays open', async () => {
  const { sinks, pool } = await startSinks({}, {})
  const { outcome, session, result } = await attempt(pool)
  assert.equal(outcome.result, 'delivered')
  assert.deepEqual([outcome.host, outcome.address], ['mx0.test', '127.0.0.2'])
  assert.equal(session?.isUsable, true)
  assert.equal(result.subject, 'x')
  assert.deepEqual(
    outcome.steps.map(({ step }) => step),
    ['connect', 'greeting', 'ehlo', 'mail', 'rcpt', 'data', 'message'],
  )
  assert.equal(sinks[1]?.connectionCount(), 0)
})

test('after a 421 greeting the next MX is tried, and the steps show both', async () => {
  const { pool } = await startSinks(at('CONNECT', '421 4.3.2 busy'), {})
  const { outcome } = await attempt(pool)
  assert.deepEqual([outcome.result, outcome.host], ['delivered', 'mx1.test'])
  assert.equal(outcome.steps[1]?.reply?.code, 421)
  assert.equal(outcome.steps.filter(({ step }) => step === 'connect').length, 2)
})

test('the next address is tried if one refuses the connection or never greets', async () => {
  const { sinks, pool } = await startSinks({}, { respond: () => silence }, {})
  const [good] = sinks.splice(0, 1)
  await good?.stop()
  stops.shift()
  const { outcome } = await attempt(pool)
  assert.deepEqual([outcome.result, outcome.host], ['delivered', 'mx2.test'])
})

test('at most two sessions are opened', async () => {
  const { sinks, pool } = await startSinks(
    at('EHLO', '421 4.3.2 no'),
    at('CONNECT', '421 4.3.2 no'),
    {},
  )
  const { outcome, session } = await attempt(pool)
  assert.equal(outcome.result, 'deferred')
  assert.equal(outcome.reply?.code, 421)
  assert.equal(session, null)
  assert.equal(sinks[2]?.connectionCount(), 0)
})

test('at most five addresses are tried', async () => {
  const { sinks, pool } = await startSinks({})
  await sinks[0]?.stop()
  stops.shift()
  const targets = Array.from({ length: 9 }, (_, index) => ({
    host: `mx${index}.test`,
    address: `127.0.1.${index + 1}`,
    preference: index,
  }))
  const { outcome } = await attempt({ ...pool, targets })
  assert.equal(outcome.result, 'deferred')
  assert.equal(outcome.steps.length, 5)
})

test('a refusal of the recipient is final, and the session stays usable', async () => {
  const { sinks, pool } = await startSinks(at('RCPT', '550 5.1.1 no such user'), {})
  const { outcome, session } = await attempt(pool)
  assert.deepEqual([outcome.result, outcome.verdict?.isHard], ['bounced', true])
  assert.equal(session?.isUsable, true)
  assert.equal(sinks[1]?.connectionCount(), 0)
})

test('a transient refusal of the recipient is not retried at the next MX', async () => {
  const { sinks, pool } = await startSinks(at('RCPT', '451 4.7.1 greylisted'), {})
  const { outcome } = await attempt(pool)
  assert.equal(outcome.result, 'deferred')
  assert.equal(sinks[1]?.connectionCount(), 0)
})

test('a message that its session takes no more goes out in a new one, at once', async () => {
  for (const reply of ['452 4.5.3 too many recipients', '452 4.5.3 Too many messages sent']) {
    const { sinks, pool } = await startSinks({
      respond: ({ verb, count }) => (verb === 'RCPT' && count === 2 ? reply : undefined),
    })
    const first = await attempt(pool)
    assert.equal(first.outcome.result, 'delivered')
    const { outcome, session } = await attempt(pool, { session: first.session })
    assert.equal(outcome.result, 'delivered', reply)
    assert.deepEqual(
      outcome.steps.flatMap(({ step, reply: said }) => (step === 'rcpt' ? [said?.code] : [])),
      [452, 250],
    )
    assert.deepEqual([sinks[0]?.connectionCount(), sinks[0]?.acceptedCount()], [2, 2])
    assert.equal(first.session?.isUsable, false)
    assert.equal(session?.isUsable, true)
  }
})

test('a server that takes a message in no session defers it after two', async () => {
  const { sinks, pool } = await startSinks(at('RCPT', '452 4.5.3 too many recipients'))
  const { outcome } = await attempt(pool)
  assert.deepEqual([outcome.result, outcome.verdict?.class], ['deferred', 'session'])
  // No session was the cause, so the usual delays apply, which grow.
  assert.deepEqual([outcome.verdict?.retryAfterMs, outcome.verdict?.countsAsFailure], [null, true])
  assert.ok((sinks[0]?.connectionCount() ?? 0) <= 2)
})

test('throttling in the middle of a session opens no other connection', async () => {
  const { sinks, pool } = await startSinks(at('RCPT', '421 4.7.28 unusual rate of mail'), {})
  const { outcome } = await attempt(pool)
  assert.deepEqual([outcome.result, outcome.verdict?.class], ['deferred', 'throttle'])
  assert.equal(sinks[0]?.connectionCount(), 1)
  assert.equal(sinks[1]?.connectionCount(), 0)
})

test('a message whose connection is lost before the final dot goes to the next MX', async () => {
  const lostAt = (verb: string): SinkOptions => ({
    respond: (command) => (command.verb === verb ? drop : undefined),
  })
  for (const verb of ['MAIL', 'RCPT', 'DATA']) {
    const { sinks, pool } = await startSinks(lostAt(verb), {})
    const { outcome } = await attempt(pool)
    assert.deepEqual([outcome.result, outcome.host], ['delivered', 'mx1.test'], verb)
    assert.equal(sinks[0]?.acceptedCount(), 0)
  }
})

test('a connection lost after the final dot is not tried again in this attempt', async () => {
  const { sinks, pool } = await startSinks(
    { respond: ({ verb }) => (verb === 'MESSAGE' ? drop : undefined) },
    {},
  )
  const { outcome } = await attempt(pool)
  assert.deepEqual([outcome.result, outcome.isMaybeDelivered], ['deferred', true])
  assert.equal(sinks[1]?.connectionCount(), 0)
})

test('a refusal in the greeting is final only if every server gives it', async () => {
  const all = await startSinks(at('CONNECT', '554 5.7.1 go away'), at('CONNECT', '554 5.7.1 too'))
  assert.equal((await attempt(all.pool)).outcome.reply?.code, 554)
  const one = await startSinks(at('CONNECT', '421 4.3.0 later'), at('CONNECT', '554 no'))
  assert.equal((await attempt(one.pool)).outcome.result, 'deferred')
})

test('a session that was closed while idle is replaced, and the outcome does not show it', async () => {
  const { sinks, pool } = await startSinks({
    respond: ({ verb, connection, count }) =>
      verb === 'MAIL' && connection === 1 && count === 2 ? drop : undefined,
  })
  const first = await attempt(pool)
  const second = await attempt(pool, { session: first.session })
  assert.equal(second.outcome.result, 'delivered')
  assert.equal(sinks[0]?.connectionCount(), 2)
  assert.ok(second.outcome.steps.every(({ error }) => error === undefined))
})

const breakHandshake = (socket: Socket) => {
  socket.removeAllListeners('data')
  socket.once('data', () => socket.end('not TLS at all'))
  socket.write('220 go on\r\n')
}

const neverShakeHands = (socket: Socket) => {
  socket.removeAllListeners('data')
  socket.write('220 go on\r\n')
}

test('after a broken TLS handshake the same address is tried once without TLS', async () => {
  const { sinks, pool } = await startSinks({
    tls: certificate,
    respond: ({ verb }) => (verb === 'STARTTLS' ? breakHandshake : undefined),
  })
  const { outcome, result } = await attempt(pool)
  assert.deepEqual([outcome.result, outcome.tls], ['delivered', null])
  assert.equal(result.brokenTls, 'mx0.test')
  assert.equal(sinks[0]?.connectionCount(), 2)
  const next = await attempt({ ...pool, brokenTls: ['mx0.test'] })
  assert.equal(next.outcome.result, 'delivered')
  assert.equal(sinks[0]?.connectionCount(), 3)
})

test('a host whose connection without TLS fails, too, does not count as broken TLS', async () => {
  const { sinks, pool } = await startSinks({
    tls: certificate,
    respond: ({ verb, connection }) => {
      if (verb === 'STARTTLS') return breakHandshake
      return verb === 'MAIL' && connection === 2 ? drop : undefined
    },
  })
  const { outcome, result } = await attempt(pool)
  assert.equal(outcome.result, 'deferred')
  assert.equal(sinks[0]?.connectionCount(), 2)
  assert.equal(result.brokenTls, null)
})

test('TLS is tried again if a host hangs in the handshake and then does not reply without TLS', async () => {
  const { pool } = await startSinks({
    tls: certificate,
    respond: ({ verb, connection }) => {
      if (connection === 2) return silence
      return verb === 'STARTTLS' ? neverShakeHands : undefined
    },
  })
  const { outcome, result } = await attempt(pool)
  assert.equal(outcome.result, 'deferred')
  assert.equal(outcome.steps.filter(({ step }) => step === 'connect').length, 2)
  assert.equal(result.brokenTls, null)
})

test('a provider that requires TLS never gets mail without TLS', async () => {
  const { sinks, pool } = await startSinks({})
  const { outcome, session } = await attempt({
    ...pool,
    requiresTls: true,
    brokenTls: ['mx0.test'],
  })
  assert.equal(outcome.result, 'deferred')
  assert.match(outcome.error ?? '', /no TLS/)
  assert.equal(session, null)
  assert.equal(sinks[0]?.acceptedCount(), 0)
  const secure = await startSinks({ tls: certificate })
  assert.match((await attempt({ ...secure.pool, requiresTls: true })).outcome.tls ?? '', /^TLSv1/)
})

test('a server with the name of this server is a loop, unless the domain is received here', async () => {
  const { sinks, pool } = await startSinks({ name: 'US.test' }, {})
  const { outcome } = await attempt(pool)
  assert.equal(outcome.result, 'failed')
  assert.match(outcome.error ?? '', /loop/)
  assert.equal(sinks[1]?.connectionCount(), 0)
  assert.equal((await attempt({ ...pool, isReceivedHere: true })).outcome.result, 'delivered')
  assert.equal((await attempt({ ...pool, mode: 'sandbox' })).outcome.result, 'delivered')
})

test('a message is sent from the source address that was chosen for it', async () => {
  const { sinks, pool } = await startSinks({
    respond: ({ verb }) =>
      verb === 'CONNECT' ? (socket) => socket.write(`220 ${socket.remoteAddress}\r\n`) : undefined,
  })
  const { outcome } = await attempt({ ...pool, source: { ipv4: '127.0.0.77' } })
  assert.equal(outcome.result, 'delivered')
  assert.match(outcome.steps[1]?.reply?.text ?? '', /127\.0\.0\.77/)
  const nowhere = await attempt({ ...pool, source: { ipv6: '::1' } })
  assert.equal(nowhere.outcome.result, 'deferred')
  assert.equal(sinks[0]?.connectionCount(), 1)
})

test('a message that cannot be composed fails, and the session stays usable', async () => {
  const { pool } = await startSinks({})
  const first = await attempt(pool)
  const compose = () => {
    throw new TypeError('no such key')
  }
  const { outcome, session } = await attempt(pool, { session: first.session, deps: { compose } })
  assert.deepEqual([outcome.result, outcome.error], ['failed', 'no such key'])
  assert.equal(session, first.session)
})

test('an unexpected internal error defers the message and releases its memory', async () => {
  const { pool } = await startSinks({})
  const composedBytes = createComposedBytes(1)
  const findFamilies = () => {
    throw new Error('no list of interfaces')
  }
  const { outcome, session } = await attempt(pool, { deps: { findFamilies, composedBytes } })
  assert.deepEqual([outcome.result, outcome.error], ['deferred', 'no list of interfaces'])
  assert.equal(session, null)
  assert.equal(composedBytes.waitForSpace(1e6), null)
})

test('tasks that wait for memory go on while there is some', async () => {
  const { pool } = await startSinks({})
  const composedBytes = createComposedBytes(2)
  let [now, most] = [0, 0]
  const counted = {
    waitForSpace: composedBytes.waitForSpace,
    add(bytes: number) {
      now++
      most = Math.max(most, now)
      composedBytes.add(bytes)
    },
    release(bytes: number) {
      now--
      composedBytes.release(bytes)
    },
  }
  composedBytes.add(2)
  const attempts = Array.from({ length: 6 }, () =>
    attempt(pool, { deps: { composedBytes: counted } }),
  )
  composedBytes.release(2)
  for (const { outcome } of await Promise.all(attempts)) assert.equal(outcome.result, 'delivered')
  assert.equal(most, 1)
})

test('an invalid envelope fails, and nothing of it reaches the receiver', async () => {
  const { sinks, pool } = await startSinks({})
  const recipient = 'a@b.test>\r\nRCPT TO:<c@d.test'
  const { outcome } = await attempt(pool, {
    task: { ...task, recipient },
  })
  assert.equal(outcome.result, 'failed')
  assert.ok(!sinks[0]?.lines.some((line) => line.startsWith('RCPT')))
})

test('a task that is withdrawn while its session is opened sends nothing, and the session stays', async () => {
  const withdrawal: Withdrawal = { isAsked: false, session: null }
  const { sinks, pool } = await startSinks(
    asked('EHLO', () => {
      withdrawal.isAsked = true
      return undefined
    }),
  )
  const { result, session } = await tryOnce(pool, { withdrawal })
  assert.deepEqual(result, { task: 1, kind: 'put back', delayMs: 0 })
  assert.equal(session?.isUsable, true)
  assert.ok(!sinks[0]?.lines.some((line) => line.startsWith('MAIL')))
})

test('a task that is withdrawn before its envelope is accepted goes to no other address', async () => {
  for (const verb of ['MAIL', 'RCPT', 'DATA']) {
    const withdrawal: Withdrawal = { isAsked: false, session: null }
    const close = () => {
      withdrawal.isAsked = true
      withdrawal.session?.close()
    }
    const { sinks, pool } = await startSinks(
      asked(verb, () => close),
      {},
    )
    const { result, session } = await tryOnce(pool, { withdrawal })
    assert.deepEqual(result, { task: 1, kind: 'put back', delayMs: 0 }, verb)
    assert.equal(session, null)
    assert.equal(sinks[0]?.acceptedCount(), 0)
    assert.equal(sinks[1]?.connectionCount(), 0)
  }
})

test('a task that is withdrawn while its message is written is finished', async () => {
  const withdrawal: Withdrawal = { isAsked: false, session: null }
  const { pool } = await startSinks(
    asked('MESSAGE', () => {
      withdrawal.isAsked = true
      return undefined
    }),
  )
  const { outcome, session } = await attempt(pool, { withdrawal })
  assert.equal(outcome.result, 'delivered')
  assert.equal(session?.isUsable, true)
})

test('a task that is withdrawn before it begins is put back', async () => {
  const { sinks, pool } = await startSinks({})
  const withdrawal: Withdrawal = { isAsked: true, session: null }
  const { result } = await tryOnce(pool, { withdrawal })
  assert.deepEqual(result, { task: 1, kind: 'put back', delayMs: 0 })
  assert.equal(sinks[0]?.connectionCount(), 0)
})

function readyFor(recipient: string): ReadyMessage {
  const composed = { octets: 'S: 2\r\n\r\nx\r\n', subject: '2', needsSmtputf8: false, faults: [] }
  return { composed, envelope: { reversePath: 'r@s.test', recipient, needsSmtputf8: false } }
}

const nextOf = ({ envelope, composed }: ReadyMessage) => ({ envelope, message: composed.octets })

/** Two messages in a session, and a third that is opened behind the second. */
async function openThird(pool: PoolSettings) {
  const first = await attempt(pool)
  const ready = readyFor('third@b.test')
  const second = await attempt(pool, { session: first.session, next: () => nextOf(ready) })
  return { ready, second }
}

test('a message that was opened behind another one is sent as it is, once', async () => {
  const { sinks, pool } = await startSinks({})
  const { ready, second } = await openThird(pool)
  const compose = () => assert.fail('it is composed')
  const third = await attempt(pool, { session: second.session, ready, deps: { compose } })
  assert.deepEqual([third.outcome.result, third.result.subject], ['delivered', '2'])
  assert.equal(sinks[0]?.acceptedCount(), 3)
  assert.equal(sinks[0]?.connectionCount(), 1)
  assert.equal(sinks[0]?.messages[2]?.to[0], 'third@b.test')
})

test('an opened message goes on in a new session if the connection is lost before its turn', async () => {
  for (const [verb, count] of [
    ['MESSAGE', 2],
    ['MAIL', 3],
  ]) {
    const { sinks, pool } = await startSinks({
      respond: (command) => (command.verb === verb && command.count === count ? drop : undefined),
    })
    const { ready, second } = await openThird(pool)
    assert.equal(second.outcome.isMaybeDelivered, verb === 'MESSAGE')
    const third = await attempt(pool, { session: second.session, ready })
    assert.equal(third.outcome.result, 'delivered')
    assert.ok(third.outcome.steps.every(({ error }) => error === undefined))
    assert.deepEqual(
      third.outcome.steps.map(({ step }) => step),
      ['connect', 'greeting', 'ehlo', 'mail', 'rcpt', 'data', 'message'],
    )
    assert.equal(sinks[0]?.connectionCount(), 2)
  }
})

test('an opened message goes on in a new session if the one before it got two replies', async () => {
  for (const reply of ['550 5.7.1 spam', '250 2.0.0 Ok']) {
    const { sinks, pool } = await startSinks({
      respond: ({ verb, count }) =>
        verb === 'MESSAGE' && count === 2 ? `${reply}\r\n${reply}` : undefined,
    })
    const { ready, second } = await openThird(pool)
    const third = await attempt(pool, { session: second.session, ready })
    assert.equal(third.outcome.result, 'delivered', reply)
    assert.deepEqual(
      third.outcome.steps.map(({ step, error }) => [step, error]),
      ['connect', 'greeting', 'ehlo', 'mail', 'rcpt', 'data', 'message'].map((step) => [
        step,
        undefined,
      ]),
    )
    assert.deepEqual(
      sinks[0]?.messages.map(({ to }) => to),
      [...(reply.startsWith('2') ? [['a@b.test']] : []), ['a@b.test'], ['third@b.test']].sort(),
    )
  }
})

test('a session that takes no more messages ends, and the opened one goes on in another', async () => {
  const { sinks, pool } = await startSinks({
    respond: ({ verb, count }) =>
      verb === 'MESSAGE' && count === 2 ? '452 4.5.3 Too many messages sent' : undefined,
  })
  const { ready, second } = await openThird(pool)
  // Both go on in one other session each, and nothing is sent twice.
  assert.equal(second.outcome.result, 'delivered')
  const third = await attempt(pool, { session: second.session, ready })
  assert.equal(third.outcome.result, 'delivered')
  assert.equal(sinks[0]?.acceptedCount(), 3)
})
