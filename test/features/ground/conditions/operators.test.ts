/** Each operator by examples, with missing and null fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../../src/base/clock.ts'
import { compileCondition } from '../../../../src/features/ground/conditions/compile.ts'
import { parseCondition } from '../../../../src/features/ground/conditions/condition.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { addProject, openTestCore, START, type TestCore } from '../../../core.ts'
import type { TestContact, TestEvent } from './evaluator.ts'
import { populate } from './population.ts'

const iso = (at: number) => new Date(at).toISOString()

type Operand = { value?: unknown; unit?: string }
/** Values of the field: `yes` match, `no` do not; undefined is a missing key. */
type Example = { operator: string; operand?: Operand; yes: unknown[]; no: unknown[] }

type Facts = Partial<TestContact> & { events?: TestEvent[] }
type Make = (value: unknown, contactId: string) => Facts

const missing = [undefined, null]

const onData: Example[] = [
  {
    operator: 'equals',
    operand: { value: 'pro' },
    yes: ['pro'],
    no: [...missing, 'Pro', 'pro ', '', 'proper', ['pro'], { pro: 1 }, 1, true],
  },
  {
    operator: 'equals',
    operand: { value: 1 },
    yes: [1, 1.0],
    no: [...missing, '1', true, 1.5, [1]],
  },
  { operator: 'equals', operand: { value: 0 }, yes: [0, -0], no: [...missing, '0', false, '', []] },
  { operator: 'equals', operand: { value: '1' }, yes: ['1'], no: [...missing, 1, true, ['1']] },
  { operator: 'equals', operand: { value: true }, yes: [true], no: [...missing, 1, 'true', false] },
  { operator: 'equals', operand: { value: false }, yes: [false], no: [...missing, 0, 'false', ''] },
  { operator: 'equals', operand: { value: 'true' }, yes: ['true'], no: [...missing, true] },
  { operator: 'equals', operand: { value: 'null' }, yes: ['null'], no: missing },
  { operator: 'equals', operand: { value: '' }, yes: [''], no: [...missing, ' ', 0, false] },
  { operator: 'equals', operand: { value: '["a"]' }, yes: ['["a"]'], no: [...missing, ['a']] },
  {
    operator: 'equals',
    operand: { value: '{"a":1}' },
    yes: ['{"a":1}'],
    no: [...missing, { a: 1 }],
  },
  { operator: 'equals', operand: { value: 0.1 + 0.2 }, yes: [0.1 + 0.2], no: [...missing, 0.3] },
  { operator: 'equals', operand: { value: 1e21 }, yes: [1e21], no: [...missing, '1e21'] },
  // Integers beyond the precision of a double are compared as stored.
  ...[-785344513657948400, 2 ** 53 + 2, 1e19].flatMap((value) => [
    { operator: 'equals', operand: { value }, yes: [value], no: missing },
    { operator: 'greaterThanOrEqual', operand: { value }, yes: [value], no: missing },
    { operator: 'lessThanOrEqual', operand: { value }, yes: [value], no: missing },
    { operator: 'lessThan', operand: { value }, yes: [value - 1e9], no: [...missing, value] },
  ]),
  {
    operator: 'equals',
    operand: { value: '2026-11-20' },
    yes: ['2026-11-20', '2026-11-20T00:00:00.000Z', '2026-11-20T23:59:59.999Z', '2026-11-20T08:15'],
    no: [
      ...missing,
      '2026-11-21T00:00:00.000Z',
      '2026-11-19T23:59:59.999Z',
      '2026-11-201',
      '2026-11-20 08:15',
      ['2026-11-20'],
      20261120,
    ],
  },
  {
    operator: 'equals',
    // In UTC it is the next day.
    operand: { value: '2026-11-20T23:00:00-05:00' },
    yes: ['2026-11-21', '2026-11-21T17:00:00.000Z'],
    no: [...missing, '2026-11-20', '2026-11-20T23:00:00-05:00'],
  },
  {
    operator: 'equals',
    operand: { value: '2026-11-20T08:15' },
    yes: ['2026-11-20', '2026-11-20T09:00:00.000Z'],
    no: [...missing, '2026-11-21'],
  },
  {
    operator: 'equals',
    operand: { value: '2026-02-30' },
    yes: ['2026-02-30'],
    no: [...missing, '2026-03-02', '2026-02-30T10:00:00.000Z'],
  },
  {
    operator: 'notEquals',
    operand: { value: 'pro' },
    yes: ['Pro', '', 1, 0, true, false, '["pro"]'],
    no: [...missing, 'pro', ['pro'], ['free'], [], {}],
  },
  {
    operator: 'notEquals',
    operand: { value: 1 },
    yes: ['1', true, 2],
    no: [...missing, 1, [], [2], {}],
  },
  {
    operator: 'notEquals',
    operand: { value: true },
    yes: [false, 1, 'true'],
    no: [...missing, true, [true], [], {}],
  },
  { operator: 'notEquals', operand: { value: '[]' }, yes: ['x'], no: [...missing, '[]', [], {}] },
  {
    operator: 'notEquals',
    operand: { value: '2026-11-20' },
    yes: ['2026-11-21', '2026-11-19T23:59:59.999Z', 'soon', 5, true],
    no: [...missing, ['2026-11-21'], {}, '2026-11-20', '2026-11-20T12:00:00.000Z'],
  },
  {
    operator: 'contains',
    operand: { value: 'ro' },
    yes: ['pro', 'ro', 'Zero', ['ro'], ['a', 'ro'], [1, 'ro', null]],
    no: [...missing, 'PRO', 'r o', ['pro'], [['ro']], [{ ro: 'ro' }], [], { ro: 'ro' }, 1, true],
  },
  { operator: 'contains', operand: { value: '%' }, yes: ['100%'], no: [...missing, '100', 'abc'] },
  { operator: 'contains', operand: { value: '*' }, yes: ['a*b'], no: [...missing, 'ab'] },
  { operator: 'contains', operand: { value: 'tru' }, yes: ['true'], no: [...missing, true] },
  { operator: 'contains', operand: { value: '1' }, yes: ['21', ['1']], no: [...missing, 21, [1]] },
  { operator: 'contains', operand: { value: 1 }, yes: ['21', [2, 1]], no: [...missing, 1, ['1']] },
  {
    operator: 'contains',
    operand: { value: true },
    yes: [[true], 'is true'],
    no: [...missing, true, [1], ['true'], [false]],
  },
  // JSON spells these otherwise.
  { operator: 'contains', operand: { value: 'a"b' }, yes: ['xa"b', ['a"b']], no: missing },
  { operator: 'contains', operand: { value: 'x\ny' }, yes: ['x\ny', ['x\ny']], no: [['x', 'y']] },
  { operator: 'contains', operand: { value: 'é😀' }, yes: ['é😀', ['é😀']], no: [['é']] },
  { operator: 'contains', operand: { value: '\0b' }, yes: ['a\0b'], no: [...missing, 'a', 'ab'] },
  {
    operator: 'notContains',
    operand: { value: 'ro' },
    yes: ['PRO', '', [], ['PRO', 'pro'], [['ro']]],
    no: [...missing, 'pro', ['ro'], ['a', 'ro'], 1, false, {}],
  },
  {
    operator: 'in',
    operand: { value: ['pro', '["x"]', 7, 1, true, '2026-11-20'] },
    yes: [
      ...['pro', '["x"]', 7, 1, true, '2026-11-20', '2026-11-20T08:15', ['pro'], ['a', 7]],
      ...[[true], ['2026-11-20']],
    ],
    no: [
      ...[...missing, 'Pro', '7', '1', false, 0, 7.5, ['x'], ['7'], [false], [], [['pro']], {}],
      ...[{ a: 'pro' }, '2026-11-201', '2026-11-21', ['2026-11-20T08:15']],
    ],
  },
  {
    operator: 'notIn',
    operand: { value: ['pro', 7, true, '2026-11-20'] },
    yes: ['Pro', '', '7', 1, 0, false, '2026-11-21', ['x'], ['7'], [], [['pro']]],
    no: [...missing, 'pro', 7, true, '2026-11-20T08:15', ['pro'], ['x', 7], [true], {}],
  },
  {
    operator: 'greaterThan',
    operand: { value: 18 },
    yes: [18.5, 1e9],
    no: [...missing, 18, 2, '19', true, [19]],
  },
  { operator: 'greaterThan', operand: { value: 0 }, yes: [1], no: [...missing, true, '1', 0] },
  {
    operator: 'greaterThanOrEqual',
    operand: { value: 18 },
    yes: [18, 19],
    no: [...missing, 17, '18'],
  },
  {
    operator: 'lessThan',
    operand: { value: 18 },
    yes: [-1, 17.9],
    no: [...missing, 18, '17', false],
  },
  {
    operator: 'lessThanOrEqual',
    operand: { value: 18 },
    yes: [18, 0],
    no: [...missing, 19, '18', false],
  },
  {
    operator: 'greaterThan',
    operand: { value: 'b' },
    yes: ['ba', 'c', 'é'],
    no: [...missing, 'b', 'a', 'B', 99, ['c'], {}],
  },
  {
    operator: 'lessThan',
    operand: { value: 'b' },
    yes: ['a', 'B', ''],
    no: [...missing, 'b', 1, [], false],
  },
  // By code points, where JavaScript's own order differs.
  { operator: 'greaterThan', operand: { value: '\uffff' }, yes: ['\u{10000}'], no: missing },
  {
    operator: 'greaterThan',
    operand: { value: '2026-11-20' },
    yes: ['2026-11-20T00:00:00.000Z', '2026-11-21'],
    no: [...missing, '2026-11-20', '2026-11-19T23:59:59.999Z'],
  },
  { operator: 'exists', yes: ['', 0, false, [], {}, 'x'], no: missing },
  { operator: 'notExists', yes: missing, no: ['', 0, false, [], {}, 'x'] },
  {
    operator: 'within',
    operand: { value: 36, unit: 'hours' },
    // A date alone means midnight.
    yes: [
      '2026-11-20',
      '2026-11-20T00:00:00Z',
      '2026-11-20T00:00:00.000Z',
      iso(START + 9 * DAY_MS),
    ],
    no: [
      ...missing,
      '2026-11-19',
      '2026-11-19T23:59:59.999Z',
      'tomorrow',
      '2026-11-21 08:00',
      START,
      [iso(START)],
      true,
    ],
  },
  {
    operator: 'within',
    operand: { value: 90, unit: 'minutes' },
    yes: ['2026-11-21T10:30:00Z', '2026-11-21T10:30:00.000Z', '2026-11-21T10:30:00'],
    no: [...missing, '2026-11-21T10:29:59.999Z', '2026-11-21', '2026-11-21T10:29:59Z'],
  },
  {
    operator: 'olderThan',
    operand: { value: 1, unit: 'days' },
    yes: ['2026-11-20T11:59:59.999Z', '2026-11-20', '0001-01-01'],
    no: [
      ...missing,
      '2026-11-20T12:00:00.000Z',
      '2026-11-20T12:00:00Z',
      '2026-11-20T12:00:00',
      iso(START),
      'ages',
      1,
      ['2000-01-01'],
    ],
  },
]

