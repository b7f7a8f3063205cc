import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import fc from 'fast-check'
import {
  readSubmitted,
  type SubmittedMessage,
} from '../../../src/formats/submitted/read-submitted.ts'
import { anyCharacter } from '../../any-character.ts'

const limits = { attachmentsMaxCount: 5, attachmentsMaxBytes: 1_000 }

function octets(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

async function read(...lines: string[]): Promise<SubmittedMessage> {
  const reading = await readSubmitted(octets(['From: shop@example.test', ...lines]), limits)
  assert.ok('submitted' in reading, JSON.stringify(reading))
  return reading.submitted
}

async function refusalOf(...lines: string[]): Promise<string> {
  const reading = await readSubmitted(octets(lines), limits)
  assert.ok('refusal' in reading)
  return reading.refusal.code
}

describe('To and Cc of a submitted message', () => {
  const long = 'x'.repeat(1_000)
  const table: [string, string[], SubmittedMessage['recipientFields']][] = [
    ['none', [], null],
    ['empty fields', ['To:', 'Cc: '], null],
    [
      'as written',
      ['To: Ada <ADA@dest.test>,', '\tbob@dest.test (Bob)'],
      { to: 'Ada <ADA@dest.test>,\tbob@dest.test (Bob)', cc: null },
    ],
    ['a group', ['to: undisclosed-recipients:;'], { to: 'undisclosed-recipients:;', cc: null }],
    ['Cc alone', ['CC: bob@dest.test'], { to: null, cc: 'bob@dest.test' }],
    [
      'encoded words',
      ['To: =?utf-8?q?Z=C3=B6e?= <z@dest.test>'],
      { to: '=?utf-8?q?Z=C3=B6e?= <z@dest.test>', cc: null },
    ],
    [
      'characters outside ASCII',
      ['To: Z\xc3\xb6e <z@b\xc3\xbccher.test>, b@dest.test'],
      { to: '"Zöe" <z@xn--bcher-kva.test>, b@dest.test', cc: null },
    ],
    [
      'a repeated field',
      ['To: a@dest.test', 'To: b@dest.test'],
      { to: 'a@dest.test, b@dest.test', cc: null },
    ],
    [
      'a control character',
      ['To: a@dest.test\x07, b@dest.test'],
      { to: 'a@dest.test , b@dest.test', cc: null },
    ],
    [
      'an address that only servers with SMTPUTF8 take',
      ['To: a@dest.test', 'Cc: b@dest.test, z\xc3\xb6e@dest.test'],
      null,
    ],
    ['a word too long for a line', [`To: a@dest.test, ${long}@dest.test`], null],
    ['a field too long', [`Cc: ${'a@dest.test, '.repeat(5_100)}`], null],
  ]
  for (const [name, lines, expected] of table) {
    it(`${name}`, async () => {
      const { recipientFields, warnings } = await read(...lines, '', 'x')
      assert.deepEqual(recipientFields, expected)
      assert.equal(
        warnings.some((each) => each.startsWith('To and Cc')),
        /too long|SMTPUTF8/.test(name),
      )
    })
  }
})

describe('the body of a submitted message', () => {
  const html = ['--b', 'Content-Type: text/html', '', '<p>html</p>']
  const text = ['--b', 'Content-Type: text/plain', '', 'text']
  const multipart = (type: string) => [`Content-Type: multipart/${type}; boundary=b`, '']
  const table: [string, string[], { body: string; isText: boolean }][] = [
    ['plain text', ['', 'one', 'two'], { body: 'one\ntwo', isText: true }],
    ['HTML', ['Content-Type: text/html', '', '<p>x'], { body: '<p>x', isText: false }],
    ['nothing', ['', ''], { body: '', isText: true }],
    [
      'HTML rather than text',
      [...multipart('alternative'), ...text, ...html, '--b--'],
      { body: '<p>html</p>', isText: false },
    ],
    [
      'text where the HTML is blank',
      [...multipart('alternative'), ...text, '--b', 'Content-Type: text/html', '', ' ', '--b--'],
      { body: 'text', isText: true },
    ],
    [
      'HTML and the text that follows it',
      [...multipart('mixed'), ...html, ...text, '--b--'],
      { body: '<p>html</p><br/>\n<p>text</p>', isText: false },
    ],
    [
      'a charset of its own',
      ['Content-Type: text/plain; charset=iso-8859-15', '', 'caf\xe9 \xa4'],
      { body: 'café €', isText: true },
    ],
    [
      'one of Japan',
      ['Content-Type: text/plain; charset=iso-2022-jp', '', '\x1b$BF|K\\\x1b(B'],
      { body: '日本', isText: true },
    ],
    [
      'quoted-printable',
      [
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: quoted-printable',
        ...['', 'gr=C3=BC=', '=C3=9Fe'],
      ],
      { body: 'grüße', isText: true },
    ],
    [
      'flowed text',
      ['Content-Type: text/plain; format=flowed', '', 'one ', 'line', 'two'],
      { body: 'one line\ntwo', isText: true },
    ],
  ]
  for (const [title, lines, expected] of table) {
    it(`may be ${title}`, async () => {
      const { body, isText } = await read(...lines)
      assert.deepEqual({ body, isText }, expected)
    })
  }
})

describe('the text alternative of a submitted message', () => {
  const part = (type: string, ...lines: string[]) => [`Content-Type: ${type}`, '', ...lines]
  const text = part('text/plain', 'by hand')
  const html = part('text/html', '<p>html</p>')
  const multipart = (type: string, boundary: string, ...parts: string[][]) => [
    `Content-Type: multipart/${type}; boundary=${boundary}`,
    '',
    ...parts.flatMap((each) => [`--${boundary}`, ...each]),
    `--${boundary}--`,
  ]
  const file = [
    'Content-Disposition: attachment; filename=a.html',
    ...part('text/html', '<p>file</p>'),
  ]
  const withImages = multipart('alternative', 'b', text, multipart('related', 'r', html))
  const table: [string, string[], string | undefined][] = [
    ['goes along', multipart('alternative', 'b', text, html), 'by hand'],
    ['goes along, whatever files there are', multipart('mixed', 'm', withImages, file), 'by hand'],
    ['is made of the HTML where there is none', html, undefined],
    [
      'is made of the HTML where it is blank',
      multipart('alternative', 'b', part('text/plain', ' '), html),
      undefined,
    ],
    [
      'is made of the HTML where it is another part of the message',
      multipart('mixed', 'm', html, text),
      undefined,
    ],
    [
      'is made of the HTML where some of that has no text beside it',
      multipart('mixed', 'm', multipart('alternative', 'b', text, html), html),
      undefined,
    ],
    ['is none of its own where text is all there is', text, undefined],
  ]
  for (const [title, lines, expected] of table) {
    it(title, async () => assert.equal((await read(...lines)).text?.trim(), expected))
  }
})

describe('the header section of a submitted message', () => {
  it('gives sender, names, subject and Reply-To', async () => {
    const { from, names, subject, reply } = await read(
      'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= =?utf-8?B?4pyT?=',
      'To: "Ada, L" <ADA@dest.test>, bob@dest.test',
      'Cc: friends: =?utf-8?Q?J=C3=B6rg?= <j@dest.test>, "a b"@bad.test;',
      'Reply-To: help@example.test',
      '',
      'x',
    )
    assert.equal(from.address.address, 'shop@example.test')
    assert.equal(subject, 'Grüße✓')
    assert.deepEqual(
      [...names],
      [
        ['ada@dest.test', 'Ada, L'],
        ['j@dest.test', 'Jörg'],
      ],
    )
    assert.equal(reply?.address, 'help@example.test')
  })

  it('loses the fields that Pillarbox writes', async () => {
    const { headers } = await read(
      ...['Sender: x@evil.test', 'Return-Path: <x@evil.test>', 'Received: by x', 'Date: now'],
      ...[
        'Bcc: secret@dest.test',
        'MIME-Version: 1.0',
        'Content-Language: de',
        'DKIM-Signature: v=1',
      ],
      ...[
        'ARC-Seal: i=1',
        'Resent-From: x@evil.test',
        'X-Pillarbox-Id: 1',
        'Authentication-Results: x',
      ],
      ...['Message-ID: not one', 'Bad Name: x', 'X-Kept: yes', '', 'x'],
    )
    assert.deepEqual(headers, { 'X-Kept': 'yes' })
  })

  it('keeps other fields: the first of a name, unfolded, encoded words decoded', async () => {
    const { headers } = await read(
      ...[
        'X-Tag: one',
        'x-tag: two',
        'X-Note: =?utf-8?Q?Gr=C3=BC=C3=9Fe_an?=',
        ' =?utf-8?Q?_alle?=',
      ],
      ...[
        'List-Unsubscribe: <https://example.test/u>,',
        '\t<mailto:u@example.test>',
        'In-Reply-To: <a@b>',
      ],
      ...['Errors-To: =?utf-8?Q?Doe=2C_J?= <j@example.test>', '', 'x'],
    )
    assert.deepEqual(headers, {
      'X-Tag': 'one',
      'X-Note': 'Grüße an alle',
      'List-Unsubscribe': '<https://example.test/u>,\t<mailto:u@example.test>',
      'In-Reply-To': '<a@b>',
      'Errors-To': '=?utf-8?Q?Doe=2C_J?= <j@example.test>',
    })
  })

  it('takes no address for its own name', async () => {
    const shown = ['"Ada@dest.test" <ada@dest.test>', "'bob@dest.test' <bob@dest.test>"]
    const { names } = await read(`To: ${shown.join(', ')}, "Eve" <eve@dest.test>`, '', 'x')
    assert.deepEqual([...names], [['eve@dest.test', 'Eve']])
  })

  it('keeps names and further mailboxes of Reply-To', async () => {
    const { headers, reply } = await read('Reply-To: "A, B" <a@x.test>, c@x.test', '', 'x')
    assert.equal(reply?.address, 'a@x.test')
    assert.deepEqual(headers, { 'Reply-To': '"A, B" <a@x.test>, c@x.test' })
  })

  it('keeps the first and the newest ids of long References', async () => {
    const ids = Array.from({ length: 100 }, (_, n) => `<message.${n}@thread.test>`)
    const { headers } = await read(`References: ${ids.join('\r\n ')}`, '', 'x')
    const kept = headers.References?.split(' ') ?? []
    assert.ok((headers.References?.length ?? 0) <= 998 && kept.length > 30)
    assert.deepEqual(kept, [ids[0], ...ids.slice(1 - kept.length)])
  })

  it('has no line break, even from folded or encoded text', async () => {
    const { headers, subject, from } = await read(
      'Subject: =?utf-8?Q?a=0D=0ABcc:_x@y.test?=',
      'X-Note: =?utf-8?Q?a=0D=0ABcc:_x@y.test=00?=',
      'Reply-To: =?utf-8?Q?a=0D=0ABcc:?= <r@y.test>',
      ...['', 'x'],
    )
    for (const text of [subject, ...Object.values(headers), from.name ?? '']) {
      assert.doesNotMatch(text, /[\r\n\0]/)
    }
  })
})

describe('a message is refused', () => {
  const sender = 'From: shop@example.test'
  const file = (name: string, size: number) => [
    '--b',
    `Content-Disposition: attachment; filename=${name}`,
    ...['', 'x'.repeat(size)],
  ]
  const mixed = [sender, 'Content-Type: multipart/mixed; boundary=b', '']
  const table: [string, string[], string][] = [
    ['without a sender', ['Subject: x', '', 'x'], '550 5.7.1'],
    ['with two senders', ['From: a@b.test, c@d.test', '', 'x'], '550 5.7.1'],
    ['with two From fields', [sender, sender, '', 'x'], '550 5.7.1'],
    ['with a sender in quotes', ['From: "a b"@example.test', '', 'x'], '550 5.7.1'],
    ['with a sender in an encoded word', ['From: =?utf-8?Q?a=40b.test?=', '', 'x'], '550 5.7.1'],
    ['with a useless Reply-To', [sender, 'Reply-To: nobody', '', 'x'], '550 5.6.0'],
    ['with a long field', [sender, `X-A: ${'x'.repeat(999)}`, '', 'x'], '550 5.6.0'],
    ['with a long subject', [sender, `Subject: ${'x'.repeat(999)}`, '', 'x'], '550 5.6.0'],
    [
      'with many fields',
      [sender, ...Array.from({ length: 51 }, (_, n) => `X-${n}: x`), '', 'x'],
      '550 5.6.0',
    ],
    ['with many files', [...mixed, ...Array(6).fill(file('a', 1)).flat(), '--b--'], '552 5.3.4'],
    ['with large files', [...mixed, ...file('a', 600), ...file('b', 600), '--b--'], '552 5.3.4'],
    [
      'with many parts',
      [...mixed, ...Array(500).fill(['--b', '', 'x']).flat(), '--b--'],
      '554 5.6.0',
    ],
  ]
  for (const [title, lines, code] of table) {
    it(title, async () => assert.equal(await refusalOf(...lines), code))
  }
})

test('a forwarded message is an unchanged file', async () => {
  const inner = 'From: x@y.test\r\nSubject: inner\r\n\r\ninner text'
  const { attachments, body } = await read(
    'Content-Type: multipart/mixed; boundary=b',
    ...['', '--b', '', 'outer', '--b', 'Content-Type: message/rfc822', '', inner, '--b--'],
  )
  assert.equal(body, 'outer')
  assert.deepEqual(attachments, [
    {
      filename: 'attachment-1.eml',
      contentType: 'message/rfc822',
      content: Buffer.from(inner).toString('base64'),
      contentId: null,
      disposition: 'attachment',
    },
  ])
})

test('an image is inline if the HTML shows it, and a file without HTML', async () => {
  const image = (...fields: string[]) => ['--b', 'Content-Type: image/png', ...fields, '', 'x']
  const parts = [
    ...image('Content-ID: <a>', 'Content-Disposition: attachment; filename=a.png'),
    ...image('Content-ID: <b>', 'Content-Disposition: attachment; filename=b.png'),
    ...image('Content-Disposition: inline; filename=c.png'),
    '--b--',
  ]
  const head = ['Content-Type: multipart/mixed; boundary=b', '']
  const shown = await read(
    ...head,
    ...['--b', 'Content-Type: text/html', '', '<img src="cid:a">', ...parts],
  )
  const facts = ({ attachments }: SubmittedMessage) =>
    attachments.map(({ contentId, disposition }) => [contentId, disposition])
  assert.deepEqual(facts(shown), [
    ['a', 'inline'],
    ['b', 'attachment'],
    [null, 'attachment'],
  ])
  assert.deepEqual(facts(await read(...head, '--b', '', 'text', ...parts)), [
    ['a', 'attachment'],
    ['b', 'attachment'],
    [null, 'attachment'],
  ])
})

test('any octets give a message or a refusal', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...[
        '\r\n',
        '\n',
        '\r',
        '--b',
        '--b--',
        'From: shop@example.test\r\n',
        'Subject: =?x?b?//8=?=',
      ],
      ...[
        'Content-Type: multipart/mixed; boundary=b\r\n\r\n',
        'Content-Type: message/rfc822\r\n\r\n',
      ],
      ...[
        'Content-Transfer-Encoding: base64\r\n',
        'charset*0*=',
        'Content-Disposition: inline\r\n',
      ],
    ),
    fc.string({ maxLength: 30, unit: anyCharacter }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
      const raw = Buffer.from(`From: a@b.test\r\n${pieces.join('')}`)
      const reading = await readSubmitted(raw, limits)
      assert.ok('submitted' in reading || /^55\d 5\.\d\.\d$/.test(reading.refusal.code))
    }),
    { numRuns: 300 },
  )
})
