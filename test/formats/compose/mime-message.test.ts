import assert from 'node:assert/strict'
import test from 'node:test'
import { composeMessage, type MessageInput } from '../../../src/formats/compose/mime-message.ts'
import type { Attachment } from '../../../src/formats/compose/mime-part.ts'
import { decodeWords, readField, readFields, toBuffer } from '../read-message.ts'

const plain: MessageInput = {
  messageId: '0190-abc@example.com',
  date: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  from: { address: 'shop@example.com', name: 'Shop' },
  to: { address: 'ann@example.net', name: null },
  replyTo: { address: 'help@example.com', name: 'Help' },
  subject: 'Hello',
  html: null,
  text: 'Hi Ann',
  headers: [],
  attachments: [],
}

const png: Attachment = {
  filename: 'logo.png',
  contentType: 'image/png',
  content: Buffer.from('not really a picture'),
  contentId: 'logo',
  disposition: 'inline',
}
const pdf: Attachment = {
  filename: 'bill.pdf',
  contentType: 'application/pdf',
  content: Buffer.from('not really a bill'),
  contentId: null,
  disposition: 'attachment',
}

function compose(changes: Partial<MessageInput>): Buffer {
  return toBuffer(composeMessage({ ...plain, ...changes }))
}

/** The tree of media types, as `mixed(plain, pdf)`; asserts that every boundary is closed. */
function structure(message: Buffer): string {
  return describe(message.toString('utf8'))
}

function describe(entity: string): string {
  const end = entity.indexOf('\r\n\r\n')
  const type = /^Content-Type: [a-z]+\/([^;\r]+)/im.exec(entity.slice(0, end))?.[1] ?? '?'
  const boundary = /boundary="([^"]+)"/.exec(entity.slice(0, end))?.[1]
  if (boundary === undefined) return type
  const body = `\r\n${entity.slice(end + 4)}`
  const [start, after] = body.split(`\r\n--${boundary}--\r\n`)
  assert.equal(after, '')
  const parts = (start as string).split(`\r\n--${boundary}\r\n`)
  assert.equal(parts[0], '')
  return `${type}(${parts.slice(1).map(describe).join(', ')})`
}

test('a plain message looks like the example of RFC 5322', () => {
  assert.equal(
    compose({}).toString('latin1'),
    [
      'Date: Fri, 02 Jan 2026 03:04:05 +0000',
      'From: Shop <shop@example.com>',
      'To: ann@example.net',
      'Reply-To: Help <help@example.com>',
      'Subject: Hello',
      'Message-ID: <0190-abc@example.com>',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Hi Ann',
      '',
    ].join('\r\n'),
  )
})

test('multipart levels exist only if they have several parts', () => {
  const html = '<img src="cid:logo">'
  const table: [Partial<MessageInput>, string][] = [
    [{}, 'plain'],
    [{ html, text: null }, 'html'],
    [{ html }, 'alternative(plain, html)'],
    [{ html, attachments: [png] }, 'alternative(plain, related(html, png))'],
    [{ html, text: null, attachments: [png] }, 'related(html, png)'],
    [{ attachments: [png] }, 'mixed(plain, png)'],
    [{ attachments: [pdf] }, 'mixed(plain, pdf)'],
    [{ html, attachments: [pdf] }, 'mixed(alternative(plain, html), pdf)'],
    [{ html, attachments: [pdf, png] }, 'mixed(alternative(plain, related(html, png)), pdf)'],
    [{ html, attachments: [{ ...png, contentId: null }] }, 'mixed(alternative(plain, html), png)'],
    [
      { html, attachments: [{ ...png, disposition: 'attachment' }] },
      'mixed(alternative(plain, html), png)',
    ],
    [{ html: '', text: '' }, 'alternative(plain, html)'],
  ]
  for (const [changes, expected] of table) assert.equal(structure(compose(changes)), expected)
})

test('a message without HTML and text is a TypeError', () => {
  assert.throws(() => compose({ html: null, text: null }), TypeError)
})

test('the message ends in CRLF, which is added only if the text has none', () => {
  for (const text of ['', 'a', 'a\n', 'a\r', 'é', '你好', 'a\n\n']) {
    const body = compose({ text }).toString('latin1').split('\r\n\r\n').slice(1).join('\r\n\r\n')
    assert.ok(text === '' || body.endsWith('\r\n'), text)
    assert.equal(/\r\n\r\n$/.test(body), text === 'a\n\n', text)
  }
})

test('the same input gives the same octets; another message id gives other boundaries', () => {
  const changes = { html: '<p>é</p>', attachments: [png, pdf] }
  assert.deepEqual(compose(changes), compose(changes))
  const boundary = (message: Buffer) => /boundary="([^"]+)"/.exec(message.toString())?.[1]
  assert.notEqual(boundary(compose(changes)), boundary(compose({ ...changes, messageId: 'b@c' })))
})

