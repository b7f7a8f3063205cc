import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createEventMatcher,
  isEventPattern,
} from '../../../src/features/webhooks/event-patterns.ts'

const cases: [string[], string, boolean][] = [
  [['order placed'], 'order placed', true],
  [['order placed'], 'order', false],
  [['email.opened'], 'email.open', true],
  [['email.open'], 'email.open', true],
  [['email.*'], 'email.failed', true],
  [['email.*'], 'email', false],
  [['email.*'], 'emails.sent', false],
  [['segment.*'], 'segment.vip.entry', true],
  [['*'], 'anything at all', true],
  [['a', 'b.*'], 'b.c', true],
  [['a', 'b.*'], 'c', false],
  [['__proto__'], 'constructor', false],
  [['email.opened'], 'email.opened', false],
]
for (const [patterns, name, isWanted] of cases) {
  test(`${patterns.join(', ')} ${isWanted ? 'includes' : 'excludes'} ${name}`, () => {
    assert.equal(createEventMatcher(patterns)(name), isWanted)
  })
}

test('a star is the whole pattern or its last part', () => {
  for (const text of ['*', 'a.*', 'a b', 'a.b.*']) assert.equal(isEventPattern(text), true, text)
  for (const text of ['**', 'a*', '*.a', 'a.*.b', '.*', '*.*']) {
    assert.equal(isEventPattern(text), false, text)
  }
})
