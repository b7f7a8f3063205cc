import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE_MS } from '../../../src/base/clock.ts'
import { classifyReply } from '../../../src/formats/replies/classify-reply.ts'
import type { SiteAction, Stage } from '../../../src/formats/replies/reply.ts'
import { createShaping } from '../../../src/outbound/sites/shaping.ts'

const SITE = 'example.com'

type Options = { maxConnectionsPerSite?: number; random?: () => number }

function setUp({ maxConnectionsPerSite = 10, random = () => 0.5 }: Options = {}) {
  const clock = { at: 1_000_000_000 }
  const shaping = createShaping({
    maxConnectionsPerSite,
    messagesPerConnection: 100,
    now: () => clock.at,
    random,
  })
  const accept = (count: number, durationMs = 10) => {
    for (let at = 0; at < count; at++) shaping.record(SITE, { kind: 'accepted', durationMs })
  }
  const reply = (action: SiteAction) =>
    shaping.record(SITE, { kind: 'replied', durationMs: 10, action })
  const fail = (count: number) => {
    let isBlocked = false
    for (let at = 0; at < count; at++) isBlocked = shaping.record(SITE, { kind: 'unreachable' })
    return isBlocked
  }
  const capacity = (outstanding = 0, isUrgent = false) =>
    shaping.capacity(SITE, { outstanding, isUrgent })
  return { shaping, clock, accept, reply, fail, capacity }
}

test('a site that has accepted nothing yet gets only a few messages', () => {
  const { capacity, accept } = setUp()
  assert.equal(capacity(), 5)
  assert.equal(capacity(5), 0)
  accept(1)
  assert.equal(capacity(), 200)
})

test('the number of messages that may wait follows from the time a message takes', () => {
  const { capacity, accept } = setUp()
  accept(100, 100)
  assert.equal(capacity(), 40)
  accept(200, 30_000)
  assert.equal(capacity(), 20)
})

test('messages share a connection if a quarter of a second suffices for them', () => {
  const { shaping, accept } = setUp()
  assert.equal(shaping.connectionsFor(SITE, 5), 1)
  accept(1)
  assert.equal(shaping.connectionsFor(SITE, 9), 3)
  accept(100, 120)
  assert.equal(shaping.connectionsFor(SITE, 9), 5)
  accept(100, 2_000)
  assert.equal(shaping.connectionsFor(SITE, 9), 9)
  assert.equal(shaping.connectionsFor(SITE, 99), shaping.connections(SITE))
})

test('urgent mail has a reserve, and waits during a pause', () => {
  const { capacity, accept, fail } = setUp()
  accept(1)
  assert.equal(capacity(200), 0)
  assert.equal(capacity(200, true), 50)
  fail(5)
  assert.equal(capacity(0, true), 0)
})

test('connections start at a safe number for the provider and grow with success up to the limit', () => {
  const { shaping } = setUp()
  assert.equal(shaping.connections('google.com'), 5)
  assert.equal(shaping.messagesPerConnection('google.com'), 50)
  assert.equal(shaping.messagesPerConnection('yahoodns.net'), 20)
  assert.equal(shaping.messagesPerConnection(SITE), 100)
  assert.equal(shaping.requiresTls('google.com'), true)
  assert.equal(shaping.requiresTls(SITE), false)
  for (let at = 0; at < 100; at++) shaping.record('google.com', { kind: 'accepted', durationMs: 9 })
  assert.equal(shaping.connections('google.com'), 6)
  for (let at = 0; at < 5000; at++)
    shaping.record('google.com', { kind: 'accepted', durationMs: 9 })
  assert.equal(shaping.connections('google.com'), 10)
})

test('a reply to slow down halves the connections, at most once in a few seconds', () => {
  const { shaping, clock, reply } = setUp()
  for (let at = 0; at < 10; at++) reply('slow')
  assert.equal(shaping.connections(SITE), 5)
  clock.at += 6_000
  reply('slow')
  assert.equal(shaping.connections(SITE), 2)
  reply('none')
  reply('reconnect')
  assert.equal(shaping.connections(SITE), 2)
  assert.equal(shaping.blockedUntil(SITE), 0)
})

/** Sites after 200 taken messages, and how much mail each may get at once. */
function busySite() {
  const site = setUp({ maxConnectionsPerSite: 20 })
  site.accept(200)
  return { ...site, planned: site.capacity() }
}