test('a boundary in a body does not end its part', () => {
  const changes = { html: '<p>a</p>', attachments: [pdf] }
  const boundaries = [
    ...compose(changes)
      .toString()
      .matchAll(/boundary="([^"]+)"/g),
  ]
  assert.equal(boundaries.length, 2)
  for (const [, boundary] of boundaries) {
    const text = `before\n--${boundary}\nContent-Type: text/html\n\n<b>\n--${boundary}--\nafter`
    const message = compose({ html: text, text, attachments: [pdf] })
    assert.equal(structure(message), 'mixed(alternative(plain, html), pdf)')
  }
})

test("a caller's field replaces the generated one; the last of a single field counts", () => {
  const message = compose({
    headers: [
      ['subject', 'first'],
      ['SUBJECT', 'last'],
      ['Reply-to', 'Jürgen <j@example.com>'],
      ['message-id', '<own@example.com>'],
      ['X-Tag', 'a'],
      ['x-tag', 'b'],
      ['List-Unsubscribe', '<https://ours.example>'],
      ['list-unsubscribe', '<https://theirs.example>'],
    ],
  })
  const fields = readFields(message).map(({ name, value }) => `${name}: ${value}`)
  assert.deepEqual(fields.slice(3, -2), [
    'MIME-Version: 1.0',
    'SUBJECT: last',
    'Reply-to: =?UTF-8?Q?J=C3=BCrgen?= <j@example.com>',
    'message-id: <own@example.com>',
    'X-Tag: a',
    'x-tag: b',
    'list-unsubscribe: <https://theirs.example>',
  ])
})

test('fields that belong to the writer are refused', () => {
  const owned = ['Date', 'from', 'TO', 'MIME-Version', 'Content-Type', 'content-language']
  for (const name of owned) {
    assert.throws(() => compose({ headers: [[name, 'x']] }), TypeError, name)
  }
})

test('a header value may be empty', () => {
  assert.equal(readField(compose({ headers: [['X-Empty', '']] }), 'X-Empty'), '')
})

test('there is no Reply-To field without an address for it', () => {
  assert.equal(readField(compose({ replyTo: null }), 'Reply-To'), undefined)
})

test('a message is 7-bit unless an address has a local part outside ASCII', () => {
  const changes = {
    subject: 'Ünï',
    html: '<p>é</p>',
    headers: [['X-A', 'é']],
  } as const
  const ascii = composeMessage({ ...plain, ...changes, attachments: [pdf] })
  assert.equal(ascii.needsSmtputf8, false)
  assert.doesNotMatch(ascii.octets, /[^\0-\x7f]/)
  const utf8 = composeMessage({
    ...plain,
    ...changes,
    to: { address: 'jürgen@xn--bcher-kva.example', name: 'Jürgen' },
  })
  assert.equal(utf8.needsSmtputf8, true)
  const to = '=?UTF-8?Q?J=C3=BCrgen?= <jürgen@xn--bcher-kva.example>'
  assert.equal(readField(toBuffer(utf8), 'To'), to)
  assert.equal(
    composeMessage({ ...plain, to: { address: 'a@xn--p1ai', name: null } }).needsSmtputf8,
    false,
  )
})

test('S6: CR, LF and NUL are refused in every header value', () => {
  for (const bad of ['a\r\nBcc: eve@example.org', 'a\rb', 'a\nb', 'a\0b']) {
    const wrong: Partial<MessageInput>[] = [
      { subject: bad },
      { messageId: bad },
      { from: { address: 'a@example.com', name: bad } },
      { to: { address: 'a@example.com', name: bad } },
      { replyTo: { address: 'a@example.com', name: bad } },
      { from: { address: bad, name: null } },
      { to: { address: `${bad}@example.com`, name: null } },
      { replyTo: { address: `a@${bad}`, name: null } },
      { headers: [['X-A', bad]] },
      { headers: [[bad, 'x']] },
      { headers: [['Subject', bad]] },
      { headers: [['Reply-To', bad]] },
      { attachments: [{ ...pdf, filename: bad }] },
      { attachments: [{ ...pdf, contentType: bad }] },
      { attachments: [{ ...pdf, contentType: `text/plain; name="${bad}"` }] },
      { attachments: [{ ...png, contentId: bad }] },
    ]
    for (const changes of wrong) {
      assert.throws(() => compose(changes), TypeError, JSON.stringify(changes))
    }
  }
})

const odd = {
  'next line': '\u0085',
  'line separator': '\u2028',
  'paragraph separator': '\u2029',
  'vertical tab': '\v',
  'file separator': '\x1c',
  escape: '\x1b',
  'right-to-left override': '\u202e',
  isolate: '\u2066',
  'half a character': '\ud83d',
  'the other half': '\ude00',
  'byte order mark': '\ufeff',
}

