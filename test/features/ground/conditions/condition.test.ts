import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../../../src/base/errors.ts'
import {
  type Condition,
  listReferences,
  parseCondition,
  parseConditionText,
} from '../../../../src/features/ground/conditions/condition.ts'
import { CONDITION_JSON_SCHEMA } from '../../../../src/records/condition.ts'
import { OPERATORS_BY_KIND } from '../../../../src/records/operators.ts'
import { condition } from './arbitraries.ts'

const plan = { field: 'data.plan', operator: 'equals', value: 'pro' }

function of(...filters: unknown[]): unknown {
  return { logic: 'AND', groups: [{ filters }] }
}

function faultsOf(value: unknown): [string, string, string][] {
  try {
    parseCondition(value, 'condition')
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'VALIDATION_ERROR')
    assert.equal(error.status, 422)
    return (error.fields ?? []).map(({ field, code, message }) => [field, code, message])
  }
  assert.fail('was let in')
}

test('a condition is stored as spelled', () => {
  const nested = {
    logic: 'OR',
    groups: [
      {
        filters: [
          plan,
          { field: 'email.opened', operator: 'triggeredWithin', value: 7, unit: 'days' },
        ],
      },
      {
        filters: [],
        conditions: of({ field: 'signed up', operator: 'notTriggered' }),
      },
    ],
  }
  assert.deepEqual(parseCondition(nested, 'condition'), nested)
  assert.deepEqual(parseConditionText(JSON.stringify(nested), 'filter'), nested)
})

test('parts without a meaning are dropped', () => {
  const written = of(
    { ...plan, unit: 'days' },
    { field: 'data.plan', operator: 'exists', value: null, unit: null },
    { field: 'subscribed', operator: 'equals', value: 'false' },
    { field: 'subscribed', operator: 'notEquals', value: 'true' },
    { field: 'event.x', operator: 'triggered', value: '' },
  )
  assert.deepEqual(parseCondition(written, 'condition').groups[0]?.filters, [
    plan,
    { field: 'data.plan', operator: 'exists' },
    { field: 'subscribed', operator: 'equals', value: false },
    { field: 'subscribed', operator: 'notEquals', value: true },
    { field: 'event.x', operator: 'triggered' },
  ])
  const withNull = { logic: 'AND', groups: [{ filters: [plan], conditions: null }] }
  assert.deepEqual(parseCondition(withNull, 'condition'), of(plan))
})

const faults: { of: string; value: unknown; at: string; code: string; says?: RegExp }[] = [
  { of: 'nothing', value: undefined, at: '', code: 'invalid_type', says: /^Required$/ },
  { of: 'null', value: null, at: '', code: 'invalid_type', says: /received null/ },
  { of: 'a list', value: [], at: '', code: 'invalid_type', says: /received array/ },
  { of: 'no logic', value: { groups: [{ filters: [plan] }] }, at: '.logic', code: 'invalid_type' },
  {
    of: 'a logic in lower case',
    value: { logic: 'and', groups: [{ filters: [plan] }] },
    at: '.logic',
    code: 'invalid_enum_value',
    says: /AND or OR/,
  },
  { of: 'no groups', value: { logic: 'AND' }, at: '.groups', code: 'invalid_type' },
  { of: 'an empty list', value: { logic: 'OR', groups: [] }, at: '.groups', code: 'too_small' },
  {
    of: 'an object of groups',
    value: { logic: 'OR', groups: {} },
    at: '.groups',
    code: 'invalid_type',
  },
  { of: 'a group of nothing', value: of(), at: '.groups.0.filters', code: 'too_small' },
  {
    of: 'a group without filters',
    value: { logic: 'AND', groups: [{ conditions: of(plan) }] },
    at: '.groups.0.filters',
    code: 'invalid_type',
  },
  {
    of: 'a nested condition of a misspelt key',
    value: { logic: 'AND', groups: [{ filters: [plan], condition: of(plan) }] },
    at: '.groups.0.condition',
    code: 'unrecognized',
    says: /filters, conditions/,
  },
  {
    of: 'a fault deep inside',
    value: {
      logic: 'AND',
      groups: [{ filters: [plan], conditions: of(plan, { ...plan, operator: 'is' }) }],
    },
    at: '.groups.0.conditions.groups.0.filters.1.operator',
    code: 'invalid_enum_value',
  },
]

