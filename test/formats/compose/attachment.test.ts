import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attachedBytes, decodeAttachment } from '../../../src/formats/compose/attachment.ts'

const file = { filename: 'a.bin', contentType: 'a/b', contentId: null, disposition: 'attachment' }
const base64 = { ...file, disposition: 'attachment', content: 'aGVsbG8=' } as const
const chunks = { ...base64, content: [Buffer.from('hel'), Buffer.from('lo')] } as const

test('an attachment decodes to the same octets from base64 and from chunks', () => {
  const octets = [base64, chunks].map((each) => decodeAttachment(each).content)
  assert.deepEqual(octets.map(String), ['hello', 'hello'])
  assert.equal(decodeAttachment(chunks).filename, 'a.bin')
})

test('the size of attachments is their stored size', () => {
  assert.equal(attachedBytes([]), 0)
  assert.equal(attachedBytes([base64, chunks]), 8 + 5)
})
