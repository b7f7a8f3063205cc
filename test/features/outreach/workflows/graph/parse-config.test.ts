import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import type { AppError } from '../../../../../src/base/errors.ts'
import { parseConfig } from '../../../../../src/features/outreach/workflows/graph/parse-config.ts'
import type { StepType } from '../../../../../src/store/schema/words.ts'

const ID = '0199a7c0-0000-7000-8000-000000000001'
const url = 'https://hooks.test/a'

function errorsOf(type: StepType, config: unknown): string[] {
  try {
    parseConfig({ type, config })
    return []
  } catch (error) {
    const { code, status, fields = [] } = error as AppError
    assert.deepEqual([code, status], ['VALIDATION_ERROR', 422])
    return fields.map(({ field, code }) => `${field} ${code}`)
  }
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
const branches = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `b${index}`, name: 'B', operator: 'exists' }))
const multi = (change: object[]) => ({ mode: 'multi', field: 'data.a', branches: change })
const headers = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'a']))
const condition = { field: 'data.plan', operator: 'equals', value: 'pro' }

const UNKNOWN_FIELDS = [
  ...['plan', 'email', 'contact.plan', 'contact.emial', 'data.', 'email.opend', 'x.y'],
]

describe('a config is refused', () => {
  const refused: [StepType, unknown, string[]][] = [
    ['EXIT', null, ['config invalid_type']],
    ['EXIT', [], ['config invalid_type']],
    ['EXIT', 'reason', ['config invalid_type']],
    ['EXIT', { reason: 'x'.repeat(256) }, ['config.reason too_big']],
    ['EXIT', { reason: 1 }, ['config.reason invalid_type']],
    ['WEBHOOK', { url, body: 'x'.repeat(262_144) }, ['config too_big']],
    ['WEBHOOK', { url, body: nested(20) }, ['config too_big']],

    ['DELAY', {}, ['config.unit invalid_type', 'config.amount invalid_type']],
    ['DELAY', { amount: 0, unit: 'days' }, ['config.amount too_small']],
    ['DELAY', { amount: -1, unit: 'days' }, ['config.amount too_small']],
    ['DELAY', { amount: '1', unit: 'days' }, ['config.amount invalid_type']],
    ['DELAY', { amount: Number.POSITIVE_INFINITY, unit: 'days' }, ['config.amount invalid_type']],
    ['DELAY', { amount: 366, unit: 'days' }, ['config.amount too_big']],
    ['DELAY', { amount: 366 * 24, unit: 'hours' }, ['config.amount too_big']],
    ['DELAY', { amount: 365 * 24 * 60 + 1, unit: 'minutes' }, ['config.amount too_big']],
    ['DELAY', { amount: 1, unit: 'weeks' }, ['config.unit invalid_enum_value']],

    ['WAIT_FOR_EVENT', {}, ['config.eventName invalid_type']],
    ['WAIT_FOR_EVENT', { eventName: '' }, ['config.eventName too_small']],
    ['WAIT_FOR_EVENT', { eventName: 'x'.repeat(256) }, ['config.eventName too_big']],
    ['WAIT_FOR_EVENT', { eventName: 'a\tb' }, ['config.eventName invalid_string']],
    ['WAIT_FOR_EVENT', { eventName: 'a\u0085' }, ['config.eventName invalid_string']],
    ['WAIT_FOR_EVENT', { eventName: '\ud800' }, ['config.eventName invalid_string']],
    ['WAIT_FOR_EVENT', { eventName: '..' }, ['config.eventName invalid_string']],
    ['TRIGGER', { eventName: 'a\nb' }, ['config.eventName invalid_string']],
    ['WAIT_FOR_EVENT', { eventName: 'email.opend' }, ['config.eventName invalid_string']],
    ['TRIGGER', { eventName: 'email.' }, ['config.eventName invalid_string']],
    ['WAIT_FOR_EVENT', { eventName: 'a', timeout: 0 }, ['config.timeout too_small']],
    ['WAIT_FOR_EVENT', { eventName: 'a', timeout: 31_536_001 }, ['config.timeout too_big']],
    ['WAIT_FOR_EVENT', { eventName: 'a', timeout: 1.5 }, ['config.timeout invalid_type']],
    ['WAIT_FOR_EVENT', { eventName: 'a', stepId: ID }, ['config.stepId custom']],
    ['WAIT_FOR_EVENT', { eventName: 'email.open', stepId: 'a' }, ['config.stepId invalid_string']],

    ['CONDITION', {}, ['config.field invalid_type', 'config.operator invalid_type']],
    ['CONDITION', { ...condition, operator: 'like' }, ['config.operator invalid_enum_value']],
    ['CONDITION', { ...condition, operator: 'toString' }, ['config.operator invalid_enum_value']],
    ['CONDITION', { field: 'data.a', operator: 'equals' }, ['config.value invalid_type']],
    ['CONDITION', { ...condition, value: ['a'] }, ['config.value invalid_type']],
    ['CONDITION', { ...condition, value: { a: 1 } }, ['config.value invalid_type']],
    ['CONDITION', { ...condition, field: '' }, ['config.field too_small']],
    ['CONDITION', { ...condition, field: 'data.__proto__.a' }, ['config.field custom']],
    ['CONDITION', { ...condition, field: 'data.constructor.name' }, ['config.field custom']],
    ['CONDITION', { ...condition, field: 'event.prototype' }, ['config.field custom']],
    ...UNKNOWN_FIELDS.map((field): [StepType, unknown, string[]] => [
      'CONDITION',
      { ...condition, field },
      ['config.field custom'],
    ]),
    ['CONDITION', { ...condition, mode: 'many' }, ['config.mode invalid_enum_value']],
    ['CONDITION', { ...condition, stepId: ID }, ['config.stepId custom']],
    ['CONDITION', { ...condition, campaignId: ID }, ['config.campaignId custom']],
    [
      'CONDITION',
      { field: 'email.received', operator: 'exists', campaignId: ID },
      ['config.campaignId custom'],
    ],
    [
      'CONDITION',
      { field: 'email.open', operator: 'exists', campaignId: ID, stepId: ID },
      ['config.campaignId custom'],
    ],
    ['CONDITION', { mode: 'multi', field: 'data.a' }, ['config.branches invalid_type']],
    ['CONDITION', multi([]), ['config.branches too_small']],
    ['CONDITION', multi(branches(21)), ['config.branches too_big']],
    ['CONDITION', multi([...branches(1), ...branches(1)]), ['config.branches.1.id custom']],
    ['CONDITION', multi([{ ...branches(1)[0], id: 'default' }]), ['config.branches.0.id custom']],
    ['CONDITION', multi([{ ...branches(1)[0], id: '' }]), ['config.branches.0.id too_small']],
    [
      'CONDITION',
      multi([{ id: 'a', name: 'A', operator: 'equals' }]),
      ['config.branches.0.value invalid_type'],
    ],
    ['CONDITION', multi([7 as unknown as object]), ['config.branches.0 invalid_type']],

    ['WEBHOOK', {}, ['config.url invalid_type']],
    ['WEBHOOK', { url: 'hooks.test' }, ['config.url invalid_string']],
    ['WEBHOOK', { url: 'ftp://hooks.test' }, ['config.url invalid_string']],
    ['WEBHOOK', { url: 'file:///etc/passwd' }, ['config.url invalid_string']],
    ['WEBHOOK', { url: 'gopher://{{ host }}' }, ['config.url invalid_string']],
    ['WEBHOOK', { url: 'javascript:alert(1)' }, ['config.url invalid_string']],
    ['WEBHOOK', { url: 'https://me:secret@hooks.test' }, ['config.url invalid_string']],
    ['WEBHOOK', { url: `https://hooks.test/${'x'.repeat(4_096)}` }, ['config.url too_big']],
    ['WEBHOOK', { url, method: 'TRACE' }, ['config.method invalid_enum_value']],
    ['WEBHOOK', { url, onFailure: 'retry' }, ['config.onFailure invalid_enum_value']],
    ['WEBHOOK', { url, headers: ['a'] }, ['config.headers invalid_type']],
    ['WEBHOOK', { url, headers: headers(51) }, ['config.headers too_big']],
    ['WEBHOOK', { url, headers: { 'a b': 'x' } }, ['config.headers.a b custom']],
    ['WEBHOOK', { url, headers: { '': 'x' } }, ['config.headers custom']],
    ['WEBHOOK', { url, headers: { a: 'x\r\nHost: y' } }, ['config.headers.a invalid_string']],
    ['WEBHOOK', { url, headers: { a: 1 } }, ['config.headers.a invalid_type']],
    ['WEBHOOK', { url, headers: { a: 'x', A: 'y' } }, ['config.headers.A custom']],
    ...['Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', 'webhook-id', 'Webhook-X'].map(
      (name): [StepType, unknown, string[]] => [
        'WEBHOOK',
        { url, headers: { [name]: 'x' } },
        [`config.headers.${name} custom`],
      ],
    ),

    ['UPDATE_CONTACT', {}, ['config.updates custom']],
    ['UPDATE_CONTACT', { updates: {} }, ['config.updates custom']],
    ['UPDATE_CONTACT', { data: {} }, ['config.data custom']],
    ['UPDATE_CONTACT', { updates: { email: 'a@b.test' } }, ['config.updates custom']],
    ['UPDATE_CONTACT', { subscriptionAction: 'none' }, ['config.updates custom']],
    [
      'UPDATE_CONTACT',
      { subscriptionAction: 'flip' },
      ['config.subscriptionAction invalid_enum_value'],
    ],
    ['UPDATE_CONTACT', { updates: { a: 1 }, data: { a: 2 } }, ['config.data custom']],
    ['UPDATE_CONTACT', { updates: 'a' }, ['config.updates invalid_type']],
    ['UPDATE_CONTACT', { updates: { locale: 5 } }, ['config.updates.locale invalid_type']],
    [
      'UPDATE_CONTACT',
      { data: { ['x'.repeat(256)]: 1 } },
      [`config.data.${'x'.repeat(60)}… too_big`],
    ],
    ['UPDATE_CONTACT', { updates: { a: 'x'.repeat(65_536) } }, ['config.updates too_big']],

    ['SEND_EMAIL', { recipient: {} }, ['config.recipient.type invalid_type']],
    ['SEND_EMAIL', { recipient: { type: 'ALL' } }, ['config.recipient.type invalid_enum_value']],
    [
      'SEND_EMAIL',
      { recipient: { type: 'CUSTOM' } },
      ['config.recipient.customEmail invalid_type'],
    ],
    [
      'SEND_EMAIL',
      { recipient: { type: 'CUSTOM', customEmail: 'a@b.test, c@d.test' } },
      ['config.recipient.customEmail invalid_string'],
    ],
    ['SEND_EMAIL', { templateId: 'a' }, ['config.templateId invalid_string']],
    ['TRIGGER', { eventName: 5 }, ['config.eventName invalid_type']],
  ]
  for (const [type, config, errors] of refused) {
    const shown = JSON.stringify(config).slice(0, 80)
    it(`${type} ${shown}`, () => assert.deepEqual(errorsOf(type, config), errors))
  }
})

