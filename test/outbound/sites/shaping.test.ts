import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SiteAction } from '../../../src/mail/replies/reply.ts'
import { createShaping } from '../../../src/outbound/sites/shaping.ts'

const MINUTE = 60_000
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
  const answer = (action: SiteAction) =>
    shaping.record(SITE, { kind: 'answered', durationMs: 10, action })
  const fail = (count: number) => {
    let isBlocked = false
    for (let at = 0; at < count; at++) isBlocked = shaping.record(SITE, { kind: 'unreachable' })
    return isBlocked
  }
  const room = (outstanding = 0, isUrgent = false) => shaping.room(SITE, { outstanding, isUrgent })
  return { shaping, clock, accept, answer, fail, room }
}

test('a site that has accepted nothing yet gets only a few messages', () => {
  const { room, accept } = setUp()
  assert.equal(room(), 5)
  assert.equal(room(5), 0)
  accept(1)
  assert.equal(room(), 200)
})

test('the number of messages that may wait follows from the time a message takes', () => {
  const { room, accept } = setUp()
  accept(100, 100)
  assert.equal(room(), 100)
  accept(200, 30_000)
  assert.equal(room(), 20)
})

test('urgent mail has a reserve, but no way around a pause', () => {
  const { room, accept, fail } = setUp()
  accept(1)
  assert.equal(room(200), 0)
  assert.equal(room(200, true), 50)
  fail(5)
  assert.equal(room(0, true), 0)
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
  const { shaping, clock, answer } = setUp()
  for (let at = 0; at < 10; at++) answer('slow')
  assert.equal(shaping.connections(SITE), 5)
  clock.at += 6_000
  answer('slow')
  assert.equal(shaping.connections(SITE), 2)
  answer('none')
  answer('reconnect')
  assert.equal(shaping.connections(SITE), 2)
  assert.equal(shaping.blockedUntil(SITE), 0)
})

test('throttling leaves one connection and ten messages a minute for about an hour', () => {
  const { shaping, clock, accept, answer, room } = setUp()
  accept(1)
  answer('throttle')
  assert.equal(shaping.connections(SITE), 1)
  assert.equal(room(), 0)
  assert.equal(shaping.blockedUntil(SITE), clock.at + 6_000)
  let sent = 0
  for (const until = clock.at + 10 * MINUTE; clock.at < until; clock.at += 1_000) {
    const count = room()
    shaping.take(SITE, count)
    sent += count
  }
  assert.equal(sent, 99)
  clock.at += 80 * MINUTE
  assert.equal(shaping.blockedUntil(SITE), 0)
  assert.equal(room(), 20)
})

test('throttling counts directly after a reply to slow down', () => {
  const { shaping, answer, accept } = setUp()
  accept(1)
  answer('slow')
  assert.equal(answer('throttle'), true)
  assert.equal(shaping.connections(SITE), 1)
})

test('repeated throttling leaves one message a minute', () => {
  const { shaping, clock, answer, room } = setUp()
  answer('throttle')
  answer('throttle')
  clock.at += MINUTE
  answer('throttle')
  assert.equal(shaping.blockedUntil(SITE), clock.at + MINUTE)
  clock.at += MINUTE
  assert.equal(room(), 1)
})

test('a site that refuses all our mail is blocked for hours', () => {
  const { shaping, clock, answer } = setUp()
  assert.equal(answer('suspend'), true)
  assert.ok(shaping.blockedUntil(SITE) >= clock.at + 3 * 60 * MINUTE)
  assert.equal(answer('suspend'), false)
})

test('a dead site pauses longer each time and is probed by one message', () => {
  const { shaping, clock, fail, room } = setUp()
  assert.equal(fail(4), false)
  assert.equal(shaping.blockedUntil(SITE), 0)
  assert.equal(fail(1), true)
  const pauses: number[] = []
  for (let at = 0; at < 8; at++) {
    const until = shaping.blockedUntil(SITE)
    pauses.push((until - clock.at) / MINUTE)
    assert.equal(room(), 0)
    clock.at = until
    assert.equal(room(), 1)
    assert.equal(room(1), 0)
    assert.equal(fail(1), true)
  }
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 30, 30, 30])
})

test('pauses are jittered', () => {
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

test('a site that works again starts with two connections', () => {
  const { shaping, clock, accept, fail, room } = setUp()
  accept(1)
  fail(5)
  clock.at = shaping.blockedUntil(SITE)
  accept(1)
  assert.equal(shaping.connections(SITE), 2)
  assert.equal(room(), 40)
  accept(40)
  assert.equal(shaping.connections(SITE), 3)
  fail(4)
  assert.equal(shaping.blockedUntil(SITE), 0)
})

test('a reply of any kind resets the count of failed connections', () => {
  const { shaping, fail, answer } = setUp()
  fail(4)
  answer('none')
  fail(4)
  assert.equal(shaping.blockedUntil(SITE), 0)
})

test('one site does not change another', () => {
  const { shaping, fail } = setUp()
  fail(5)
  assert.equal(shaping.blockedUntil('other.com'), 0)
  assert.equal(shaping.room('other.com', { outstanding: 0, isUrgent: false }), 5)
})

test('one refusal of our address takes half of the connections, and no rate', () => {
  const { shaping, answer, accept, room } = setUp()
  accept(1)
  assert.equal(answer('block'), false)
  assert.equal(shaping.blockedUntil(SITE), 0)
  assert.equal(shaping.connections(SITE), 5)
  assert.equal(shaping.restriction(SITE).messagesPerMinute, null)
  assert.equal(room(), 100)
})

test('the third refusal of our address among the last 20 answers restricts the site', () => {
  const { shaping, answer, accept } = setUp()
  answer('block')
  accept(9)
  answer('block')
  accept(8)
  assert.equal(shaping.restriction(SITE).messagesPerMinute, null)
  assert.equal(answer('block'), true)
  assert.equal(shaping.connections(SITE), 1)
  assert.equal(shaping.restriction(SITE).messagesPerMinute, 10)
})

test('refusals of our address that lie far apart never restrict a site', () => {
  const { shaping, answer, accept } = setUp()
  for (let at = 0; at < 10; at++) {
    assert.equal(answer('block'), false)
    accept(9)
  }
  assert.equal(shaping.restriction(SITE).messagesPerMinute, null)
})
