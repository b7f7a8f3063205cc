import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readIncoming } from '../../../src/formats/incoming/read-message.ts'

const TOP = 'From: a@b.test\r\nSubject: x\r\nMIME-Version: 1.0\r\n'
const LONG = 4_200_000

test('a text that is cut inside a character keeps its charset, with or without a label', async () => {
  const line = `${'漢'.repeat(24)}\r\n`
  for (const [label, shift] of [
    ['', ''],
    ['', 'a'],
    ['', 'aa'],
    ['; charset=us-ascii', 'a'],
    ['; charset=utf-8', 'a'],
  ] as const) {
    const header = `Content-Type: text/plain${label}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`
    const raw = Buffer.from(TOP + header + shift + line.repeat(LONG / Buffer.byteLength(line)))
    const mail = await readIncoming(raw)
    assert.match(mail.text ?? '', /^a{0,2}漢+\n漢/)
    assert.ok(!mail.warnings.some((warning) => warning.includes('not valid')), label)
    assert.equal(mail.isPartial, true)
  }
})

test('HTML of any length leaves the plain text beside it whole, and the other way round', async () => {
  const long = `${'a'.repeat(70)}\r\n`.repeat(LONG / 72)
  for (const [text, html] of [
    ['Short', `<p>${long}</p>`],
    [long, '<p>Short</p>'],
  ]) {
    const part = (type: string, body = '') => `--zz\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
    const parts = part('text/html', html) + part('text/plain', text)
    const top = `${TOP}Content-Type: multipart/alternative; boundary=zz\r\n\r\n`
    const mail = await readIncoming(Buffer.from(`${top}${parts}--zz--\r\n`))
    assert.ok([mail.text, mail.html].every((each) => each !== null && each !== ''))
    assert.ok([mail.text, mail.html].some((each) => each?.includes('Short')))
    assert.equal(mail.isPartial, true)
  }
})
