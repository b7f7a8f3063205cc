import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import type { AppError } from '../../src/base/errors.ts'
import { validate } from '../../src/http/validation.ts'

/** A text that counts how often it was looked at, and how often it was wrong. */
function countedText() {
  const seen = { looks: 0, issues: 0 }
  const error = (): string => {
    seen.issues += 1
    return 'Not a text'
  }
  const schema = z
    .unknown()
    .transform((value) => {
      seen.looks += 1
      return value
    })
    .pipe(z.string({ error }))
  return { seen, schema }
}

function errorsOf(schema: z.ZodType, value: unknown) {
  let refusal: AppError | undefined
  assert.throws(
    () => validate(schema, value),
    (thrown: AppError) => {
      refusal = thrown
      return thrown.code === 'VALIDATION_ERROR' && thrown.status === 422
    },
  )
  return refusal?.fields ?? []
}

const fieldsOf = (schema: z.ZodType, value: unknown) =>
  errorsOf(schema, value).map(({ field, code }) => [field, code])

test('a list is counted before its members are validated', () => {
  const { seen, schema } = countedText()
  const body = z.object({ to: z.union([z.string(), z.array(schema).min(1).max(1000)]) })
  assert.deepEqual(fieldsOf(body, { to: new Array(100_000).fill(1) }), [['to', 'too_big']])
  assert.deepEqual(seen, { looks: 0, issues: 0 })
})

test('a map is counted before its entries are validated', () => {
  const { seen, schema } = countedText()
  const headers = z.record(z.string(), schema).meta({ maxProperties: 50 }).optional()
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`x-${n}`, 1]))
  assert.deepEqual(fieldsOf(z.object({ headers }), { headers: many }), [['headers', 'too_big']])
  assert.deepEqual(seen, { looks: 0, issues: 0 })
})

test('unknown fields are counted before they are listed', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`x-${n}`, 1]))
  const [error, ...others] = errorsOf(z.strictObject({ a: z.string() }), many)
  assert.equal(error?.code, 'unrecognized')
  assert.ok((error?.message ?? '').length < 100)
  assert.equal(others.length, 0)
  assert.ok(validate(z.object({ a: z.string().optional() }), many), 'others are ignored as before')
})

test('each unknown field is named', () => {
  const inner = z.strictObject({ b: z.string().optional() })
  const body = z.strictObject({ a: inner })
  assert.deepEqual(fieldsOf(body, { a: { c: 1, d: 1 }, e: 1 }), [
    ['a.c', 'unrecognized'],
    ['a.d', 'unrecognized'],
    ['e', 'unrecognized'],
  ])
})

test('a list whose members are all invalid gives at most 20 issues', () => {
  const { seen, schema } = countedText()
  const body = z.object({ emails: z.array(schema).max(10_000) })
  const errors = fieldsOf(body, { emails: new Array(10_000).fill(1) })
  assert.equal(errors.length, 20)
  assert.deepEqual(errors[19], ['emails.19', 'invalid_type'])
  assert.deepEqual(seen, { looks: 20, issues: 20 })
})

test('a long list with a few invalid members names each', () => {
  const body = z.object({ list: z.array(z.object({ n: z.number() })).max(1000) })
  const list = Array.from({ length: 500 }, (_, n) => ({ n: n % 100 === 99 ? 'x' : n }))
  const names = [99, 199, 299, 399, 499].map((n) => [`list.${n}.n`, 'invalid_type'])
  assert.deepEqual(fieldsOf(body, { list }), names)
})

test('a long valid list gives the output of the schema', () => {
  const body = z.object({ list: z.array(z.string().transform(Number)).max(100) })
  const list = Array.from({ length: 100 }, (_, n) => String(n))
  assert.deepEqual(validate(body, { list }), { list: list.map(Number) })
})

test('lists within a long list are counted, each before its members', () => {
  const { seen, schema } = countedText()
  const inner = z.object({ tags: z.array(schema).max(2) })
  const body = z.object({ list: z.array(inner).max(1000) })
  const list = new Array(30).fill({ tags: [1, 1, 1] })
  const errors = fieldsOf(body, { list })
  assert.equal(errors.length, 20)
  assert.deepEqual(errors[0], ['list.0.tags', 'too_big'])
  assert.equal(seen.looks, 0)
})

test('lists and maps behind defaults, transforms and null are counted too', () => {
  const list = z.array(z.string()).max(2)
  const wrapped = [
    list.optional(),
    list.nullable(),
    list.default([]),
    list.transform((items) => items.length),
    list.superRefine(() => undefined),
    list.readonly(),
    z.union([z.string(), list.nullish()]),
  ]
  for (const schema of wrapped) {
    assert.deepEqual(fieldsOf(z.object({ a: schema }), { a: ['', '', ''] }), [['a', 'too_big']])
  }
})

test('a refusal cuts long names and texts of the request', () => {
  const name = 'n'.repeat(100_000)
  const errors = errorsOf(z.strictObject({ a: z.string().optional() }), { [name]: 1 })
  assert.ok(JSON.stringify(errors).length < 1000)
  const headers = z.record(z.string(), z.string())
  assert.ok(JSON.stringify(errorsOf(headers, { [name]: 1 })).length < 1000)
})

test('a value of a wrong type has one error, whatever else the schema measures', () => {
  const text = z.string().min(6, 'Too short').max(8, 'Too long')
  const body = z.object({ one: text, all: z.array(text).max(100), both: z.union([text, z.int()]) })
  const list = ['abcdef']
  const many = Array.from({ length: 30 }, () => 'abcdef')
  assert.deepEqual(fieldsOf(body, { one: list, all: [list, 'abc'], both: list }), [
    ['one', 'invalid_type'],
    ['all.0', 'invalid_type'],
    ['all.1', 'too_small'],
    ['both', 'invalid_type'],
  ])
  assert.deepEqual(fieldsOf(body, { one: 'abcdef', all: [...many, list], both: 1 }), [
    ['all.30', 'invalid_type'],
  ])
})

test('a missing choice is required like any other field, and its choices are named', () => {
  const body = z.object({ type: z.enum(['ALL', 'SOME']) })
  const [missing] = errorsOf(body, {})
  const { code, message } = missing ?? {}
  assert.deepEqual([code, message], ['invalid_type', 'Required: one of ALL, SOME'])
  assert.deepEqual(fieldsOf(body, { type: 'NONE' }), [['type', 'invalid_enum_value']])
})