const onCreatedAt: Example[] = [
  {
    operator: 'equals',
    operand: { value: '2026-11-20' },
    yes: [START - 36 * HOUR_MS, START - 12 * HOUR_MS - 1],
    no: [START - 36 * HOUR_MS - 1, START - 12 * HOUR_MS],
  },
  {
    operator: 'equals',
    operand: { value: '2026-11-20T23:00:00-05:00' },
    yes: [START - 12 * HOUR_MS],
    no: [START - DAY_MS],
  },
  {
    operator: 'notEquals',
    operand: { value: '2026-11-20' },
    yes: [START, START - 36 * HOUR_MS - 1],
    no: [START - 36 * HOUR_MS, START - DAY_MS],
  },
  {
    operator: 'greaterThan',
    operand: { value: '2026-11-21T12:00:00.000Z' },
    yes: [START + 1],
    no: [START],
  },
  {
    operator: 'greaterThanOrEqual',
    operand: { value: '2026-11-21T14:00:00+02:00' },
    yes: [START],
    no: [START - 1],
  },
  // Without an offset it is in UTC, wherever this runs.
  {
    operator: 'greaterThanOrEqual',
    operand: { value: '2026-11-21T12:00' },
    yes: [START],
    no: [START - 1],
  },
  {
    operator: 'lessThan',
    operand: { value: '2026-11-21' },
    yes: [START - 12 * HOUR_MS - 1],
    no: [START - 12 * HOUR_MS],
  },
  {
    operator: 'lessThanOrEqual',
    operand: { value: '2026-11-21' },
    yes: [START - 12 * HOUR_MS],
    no: [START - 12 * HOUR_MS + 1],
  },
  {
    operator: 'within',
    operand: { value: 2, unit: 'hours' },
    yes: [START - 2 * HOUR_MS, START + DAY_MS],
    no: [START - 2 * HOUR_MS - 1],
  },
  {
    operator: 'olderThan',
    operand: { value: 2, unit: 'hours' },
    yes: [START - 2 * HOUR_MS - 1],
    no: [START - 2 * HOUR_MS, START],
  },
]

