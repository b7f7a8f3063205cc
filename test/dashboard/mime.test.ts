import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeWords, plainTextOf, readSource } from '../../src/dashboard/logic/mime.ts'

const lines = (...all: string[]) => all.join('\r\n')

const mail = lines(
  'Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
  'Content-Type: multipart/mixed;',
  '\tboundary="b 1"',
  '',
  'preamble',
  '--b 1',
  'Content-Type: multipart/alternative; boundary=b2',
  '',
  '--b2',
  'Content-Type: text/html',
  '',
  '<p>no</p>',
  '--b2',
  'Content-Type: text/plain; charset=utf-8',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'Gr=C3=BC=C3=9Fe, =',
  'Ann',
  '--b2--',
  '--b 1',
  'Content-Type: text/plain',
  'Content-Disposition: attachment; filename=a.txt',
  '',
  'a file',
  '--b 1--',
)

describe('the source of an email', () => {
  it('has its fields in order, folded ones in one line', () => {
    const { fields } = readSource(mail)
    assert.deepEqual(fields[1], {
      name: 'Content-Type',
      value: 'multipart/mixed; boundary="b 1"',
    })
    assert.equal(decodeWords(fields[0]?.value ?? ''), 'Grüße')
  })

  it('has the first plain text of its parts, decoded', () => {
    assert.equal(plainTextOf(mail), 'Grüße, Ann')
  })

  it('decodes base64 and other charsets', () => {
    const text = (charset: string, body: string) =>
      lines(
        `Content-Type: text/plain; charset=${charset}`,
        'Content-Transfer-Encoding: base64',
        '',
        body,
      )
    assert.equal(plainTextOf(text('utf-8', 'R3LDvMOfZQ==')), 'Grüße')
    assert.equal(plainTextOf(text('iso-8859-1', 'R3L832U=')), 'Grüße')
    assert.equal(plainTextOf(text('x-unknown', 'SGk=')), 'Hi')
  })

  it('has no plain text where no part is one', () => {
    assert.equal(plainTextOf(lines('Content-Type: text/html', '', '<p>Hi</p>')), undefined)
    assert.equal(plainTextOf(lines('Subject: x', '', 'Hi')), 'Hi')
  })

  it('ends at broken and deep nesting', () => {
    const deep = Array.from(
      { length: 40 },
      () => 'Content-Type: multipart/mixed; boundary=x\n\n--x\n',
    )
    assert.equal(plainTextOf(deep.join('')), undefined)
    assert.equal(plainTextOf(''), '')
  })

  it('joins encoded words that follow each other', () => {
    assert.equal(decodeWords('=?utf-8?B?R3LDvA==?= =?utf-8?q?=C3=9Fe_an?= Ann'), 'Grüße an Ann')
    assert.equal(decodeWords('plain =?'), 'plain =?')
  })
})