const REPLIES: [line: string, stage: Stage, left: number][] = [
  ['421 4.3.2 too many connections', 'greeting', 0.5],
  ['421 4.7.0 Error: too many connections from 192.0.2.1', 'ehlo', 0.5],
  ['421 4.3.2 too many concurrent connections', 'mail', 0.5],
  ['452 4.5.3 too many recipients', 'rcpt', 1],
  ['421 4.7.0 Too many messages in this session', 'mail', 1],
]

for (const [line, stage, left] of REPLIES) {
  test(`one reply costs a tenth of the rate for five minutes at most: ${line}`, () => {
    const { shaping, clock, capacity, planned } = busySite()
    const [, code, enhancedCode = '', text = ''] = /^(\d+) (\S+) (.*)$/.exec(line) ?? []
    const { site: action } = classifyReply({
      stage,
      reply: { code: Number(code), enhancedCode, text },
    })
    const connections = shaping.connections(SITE)
    assert.equal(shaping.record(SITE, { kind: 'replied', durationMs: 10, action }, line), false)
    assert.equal(shaping.blockedUntil(SITE), 0)
    assert.equal(shaping.restriction(SITE).messagesPerMinute, null)
    assert.equal(shaping.connections(SITE), connections * left)
    assert.equal(capacity(), planned * left)
    assert.equal(shaping.restriction(SITE).limited, left < 1 ? 'connections' : null)
    let before = capacity()
    for (let minute = 0; minute < 5; minute += 1) {
      clock.at += MINUTE_MS
      assert.ok(capacity() >= before)
      before = capacity()
    }
    assert.ok(capacity() >= 0.9 * planned)
    assert.equal(shaping.connections(SITE), connections)
    assert.deepEqual(
      [shaping.restriction(SITE).limited, shaping.restriction(SITE).cause],
      [null, null],
    )
  })
}

test('replies of many connections at once are about one limit', () => {
  const { shaping, clock, capacity, reply, planned } = busySite()
  for (let second = 0; second < 20; second += 1) {
    for (let each = 0; each < 5; each += 1) reply('fewer connections')
    clock.at += 1_000
  }
  assert.ok(shaping.connections(SITE) < 5)
  clock.at += 5 * MINUTE_MS
  assert.ok(capacity() >= 0.9 * planned)
})

test('a limit of connections that is reached again and again leaves as many as the site takes', () => {
  const { shaping, clock, accept, reply } = setUp({ maxConnectionsPerSite: 20 })
  let refused = 0
  for (const until = clock.at + 6 * 60 * MINUTE_MS; clock.at < until; clock.at += MINUTE_MS) {
    if (shaping.connections(SITE) > 5) {
      reply('fewer connections')
      refused += 1
    }
    accept(20)
  }
  assert.ok(shaping.connections(SITE) >= 2 && shaping.connections(SITE) <= 6)
  assert.ok(refused <= 36, `${refused} refusals in six hours`)
  assert.equal(shaping.blockedUntil(SITE), 0)
})

test('lowered connections grow no further until they have come back, and can be lifted', () => {
  const { shaping, accept, reply } = setUp()
  reply('fewer connections')
  accept(5_000)
  assert.equal(shaping.connections(SITE), 5)
  assert.equal(shaping.lift(SITE), true)
  assert.equal(shaping.connections(SITE), 10)
})

test('a reply that limits the rate still does, also beside lowered connections', () => {
  const { shaping, clock, reply, capacity } = busySite()
  reply('fewer connections')
  assert.equal(reply('throttle'), true)
  assert.deepEqual([shaping.connections(SITE), capacity()], [1, 0])
  assert.equal(shaping.restriction(SITE).limited, 'rate')
  assert.equal(shaping.restriction(SITE).messagesPerMinute, 10)
  clock.at += 5 * MINUTE_MS
  assert.deepEqual([shaping.connections(SITE), capacity()], [1, 1])
})

test('throttling leaves one connection and ten messages a minute for about an hour', () => {
  const { shaping, clock, accept, reply, capacity } = setUp()
  accept(1)
  reply('throttle')
  assert.equal(shaping.connections(SITE), 1)
  assert.equal(capacity(), 0)
  assert.equal(shaping.blockedUntil(SITE), clock.at + 6_000)
  let sent = 0
  for (const until = clock.at + 10 * MINUTE_MS; clock.at < until; clock.at += 1_000) {
    const count = capacity()
    shaping.take(SITE, count)
    sent += count
  }
  assert.equal(sent, 99)
  clock.at += 80 * MINUTE_MS
  assert.equal(shaping.blockedUntil(SITE), 0)
  assert.equal(capacity(), 20)
})