const onEmail: Example[] = [
  {
    operator: 'equals',
    operand: { value: ' ANN@Shop.test' },
    yes: ['ann@shop.test'],
    no: ['xann@shop.test'],
  },
  {
    operator: 'notEquals',
    operand: { value: 'Ann@shop.test' },
    yes: ['bob@shop.test'],
    no: ['ann@shop.test'],
  },
  // A domain in A-labels is the same domain.
  ...['equals', 'notEquals'].map((operator, index) => ({
    operator,
    operand: { value: 'A@XN--Grsse-LVA.test' },
    ...(index === 0
      ? { yes: ['a@grüsse.test'], no: ['a@grusse.test'] }
      : { yes: ['a@grusse.test'], no: ['a@grüsse.test'] }),
  })),
  {
    operator: 'contains',
    operand: { value: '@SHOP.' },
    yes: ['ann@shop.test'],
    no: ['shop@a.test'],
  },
  {
    operator: 'contains',
    operand: { value: 'GRÜSSE' },
    yes: ['a@grüsse.test'],
    no: ['a@grusse.test'],
  },
  // The same letters in decomposed Unicode.
  {
    operator: 'contains',
    operand: { value: 'GRU\u0308S' },
    yes: ['a@grüsse.test'],
    no: ['a@grusse.test'],
  },
  { operator: 'contains', operand: { value: '_' }, yes: ['a_b@shop.test'], no: ['ab@shop.test'] },
  {
    operator: 'notContains',
    operand: { value: 'Shop' },
    yes: ['ann@a.test'],
    no: ['ann@shop.test'],
  },
]