describe('a config is stored', () => {
  const stored: [StepType, unknown, unknown][] = [
    ['TRIGGER', { eventName: 'signup', other: 1 }, { eventName: 'signup' }],
    ['EXIT', {}, {}],
    ['EXIT', { reason: '' }, {}],
    ['EXIT', { reason: null }, {}],
    ['EXIT', { reason: 'done', more: true }, { reason: 'done' }],
    ['DELAY', { amount: 365, unit: 'days' }, { amount: 365, unit: 'days' }],
    ['DELAY', { amount: 525_600, unit: 'minutes' }, { amount: 525_600, unit: 'minutes' }],
    ['DELAY', { amount: 0.5, unit: 'hours' }, { amount: 0.5, unit: 'hours' }],
    ['WAIT_FOR_EVENT', { eventName: 'email.opened', timeout: null }, { eventName: 'email.opened' }],
    [
      'WAIT_FOR_EVENT',
      { eventName: 'email.click', timeout: 31_536_000, stepId: ID.toUpperCase() },
      { eventName: 'email.click', timeout: 31_536_000, stepId: ID },
    ],
    ['CONDITION', condition, condition],
    ['CONDITION', { ...condition, value: null }, { ...condition, value: null }],
    ['CONDITION', { ...condition, value: false }, { ...condition, value: false }],
    [
      'CONDITION',
      { mode: 'binary', field: 'data.a', operator: 'exists', value: [1] },
      { mode: 'binary', field: 'data.a', operator: 'exists' },
    ],
    [
      'CONDITION',
      { field: 'email.clicked', operator: 'exists', stepId: ID },
      { field: 'email.clicked', operator: 'exists', stepId: ID },
    ],
    ...['contact.subscribed', 'email.open'].flatMap((field): [StepType, object, object][] => [
      [
        'CONDITION',
        { field, operator: 'equals', value: 'true' },
        { field, operator: 'equals', value: true },
      ],
      [
        'CONDITION',
        { field, operator: 'in', value: ['false', 'x'] },
        { field, operator: 'in', value: [false, 'x'] },
      ],
    ]),
    ['CONDITION', { ...condition, value: 'true' }, { ...condition, value: 'true' }],
    ['CONDITION', multi(branches(20)), multi(branches(20))],
    ['WEBHOOK', { url }, { url, method: 'POST' }],
    ['WEBHOOK', { url: '{{ url }}', method: 'GET' }, { url: '{{ url }}', method: 'GET' }],
    [
      'WEBHOOK',
      {
        url: 'https://{{ host }}/x',
        headers: { 'X-Key': '' },
        body: [1, { a: null }],
        onFailure: 'continue',
      },
      {
        url: 'https://{{ host }}/x',
        method: 'POST',
        headers: { 'X-Key': '' },
        body: [1, { a: null }],
        onFailure: 'continue',
      },
    ],
    ['WEBHOOK', { url, body: false }, { url, method: 'POST', body: false }],
    ['UPDATE_CONTACT', { data: { a: null } }, { updates: { a: null } }],
    ['UPDATE_CONTACT', { updates: { a: 1 }, data: { a: 1 } }, { updates: { a: 1 } }],
    ['UPDATE_CONTACT', { subscriptionAction: 'subscribe' }, { subscriptionAction: 'subscribe' }],
    ['SEND_EMAIL', {}, {}],
    [
      'SEND_EMAIL',
      { recipient: { type: 'CUSTOM', customEmail: ' Boss@Shop.Test ' } },
      { recipient: { type: 'CUSTOM', customEmail: 'boss@shop.test' } },
    ],
  ]
  for (const [type, config, expected] of stored) {
    it(`${type} ${JSON.stringify(config).slice(0, 80)}`, () =>
      assert.deepEqual(parseConfig({ type, config }).config, expected))
  }
})

test('the template of a SEND_EMAIL may stand in its config, but is not stored there', () => {
  const parsed = parseConfig({ type: 'SEND_EMAIL', config: { templateId: ID.toUpperCase() } })
  assert.deepEqual(parsed, { config: {}, templateId: ID, unknown: [] })
})

test('only own properties are read', () => {
  const config = Object.create({ reason: 'inherited' })
  assert.deepEqual(parseConfig({ type: 'EXIT', config }).config, {})
})