const filterFaults: { of: string; filter: unknown; at: string; code: string; says?: RegExp }[] = [
  { of: 'a text', filter: 'data.plan', at: '', code: 'invalid_type' },
  { of: 'no field', filter: { operator: 'exists' }, at: '.field', code: 'invalid_type' },
  { of: 'a numeric field', filter: { ...plan, field: 1 }, at: '.field', code: 'invalid_type' },
  { of: 'an empty field', filter: { ...plan, field: '' }, at: '.field', code: 'custom' },
  {
    of: 'a bare data key',
    filter: { ...plan, field: 'plan' },
    at: '.field',
    code: 'custom',
    says: /Data is "data\.plan"/,
  },
  {
    of: 'a misspelt column',
    filter: { field: 'emial', operator: 'equals', value: 'a@b.test' },
    at: '.field',
    code: 'custom',
    says: /Did you mean "email"\?/,
  },
  {
    of: 'a misspelt namespace',
    filter: { ...plan, field: 'Data.plan' },
    at: '.field',
    code: 'custom',
    says: /Did you mean "data\.plan"\?/,
  },
  {
    of: 'data without a key',
    filter: { ...plan, field: 'data.' },
    at: '.field',
    code: 'custom',
    says: /data\.<key>/,
  },
  {
    of: 'a key with a NUL',
    filter: { ...plan, field: 'data.a\0b' },
    at: '.field',
    code: 'invalid_string',
  },
  {
    of: 'half a surrogate pair',
    filter: { ...plan, field: 'data.\ud800' },
    at: '.field',
    code: 'invalid_string',
  },
  {
    of: 'an endless field',
    filter: { ...plan, field: `data.${'k'.repeat(1000)}` },
    at: '.field',
    code: 'too_big',
  },
  {
    of: 'an unknown activity',
    filter: { field: 'email.openned', operator: 'triggered' },
    at: '.field',
    code: 'custom',
    says: /email\.clicked.*Did you mean "email\.opened"\?/,
  },
  {
    of: 'an unknown event of emails',
    filter: { field: 'event.email.clickd', operator: 'notTriggered' },
    at: '.field',
    code: 'custom',
    says: /There is no event email\.clickd.*Did you mean "email\.clicked?"\?/,
  },
  {
    of: 'no operator',
    filter: { field: 'data.plan' },
    at: '.operator',
    code: 'invalid_type',
    says: /Required/,
  },
  {
    of: 'a misspelt operator',
    filter: { ...plan, operator: 'equal' },
    at: '.operator',
    code: 'invalid_enum_value',
    says: /Did you mean "equals"\?/,
  },
  {
    of: 'an inherited name',
    filter: { ...plan, operator: 'toString' },
    at: '.operator',
    code: 'invalid_enum_value',
  },
  {
    of: 'an operator of other fields',
    filter: { field: 'email', operator: 'greaterThan', value: 'a' },
    at: '.operator',
    code: 'invalid_enum_value',
    says: /email takes one of equals, notEquals, contains, notContains/,
  },
  {
    of: 'no value',
    filter: { field: 'data.plan', operator: 'equals' },
    at: '.value',
    code: 'invalid_type',
  },
  {
    of: 'null',
    filter: { ...plan, value: null },
    at: '.value',
    code: 'invalid_type',
    says: /null/,
  },
  {
    of: 'a list',
    filter: { ...plan, value: ['pro'] },
    at: '.value',
    code: 'invalid_type',
    says: /array/,
  },
  { of: 'an object', filter: { ...plan, value: { a: 1 } }, at: '.value', code: 'invalid_type' },
  {
    of: 'infinity',
    filter: { ...plan, value: Number.POSITIVE_INFINITY },
    at: '.value',
    code: 'invalid_type',
  },
  {
    of: 'an endless text',
    filter: { ...plan, value: 'x'.repeat(1001) },
    at: '.value',
    code: 'too_big',
  },
  { of: 'half a pair', filter: { ...plan, value: '\udc00' }, at: '.value', code: 'invalid_string' },
  {
    of: 'an order of booleans',
    filter: { ...plan, operator: 'lessThan', value: true },
    at: '.value',
    code: 'invalid_type',
    says: /string or number/,
  },
  {
    of: 'part of a list',
    filter: { ...plan, operator: 'contains', value: ['a'] },
    at: '.value',
    code: 'invalid_type',
  },
  {
    of: 'a choice of one value',
    filter: { ...plan, operator: 'in', value: 'pro' },
    at: '.value',
    code: 'invalid_type',
  },
  {
    of: 'a choice of no value',
    filter: { ...plan, operator: 'notIn', value: [] },
    at: '.value',
    code: 'too_small',
  },
  {
    of: 'a choice of too many values',
    filter: { ...plan, operator: 'in', value: Array(501).fill('x') },
    at: '.value',
    code: 'too_big',
  },
  {
    of: 'a choice of lists',
    filter: { ...plan, operator: 'in', value: ['pro', ['team']] },
    at: '.value.1',
    code: 'invalid_type',
  },
  {
    of: 'a choice of nothing',
    filter: { ...plan, operator: 'in', value: [null] },
    at: '.value.0',
    code: 'invalid_type',
  },
  {
    of: 'an empty part',
    filter: { ...plan, operator: 'contains', value: '' },
    at: '.value',
    code: 'too_small',
  },
  {
    of: 'a date that is none',
    filter: { field: 'createdAt', operator: 'equals', value: '2026-02-30' },
    at: '.value',
    code: 'invalid_string',
  },
  {
    of: 'a date as a number',
    filter: { field: 'updatedAt', operator: 'lessThan', value: 1 },
    at: '.value',
    code: 'invalid_type',
  },
  {
    of: 'a value for exists',
    filter: { ...plan, operator: 'exists' },
    at: '.value',
    code: 'custom',
    says: /takes no value/,
  },
  {
    of: 'exists: false',
    filter: { ...plan, operator: 'exists', value: false },
    at: '.value',
    code: 'custom',
  },
  {
    of: 'a span without a unit',
    filter: { ...plan, operator: 'within', value: 7 },
    at: '.unit',
    code: 'invalid_type',
    says: /days, hours, minutes/,
  },
  {
    of: 'an unknown unit',
    filter: { ...plan, operator: 'within', value: 7, unit: 'weeks' },
    at: '.unit',
    code: 'invalid_enum_value',
  },
  {
    of: 'a span of text',
    filter: { ...plan, operator: 'olderThan', value: '7', unit: 'days' },
    at: '.value',
    code: 'invalid_type',
  },
  {
    of: 'a negative span',
    filter: { field: 'event.x', operator: 'triggeredWithin', value: -1, unit: 'days' },
    at: '.value',
    code: 'too_small',
  },
  {
    of: 'a span of ages',
    filter: { field: 'event.x', operator: 'notTriggeredWithin', value: 36_501, unit: 'days' },
    at: '.value',
    code: 'too_big',
  },
  {
    of: 'an unknown key',
    filter: { ...plan, negate: true },
    at: '.negate',
    code: 'unrecognized',
  },
  {
    of: 'a key called __proto__',
    filter: JSON.parse('{"field":"data.x","operator":"exists","__proto__":{"value":1}}'),
    at: '.__proto__',
    code: 'unrecognized',
  },
]