const inOnEmail: Example[] = [
  {
    operator: 'in',
    operand: { value: ['ANN@Shop.test', 'A@XN--Grsse-LVA.test'] },
    yes: ['ann@shop.test', 'a@grüsse.test'],
    no: ['bob@shop.test'],
  },
  {
    operator: 'notIn',
    operand: { value: ['ANN@Shop.test', 'A@XN--Grsse-LVA.test'] },
    yes: ['bob@shop.test'],
    no: ['ann@shop.test', 'a@grüsse.test'],
  },
]

const onSubscribed: Example[] = [
  { operator: 'equals', operand: { value: true }, yes: [true], no: [false] },
  { operator: 'equals', operand: { value: 'true' }, yes: [true], no: [false] },
  ...[false, 'false', 'yes', 1, {}, []].map((value) => ({
    operator: 'equals',
    operand: { value },
    yes: [false],
    no: [true],
  })),
  { operator: 'notEquals', operand: { value: true }, yes: [false], no: [true] },
  { operator: 'notEquals', operand: { value: 'no' }, yes: [true], no: [false] },
]

/** Each value of the field is a list of instants of the event. */
const onEvents: Example[] = [
  { operator: 'triggered', yes: [[START], [START - 900 * DAY_MS]], no: [[]] },
  { operator: 'notTriggered', yes: [[]], no: [[START]] },
  {
    operator: 'triggeredWithin',
    operand: { value: 1, unit: 'days' },
    yes: [[START - DAY_MS], [START - 9 * DAY_MS, START]],
    no: [[], [START - DAY_MS - 1]],
  },
  {
    operator: 'triggeredOlderThan',
    operand: { value: 1, unit: 'days' },
    yes: [[START - DAY_MS - 1], [START - 2 * DAY_MS, START - 9 * DAY_MS]],
    no: [[], [START - DAY_MS], [START - 9 * DAY_MS, START]],
  },
  {
    operator: 'notTriggeredWithin',
    operand: { value: 1, unit: 'days' },
    yes: [[], [START - DAY_MS - 1]],
    no: [[START - DAY_MS], [START - 9 * DAY_MS, START]],
  },
]

/** The fields of events, with the stored name. */
const eventFields = [
  ['event.signup', 'signup'],
  ['signup', 'signup'],
  ['email.sent', 'email.sent'],
  ['email.delivered', 'email.delivery'],
  ['email.opened', 'email.open'],
  ['email.open', 'email.open'],
  ['email.clicked', 'email.click'],
  ['email.bounced', 'email.bounce'],
  ['email.complained', 'email.complaint'],
  ['event.email.opened', 'email.open'],
] as const

