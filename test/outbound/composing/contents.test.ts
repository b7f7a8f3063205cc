import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentBytes, createContentMemory } from '../../../src/outbound/composing/contents.ts'

const MB = 1024 * 1024
const content = (id: string, bytes: number) => ({
  ...{ id, subject: '', isText: false, text: null, attachments: [] },
  body: 'x'.repeat(bytes),
})

test('To and Cc count', () => {
  const recipientFields = { to: 'a'.repeat(100), cc: null }
  assert.equal(contentBytes({ ...content('one', 10), recipientFields }), 110)
  assert.equal(contentBytes({ ...content('one', 10), recipientFields: { to: 'a', cc: 'b' } }), 12)
})

test('large contents of one project leave memory for others', () => {
  const memory = createContentMemory()
  const large = content('one', 40 * MB)
  memory.enter('large', large)
  assert.equal(memory.hasSpace('large', 20 * MB), false)
  assert.equal(memory.hasSpace('other', 20 * MB), true)
  assert.equal(memory.hasSpace('large', 1_000), true, 'small contents always fit')
  memory.enter('large', large)
  memory.leave(large)
  assert.equal(memory.hasSpace('large', 20 * MB), false, 'one of two uses is left')
  memory.leave(large)
  assert.equal(memory.hasSpace('large', 20 * MB), true)
})

test('a content that leaves no memory for others is composed alone', () => {
  assert.equal(createContentMemory().hasSpace('any', 500 * MB), true)
})
