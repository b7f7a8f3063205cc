/** Signed and encrypted mail arrives with the body that was submitted, octet by octet. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import { type Program, startProgram } from '../program.ts'

const ARMOUR = [
  '-----BEGIN PGP SIGNED MESSAGE-----',
  'Hash: SHA256',
  '',
  'Dear {{ name }}, ',
  '- -- x',
]
const SIGNATURE = ['-----BEGIN PGP SIGNATURE-----', '', 'iQEz=', '-----END PGP SIGNATURE-----', '']

/** The Content-* fields and the body of each kind. */
const sealed: [title: string, fields: string[], body: string[]][] = [
  [
    'S/MIME, signed',
    [
      'Content-Type: multipart/signed; protocol="application/pkcs7-signature";',
      '\tmicalg=sha-256; boundary="S"',
    ],
    [
      ...['preamble', '--S', 'Content-type: TEXT/html;  charset=us-ascii', ''],
      ...['<a href="https://example.org/">{{ name }} </a>  ', '.', '', '--S'],
      ...['Content-Type: application/pkcs7-signature; name=smime.p7s'],
      ...['Content-Transfer-Encoding: base64', '', 'MIIBAA==', '--S--', 'epilogue', ''],
    ],
  ],
  [
    'S/MIME, encrypted',
    [
      'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename=smime.p7m',
    ],
    ['MIIBAA', 'AAAA==', ''],
  ],
  [
    'PGP/MIME, encrypted',
    ['Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=e'],
    [
      ...['--e', 'Content-Type: application/pgp-encrypted', '', 'Version: 1', '', '--e'],
      ...[
        'Content-Type: application/octet-stream',
        '',
        '-----BEGIN PGP MESSAGE-----',
        '',
        'x=',
        '--e--',
        '',
      ],
    ],
  ],
  ['OpenPGP in the text', [], [...ARMOUR, ...SIGNATURE]],
  [
    'OpenPGP in 8-bit text',
    ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit'],
    [...ARMOUR, Buffer.from('Größe').toString('latin1'), ...SIGNATURE],
  ],
]

let program: Program

before(async () => {
  program = await startProgram({ PILLARBOX_SUBMISSION__LISTEN: '["127.0.0.1:0"]' })
})

after(() => program.close())

test('signed and encrypted mail arrives as it was submitted, and says what it goes without', async () => {
  const sink = await program.receive('dest.test')
  const [port = 0] = program.submissionPorts()
  const auth = { user: 'pillarbox', pass: program.project.secret }
  const client = createTransport({ host: '127.0.0.1', port, auth })
  const header = ['From: shop@example.test', 'To: ada@dest.test', 'MIME-Version: 1.0']
  for (const [title, fields, body] of sealed) {
    const own = [...header, `Subject: ${title}`, 'X-Pillarbox-Template: yes', ...fields]
    const raw = Buffer.from([...own, '', ...body].join('\r\n'), 'latin1')
    const envelope = { from: 'shop@example.test', to: ['ada@dest.test'] }
    const { response } = await client.sendMail({ envelope, raw })
    const id = response.split(' ').at(-1) ?? ''
    await program.untilState(id, 'delivered')
    const arrived = sink.messages.at(-1)?.bytes.toString('latin1') ?? ''
    const end = arrived.indexOf('\r\n\r\n')
    assert.equal(arrived.slice(end + 4), body.join('\r\n'), title)
    const received = arrived.slice(0, end).split(/\r\n(?![ \t])/)
    const described = received.filter((field) => /^content-/i.test(field))
    assert.deepEqual(
      described,
      fields
        .join('\r\n')
        .split(/\r\n(?![ \t])/)
        .filter(Boolean),
      title,
    )
    const { body: shown } = await program.call('GET', `/emails/${id}`)
    const { warnings, openedAt } = shown as { warnings: string[]; openedAt: string | null }
    assert.match(warnings.join('\n'), /byte for byte, without tracking/, title)
    assert.equal(openedAt, null)
  }
  const raw = [...header, ...(sealed[0]?.[1] ?? []), '', '--S', '', 'x'.repeat(999), '--S--', '']
  const long = {
    envelope: { from: 'shop@example.test', to: ['ada@dest.test'] },
    raw: raw.join('\r\n'),
  }
  await assert.rejects(
    client.sendMail(long),
    /554 5\.6\.0 A line of a signed message has more than 998/,
  )
  const named = [...header, 'Subject: x', 'X-Pillarbox-Template: maybe', '', 'x']
  await assert.rejects(
    client.sendMail({ ...long, raw: named.join('\r\n') }),
    /550 5\.6\.0 The header field X-Pillarbox-Template must be yes or no/,
  )
})