for (const [name, character] of Object.entries(odd)) {
  test(`S6: ${name} leaves encoded in every header field, and adds no field`, () => {
    const value = `a${character}Bcc: eve@example.org${character}b`
    const address = `a${character}b@example.com`
    const from = (name: string) => ({ address: 'a@example.com', name })
    const fields = (text: string, mailbox: string): Partial<MessageInput> => ({
      ...{ subject: text, from: from(text), to: from(text), replyTo: from(text), html: '<p>a</p>' },
      headers: [
        ...['X-A', 'Comments', 'Keywords', 'List-Unsubscribe', 'References', 'Sender'].map(
          (name): [string, string] => [name, text],
        ),
        ...['Errors-To', 'List-Id', 'Mail-Followup-To', 'Mail-Reply-To'].map(
          (name): [string, string] => [name, `"${text}" <${mailbox}>, ${mailbox} (${text})`],
        ),
      ],
      attachments: [
        { ...png, filename: text, contentType: `image/png; x="${text}"`, contentId: text },
        { ...pdf, filename: text, contentType: text },
      ],
    })
    const message = compose(fields(value, address)).toString('latin1')
    assert.doesNotMatch(message, /[^\t\r\n\x20-\x7e]|^Bcc/im)
    const names = (given: string) => [...given.matchAll(/^[\w-]+(?=:)/gm)].map(([found]) => found)
    assert.deepEqual(
      names(message),
      names(compose(fields('x', 'x@example.com')).toString('latin1')),
    )
    const read = Buffer.from(message, 'latin1')
    assert.equal(decodeWords(readField(read, 'Subject') ?? ''), value.toWellFormed())
    assert.equal(decodeWords(readField(read, 'X-A') ?? ''), value.toWellFormed())
    assert.equal(
      decodeWords(readField(read, 'From') ?? ''),
      `${value.toWellFormed()} <a@example.com>`,
    )
  })
}

test('an invalid message id, date or content id is refused', () => {
  const wrong: Partial<MessageInput>[] = [
    { messageId: '' },
    { messageId: '<a@b>' },
    { messageId: 'a b@c' },
    { messageId: 'é@c' },
    { messageId: `${'x'.repeat(990)}@c` },
    { date: Number.NaN },
    { date: 9e15 },
    { attachments: [{ ...png, contentId: '<logo>' }] },
    { attachments: [{ ...png, contentId: '你'.repeat(255) }] },
  ]
  for (const changes of wrong) assert.throws(() => compose(changes), TypeError)
})

test('an attachment has its filename twice, for old and new readers', () => {
  const message = compose({ attachments: [{ ...pdf, filename: 'Überweisung.pdf' }] }).toString()
  assert.ok(
    message.includes(
      [
        'Content-Type: application/pdf; name="=?UTF-8?Q?=C3=9Cberweisung=2Epdf?="',
        'Content-Transfer-Encoding: base64',
        "Content-Disposition: attachment; filename*=UTF-8''%C3%9Cberweisung.pdf",
        '',
        'bm90IHJlYWxseSBhIGJpbGw=',
      ].join('\r\n'),
    ),
  )
})

test('an attachment keeps its type and parameters; without a valid type it is an octet stream', () => {
  const octets = 'application/octet-stream'
  const table: [string, string][] = [
    [
      'Text/Calendar; charset="UTF-8"; method=REQUEST',
      'text/calendar; charset=UTF-8; method=REQUEST',
    ],
    ['text/csv; name="evil.exe"; header=present', 'text/csv; header=present'],
    ['nonsense', octets],
    ['', octets],
    ['message/delivery-status', octets],
    ['message/external-body; access-type=URL; URL="https://evil.example"', octets],
    ['multipart/mixed; boundary=x', octets],
  ]
  for (const [contentType, expected] of table) {
    const message = compose({ attachments: [{ ...pdf, contentType, filename: '' }] }).toString()
    const field = `\r\nContent-Type: ${expected}\r\nContent-Transfer-Encoding: base64\r\n`
    assert.ok(message.includes(field), contentType)
    assert.ok(message.includes('\r\nContent-Disposition: attachment\r\n'))
  }
})

test('a content id outside ASCII is percent-encoded, as in its cid: URL', () => {
  const message = compose({ html: '<p>', attachments: [{ ...png, contentId: 'лого 1' }] })
  assert.ok(message.toString().includes('\r\nContent-ID: <%D0%BB%D0%BE%D0%B3%D0%BE 1>\r\n'))
})

test('a rendered subject of 998 characters keeps its lines legal', () => {
  for (const char of ['x', 'é', '你', '😀', ' ']) {
    const subject = char.repeat(998 / char.length)
    const message = compose({ subject })
    assert.equal(decodeWords(readField(message, 'Subject') as string), subject.trim())
    for (const line of message.toString('latin1').split('\r\n')) assert.ok(line.length <= 998)
  }
})
