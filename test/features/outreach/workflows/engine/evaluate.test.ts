import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  chooseBranch,
  fieldValue,
} from '../../../../../src/features/outreach/workflows/engine/steps/condition.ts'
import type { ConditionOperator } from '../../../../../src/features/outreach/workflows/graph/step-config.ts'

/** What each operator makes of a value, as contract 5.5 says. */
const CASES: [
  operator: ConditionOperator,
  actual: unknown,
  expected: unknown,
  isFulfilled: boolean,
][] = [
  ['equals', 'pro', 'pro', true],
  ['equals', 'Pro', 'pro', false],
  ['equals', '1', 1, false],
  ['equals', 1, 1, true],
  ['equals', true, 'true', false],
  ['equals', undefined, undefined, true],
  ['equals', undefined, null, true],
  ['equals', null, undefined, true],
  ['equals', undefined, '', false],
  ['equals', ['pro'], 'pro', false],
  ['equals', { a: 1 }, 'pro', false],
  ['notEquals', ['free'], 'pro', false],
  ['notEquals', { a: 1 }, 'pro', false],
  ['in', 'pro', ['pro', 'team'], true],
  ['in', 'free', ['pro', 'team'], false],
  ['in', ['x', 'pro'], ['pro', 'team'], true],
  ['in', undefined, ['pro'], false],
  ['in', 1, ['1'], false],
  ['notIn', 'free', ['pro', 'team'], true],
  ['notIn', ['x', 'pro'], ['pro', 'team'], false],
  ['notIn', ['x'], ['pro', 'team'], true],
  ['notIn', [], ['pro'], true],
  ['notIn', { a: 1 }, ['pro'], false],
  ['notIn', undefined, ['pro'], false],
  ['notEquals', 'free', 'pro', true],
  ['notEquals', 'pro', 'pro', false],
  ['notEquals', undefined, 'pro', false],
  ['notEquals', null, 'pro', false],
  ['contains', 'a pro plan', 'pro', true],
  ['contains', 'a Pro plan', 'pro', false],
  ['contains', ['pro', 'x'], 'pro', true],
  ['contains', ['a pro'], 'pro', false],
  ['contains', 1234, 23, false],
  ['contains', [23], 23, true],
  ['contains', [23], '23', false],
  ['contains', 'a23', 23, true],
  ['notContains', 1234, 5, false],
  ['notContains', true, 'x', false],
  ['notContains', ['a'], 'x', true],
  ['notContains', ['x'], 'x', false],
  ['notContains', [], 'x', true],
  ['contains', undefined, 'x', false],
  ['notContains', 'plan', 'pro', true],
  ['notContains', 'pro', 'pro', false],
  ['notContains', undefined, 'x', false],
  ['greaterThan', 4, 3, true],
  ['greaterThan', 3, 3, false],
  ['greaterThan', '10', '9', true],
  ['greaterThan', 'ten', 9, false],
  ['greaterThan', undefined, -1, false],
  ['greaterThan', null, -1, false],
  ['greaterThan', { value: 4 }, 3, false],
  ['greaterThan', 4, '', false],
  ['greaterThanOrEqual', 0, null, false],
  ['greaterThan', { toString: 1 }, 0, false],
  ['contains', { a: 1 }, 'object', false],
  ['contains', { toString: 1 }, 'toString', false],
  ['notContains', { valueOf: 1 }, 'x', false],
  ['lessThan', '2', 10, true],
  ['lessThan', undefined, 1, false],
  ['greaterThanOrEqual', 3, '3', true],
  ['lessThanOrEqual', 3, 3, true],
  ['lessThanOrEqual', 4, 3, false],
  ['exists', 0, undefined, true],
  ['exists', '', undefined, true],
  ['exists', false, undefined, true],
  ['exists', null, undefined, false],
  ['exists', undefined, undefined, false],
  ['notExists', undefined, undefined, true],
  ['notExists', null, undefined, true],
  ['notExists', 0, undefined, false],
]

describe('a condition', () => {
  for (const [operator, actual, value, isFulfilled] of CASES) {
    it(`${JSON.stringify(actual)} ${operator} ${JSON.stringify(value)} is ${isFulfilled}`, () => {
      const branch = chooseBranch({ field: 'data.x', operator, value }, actual)
      assert.equal(branch, isFulfilled ? 'yes' : 'no')
    })
  }

  it('compares addresses without letter case', () => {
    const test = { field: 'contact.email', value: 'Ada@Example.net' }
    assert.equal(chooseBranch({ ...test, operator: 'equals' }, 'ada@example.net'), 'yes')
    const part = { ...test, value: '@EXAMPLE.net' }
    assert.equal(chooseBranch({ ...part, operator: 'contains' }, 'ada@example.net'), 'yes')
    assert.equal(chooseBranch({ ...part, operator: 'notContains' }, 'ada@example.net'), 'no')
    assert.equal(chooseBranch({ ...test, operator: 'notEquals' }, 'ada@example.net'), 'no')
  })

  it('with branches takes the first that fits, else the default', () => {
    const branches = [
      { id: 'large', name: 'Large', operator: 'greaterThan' as const, value: 100 },
      { id: 'small', name: 'Small', operator: 'greaterThan' as const, value: 10 },
    ]
    const config = { mode: 'multi' as const, field: 'data.seats', branches }
    assert.equal(chooseBranch(config, 200), 'large')
    assert.equal(chooseBranch(config, 50), 'small')
    assert.equal(chooseBranch(config, 5), 'default')
    assert.equal(chooseBranch(config, undefined), 'default')
  })
})

describe('a field', () => {
  const scope = {
    contact: {
      address: 'ada@example.net',
      subscribed: false,
      data: { plan: 'pro', 'a.b': 1, a: { b: 2, c: { d: 3 } }, company: { 'x.y': 4 }, list: ['a'] },
    },
    context: { total: 5, order: { id: 'o1' } },
  }
  const cases: [field: string, value: unknown][] = [
    ['contact.email', 'ada@example.net'],
    ['contact.subscribed', false],
    ['data.plan', 'pro'],
    ['contact.data.plan', 'pro'],
    ['data.a.b', 1],
    ['data.a.c.d', 3],
    ['data.company.x.y', 4],
    ['event.total', 5],
    ['event.order.id', 'o1'],
    ['workflow.total', 5],
    ['data.list.length', undefined],
    ['data.list.0', 'a'],
    ['data.missing', undefined],
    ['data.plan.length', undefined],
    ['data.constructor', undefined],
    ['data.__proto__', undefined],
    ['data.__proto__.polluted', undefined],
    ['event.toString', undefined],
    ['contact.name', undefined],
    ['contact', undefined],
    ['data', undefined],
    ['', undefined],
    ['process.env.HOME', undefined],
  ]
  for (const [field, value] of cases) {
    it(`${field} is ${JSON.stringify(value)}`, () =>
      assert.deepEqual(fieldValue(scope, field), value))
  }

  it('of an execution without context is missing', () => {
    assert.equal(fieldValue({ ...scope, context: null }, 'event.total'), undefined)
  })
})