test('each error of the shape is reported at its path', async (t) => {
  for (const { of: name, value, at, code, says = /./ } of faults) {
    await t.test(name, () => {
      const [[field, actual, message] = [], ...more] = faultsOf(value)
      assert.deepEqual([field, actual, more], [`condition${at}`, code, []])
      assert.match(String(message), says)
    })
  }
})

test('each error of a filter is reported at its path', async (t) => {
  for (const { of: name, filter, at, code, says = /./ } of filterFaults) {
    await t.test(name, () => {
      const [[field, actual, message] = [], ...more] = faultsOf(of(plan, filter))
      assert.deepEqual([field, actual, more], [`condition.groups.0.filters.1${at}`, code, []])
      assert.match(String(message), says)
    })
  }
})

test('all errors are reported at once', () => {
  const value = {
    logic: 'XOR',
    groups: [
      {
        filters: [
          { field: 'nope', operator: 'equals', value: 1 },
          { field: 'data.x', operator: 'within' },
        ],
      },
      { filters: [] },
      { filters: [plan], conditions: { groups: [] } },
    ],
    limit: 5,
  }
  assert.deepEqual(
    faultsOf(value).map(([field]) => field.replace(/^condition\.?/, '')),
    [
      'limit',
      'logic',
      'groups.0.filters.0.field',
      'groups.0.filters.1.value',
      'groups.0.filters.1.unit',
      'groups.1.filters',
      'groups.2.conditions.logic',
      'groups.2.conditions.groups',
    ],
  )
})

