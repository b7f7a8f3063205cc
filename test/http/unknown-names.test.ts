import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { wantsStrict } from '../../src/http/preference.ts'
import { createNameCheck, type NameRules } from '../../src/http/unknown-names.ts'

const body = z.object({
  name: z.string(),
  segmentId: z.string().nullish(),
  steps: z.array(z.object({ type: z.string() }).transform((step) => step.type)).optional(),
  from: z.union([z.string(), z.object({ email: z.string() })]).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  open: z.looseObject({ a: z.string() }).optional(),
})

const record = z.object({
  id: z.string(),
  name: z.string(),
  steps: z.array(z.object({ type: z.string(), createdAt: z.string() })),
  segment: z.object({ id: z.string() }).nullable(),
  sentCount: z.int(),
})

function find(value: unknown, rules?: NameRules, isStrict = false) {
  const check = createNameCheck({ body, answer: z.object({ data: record }) }, rules)
  const { ignored, refused } = check.find(value, isStrict)
  const meant = ignored.map(({ field, suggestion }) => [field, suggestion])
  return { ignored: meant, refused: refused.map(({ field, message }) => [field, message]) }
}

test('names are found in objects, lists and alternatives, with the nearest known name', () => {
  const value = {
    naem: 'a',
    segment_id: 'x',
    SegmentID: 'x',
    steps: [{ type: 'a' }, { type: 'b', kind: 'c' }],
    from: { email: 'a', mail: 'b' },
    data: { anything: { goes: 1 } },
    open: { b: 1 },
    constructor: 1,
    __proto__: 1,
  }
  assert.deepEqual(find(value), {
    ignored: [
      ['naem', 'name'],
      ['segment_id', 'segmentId'],
      ['SegmentID', 'segmentId'],
      ['steps.1.kind', null],
      ['from.mail', 'email'],
      ['constructor', null],
    ],
    refused: [],
  })
})

test('what the record shows is ignored without a word, if the value is of its kind', () => {
  const sentBack = { id: 'a', sentCount: 3, segment: null, steps: [{ type: 'a', createdAt: 'b' }] }
  assert.deepEqual(find(sentBack).ignored, [])
  assert.deepEqual(find({ segment: { id: 'a' } }).ignored, [])
  const given = find({ segment: 'a', sentCount: [] })
  assert.deepEqual(
    given.ignored.map(([field]) => field),
    ['segment', 'sentCount'],
  )
})

test('names near a guarded field and refused ones are refused, in every spelling', () => {
  const rules = {
    guarded: ['segmentId'],
    aliases: { list: 'segmentId' },
    refused: { sendAt: 'No' },
  }
  const value = { segmentIds: 1, list: 1, send_at: 1, sendat: 1, nam: 1 }
  assert.deepEqual(find(value, rules), {
    ignored: [['nam', 'name']],
    refused: [
      ['segmentIds', 'There is no such field; did you mean segmentId?'],
      ['list', 'There is no such field; did you mean segmentId?'],
      ['send_at', 'No'],
      ['sendat', 'No'],
    ],
  })
  assert.equal(find({ nam: 1, zzz: 1 }, {}, true).refused.length, 2)
})

test('a body of many names and values is looked at in part', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`x${n}`, 1]))
  assert.equal(find(many).ignored.length, 20)
  let looks = 0
  const step = {
    get type() {
      looks += 1
      return 'a'
    },
  }
  find({ steps: new Array(100_000).fill(step) })
  assert.ok(looks <= 10_000, `${looks} looks`)
})

const preferences: [string | undefined, boolean][] = [
  [undefined, false],
  ['handling=strict', true],
  ['respond-async, Handling = "strict"; a=b', true],
  ['handling=lenient', false],
  ['handling=lenient, handling=strict', false],
  ['strict', false],
  ['HANDLING=STRICT', true],
  ['handling="str\\ict"', true],
  ['foo="a, handling=strict', false],
  ['foo="a, handling=strict"', false],
  ['foo="a, b"; c="d, e", handling=strict', true],
  ['foo;handling=strict', false],
  ['handling=strict;foo', true],
  ['handling;a=strict', false],
  ['handling="" , handling=strict', false],
  ['not a preference, , handling=strict', true],
  [',', false],
  ['', false],
]

for (const [prefer, isStrict] of preferences) {
  test(`Prefer: ${prefer} is ${isStrict ? '' : 'not '}strict`, () => {
    const headers = prefer === undefined ? {} : { prefer }
    assert.equal(wantsStrict({ headers }), isStrict)
  })
}

test('several Prefer fields are one list', () => {
  const prefer = ['foo="a', 'handling=strict']
  assert.equal(wantsStrict({ headers: { prefer: ['foo', 'handling=strict'].join(', ') } }), true)
  assert.equal(wantsStrict({ headers: { prefer: prefer.join(', ') } }), false)
})

test('a name is shown as well-formed text', () => {
  const names = [`${'x'.repeat(59)}😀y`, '\ud83d']
  const { ignored } = find(Object.fromEntries(names.map((name) => [name, 1])))
  for (const [field] of ignored) assert.ok(field?.isWellFormed(), field ?? '')
  assert.equal(ignored.length, 2)
})
