import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  readSubmitted,
  type SubmittedMessage,
} from '../../../src/formats/submitted/read-submitted.ts'

const limits = { attachmentsMaxCount: 5, attachmentsMaxBytes: 1_000 }

/** One character per octet. */
async function read(...lines: string[]): Promise<SubmittedMessage> {
  const octets = Buffer.from(['From: shop@example.test', ...lines].join('\r\n'), 'latin1')
  const reading = await readSubmitted(octets, limits)
  assert.ok('submitted' in reading, JSON.stringify(reading))
  return reading.submitted
}

test('flowed text keeps its paragraphs and quotes, also beside a file', async () => {
  const flowed = [
    'Content-Type: text/plain; charset=utf-8; format=flowed',
    ...['', '> one ', '> line', '', 'Well, ', '', 'yes'],
  ]
  const expected = '> one line\n\nWell, \n\nyes'
  assert.equal((await read(...flowed)).body, expected)
  const file = ['--b', 'Content-Disposition: attachment; filename=a', '', 'x', '--b--']
  const mixed = ['Content-Type: multipart/mixed; boundary=b', '', '--b', ...flowed, ...file]
  assert.equal((await read(...mixed)).body, expected)
})

test('octets without a declared charset are UTF-8, else windows-1252', async () => {
  const html = ['Content-Type: text/html', '', '<p>caf\xe9</p>']
  assert.equal((await read(...html)).body, '<p>café</p>')
  assert.equal((await read('', 'caf\xc3\xa9 \xe2\x9c\x93')).body, 'café ✓')
  for (const charset of ['us-ascii', 'binary']) {
    const type = `Content-Type: text/plain; charset=${charset}`
    assert.equal((await read(type, '', 'caf\xe9')).body, 'café')
  }
  const parts = ['--b', '', '\x80 5', '--b', '', '\xe2\x9c\x93', '--b--']
  const { body } = await read('Content-Type: multipart/mixed; boundary=b', '', ...parts)
  assert.equal(body, '€ 5\n✓')
})

test('header fields are UTF-8, else windows-1252, each by itself', async () => {
  const octets = Buffer.from(
    'From: Jos\xe9 <shop@example.test>\r\nSubject: \x93Caf\xe9\x94\r\nX-Old: \xe9\r\nX-New: \xc3\xa9\r\n\r\nx',
    'latin1',
  )
  const reading = await readSubmitted(octets, limits)
  assert.ok('submitted' in reading)
  const { from, subject, headers } = reading.submitted
  assert.deepEqual([from.name, subject], ['José', '“Café”'])
  assert.deepEqual(headers, { 'X-Old': 'é', 'X-New': 'é' })
})

test('a text part with a filename is a file, unless the message begins with it', async () => {
  const part = (name: string, text: string, ...fields: string[]) => [
    ...['--b', `Content-Type: text/plain; name=${name}`, ...fields, '', text],
  ]
  const { body, attachments } = await read(
    ...['Content-Type: multipart/mixed; boundary=b', ''],
    ...part('body.txt', 'hello'),
    ...part('a.txt', 'one', 'Content-Disposition: inline'),
    ...part('b.txt', 'caf\xe9'),
    '--b--',
  )
  assert.equal(body, 'hello')
  const octets = attachments.map(({ content }) => Buffer.from(content, 'base64').toString('latin1'))
  assert.deepEqual(
    attachments.map(({ filename }) => filename),
    ['a.txt', 'b.txt'],
  )
  assert.deepEqual(octets, ['one', 'caf\xe9'])
})

test('a file that the HTML does not refer to is not an inline image', async () => {
  const file = (id: string, type: string, disposition: string) => [
    ...['--b', `Content-Type: ${type}`, `Content-ID: <${id}>`],
    ...[`Content-Disposition: ${disposition}; filename=${id}`, '', 'x'],
  ]
  const parts = [
    ...['--b', 'Content-Type: text/html', '', '<img src="cid:shown">'],
    ...file('shown', 'image/png', 'attachment'),
    ...file('report.pdf', 'application/pdf', 'attachment'),
    '--b--',
  ]
  const related = await read('Content-Type: multipart/related; boundary=b', '', ...parts)
  assert.deepEqual(
    related.attachments.map(({ disposition }) => disposition),
    ['inline', 'attachment'],
  )
})

test('a Reply-To without a value is ignored', async () => {
  for (const value of ['', ' ', '<>']) {
    const { reply, headers } = await read(`Reply-To:${value}`, '', 'x')
    assert.deepEqual([reply, headers], [undefined, {}])
  }
})