const oddKeys = [
  'plain',
  'a.b',
  'quo"te',
  '"',
  'back\\slash',
  '\\',
  "it's",
  '$',
  '$.plain',
  '[0]',
  '#',
  '*',
  '?',
  'x\ny',
  '\u001f',
  '\u2028',
  '\\u0061',
  'é',
  'e\u0301',
  '😀',
  '__proto__',
  'constructor',
  ' ',
  'plain ',
  "') or 1=1 --",
]

test('each operator selects the expected values', async (t) => {
  const core = await openTestCore(t)
  const check = (field: string, examples: Example[], make: Make) =>
    t.test(field, () => run(core, { field, examples, make }))

  const around = { ' k': 'pro', K: 1, 'k.k': true, kk: '2026-11-20' }
  await check('data.k', onData, (k) => ({ data: k === undefined ? around : { ...around, k } }))
  await check('data.k', onData, (k) => ({ data: k === undefined ? null : { k } }))
  await check('createdAt', onCreatedAt, (at) => ({ createdAt: Number(at) }))
  await check('updatedAt', onCreatedAt, (at) => ({ updatedAt: Number(at) }))
  await check('subscribed', onSubscribed, (value) => ({ subscribed: value === true }))
  await check('email', [...onEmail, ...inOnEmail], (value) => ({ email: String(value) }))
  for (const [field, name] of eventFields) {
    await check(field, onEvents, (times, contactId) => ({
      events: [
        ...(times as number[]).map((at) => ({ contactId, name, at, isLeftOut: false })),
        ...neighbours({ contactId, name }),
      ],
    }))
  }
})

test('every key of data is found by its exact spelling', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const contacts = oddKeys.map((key, index) => person(index, { data: { other: 1, [key]: key } }))
  await populate(core, projectId, { contacts, events: [], segments: [] })
  for (const [index, key] of oddKeys.entries()) {
    for (const filter of [
      { field: `data.${key}`, operator: 'exists' },
      { field: `data.${key}`, operator: 'equals', value: key },
      { field: `data.${key}`, operator: 'contains', value: key },
    ]) {
      assert.deepEqual(await choose(core, projectId, filter), [contacts[index]?.id], key)
    }
  }
})

/** Events of other names, and a transient bounce, which does not count as a bounce. */
function neighbours({ contactId, name }: Pick<TestEvent, 'contactId' | 'name'>): TestEvent[] {
  const names = ['other', `${name}x`, name.slice(1)]
  const others = names.map((other) => ({ contactId, name: other, at: START, isLeftOut: false }))
  return [...others, { contactId, name: 'email.bounce', at: START, isLeftOut: true }]
}

/** Each value of an example becomes a contact; each example has its own project. */
async function run(
  core: TestCore,
  { field, examples, make }: { field: string; examples: Example[]; make: Make },
): Promise<void> {
  for (const { operator, operand, yes, no } of examples) {
    const { id: projectId } = await addProject(core)
    const made = [...yes, ...no].map((value, index) => {
      const { events = [], ...facts } = make(value, person(index).id)
      return { person: person(index, facts), events }
    })
    await populate(core, projectId, {
      contacts: made.map((one) => ({ ...one.person, id: `${projectId}-${one.person.id}` })),
      events: made.flatMap((one) =>
        one.events.map((event) => ({ ...event, contactId: `${projectId}-${event.contactId}` })),
      ),
      segments: [],
    })
    const chosen = await choose(core, projectId, { field, operator, ...operand })
    const wanted = yes.map((_, index) => `${projectId}-${person(index).id}`)
    const what = `${field} ${operator} ${JSON.stringify(operand)} of ${JSON.stringify([yes, no])}`
    assert.deepEqual(chosen, wanted, what)
  }
}

async function choose(core: TestCore, projectId: string, filter: unknown): Promise<string[]> {
  const condition = parseCondition({ logic: 'AND', groups: [{ filters: [filter] }] }, 'condition')
  const expression = await compileCondition(core, { projectId, condition })
  const rows = await core.store.scan
    .select({ id: contacts.id, number: contacts.number })
    .from(contacts)
    .where(sql`${eq(contacts.projectId, projectId)} and ${expression}`)
    .orderBy(contacts.number)
  return rows.map(({ id }) => id)
}

function person(index: number, facts: Partial<TestContact> = {}): TestContact {
  const common = { subscribed: true, data: null, createdAt: START, updatedAt: START }
  return { id: `contact-${index}`, email: `p${index}@a.test`, ...common, ...facts }
}
