import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readIncomingHeader } from '../../../src/formats/incoming/header.ts'

const read = (...lines: string[]) =>
  readIncomingHeader(Buffer.from([...lines, '', 'x'].join('\r\n')))

test('the fields of a header section are read', () => {
  const header = read(
    'Received: from a by b;',
    '\tSat, 21 Nov 2026 12:00:00 +0000',
    'From: =?utf-8?q?J=C3=B6rg?= <j@people.test>',
    'Subject: =?utf-8?b?R3LDvMOfZQ==?=',
    ' =?utf-8?q?_aus_K=C3=B6ln?=',
    'Message-ID:',
    ' <1@people.test>',
    'In-Reply-To: <c@shop.test>',
    'References: <a@shop.test> <b@shop.test>',
    ' <c@shop.test>',
    'X-Pillarbox-Id:  abc ',
  )
  assert.deepEqual(header, {
    subject: 'Grüße aus Köln',
    fromField: 'Jörg <j@people.test>',
    messageId: '1@people.test',
    answers: ['c@shop.test', 'b@shop.test', 'a@shop.test'],
    isAutoSubmitted: false,
    ownToken: 'abc',
  })
})

test('a message without a header section has no field', () => {
  const nothing = {
    ...{ subject: '', fromField: '', messageId: null, answers: [] },
    ...{ isAutoSubmitted: false, ownToken: null },
  }
  assert.deepEqual(readIncomingHeader(Buffer.alloc(0)), nothing)
  assert.deepEqual(readIncomingHeader(Buffer.from('\r\n\r\nSubject: no')), nothing)
})

for (const [value, expected] of [
  ['no', false],
  ['No (really)', false],
  ['no; x=y', false],
  ['auto-replied', true],
  ['auto-generated; type=x', true],
  ['nothing', true],
] as const) {
  test(`Auto-Submitted: ${value} is ${expected ? '' : 'not '}automatic (RFC 3834)`, () => {
    assert.equal(read(`Auto-Submitted: ${value}`).isAutoSubmitted, expected)
  })
}

test('ids without brackets are read, long ones and more than 20 are not', () => {
  assert.deepEqual(read('In-Reply-To: 1@a.test').answers, ['1@a.test'])
  assert.deepEqual(read(`In-Reply-To: <${'x'.repeat(501)}@a.test>`).answers, [])
  const many = Array.from({ length: 30 }, (_, index) => `<${index}@a.test>`)
  assert.equal(read(`References: ${many.join(' ')}`).answers.length, 20)
  assert.equal(read(`References: ${many.join(' ')}`).answers[0], '29@a.test')
})

test('a subject is one bounded line without controls', () => {
  assert.equal(read('Subject: =?utf-8?q?a=0D=0Ab=00c?=').subject, 'a b c')
  assert.equal(read(`Subject: ${'x'.repeat(5_000)}`).subject.length, 998)
})