test('throttling counts directly after a reply to slow down', () => {
  const { shaping, reply, accept } = setUp()
  accept(1)
  reply('slow')
  assert.equal(reply('throttle'), true)
  assert.equal(shaping.connections(SITE), 1)
})

test('repeated throttling leaves one message a minute', () => {
  const { shaping, clock, reply, capacity } = setUp()
  reply('throttle')
  reply('throttle')
  clock.at += MINUTE_MS
  reply('throttle')
  assert.equal(shaping.blockedUntil(SITE), clock.at + MINUTE_MS)
  clock.at += MINUTE_MS
  assert.equal(capacity(), 1)
})

test('a site that refuses all mail of this server is blocked for hours', () => {
  const { shaping, clock, reply } = setUp()
  assert.equal(reply('suspend'), true)
  assert.ok(shaping.blockedUntil(SITE) >= clock.at + 3 * 60 * MINUTE_MS)
  assert.equal(reply('suspend'), false)
})

test('F4: an unreachable site pauses longer each time and is probed by one message', () => {
  const { shaping, clock, fail, capacity } = setUp()
  assert.equal(fail(4), false)
  assert.equal(shaping.blockedUntil(SITE), 0)
  assert.equal(fail(1), true)
  const pauses: number[] = []
  for (let at = 0; at < 8; at++) {
    const until = shaping.blockedUntil(SITE)
    pauses.push((until - clock.at) / MINUTE_MS)
    assert.equal(capacity(), 0)
    clock.at = until
    assert.equal(capacity(), 1)
    assert.equal(capacity(1), 0)
    assert.equal(fail(1), true)
  }
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 30, 30, 30])
})

test('F4: pauses are jittered', () => {
  const pauseOf = (random: number) => {
    const { shaping, clock, fail } = setUp({ random: () => random })
    fail(5)
    return shaping.blockedUntil(SITE) - clock.at
  }
  assert.deepEqual([pauseOf(0), pauseOf(0.5), pauseOf(1)], [45_000, 60_000, 75_000])
})

test('attempts that began before the pause do not lengthen it', () => {
  const { shaping, fail } = setUp()
  fail(5)
  const until = shaping.blockedUntil(SITE)
  fail(20)
  assert.equal(shaping.blockedUntil(SITE), until)
})

test('F4: a site that works again starts with two connections', () => {
  const { shaping, clock, accept, fail, capacity } = setUp()
  accept(1)
  fail(5)
  clock.at = shaping.blockedUntil(SITE)
  accept(1)
  assert.equal(shaping.connections(SITE), 2)
  assert.equal(capacity(), 40)
  accept(40)
  assert.equal(shaping.connections(SITE), 3)
  fail(4)
  assert.equal(shaping.blockedUntil(SITE), 0)
})

test('a reply of any kind resets the count of failed connections', () => {
  const { shaping, fail, reply } = setUp()
  fail(4)
  reply('none')
  fail(4)
  assert.equal(shaping.blockedUntil(SITE), 0)
})

test('one site does not affect another', () => {
  const { shaping, fail } = setUp()
  fail(5)
  assert.equal(shaping.blockedUntil('other.com'), 0)
  assert.equal(shaping.capacity('other.com', { outstanding: 0, isUrgent: false }), 5)
})

test('one refusal of the source address halves the connections and sets no rate', () => {
  const { shaping, reply, accept, capacity } = setUp()
  accept(1)
  assert.equal(reply('block'), false)
  assert.equal(shaping.blockedUntil(SITE), 0)
  assert.equal(shaping.connections(SITE), 5)
  assert.equal(shaping.restriction(SITE).messagesPerMinute, null)
  assert.equal(capacity(), 100)
})

test('the third refusal of the source address among the last 20 replies restricts the site', () => {
  const { shaping, reply, accept } = setUp()
  reply('block')
  accept(9)
  reply('block')
  accept(8)
  assert.equal(shaping.restriction(SITE).messagesPerMinute, null)
  assert.equal(reply('block'), true)
  assert.equal(shaping.connections(SITE), 1)
  assert.equal(shaping.restriction(SITE).messagesPerMinute, 10)
})

test('refusals of the source address that lie far apart never restrict a site', () => {
  const { shaping, reply, accept } = setUp()
  for (let at = 0; at < 10; at++) {
    assert.equal(reply('block'), false)
    accept(9)
  }
  assert.equal(shaping.restriction(SITE).messagesPerMinute, null)
})