test('a field allows only the operators of its kind', () => {
  const fieldsByKind = {
    email: ['email'],
    subscribed: ['subscribed'],
    instant: ['createdAt', 'updatedAt'],
    data: ['data.x', 'data.email', 'data.a.b'],
    event: ['event.x', 'email.sent', 'email.delivery', 'event.email.opened'],
    segment: ['segment.x'],
  }
  const all = [...new Set(Object.values(OPERATORS_BY_KIND).flat())]
  for (const [kind, fields] of Object.entries(fieldsByKind)) {
    const allowed: readonly string[] = OPERATORS_BY_KIND[kind as keyof typeof OPERATORS_BY_KIND]
    for (const field of fields) {
      const refused = all.filter((operator) => {
        // An allowed operator without its value is refused only for the value.
        const told = { logic: 'AND', groups: [{ filters: [{ field, operator }, { field }] }] }
        return faultsOf(told).some(([at]) => at.endsWith('filters.0.operator'))
      })
      assert.deepEqual(
        refused,
        all.filter((operator) => !allowed.includes(operator)),
        field,
      )
    }
  }
})

test('a bare name with an event operator is an event', () => {
  const names = ['signed up', 'data', 'segment.vip.entry', 'contact.subscribed', 'plan.changed']
  const filters = names.map((field) => ({ field, operator: 'triggered' }))
  const parsed = parseCondition(of(...filters), 'condition')
  assert.deepEqual(listReferences(parsed).events, names)
  for (const field of ['email', 'createdAt', 'data.x', 'segment.vip']) {
    const [[at] = []] = faultsOf(of({ field, operator: 'triggered' }))
    assert.equal(at, 'condition.groups.0.filters.0.operator')
  }
})

test('references are data keys, columns, stored event names and segment ids, each once', () => {
  const parsed = parseCondition(
    {
      logic: 'OR',
      groups: [
        { filters: [plan, { field: 'data.a.b', operator: 'exists' }] },
        {
          filters: [{ field: 'email.opened', operator: 'triggered' }, plan],
          conditions: of(
            { field: 'event.email.open', operator: 'notTriggered' },
            { field: 'email.complained', operator: 'triggered' },
            { field: 'signup', operator: 'triggered' },
            { field: 'event.signup', operator: 'triggered' },
            { field: 'segment.01', operator: 'memberOfSegment' },
            { field: 'createdAt', operator: 'equals', value: '2026-01-31' },
          ),
        },
      ],
    },
    'condition',
  )
  assert.deepEqual(listReferences(parsed), {
    keys: ['plan', 'a.b'],
    columns: ['createdAt'],
    events: ['email.open', 'email.complaint', 'signup'],
    segments: ['01'],
    campaigns: [],
  })
})

test('conditions nest 32 deep and no deeper', () => {
  const nest = (depth: number): unknown =>
    depth === 1 ? of(plan) : { logic: 'OR', groups: [{ filters: [], conditions: nest(depth - 1) }] }
  assert.deepEqual(parseCondition(nest(32), 'condition'), nest(32))
  const path = `condition${'.groups.0.conditions'.repeat(32)}`
  assert.deepEqual(
    faultsOf(nest(33)).map(([field, code]) => [field, code]),
    [[path, 'too_big']],
  )
  // Deeper levels are not parsed.
  assert.equal(faultsOf(nest(5000)).length, 1)
})

