import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  packSteps,
  type StoredStep,
  unpackSteps,
  withRepeated,
} from '../../../src/store/schema/packed-steps.ts'

const reply = fc.record(
  {
    code: fc.integer({ min: 200, max: 599 }),
    enhancedCode: fc.option(fc.string()),
    text: fc.string(),
  },
  { noNullPrototype: true },
)
const step: fc.Arbitrary<StoredStep> = fc.record(
  {
    step: fc.oneof(fc.string(), fc.constantFrom('dns', 'connect', 'mail', 'rcpt', 'message')),
    at: fc.nat(),
    durationMs: fc.nat(),
    reply,
    host: fc.string(),
    address: fc.string(),
    error: fc.string(),
  },
  { requiredKeys: ['step', 'at', 'durationMs'], noNullPrototype: true },
)

test('unpacked steps equal the packed ones', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      assert.deepEqual(unpackSteps(packSteps(steps)), steps)
    }),
  )
})

test('texts of the row are left out of the steps and come back', () => {
  const text = fc.option(fc.string())
  const row = fc.record({ host: text, address: text, replyText: text }, { noNullPrototype: true })
  fc.assert(
    fc.property(fc.array(step), row, (steps, columns) => {
      const own = steps.map((one, index) =>
        index % 2 === 0 && columns.host !== null ? { ...one, host: columns.host } : one,
      )
      fc.pre(!JSON.stringify(own).includes('"="'))
      assert.deepEqual(withRepeated(unpackSteps(packSteps(own, columns)), columns), own)
    }),
  )
  const host = 'mx.dest.test'
  const columns = { host, address: '192.0.2.1', replyText: '=' }
  const reply = { code: 250, enhancedCode: null, text: '=' }
  const steps = [{ step: 'connect', at: 0, durationMs: 1, host, reply }]
  const short = unpackSteps(packSteps(steps, columns))
  assert.equal(short[0]?.host, '=')
  assert.deepEqual(withRepeated(short, columns), steps)
})

test('steps with names as they were stored before are read', () => {
  const step = {
    step: 'rcpt',
    at: 4,
    durationMs: 2,
    reply: { code: 250, enhancedCode: null, text: 'Ok' },
  }
  assert.deepEqual(unpackSteps('[["rcpt",4,2,[250,null,"Ok"]]]'), [step])
  assert.deepEqual(unpackSteps('[[7,4,2,[250,null,"Ok"]]]'), [step])
})

test('a packed step is an array without trailing missing values, and its name a number', () => {
  const sent = { code: 250, enhancedCode: '2.0.0', text: 'Ok' }
  const steps = [
    { step: 'message', at: 3, durationMs: 2, reply: sent },
    { step: 'connect', at: 0, durationMs: 1, error: 'refused' },
    { step: 'dns', at: 0, durationMs: 0 },
  ]
  assert.equal(
    packSteps(steps),
    '[[9,3,2,[250,"2.0.0","Ok"]],[1,0,1,null,null,null,"refused"],[0,0,0]]',
  )
})
