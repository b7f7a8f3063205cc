import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeMessage } from '../../src/formats/decode-message.ts'

const message = [
  'From: "Shop" <shop@example.test>',
  'To: =?utf-8?q?Zo=C3=AB?= <zoe@example.net>',
  'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=a',
  '',
  '--a',
  'Content-Type: multipart/related; boundary=b',
  '',
  '--b',
  'Content-Type: text/html; charset=utf-8',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  '<p>Sch=C3=B6n <img src=3D"cid:logo@shop"></p>',
  '--b',
  'Content-Type: image/png',
  'Content-Disposition: inline; filename=logo.png',
  'Content-ID: <logo@shop>',
  'Content-Transfer-Encoding: base64',
  '',
  'iVBORw==',
  '--b--',
  '--a',
  'Content-Type: text/csv; name=list.csv',
  'Content-Disposition: attachment; filename=list.csv',
  '',
  'a,b',
  '--a--',
  '',
].join('\r\n')

test('fields, HTML with embedded images, and attachments are decoded', async () => {
  const decoded = await decodeMessage(Buffer.from(message))
  assert.equal(decoded.subject, 'Grüße')
  assert.match(decoded.from, /shop@example\.test/)
  assert.match(decoded.to, /Zoë.*zoe@example\.net/)
  assert.equal(decoded.html?.trim(), '<p>Schön <img src="data:image/png;base64,iVBORw=="></p>')
  assert.equal(decoded.text, null)
  assert.deepEqual(
    decoded.attachments.map(({ filename, content }) => [filename, content.toString().trim()]),
    [['list.csv', 'a,b']],
  )
})

test('a text-only message has no HTML', async () => {
  const decoded = await decodeMessage(Buffer.from('Subject: Hi\r\n\r\nJust text.\r\n'))
  assert.deepEqual([decoded.html, decoded.text?.trim()], [null, 'Just text.'])
})
