/**
 * Random contacts and conditions from the same small sets of keys, names, texts and numbers,
 * so that filters find contacts. The sets include values that are easy to compile wrongly.
 */
import fc from 'fast-check'
import { DAY_MS } from '../../../../src/base/clock.ts'
import {
  type Condition,
  parseCondition,
} from '../../../../src/features/ground/conditions/condition.ts'
import {
  type FieldKind,
  OPERATORS_BY_KIND,
  takesNoValue,
  takesSpan,
} from '../../../../src/records/operators.ts'
import { START } from '../../../core.ts'
import type { Population, TestContact, TestEvent, TestSegment } from './evaluator.ts'

const iso = (at: number) => new Date(at).toISOString()

const keys = [
  'plan',
  'a.b',
  'quo"te',
  'back\\slash',
  "it's",
  '$',
  '[0]',
  '#-1',
  'x\ny',
  '\\u0061',
  'é',
  'e\u0301',
  '😀',
  '__proto__',
  'toString',
  ' ',
  '"; drop table contacts; --',
]
const eventNames = ['signup', 'page viewed', 'données', "o'clock", 'segment.vip.entry']
const activities = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained', 'bounce']
const storedActivities = ['sent', 'delivery', 'open', 'click', 'bounce', 'complaint']
const texts = [
  'pro',
  'Pro',
  'proper',
  '1',
  '0',
  'true',
  'null',
  '["a"]',
  '{"a":1}',
  '%',
  '_ro',
  '*',
  'naïve',
  '\u{10000}',
  '\uffff',
  'a\0b',
  "'",
]
/** Instants around the start of the spans in the filters below. */
const dates = [
  ...[0, 1, 2, 30].flatMap((days) => [-1000, 0, 1000].map((ms) => iso(START - days * DAY_MS + ms))),
  iso(START + 5 * DAY_MS),
  iso(START - DAY_MS).replace('.000', ''),
  iso(START - 30 * DAY_MS).slice(0, 10),
  iso(START - DAY_MS).slice(0, 10),
  iso(START).slice(0, 10),
  '2026-11-20T23:59:59.999Z',
  '2026-11-20T00:00:00+02:00',
  '2026-11-20T08:15',
]
const notQuiteDates = ['2026-02-30', '2026-11-20 10:00', '2026-11-2', '2026-11-201', '2026-11-20Tx']
const numbers = [0, 1, -1, 1.5, 0.1 + 0.2, 1e21, 1e-7, 2 ** 53 + 2, -785344513657948400]
const spans = [
  { value: 1, unit: 'days' },
  { value: 24, unit: 'hours' },
  { value: 30, unit: 'days' },
  { value: 12, unit: 'hours' },
  { value: 90, unit: 'minutes' },
  { value: 0, unit: 'days' },
]

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...texts) },
  { weight: 4, arbitrary: fc.constantFrom(...dates) },
  { weight: 1, arbitrary: fc.constantFrom(...notQuiteDates) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
)
const number = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...numbers) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
)
const json = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 4, arbitrary: number },
  { weight: 2, arbitrary: fc.boolean() },
  { weight: 1, arbitrary: fc.constantFrom(null, [], {}, { a: 1 }, { 'a.b': null }, [['pro']]) },
  { weight: 3, arbitrary: fc.array(fc.oneof(text, number, fc.boolean()), { maxLength: 4 }) },
)
const key = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...keys) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }) },
)
const instant = fc.oneof(
  fc.constantFrom(...dates.slice(0, 12).map((date) => Date.parse(date))),
  fc.integer({ min: START - 60 * DAY_MS, max: START + DAY_MS }),
)
const email = fc
  .tuple(
    fc.constantFrom('ann', 'bob', 'zoë', "o'neil", '100%'),
    fc.constantFrom('a.test', 'shop.test', 'grüße.test'),
  )
  .map((parts) => parts.join('@'))

const person: fc.Arbitrary<Omit<TestContact, 'email'> & { mailbox: string }> = fc.record({
  id: fc.uuid(),
  mailbox: email,
  subscribed: fc.boolean(),
  data: fc.option(fc.dictionary(key, json, { maxKeys: 12, noNullPrototype: true })),
  createdAt: instant,
  updatedAt: instant,
})

/** Forty contacts with events, and six segments, each of which refers to earlier ones only. */
export const population: fc.Arbitrary<Population> = fc
  .uniqueArray(person, { minLength: 40, maxLength: 40, selector: ({ id }) => id })
  .map((contacts) =>
    contacts.map(({ mailbox, ...rest }, index) => ({ ...rest, email: `${index}${mailbox}` })),
  )
  .chain((contacts) =>
    fc.record({
      now: fc.constant(START),
      contacts: fc.constant(contacts),
      events: fc.array(testEvent(contacts), { minLength: 150, maxLength: 150 }),
      segments: segments(contacts),
    }),
  )