test('a request with OpenPGP in its text goes out untracked and literal, and its answer says so', async () => {
  const sink = await program.receive('literal.test')
  const body = `<pre>\n${[...ARMOUR, ...SIGNATURE].join('\n')}</pre><a href="https://example.org/">x</a>`
  const request = { to: 'ada@literal.test', from: 'shop@example.test', subject: '{{ x }}', body }
  const answer = await program.call('POST', '/v1/send', request)
  const { data } = answer.body as { data: { warnings: string[]; emails: { email: string }[] } }
  assert.match(data.warnings.join('\n'), /sent as HTML.* without tracking/)
  await program.untilState(data.emails[0]?.email ?? '', 'delivered')
  const message = String(sink.messages[0]?.bytes)
  assert.match(message, /^Subject: \{\{ x \}\}\r$/m)
  assert.match(message, /Dear \{\{ name \}\}/)
  assert.doesNotMatch(message, /\/t\/|<img/)
})

test('a body or a template of OpenPGP alone goes out as text, byte for byte', async () => {
  const sink = await program.receive('armour.test')
  const body = [...ARMOUR, ...SIGNATURE].join('\r\n')
  const sender = { from: 'shop@example.test', type: 'TRANSACTIONAL' }
  const template = { name: 'x', subject: 'x', body, ...sender }
  const { body: created } = await program.call('POST', '/templates', template)
  const request = { to: 'ada@armour.test', from: 'shop@example.test' }
  const content = [{ subject: 'x', body }, { template: (created as { id: string }).id }]
  for (const [index, given] of content.entries()) {
    const answer = await program.call('POST', '/v1/send', { ...request, ...given })
    const { data } = answer.body as { data: { warnings: string[]; emails: { email: string }[] } }
    assert.match(data.warnings.join('\n'), /byte for byte, without tracking/)
    await program.untilState(data.emails[0]?.email ?? '', 'delivered')
    const mail = await simpleParser(Buffer.from(sink.messages[index]?.bytes ?? ''))
    assert.equal(mail.html, false)
    assert.equal(mail.text, body.replaceAll('\r\n', '\n'))
  }
})

test('a picture that the HTML shows is related to it, an invitation is an alternative', async () => {
  const sink = await program.receive('picture.test')
  const picture = {
    filename: 'logo.png',
    content: 'aGk=',
    contentType: 'image/png',
    contentId: 'logo',
  }
  const calendar = {
    ...{ filename: 'invite.ics', content: 'aGk=' },
    contentType: 'text/calendar; charset=utf-8; method=REQUEST',
  }
  const [id = ''] = await program.send({
    ...{ to: 'ada@picture.test', from: 'shop@example.test', subject: 'x', tracking: false },
    ...{
      body: '<img src="cid:{{ picture }}">',
      data: { picture: { value: 'logo', persistent: false } },
    },
    attachments: [picture, { ...picture, filename: 'b.png', contentId: 'log' }, calendar],
  })
  await program.untilState(id, 'delivered')
  const types = [
    ...String(sink.messages[0]?.bytes).matchAll(/^Content-(?:Type|Disposition): ([^;\r]+)/gm),
  ]
  assert.deepEqual(
    types.map(([, type]) => type),
    [
      ...['multipart/mixed', 'multipart/alternative', 'text/plain'],
      ...['multipart/related', 'text/html', 'image/png', 'inline'],
      ...['text/calendar', 'image/png', 'attachment'],
    ],
  )
  assert.match(String(sink.messages[0]?.bytes), /method=REQUEST/)
})
