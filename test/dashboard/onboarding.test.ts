import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  firstOutcome,
  firstSender,
  lookDelay,
  markedAt,
} from '../../src/dashboard/logic/onboarding.ts'

test('the sender is of the first verified domain', () => {
  const domains = [
    { domain: 'new.example', verified: false },
    { domain: 'example.test', verified: true },
  ]
  assert.equal(firstSender(domains), 'hello@example.test')
  assert.equal(firstSender(domains.slice(0, 1)), undefined)
})

test('the states of an email are three for a first mail', () => {
  assert.equal(firstOutcome({ status: 'PENDING' }), 'waiting')
  assert.equal(firstOutcome({ status: 'SENDING' }), 'waiting')
  assert.equal(firstOutcome({ status: 'SENT' }), 'arrived')
  assert.equal(firstOutcome({ status: 'BOUNCED' }), 'failed')
})

test('the postmark has the instant of the delivery, as far as it is known', () => {
  const email = { status: 'SENT', createdAt: '1', sentAt: '2', deliveredAt: null }
  assert.equal(markedAt(email), '2')
  assert.equal(markedAt({ ...email, deliveredAt: '3' }), '3')
  assert.equal(markedAt({ ...email, sentAt: null }), '1')
})

test('the page looks every second for a minute, then as other screens do', () => {
  const delay = (sinceStartMs: number, sinceInputMs = sinceStartMs) =>
    lookDelay({ sinceStartMs, sinceInputMs, isOver: false })
  assert.equal(delay(0), 1_000)
  assert.equal(delay(59_999), 1_000)
  assert.equal(delay(60_000, 10_000), 5_000)
  assert.equal(delay(60_000), 15_000)
  assert.equal(lookDelay({ sinceStartMs: 0, sinceInputMs: 0, isOver: true }), 15_000)
})
