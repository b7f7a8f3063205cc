import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { classifyLocally } from '../../src/formats/replies/classify-reply.ts'
import type { AttemptStep } from '../../src/outbound/attempt.ts'
import { localOutcome } from '../../src/outbound/outcomes.ts'
import type { TaskResult } from '../../src/outbound/protocol.ts'
import { packResults, unpackResults } from '../../src/outbound/thread-messages.ts'

const plain = { noNullPrototype: true } as const
const ms = fc.integer({ min: -10, max: 700_000 })
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

const reply = fc.record(
  {
    code: fc.constantFrom(250, 354, 451, 550),
    enhancedCode: fc.constantFrom(null, '2.0.0', '5.1.1'),
    text: fc.string(),
  },
  plain,
)
const step = fc.record(
  {
    ...{ step: fc.constantFrom('connect', 'mail', 'rcpt', 'message'), at: ms, durationMs: ms },
    ...{ host: fc.domain(), address: fc.ipV4(), reply, error: fc.string() },
  },
  { ...plain, requiredKeys: ['step', 'at', 'durationMs'] },
) as fc.Arbitrary<AttemptStep>

const outcome = fc.record(
  {
    result: fc.constantFrom('delivered', 'relayed', 'deferred', 'bounced', 'failed'),
    verdict: fc.constantFrom(null, classifyLocally('network'), classifyLocally('size')),
    ...{ host: orNull(fc.domain()), address: orNull(fc.ipV6()), tls: orNull(fc.string()) },
    ...{ reply: orNull(reply), error: orNull(fc.string()), steps: fc.array(step) },
    ...{ durationMs: ms, isMaybeDelivered: fc.boolean() },
  },
  plain,
)
const fault = fc.record({ part: fc.constant('body'), message: fc.string() }, plain)

const result = fc.oneof(
  fc.record(
    {
      ...{ task: fc.nat(), kind: fc.constant('attempted'), outcome, subject: orNull(fc.string()) },
      startedAt: fc.integer({ min: 0, max: 8.64e15 }),
      ...{ faults: fc.array(fault), brokenTls: orNull(fc.domain()) },
    },
    plain,
  ),
  fc.record({ task: fc.nat(), kind: fc.constant('heavy') }, plain),
  fc.record(
    { ...{ task: fc.nat(), kind: fc.constant('put back') }, delayMs: ms, reason: fc.string() },
    { ...plain, requiredKeys: ['task', 'kind'] },
  ),
) as fc.Arbitrary<TaskResult>

test('results are the same, and in the same order, after their way between threads', () => {
  fc.assert(
    fc.property(fc.array(result), (results) => {
      assert.deepEqual(unpackResults(structuredClone(packResults(results))), results)
    }),
  )
})

test('values that are the same cross once', () => {
  const delivered = localOutcome({ result: 'delivered', verdict: null, error: null })
  const first: TaskResult = {
    ...{ task: 1, kind: 'attempted', outcome: delivered, subject: 'Your order', startedAt: 5 },
    ...{ faults: [], brokenTls: null },
  }
  const one = packResults([first]).values
  const many = packResults([first, { ...first, task: 2 }, { ...first, task: 3 }]).values
  assert.deepEqual(many, one)
})