/** Any valid condition over these segments, in a client's spelling. */
export function condition(segmentIds: readonly string[]): fc.Arbitrary<Condition> {
  const leaf = filter(segmentIds)
  return fc
    .letrec<{ condition: unknown; group: unknown }>((tie) => ({
      condition: fc.record({
        logic: fc.constantFrom('AND', 'OR'),
        groups: fc.array(tie('group'), { minLength: 1, maxLength: 3 }),
      }),
      group: fc.oneof(
        { depthIdentifier: 'group', maxDepth: 3 },
        {
          weight: 4,
          arbitrary: fc.record({ filters: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
        },
        {
          weight: 1,
          arbitrary: fc.record({
            filters: fc.array(leaf, { maxLength: 2 }),
            conditions: tie('condition'),
          }),
        },
      ),
    }))
    .condition.map((value) => parseCondition(value, 'condition'))
}

function testEvent(contacts: readonly TestContact[]): fc.Arbitrary<TestEvent> {
  const name = fc.oneof(
    fc.constantFrom(...eventNames),
    fc.constantFrom(...storedActivities.map((activity) => `email.${activity}`)),
    fc.constant('email.received'),
  )
  const contactId = fc.constantFrom(...contacts.map(({ id }) => id))
  return fc.record({ contactId, name, at: instant, isLeftOut: fc.boolean() })
}

function segments(contacts: readonly TestContact[]): fc.Arbitrary<TestSegment[]> {
  const ids = Array.from({ length: 6 }, () => crypto.randomUUID())
  const members = fc.subarray(contacts.map(({ id }) => id))
  return fc.tuple(
    ...ids.map((id, index) =>
      fc.record<TestSegment>({
        id: fc.constant(id),
        type: fc.constant(index === 0 ? 'STATIC' : 'DYNAMIC'),
        hasMembershipEvents: fc.constant(index === 1),
        condition: index === 0 ? fc.constant(null) : condition(ids.slice(0, index)),
        members: index < 2 ? members : fc.constant([]),
      }),
    ),
  )
}

function filter(segmentIds: readonly string[]): fc.Arbitrary<unknown> {
  const data = fc.oneof(text, number, fc.boolean())
  const dataKey = key.filter((name) => name.isWellFormed())
  return fc.oneof(
    {
      weight: 8,
      arbitrary: filterOf(
        'data',
        dataKey.map((name) => `data.${name}`),
        data,
      ),
    },
    { weight: 4, arbitrary: filterOf('event', eventField, fc.constant(undefined)) },
    { weight: 1, arbitrary: filterOf('email', fc.constant('email'), emailPart) },
    { weight: 1, arbitrary: filterOf('subscribed', fc.constant('subscribed'), fc.boolean()) },
    {
      weight: 2,
      arbitrary: filterOf(
        'instant',
        fc.constantFrom('createdAt', 'updatedAt'),
        fc.constantFrom(...dates),
      ),
    },
    ...(segmentIds.length === 0 ? [] : [{ weight: 1, arbitrary: segmentFilter(segmentIds) }]),
  )
}

const eventField = fc.oneof(
  fc.constantFrom(...eventNames),
  fc.constantFrom(...[...eventNames, 'email.received'].map((name) => `event.${name}`)),
  fc.constantFrom(...activities.map((activity) => `email.${activity}`)),
)
const emailPart = fc.oneof(
  email,
  fc.constantFrom('ANN', 'oë@', 'SHOP', '%', '_', "o'", '1', 'GRÜSSE', 'Grüße'),
)

function segmentFilter(ids: readonly string[]): fc.Arbitrary<unknown> {
  const field = fc.constantFrom(...ids).map((id) => `segment.${id}`)
  return filterOf('segment', field, fc.constant(undefined))
}

function filterOf(
  kind: FieldKind,
  field: fc.Arbitrary<string>,
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const operand = (operator: (typeof OPERATORS_BY_KIND)[FieldKind][number]) => {
    if (takesNoValue(operator)) return fc.constant({})
    if (takesSpan(operator)) return fc.constantFrom(...spans)
    if (operator === 'in' || operator === 'notIn') {
      return fc.array(value, { minLength: 1, maxLength: 4 }).map((list) => ({ value: list }))
    }
    if (/ontains/.test(operator) && kind === 'data') {
      return value.map((part) => ({ value: part === '' ? 'p' : part }))
    }
    if (/ontains/.test(operator)) return value.map((part) => ({ value: String(part) || 'p' }))
    const isOrder = /Than/.test(operator)
    return value.map((one) => ({ value: isOrder && typeof one === 'boolean' ? 1 : one }))
  }
  return fc
    .constantFrom<(typeof OPERATORS_BY_KIND)[FieldKind][number]>(...OPERATORS_BY_KIND[kind])
    .chain((operator) =>
      fc.record({ field, operand: operand(operator) }).map((one) => ({ ...one, operator })),
    )
    .map(({ operand: given, ...rest }) => ({ ...rest, ...given }))
}
