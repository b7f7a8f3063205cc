import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { UnknownName } from '../../../src/base/errors.ts'
import { parseJson } from '../../../src/http/body/json.ts'
import {
  MAX_JSON_LEVELS,
  MAX_JSON_NAMES,
  MAX_JSON_VALUES,
} from '../../../src/http/body/json-scan.ts'
import { anyCharacter } from '../../any-character.ts'

const MB = 1024 * 1024
/** Enough blanks that the body is parsed in steps. */
const blanks = Buffer.alloc(2 * MB, ' ')

/** Parses a text at once, and in steps with blanks behind it; returns both results. */
async function both(text: string | Buffer): Promise<unknown[]> {
  const bytes = Buffer.from(text)
  const bodies = [bytes, Buffer.concat([bytes, blanks])]
  return Promise.all(
    bodies.map((body) => parseJson(body).catch(({ status, fields }) => ({ status, fields }))),
  )
}

async function assertBoth(text: string | Buffer, expected: unknown): Promise<void> {
  for (const value of await both(text)) assert.deepEqual(value, expected)
}

const repeated = (count: number, text: string) => new Array<string>(count).fill(text).join()

test('any JSON gives the value of JSON.parse, also when it is parsed in steps', async () => {
  const value = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 5 })
  const long = fc.string({ unit: anyCharacter, minLength: 60, maxLength: 300 })
  const body = fc.oneof(value, fc.dictionary(fc.string(), long), fc.array(long))
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), async (given, isEscaped) => {
      const text = JSON.stringify(given)
      const sent = isEscaped ? escaped(text) : text
      const expected = withoutPrototypes(JSON.parse(sent))
      for (const found of await both(sent)) assert.deepEqual(found, expected)
    }),
    { numRuns: 15 },
  )
})

/** As clients write it that send ASCII only. */
function escaped(text: string): string {
  return text
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('/', '\\/')
}

function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  const kept = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.fromEntries(kept.map(([name, part]) => [name, withoutPrototypes(part)]))
}

/** Two borders of steps are in it. */
const LONG = 2.25 * MB

for (const [name, unit] of [
  ['base64', 'AbCd/+09'],
  ['escaped slashes', 'ab\\/'],
  ['escapes of six bytes', '\\u0436'],
  ['halves of a character, each escaped', '\\ud83d\\ude00'],
  ['backslashes', '\\\\'],
  ['quotes', '\\"'],
  ['characters of several bytes', 'ж€😀x'],
] as const) {
  test(`a text of several steps of ${name} is unchanged`, async () => {
    for (const start of ['', 'x', 'xy', 'xyz']) {
      const text = `{"a":"${start}${unit.repeat(LONG / Buffer.byteLength(unit))}","b":[1,"\\n"]}`
      assert.deepEqual(await parseJson(Buffer.from(text)), JSON.parse(text))
    }
  })
}

test('a long text with one place that is not plain ASCII is unchanged', async () => {
  for (const at of [0, 1, MB, LONG]) {
    for (const odd of ['\\n', 'é', '\\ud83d\\ude00']) {
      const text = `{"a":"${'x'.repeat(at)}${odd}${'y'.repeat(LONG - at)}"}`
      assert.deepEqual(await parseJson(Buffer.from(text)), JSON.parse(text))
    }
  }
})

test('other work runs while a large body is parsed', async () => {
  const body = Buffer.from(JSON.stringify({ content: 'A'.repeat(10 * MB), more: 'é'.repeat(MB) }))
  let turns = 0
  const timer = setInterval(() => undefined, 1)
  const count = (): void => {
    turns += 1
    if (turns < 1_000_000) next = setImmediate(count)
  }
  let next = setImmediate(count)
  await parseJson(body)
  clearImmediate(next)
  clearInterval(timer)
  assert.ok(turns >= 20, `${turns} turns of 1 MB each, to look and to decode`)
})