test('a condition has at most 500 filters and 500 groups', () => {
  const filters = (count: number) => Array.from({ length: count }, () => plan)
  const groups = (count: number) => Array.from({ length: count }, () => ({ filters: [plan] }))
  assert.ok(parseCondition(of(...filters(500)), 'condition'))
  assert.ok(parseCondition({ logic: 'OR', groups: groups(500) }, 'condition'))
  assert.deepEqual(faultsOf(of(...filters(501))), [
    ['condition.groups.0.filters', 'too_big', 'A condition has at most 500 filters in all'],
  ])
  const two = { logic: 'AND', groups: [{ filters: filters(300) }, { filters: filters(300) }] }
  assert.deepEqual(
    faultsOf(two).map(([field]) => field),
    ['condition.groups.1.filters'],
  )
  assert.deepEqual(
    faultsOf({ logic: 'OR', groups: groups(501) }).map(([field, code]) => [field, code]),
    [['condition.groups', 'too_big']],
  )
})

test('a condition of a hundred long texts is too large', () => {
  const long = { field: `data.${'k'.repeat(900)}`, operator: 'equals', value: 'ü'.repeat(500) }
  const [[field, code] = []] = faultsOf(of(...Array.from({ length: 100 }, () => long)))
  assert.deepEqual([field, code], ['condition', 'too_big'])
})

test('at most twenty errors are reported, with shortened texts', () => {
  const keys = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`x${index}`.repeat(99), 1]),
  )
  const told = faultsOf({ logic: 'AND', groups: [{ filters: [plan] }], ...keys })
  assert.equal(told.length, 20)
  for (const [field, , message] of told) assert.ok(field.length < 100 && message.length < 100)
  const [[, , message] = []] = faultsOf(
    of({ field: 'f'.repeat(900), operator: 'equals', value: 1 }),
  )
  assert.ok(String(message).length < 300)
})

test('invalid JSON text is refused at the same path', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const filter = `{"field":"data.x","operator":"equals","value":${deep}}`
  const nested = `{"logic":"AND","groups":[{"filters":[${filter}]}]}`
  for (const text of ['', '{', 'AND', '{"logic":"AND"}', deep, nested]) {
    assert.throws(() => parseConditionText(text, 'filter'), {
      code: 'VALIDATION_ERROR',
      status: 422,
    })
  }
})

test('any value is refused with a path, or parsed to a condition that parses to itself', () => {
  const near = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom('AND', 'email', 'data.x', 'equals', 'within', 'triggered', 'days', 7),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.record(
        {
          logic: fc.constantFrom('AND', 'OR'),
          groups: tie('value'),
          filters: tie('value'),
          conditions: tie('value'),
          field: tie('value'),
          operator: tie('value'),
          value: tie('value'),
          unit: tie('value'),
        },
        { requiredKeys: [] },
      ),
    ),
  })).value
  const check = fc.property(fc.oneof(near, condition(['one'])), (value) => {
    const parsed = parse(value)
    if (parsed !== undefined) assert.deepEqual(parseCondition(parsed, 'condition'), parsed)
    else for (const [field] of faultsOf(value)) assert.match(field, /^condition(?:\.|$)/)
  })
  fc.assert(check, { numRuns: 250 })
})

test('the example of the API description is valid and has every operator', () => {
  for (const example of CONDITION_JSON_SCHEMA.examples) {
    assert.deepEqual(parseCondition(example, 'condition'), example)
  }
  const { operator } =
    CONDITION_JSON_SCHEMA.properties.groups.items.properties.filters.items.properties
  const all = new Set<string>(Object.values(OPERATORS_BY_KIND).flat())
  assert.deepEqual(new Set<string>(operator.enum), all)
})

function parse(value: unknown): Condition | undefined {
  try {
    return parseCondition(value, 'condition')
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
