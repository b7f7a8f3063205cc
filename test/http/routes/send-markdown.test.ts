import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contents } from '../../../src/store/schema/messages.ts'
import { trustDomain } from '../../core.ts'
import { useService } from '../service.ts'

const { service, call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'example.test')
})

const valid = { to: 'ann@example.net', from: 'hello@example.test', subject: 'Hi' }
const send = (body: object) => call('post', '/v1/send').send({ ...valid, ...body })

test('Markdown is stored as HTML with its placeholders, and rendered for the reader', async () => {
  const body = '# Hi {{ name }}\n\n[Order {{ n }}](https://a.test/{{ n }})'
  const sent = await send({ type: 'markdown', body, data: { name: 'Ann', n: 7 } })
  assert.equal(sent.status, 200)
  assert.equal(sent.body.data.warnings, undefined)
  const [content] = await service.core.store.read.select().from(contents)
  assert.match(content?.body ?? '', /^<h1>Hi {{ name }}<\/h1>/)
  const id = sent.body.data.emails[0].email
  const raw = (await call('get', `/emails/${id}/raw`).buffer(true)).text
  assert.match(raw, /<h1>Hi Ann<\/h1>/)
  assert.match(raw, /<a href=(?:3D)?"[^"]*">Order 7<\/a>/)
})

test('Markdown with a table is a whole document like other Markdown', async () => {
  const body = '# Hi\n\n| a | b |\n|---|--:|\n| 1 | {{ n }} |\n'
  const sent = await send({ type: 'markdown', body, data: { n: 7 } })
  assert.equal(sent.status, 200)
  const id = sent.body.data.emails[0].email
  const raw = (await call('get', `/emails/${id}/raw`).buffer(true)).text
  assert.match(raw, /<!DOCTYPE html>[\s\S]*<main>[\s\S]*<td[^>]*>7<\/td>/)
})

test('HTML is taken under its name', async () => {
  const sent = await send({ type: 'html', body: '<p># Hi</p>' })
  assert.equal(sent.status, 200)
  assert.equal(sent.body.data.warnings, undefined)
})

test('a fault in Markdown has its place in the Markdown', async () => {
  const refused = await send({ type: 'markdown', body: '# Hi\n\n- a\n- {% if x %}' })
  assert.equal(refused.status, 422)
  assert.deepEqual(refused.body.error.details, { field: 'body', line: 4, column: 3 })
})

const refused: [string, object, string, string][] = [
  ['another type', { type: 'mjml', body: 'x' }, 'type', 'invalid_enum_value'],
  ['Markdown without a body', { type: 'markdown', text: 'x' }, 'type', 'custom'],
  ['long Markdown', { type: 'markdown', body: 'x'.repeat(262_145) }, 'body', 'too_big'],
  ['deep Markdown', { type: 'markdown', body: '>'.repeat(20_000) }, 'body', 'too_complex'],
  ['long deep Markdown', { type: 'markdown', body: '>'.repeat(261_000) }, 'body', 'too_complex'],
]

for (const [name, body, field, code] of refused) {
  test(`${name} is refused`, async () => {
    const { status, body: answer } = await send(body)
    assert.equal(status, 422)
    const [error] = answer.error.errors
    assert.deepEqual([error.field, error.code], [field, code])
  })
}