for (const [name, body] of [
  ['a text without end', '{"a":"b'],
  ['a value too many', '{"a":1} 2'],
  ['a control character in a long text', `{"a":"${'x'.repeat(200)}\n"}`],
  ['an escape that is none, in a long text', `{"a":"${'x'.repeat(200)}\\x"}`],
  ['an escape cut off by the end of a long text', `{"a":"${'x'.repeat(200)}\\u12"}`],
  ['bytes that are not UTF-8', Buffer.from('{"a":"\xff"}', 'latin1')],
  ['a name without value', '{"a"}'],
  ['brackets of two kinds', '[1}'],
] as const) {
  test(`${name} is 400, also when it is parsed in turns`, () =>
    assertBoth(body, { status: 400, fields: undefined }))
}

test('a byte order mark is ignored', () => assertBoth('\ufeff{"a":1}', { a: 1 }))

test('keys named __proto__ are dropped, also those of large bodies', () =>
  assertBoth('{"__proto__":{"x":1},"a":[{"\\u005f_proto__":{"y":1},"b":2}]}', { a: [{ b: 2 }] }))

test('a path is copied only where a key is dropped', async (t) => {
  const levels = 90
  const inner = `{"__proto__":1,"many":[${repeated(10_000, '1')}]}`
  const body = Buffer.from(`${'['.repeat(levels)}${inner}${']'.repeat(levels)}`)
  const dropped: UnknownName[] = []
  const iterate = Array.prototype[Symbol.iterator]
  t.after(() => {
    Array.prototype[Symbol.iterator] = iterate
  })
  let count = 0
  Array.prototype[Symbol.iterator] = function counted() {
    count += 1
    return iterate.call(this)
  }
  await parseJson(body, dropped)
  Array.prototype[Symbol.iterator] = iterate
  assert.deepEqual(
    dropped.map(({ path }) => path),
    [new Array<string>(levels).fill('0')],
  )
  assert.ok(count > 0 && count < 100, `${count} copies`)
})

test('values, names and levels are counted, and the outermost field is named', async () => {
  const refused = (field: string, message: string) => ({
    status: 422,
    fields: [{ field, code: 'too_big', message: `The JSON ${message}` }],
  })
  const values = refused('', `has more than ${MAX_JSON_VALUES} values`)
  await assertBoth(`[${repeated(MAX_JSON_VALUES, '1')}]`, values)
  await assertBoth(`[${repeated(MAX_JSON_VALUES, '{}')}]`, values)
  await assertBoth(`[${repeated(MAX_JSON_VALUES, '"a"')}]`, values)
  const names = `{"to":1,"headers":{${repeated(MAX_JSON_NAMES, '"a":1')}}}`
  await assertBoth(names, refused('headers', `has more than ${MAX_JSON_NAMES} names`))
  const levels = `{"data":${'['.repeat(MAX_JSON_LEVELS)}${']'.repeat(MAX_JSON_LEVELS)}}`
  await assertBoth(levels, refused('data', `is nested more than ${MAX_JSON_LEVELS} levels deep`))
})

test('values, names and levels are accepted up to their limits', async () => {
  const [whole, inTurns] = await both(`[${repeated(MAX_JSON_VALUES - 1, '"a b"')}]`)
  assert.equal((whole as unknown[]).length, MAX_JSON_VALUES - 1)
  assert.deepEqual(inTurns, whole)
  const names = await both(`[${repeated(MAX_JSON_NAMES, '{"a" : -1.5e3}')}]`)
  for (const list of names) assert.equal((list as unknown[]).length, MAX_JSON_NAMES)
  const levels = await both(`${'['.repeat(MAX_JSON_LEVELS)}${']'.repeat(MAX_JSON_LEVELS)}`)
  for (const list of levels) assert.ok(Array.isArray(list))
})

test('long texts count as one value, and brackets in them do not count as levels', async () => {
  const text = '[{\\"a\\":[1,2,3]},'.repeat(300_000)
  const value = (await parseJson(Buffer.from(`{"a":"${text}"}`))) as { a: string }
  assert.equal(value.a.length, JSON.parse(`"${text}"`).length)
})
