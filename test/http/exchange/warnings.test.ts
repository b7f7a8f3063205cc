import assert from 'node:assert/strict'
import { test } from 'node:test'
import { largeJson } from '../../../src/http/exchange/large-json.ts'
import { withWarnings } from '../../../src/http/exchange/warnings.ts'
import { type HttpResponse, json } from '../../../src/http/response.ts'

const headers = { 'content-type': 'application/json; charset=utf-8' }
const warnings = [{ field: 'a', message: 'Unknown', suggestion: null }]

/** The same text as each kind of body. */
function bodiesOf(text: string): Record<string, HttpResponse['body']> {
  const octets = new TextEncoder().encode(text)
  return {
    text,
    octets,
    pieces: (async function* () {
      yield octets
    })(),
  }
}

async function textOf(body: HttpResponse['body']): Promise<string> {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  return Buffer.concat(await Array.fromAsync(body)).toString()
}

for (const [text, expected] of [
  ['{}', { warnings }],
  ['{"a":1}', { warnings, a: 1 }],
  ['[1]', [1]],
  ['null', null],
] as const) {
  for (const [kind, body] of Object.entries(bodiesOf(text))) {
    test(`the warnings of ${text} as ${kind}`, async () => {
      const warned = withWarnings({ status: 200, body, headers }, warnings)
      assert.deepEqual(JSON.parse(await textOf(warned.body)), expected)
    })
  }
}

test('octets with warnings are no longer those that all answers share', () => {
  const body = new TextEncoder().encode('{}')
  const warned = withWarnings({ status: 200, body, headers, reservedBytes: 0 }, warnings)
  assert.equal(warned.reservedBytes, undefined)
})

for (const filling of ['', 'x'.repeat(1_000_000)]) {
  test(`the warnings of an answer of ${filling.length} letters that has texts are among these`, async () => {
    const value = { id: 1, warnings: ['own'], filling }
    for (const response of [json(201, value), largeJson(201, value)]) {
      const warned = withWarnings({ ...response, cookies: ['c'] }, warnings)
      const text = await textOf(warned.body)
      assert.equal(text.split('"warnings":').length, 2)
      const texts = ['a: Unknown', 'own']
      assert.deepEqual(JSON.parse(text), { ...value, warnings: texts })
      assert.deepEqual([warned.status, warned.cookies, warned.headers], [201, ['c'], headers])
    }
  })
}
