import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyLocally } from '../../src/formats/replies/classify-reply.ts'
import type { AttemptOutcome, AttemptStep } from '../../src/outbound/attempt.ts'
import {
  localOutcome,
  outcomeOfLostThread,
  siteObservationOf,
  withLookup,
} from '../../src/outbound/outcomes.ts'

const step = (more: Partial<AttemptStep>): AttemptStep => ({
  step: 'mail',
  at: 0,
  durationMs: 0,
  ...more,
})

function outcomeAt(host: string | null, more: Partial<AttemptOutcome>): AttemptOutcome {
  return { ...localOutcome({ result: 'deferred', verdict: null, error: null }), host, ...more }
}

test('a connection without any reply means that the site is unreachable', () => {
  const verdict = classifyLocally('network')
  const steps = [step({ step: 'connect', error: 'refused' })]
  const report = siteObservationOf(outcomeAt('mx.test', { verdict, steps }))
  assert.deepEqual(report, { kind: 'unreachable' })
})

test('a refusal by this server in an open session does not count for the site', () => {
  for (const cause of ['size', 'smtputf8', '8bit'] as const) {
    const verdict = classifyLocally(cause)
    assert.equal(siteObservationOf(outcomeAt('mx.test', { result: 'bounced', verdict })), null)
  }
})

test('a message whose reply was lost with its thread counts as accepted and does not count for the site', () => {
  for (const [mode, result] of [
    ['direct', 'delivered'],
    ['relay', 'relayed'],
  ] as const) {
    const outcome = outcomeOfLostThread(mode)
    assert.equal(outcome.result, result)
    assert.equal(outcome.verdict?.class, 'accepted')
    assert.equal(siteObservationOf(outcome), null)
  }
})

test('an attempt that never reached the site does not count for it', () => {
  assert.equal(siteObservationOf(outcomeAt(null, { verdict: classifyLocally('network') })), null)
})

test('an attempt begins with its own look-up, and no step is longer than the attempt', () => {
  const outcome = outcomeAt('mx.test', { steps: [step({ at: 2, durationMs: 3 })], durationMs: 5 })
  const lookup = { at: 0, durationMs: 40, hosts: ['mx.test'] }
  const { steps, durationMs } = withLookup(outcome, lookup, true)
  assert.deepEqual([steps.map(({ at }) => at), steps[0]?.durationMs, durationMs], [[0, 42], 40, 45])
  const later = withLookup(outcome, lookup, false)
  assert.deepEqual([later.steps.map(({ at }) => at), later.durationMs], [[0, 2], 5])
})
