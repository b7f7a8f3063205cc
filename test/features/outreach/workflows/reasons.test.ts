import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT_REASONS } from '../../../../src/features/outreach/workflows/exit-reasons.ts'
import {
  answersSpent,
  reasonOfExit,
  reasonOfStep,
  STEP_ERRORS,
  suppressedRecipient,
  UNNAMED_EXIT,
  unsubscribedRecipient,
} from '../../../../src/features/outreach/workflows/reasons.ts'
import { reasonData as schema } from '../../../../src/records/reason.ts'
import { EXECUTION_REASONS } from '../../../../src/records/reason-codes.ts'

const steps: [error: string, code: string, data: object][] = [
  [suppressedRecipient('a b@x.test'), 'step_recipient_suppressed', { recipient: 'a b@x.test' }],
  [unsubscribedRecipient('a@x.test'), 'step_recipient_unsubscribed', { recipient: 'a@x.test' }],
  [answersSpent(1), 'step_answers_spent', { answersPerDay: 1 }],
  [answersSpent(12), 'step_answers_spent', { answersPerDay: 12 }],
  ['HTTP 503', 'step_failed', { error: 'HTTP 503' }],
]

test('each stored reason has a code with the values that the code declares, and every code is used', () => {
  const codes = new Set<string>()
  const check = (reason: ReturnType<typeof reasonOfStep>) => {
    assert.ok(reason)
    const { reasonCode, reasonData } = reason
    assert.deepEqual(Object.keys(reasonData), [...EXECUTION_REASONS[reasonCode]])
    assert.deepEqual(schema.strict().parse(reasonData), reasonData)
    codes.add(reasonCode)
    return reason
  }
  for (const exitReason of Object.values(EXIT_REASONS)) {
    check(reasonOfExit({ status: 'CANCELLED', exitReason }))
  }
  for (const error of Object.values(STEP_ERRORS)) check(reasonOfStep(error))
  for (const [error, reasonCode, reasonData] of steps) {
    assert.deepEqual(check(reasonOfStep(error)), { reasonCode, reasonData })
  }
  check(reasonOfExit({ status: 'EXITED', exitReason: 'paid' }))
  assert.deepEqual([...codes].sort(), Object.keys(EXECUTION_REASONS).sort())
})

test('the words of an author are no reason of the server, even if they are the same', () => {
  const own = { status: 'EXITED', exitReason: EXIT_REASONS.cancelled }
  assert.deepEqual(reasonOfExit(own), {
    reasonCode: 'exit_step',
    reasonData: { text: EXIT_REASONS.cancelled },
  })
  const unnamed = reasonOfExit({ status: 'EXITED', exitReason: UNNAMED_EXIT })
  assert.deepEqual(unnamed?.reasonData, { text: null })
})

test('an execution without a reason has no code', () => {
  assert.equal(reasonOfExit({ status: 'FAILED', exitReason: null }), null)
  assert.equal(reasonOfStep(null), null)
})
