import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseBranch } from '../../../../../src/features/outreach/workflows/engine/steps/condition.ts'
import {
  isNumericOperator,
  whyNeverTrue,
} from '../../../../../src/features/outreach/workflows/graph/condition-config.ts'
import { CONDITION_OPERATORS } from '../../../../../src/features/outreach/workflows/graph/step-config.ts'

const ADDRESS = 'ann@people.test'
const POSSIBLE: [field: string, actual: unknown[]][] = [
  ['contact.email', [ADDRESS]],
  ['contact.subscribed', [true, false]],
  ['email.opened', [true, undefined]],
]
const VALUES = [true, false, 'true', 'yes', ADDRESS, 0, 7, null]

for (const [field, actual] of POSSIBLE) {
  test(`a comparison of ${field} that nothing fulfils is known`, () => {
    for (const operator of CONDITION_OPERATORS) {
      const isList = operator === 'in' || operator === 'notIn'
      for (const value of isList ? VALUES.map((each) => [each]) : VALUES) {
        const isTrue = actual.some(
          (each) => chooseBranch({ field, operator, value }, each) === 'yes',
        )
        const misfit = whyNeverTrue(field, { operator, value })
        const label = `${operator} ${JSON.stringify(value)}`
        if (isTrue) assert.equal(misfit, undefined, label)
        // Another address may fulfil it, and a number that fits is another finding.
        const isLeft = typeof [value].flat()[0] === 'string' && field === 'contact.email'
        const isOther = isNumericOperator(operator) && field !== 'contact.email'
        const isClear = !isTrue && !isOther && !(isLeft && !isNumericOperator(operator))
        if (isClear && operator !== 'notExists') assert.ok(misfit, label)
      }
    }
  })
}

test('data may have any type', () => {
  assert.equal(whyNeverTrue('data.a', { operator: 'equals', value: 'true' }), undefined)
})
