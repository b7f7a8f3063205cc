import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createSessions,
  DEFAULT_SESSION_LIMITS,
  type ServerSession,
} from '../../src/inbound/sessions.ts'

test('times are checked only while there are sessions', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const started = t.mock.method(globalThis, 'setInterval')
  const ended = t.mock.method(globalThis, 'clearInterval')
  const sessions = createSessions(DEFAULT_SESSION_LIMITS)
  assert.equal(started.mock.callCount(), 0)
  let checks = 0
  const open = (): ServerSession => ({
    remoteAddress: '192.0.2.1',
    checkTimeouts: () => {
      checks += 1
    },
    leave: () => undefined,
    destroy: () => undefined,
  })
  const [one, other] = [open(), open()]
  sessions.add(one)
  sessions.add(other)
  assert.equal(started.mock.callCount(), 1)
  t.mock.timers.tick(DEFAULT_SESSION_LIMITS.checkMs)
  assert.equal(checks, 2)
  sessions.delete(one)
  sessions.delete(one)
  assert.equal(ended.mock.callCount(), 0)
  sessions.delete(other)
  assert.equal(ended.mock.callCount(), 1)
  t.mock.timers.tick(10 * DEFAULT_SESSION_LIMITS.checkMs)
  assert.equal(checks, 2)
  sessions.add(one)
  t.mock.timers.tick(DEFAULT_SESSION_LIMITS.checkMs)
  assert.equal(checks, 3)
  await sessions.stop(0)
})
