import assert from 'node:assert/strict'
import test from 'node:test'
import { createFieldMemo } from '../../../src/formats/compose/field-memo.ts'

function createWriter() {
  const written: string[] = []
  const write = (name: string, value: string) => {
    written.push(`${name}: ${value}`)
    return `${name}: ${value}\r\n`
  }
  return { write, written }
}

test('a field with the value that it had last is not written again', () => {
  const { write, written } = createWriter()
  const memo = createFieldMemo()
  for (const value of ['a', 'a', 'b', 'a', 'a']) {
    assert.equal(memo('Subject', value, write), `Subject: ${value}\r\n`)
  }
  assert.equal(memo('Precedence', 'a', write), 'Precedence: a\r\n')
  assert.deepEqual(written, ['Subject: a', 'Subject: b', 'Subject: a', 'Precedence: a'])
})

test('a value that cannot be written is not remembered', () => {
  const { write } = createWriter()
  const memo = createFieldMemo()
  const refuse = () => {
    throw new TypeError('malformed')
  }
  memo('Subject', 'a', write)
  assert.throws(() => memo('Subject', 'b', refuse), TypeError)
  assert.throws(() => memo('Subject', 'b', refuse), TypeError)
  assert.equal(memo('Subject', 'a', write), 'Subject: a\r\n')
})

test('the fields of a hundred names are remembered, and forgotten when one more comes', () => {
  const { write, written } = createWriter()
  const memo = createFieldMemo()
  for (let turn = 0; turn < 2; turn += 1) {
    for (let name = 0; name < 100; name += 1) memo(`X-${name}`, 'a', write)
  }
  assert.equal(written.length, 100)
  memo('Subject', 'a', write)
  memo('X-0', 'a', write)
  memo('Subject', 'a', write)
  assert.deepEqual(written.slice(100), ['Subject: a', 'X-0: a'])
})
