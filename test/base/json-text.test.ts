import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isDeeperThan, parseJsonText } from '../../src/base/json-text.ts'
import { anyCharacter } from '../any-character.ts'
import { readSources } from '../architecture-rules.ts'

/** As clients write it that send ASCII only. */
const escapeAll = (text: string) =>
  text.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

test('an escaped name is read as written, whatever names objects had before', () => {
  for (const [earlier, text, name] of [
    ['pr\\u00', '{"pr\\u00e9nom":1}', 'prénom'],
    ['\\', '{"\\"":1}', '"'],
    ['a\\', '{"a\\n":1}', 'a\n'],
    ['x\\\\', '{"x\\\\\\"":1}', 'x\\"'],
  ] as const) {
    const before: Record<string, unknown> = {}
    before[earlier] = 1
    JSON.parse(JSON.stringify(before))
    assert.deepEqual(Object.keys(parseJsonText(text) as object), [name])
  }
})

test('names keep their order and their place, at any depth', () => {
  const text = '{"b":1,"\\u0061":{"\\"":[{"x\\\\":"\\u0061","y":2}]},"c":"\\"\\\\","a":3}'
  const read = parseJsonText(text) as Record<string, unknown>
  assert.equal(JSON.stringify(read), '{"b":1,"a":3,"c":"\\"\\\\"}')
  assert.equal(
    JSON.stringify(parseJsonText(text.replace(',"a":3', ''))),
    '{"b":1,"a":{"\\"":[{"x\\\\":"a","y":2}]},"c":"\\"\\\\"}',
  )
  assert.ok(Object.hasOwn(parseJsonText('{"\\u005f_proto__":{"x":1}}') as object, '__proto__'))
})

test('of a name that occurs more than once the last one counts', () => {
  for (const [text, value] of [
    ['{"a":1,"\\u0061":2,"a":3}', '{"a":3}'],
    ['{"\\u0031":"x","1":"y"}', '{"1":"y"}'],
    ['{"\\"":1,"b":0,"\\u0022":2,"\\"":3}', '{"\\"":3,"b":0}'],
    ['{"\\u0061":{"\\\\":1},"a":{"\\u005c":2,"\\\\":3}}', '{"a":{"\\\\":3}}'],
  ] as const) {
    assert.equal(JSON.stringify(parseJsonText(text)), value)
  }
})

test('any JSON has the value that was written, also with every character escaped', () => {
  const key = fc.oneof(
    fc.constantFrom('\\', '"', 'a\\', 'a"', 'a\n', 'é', '\\u00', '', ' :'),
    fc.string({ unit: anyCharacter, maxLength: 4 }),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string({ unit: anyCharacter, maxLength: 8 }),
      fc.integer(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }),
    ),
  }))
  fc.assert(
    fc.property(value, (given) => {
      // Arrays of pairs stand for objects, so that what was written is known without JSON.parse.
      const text = write(given)
      assert.equal(rewrite(parseJsonText(text)), text)
      assert.equal(rewrite(parseJsonText(escapeAll(text))), text)
    }),
    { numRuns: 300 },
  )
})

/** JSON in which each array of pairs with different names is an object. */
function write(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value)
  const isPair = (each: unknown) =>
    Array.isArray(each) && each.length === 2 && typeof each[0] === 'string'
  const names = value.map((each) => (isPair(each) ? each[0] : undefined))
  // Names that are numbers come first in any object.
  const isObject =
    value.every(isPair) &&
    new Set(names).size === names.length &&
    !names.some((n) => /^\d+$/.test(n))
  if (!isObject) return `[${value.map(write).join()}]`
  return `{${value.map(([name, part]) => `${JSON.stringify(name)}:${write(part)}`).join()}}`
}

const rewrite = (value: unknown) => JSON.stringify(value)

test('invalid JSON is refused, also where its names are', () => {
  for (const text of [
    '{"\\x":1}',
    '{"\\u12":1}',
    '{"a\\\n":1}',
    '{"\\"":}',
    '{"\\":1}',
    '["\\"":1]',
    '{"\\"":1',
    '"\\"":1',
  ]) {
    assert.throws(() => parseJsonText(text), SyntaxError, text)
  }
})

test('a name beside one that is set afterwards may be __proto__', () => {
  const { a } = parseJsonText('{"a":{"\\"":1,"__proto__":2}}') as { a: object }
  assert.deepEqual(Object.entries(a), [
    ['"', 1],
    ['__proto__', 2],
  ])
})

test('a value may be deeper than the stack', () => {
  const depth = 100_000
  const text = `${'['.repeat(depth)}{"\\"":1}${']'.repeat(depth)}`
  assert.doesNotThrow(() => parseJsonText(text))
})

test('the levels of lists and objects are counted, also of a value deeper than the stack', () => {
  for (const value of [null, 'a', 1]) assert.equal(isDeeperThan(value, 0), false)
  const two = { a: 1, b: [1] }
  assert.deepEqual([isDeeperThan(two, 1), isDeeperThan(two, 2)], [true, false])
  assert.equal(isDeeperThan(JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), 20), true)
})

/** Where names are Pillarbox's own, or where a string, a number or a list is read. */
const OWN_NAMES = [
  'base/json-text.ts',
  'config/values/kinds.ts',
  'config/version.ts',
  'features/ground/fence/generation-file.ts',
  'features/incoming/sns/notification.ts',
  'features/mail/messages/delivery/sealed-snapshots.ts',
  'features/mail/messages/retention.ts',
  'features/operation/acme/client.ts',
  'features/operation/acme/folder.ts',
  'features/operation/backup/archive/manifest.ts',
  'features/operation/backup/schedule/schedule.ts',
  'features/operation/erasure/erase-rows.ts',
  'features/outreach/workflows/schedule/loop.ts',
  'features/people/contacts/fields/fields.ts',
  'features/people/verification/domain-lists.ts',
  'features/tenancy/accounts/oauth/github-provider.ts',
  'features/tenancy/billing/stripe.ts',
  'features/tenancy/billing/webhook/event.ts',
  'formats/report/ses-notice.ts',
  'http/body/json.ts',
  'http/dashboard/files.ts',
  'records/cursor.ts',
  'store/schema/packed-steps.ts',
]

test('JSON of strangers is read by parseJsonText', () => {
  const users = [...readSources()]
    // In a browser, the answers are those of this program.
    .filter(([file]) => !file.startsWith('dashboard/'))
    .filter(([, text]) => /JSON\.parse\(|mode: 'json'/.test(text))
    .map(([file]) => file)
  assert.deepEqual(users.sort(), OWN_NAMES)
})
