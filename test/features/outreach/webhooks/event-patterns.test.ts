import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createEventMatcher,
  faultInPattern,
} from '../../../../src/features/outreach/webhooks/event-patterns.ts'

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
  for (const text of ['*', 'a.*', 'a b', 'a.b.*', 'email.*', 'contact.created']) {
    assert.equal(faultInPattern(text), undefined, text)
  }
  for (const text of ['**', 'a*', '*.a', 'a.*.b', '.*', '*.*']) {
    assert.match(faultInPattern(text) ?? '', /Expected the name/, text)
  }
})

test('a name of the service that nobody makes is refused, with the one that is meant', () => {
  assert.match(faultInPattern('email.opend') ?? '', /Did you mean "email\.opened"\?/)
  assert.match(faultInPattern('email.open.*') ?? '', /No event begins with email\.open\./)
})
