import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../../src/base/errors.ts'
import { sendBody } from '../../../src/http/routes/send.ts'
import { validate } from '../../../src/http/validation.ts'

const limits = {
  apiRequestsPerMinute: 1000,
  sessionRequestsPerMinute: 0,
  newProjectDaily: 0,
  recipientsPerRequest: 3,
  emailsPerSecond: 0,
  attachmentsMaxCount: 2,
  attachmentsMaxBytes: 30,
  messageMaxBytes: 1000,
  submissionRecipients: 5,
  minFreeBytes: 0,
  idempotencyHours: 24,
}
const schema = sendBody(limits)
const valid = { to: 'a@example.net', subject: 'Hi', body: '<p>Hi</p>', from: 'b@example.test' }
const attachment = { filename: 'a.txt', content: 'aGk=', contentType: 'text/plain' }

/** `field code` of every error; empty when the request is valid. */
function errorsOf(change: object): string[] {
  try {
    validate(schema, { ...valid, ...change })
    return []
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.equal(error.status, 422)
    assert.equal(error.code, 'VALIDATION_ERROR')
    for (const { code, received } of error.fields ?? []) {
      assert.equal(received !== undefined, code === 'invalid_type')
    }
    return (error.fields ?? []).map(({ field, code }) => `${field} ${code}`)
  }
}

const long = (length: number) => 'x'.repeat(length)
const manyHeaders = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-H${index}`, 'v']))

const onlyTemplate = {
  subject: undefined,
  body: undefined,
  template: '0199A0DE-0000-7000-8000-000000000001',
}

const accepted: [string, object][] = [
  ['one address', {}],
  ['an object with a name', { to: { name: 'Ann', email: 'a@example.net' } }],
  ['a list of both', { to: ['a@example.net', { email: 'b@example.net' }] }],
  ['the same address twice', { to: ['a@example.net', 'a@example.net'] }],
  ['a subject of 998 characters', { subject: long(998) }],
  ['a subject with a tab', { subject: 'a\tb' }],
  ['a sender with a name', { from: { name: 'Bob', email: 'b@example.test' } }],
  ['keys that nobody knows', { type: 'html', nonsense: [1] }],
  ['any JSON as data', { data: [1, 'two', null] }],
  ['an empty header value', { headers: { 'X-Empty': '' } }],
  ['50 headers', { headers: manyHeaders(50) }],
  [
    'headers that override ours',
    { headers: { 'Message-ID': '<x@y>', 'HttpResponse-To': 'c@d.example' } },
  ],
  ['an attachment', { attachments: [attachment] }],
  ['base64 in lines', { attachments: [{ ...attachment, content: 'aGVs\r\nbG8=\r\n' }] }],
  ['a recipient with a name in one text', { to: 'Ann <a@example.net>' }],
  ['such recipients in a list', { to: ['Ann <a@example.net>', '"B, C" <b@example.net>'] }],
  ['a sender with a name in one text', { from: 'Bob <b@example.test>' }],
  ['blank names', { to: { name: ' ', email: 'a@example.net' }, name: '' }],
  ['as many bytes of base64 as allowed', { attachments: [{ ...attachment, content: long(40) }] }],
  ['a template alone', { template: '0199A0DE-0000-7000-8000-000000000001' }],
  ['a text part', { text: 'Hi {{ name }}' }],
  ['a text and no HTML', { body: undefined, text: 'Hi' }],
  ['a text part beside a template', { ...onlyTemplate, text: 'Hi' }],
  ['everything else', { name: 'B', subscribed: true, reply: 'c@d.example', tracking: false }],
]

for (const [name, change] of accepted) {
  test(`a send request may have ${name}`, () => assert.deepEqual(errorsOf(change), []))
}

const refused: [string, object, string[]][] = [
  ['no recipient', { to: undefined }, ['to invalid_type']],
  ['an empty list of recipients', { to: [] }, ['to too_small']],
  ['too many recipients', { to: Array(4).fill('a@example.net') }, ['to too_big']],
  ['a number as recipient', { to: 5 }, ['to invalid_type']],
  ['a bad address', { to: 'nobody' }, ['to invalid_string']],
  ['a bad address in an object', { to: { email: 'nobody' } }, ['to.email invalid_string']],
  ['a recipient without address', { to: { name: 'Ann' } }, ['to.email invalid_type']],
  ['a bad address in a list', { to: ['a@b.example', 'x'] }, ['to.1 invalid_string']],
  ['two addresses in one', { to: 'a@b.example,c@d.example' }, ['to invalid_string']],
  ['an empty subject', { subject: '' }, ['subject too_small']],
  ['a subject of 999 characters', { subject: long(999) }, ['subject too_big']],
  ['a subject of the wrong type', { subject: null }, ['subject invalid_type']],
  ['no content', { subject: undefined, body: undefined }, ['subject custom', 'body custom']],
  ['a subject alone', { body: undefined }, ['body custom']],
  ['a body alone', { subject: undefined }, ['subject custom']],
  ['a text alone', { subject: undefined, body: undefined, text: 'Hi' }, ['subject custom']],
  ['a text beyond the size of a message', { body: undefined, text: long(1001) }, ['text too_big']],
  ['an empty text', { text: '' }, ['text too_small']],
  ['a text of the wrong type', { text: ['Hi'] }, ['text invalid_type']],
  ['body and text beyond the size of a message', { text: long(993) }, ['body too_big']],
  ['an empty body', { body: '' }, ['body too_small']],
  ['a body beyond the size of a message', { body: long(1001) }, ['body too_big']],
  ['a template that is no UUID', { template: 'welcome' }, ['template invalid_string']],
  ['a number as sender', { from: 5 }, ['from invalid_union']],
  ['a list as sender', { from: ['b@example.test'] }, ['from invalid_union']],
  ['a sender without address', { from: { name: 'Bob' } }, ['from invalid_union']],
  ['a bad sender', { from: 'nobody' }, ['from invalid_string']],
  ['a bad reply-to', { reply: 'nobody' }, ['reply invalid_string']],
  ['a text as subscribed', { subscribed: 'yes' }, ['subscribed invalid_type']],
  ['a text as tracking', { tracking: 'no' }, ['tracking invalid_type']],
  ['a header value of the wrong type', { headers: { 'X-A': 1 } }, ['headers.X-A invalid_type']],
  ['a list as headers', { headers: ['X-A'] }, ['headers invalid_type']],
  ['a header value too long', { headers: { 'X-A': long(999) } }, ['headers.X-A too_big']],
  ['51 headers', { headers: manyHeaders(51) }, ['headers too_big']],
  ['a header name with a space', { headers: { 'X A': '1' } }, ['headers.X A custom']],
  ['an empty header name', { headers: { '': '1' } }, ['headers. custom']],
  ['too many attachments', { attachments: Array(3).fill(attachment) }, ['attachments too_big']],
  [
    'attachments that are too large together',
    { attachments: [attachment, { ...attachment, content: long(38) }] },
    ['attachments custom'],
  ],
  [
    'an inline attachment without id',
    { attachments: [{ ...attachment, disposition: 'inline' }] },
    ['attachments.0.contentId custom'],
  ],
  [
    'an unknown disposition',
    { attachments: [{ ...attachment, disposition: 'form-data' }] },
    ['attachments.0.disposition invalid_enum_value'],
  ],
  [
    'an attachment without anything',
    { attachments: [{}] },
    ['filename', 'content'].map((name) => `attachments.0.${name} invalid_type`),
  ],
  [
    'an attachment without content',
    { attachments: [{ ...attachment, content: '' }] },
    ['attachments.0.content too_small'],
  ],
  [
    'an attachment that is no base64',
    { attachments: [attachment, { ...attachment, content: '%%%' }] },
    ['attachments.1.content invalid_string'],
  ],
  [
    'a data URI that is no base64',
    { attachments: [{ ...attachment, content: 'data:a/b;base64,%%%' }] },
    ['attachments.0.content invalid_string'],
  ],
  [
    'a data URI without data',
    { attachments: [{ ...attachment, content: 'data:a/b;base64' }] },
    ['attachments.0.content invalid_string'],
  ],
  [
    'an empty data URI',
    { attachments: [{ ...attachment, content: 'data:,' }] },
    ['attachments.0.content invalid_string'],
  ],
  ['two recipients in one text', { to: 'a@b.example, c@d.example' }, ['to invalid_string']],
  [
    'a quote in a file name',
    { attachments: [{ ...attachment, filename: 'a".txt' }] },
    ['attachments.0.filename invalid_string'],
  ],
  [
    'a bracket in a content id',
    { attachments: [{ ...attachment, contentId: 'a>b' }] },
    ['attachments.0.contentId invalid_string'],
  ],
  [
    'a file name too long',
    { attachments: [{ ...attachment, filename: long(256) }] },
    ['attachments.0.filename too_big'],
  ],
]

for (const [name, change, expected] of refused) {
  test(`a send request with ${name} is refused with the field's name`, () => {
    assert.deepEqual(errorsOf(change), expected)
  })
}

const reserved = [
  'From',
  'sender',
  'TO',
  'Cc',
  'Bcc',
  'Return-Path',
  'Received',
  'DKIM-Signature',
  'Authentication-Results',
  'ARC-Seal',
  'Resent-From',
  'Content-Type',
  'Content-ID',
  'MIME-Version',
  'Date',
  'X-Pillarbox-Id',
]

for (const name of reserved) {
  test(`S6: the header ${name} cannot be set by a caller`, () => {
    assert.deepEqual(errorsOf({ headers: { [name]: 'x' } }), [`headers.${name} custom`])
  })
}

for (const [label, bad] of [
  ['CR', '\r'],
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['NUL', '\0'],
  ['ESC', '\x1b'],
  ['DEL', '\x7f'],
] as const) {
  const inText = `a${bad}Bcc: victim@example.net`
  const places: [string, object, string][] = [
    ['the subject', { subject: inText }, 'subject'],
    ['a recipient', { to: `a@example.net${bad}` }, 'to'],
    ['the name of a recipient', { to: { name: inText, email: 'a@b.example' } }, 'to.name'],
    ['the sender', { from: `b@example.test${bad}` }, 'from'],
    ['the name of the sender', { from: { name: inText, email: 'a@b.example' } }, 'from.name'],
    ['the older sender name', { name: inText }, 'name'],
    ['the reply-to', { reply: `c@d.example${bad}` }, 'reply'],
    ['a header value', { headers: { 'X-A': inText } }, 'headers.X-A'],
    ['a header name', { headers: { [`X${bad}A`]: 'v' } }, `headers.X${bad}A`],
    [
      'a file name',
      { attachments: [{ ...attachment, filename: inText }] },
      'attachments.0.filename',
    ],
    [
      'a content type',
      { attachments: [{ ...attachment, contentType: inText }] },
      'attachments.0.contentType',
    ],
    [
      'a content id',
      { attachments: [{ ...attachment, contentId: inText }] },
      'attachments.0.contentId',
    ],
  ]
  for (const [place, change, field] of places) {
    test(`S6: ${label} in ${place} is refused`, () => {
      const [error, ...others] = errorsOf(change)
      assert.deepEqual(others, [])
      assert.ok(error?.startsWith(`${field} `), error)
    })
  }
}

test('S9: fields that would make a library read a file or a URL are ignored', () => {
  const request = validate(schema, {
    ...valid,
    path: '/etc/passwd',
    raw: 'From: x',
    attachments: [{ ...attachment, path: '/etc/passwd', href: 'http://127.0.0.1/' }],
  })
  assert.ok(!('path' in request) && !('raw' in request))
  assert.deepEqual(Object.keys(request.attachments?.[0] ?? {}).sort(), [
    'content',
    'contentId',
    'contentType',
    'disposition',
    'filename',
  ])
})

const PNG = 'data:image/png;base64,aGk='

const types: [given: object, contentType: string, content: string][] = [
  [{ filename: 'Invoice 7.PDF' }, 'application/pdf', 'aGk='],
  [{ filename: 'a.tar.gz' }, 'application/gzip', 'aGk='],
  [{ filename: 'ticket.pkpass' }, 'application/vnd.apple.pkpass', 'aGk='],
  [{ filename: 'pdf' }, 'application/octet-stream', 'aGk='],
  [{ filename: 'a.nobody-knows' }, 'application/octet-stream', 'aGk='],
  [{ filename: 'a.' }, 'application/octet-stream', 'aGk='],
  [{ filename: 'mail.eml' }, 'message/rfc822', 'aGk='],
  [{ filename: 'a.pdf', content: PNG }, 'image/png', 'aGk='],
  [{ filename: 'a.pdf', content: PNG, contentType: 'text/x' }, 'text/x', 'aGk='],
  [{ filename: 'a.pdf', content: 'DATA:;BASE64,aGk' }, 'application/pdf', 'aGk'],
  [{ filename: 'a.pdf', content: 'data:;charset=utf-8,hi' }, 'text/plain;charset=utf-8', 'aGk='],
  [{ filename: 'a.pdf', content: 'data:,h%69' }, 'application/pdf', 'aGk='],
  [{ filename: 'a.bin', content: 'data:a/b;base64,aGk%3D' }, 'a/b', 'aGk='],
  [{ filename: 'a.svg', content: 'data:nonsense,%C3%A9\u00e9' }, 'image/svg+xml', 'w6nDqQ=='],
]

for (const [given, contentType, content] of types) {
  test(`the file ${JSON.stringify(given)} is sent as ${contentType}`, () => {
    const file = { content: 'aGk=', ...given }
    const { attachments } = validate(schema, { ...valid, attachments: [file] })
    const [taken] = attachments ?? []
    assert.deepEqual([taken?.contentType, taken?.content], [contentType, content])
  })
}

const roomyLimits = { attachmentsMaxBytes: 1e7, messageMaxBytes: 1e8, attachmentsMaxCount: 30 }
const roomy = sendBody({ ...limits, ...roomyLimits })
const withContents = (...contents: string[]) => ({
  ...valid,
  attachments: contents.map((content) => ({ ...attachment, content })),
})

function contentErrors(...contents: string[]): string[] {
  try {
    validate(roomy, withContents(...contents))
    return []
  } catch (error) {
    const { fields } = error as AppError
    return (fields ?? []).map(({ field, code }) => `${field} ${code}`)
  }
}

test('percent-encoded data URIs have a limit together, and base64 in one has not', () => {
  assert.deepEqual(contentErrors(`data:,${long(65_536)}`), [])
  assert.deepEqual(contentErrors(`data:,${long(65_537)}`), ['attachments.0.content too_big'])
  const half = `data:a/b,${long(32_768)}`
  assert.deepEqual(contentErrors(half, half), [])
  assert.deepEqual(contentErrors(half, half, 'aGk=', 'data:,a'), ['attachments.3.content too_big'])
  const escaped = `data:a/b;base64,${long(65_534)}%3D`
  assert.deepEqual(contentErrors(escaped), ['attachments.0.content too_big'])
  const base64 = validate(roomy, withContents(`data:a/b;base64,${long(4e6)}`))
  assert.equal(base64.attachments?.[0]?.content.length, 4e6)
})

test('percent-encoded octets are decoded, and what is none is refused', () => {
  const all = Array.from({ length: 256 }, (_, octet) => octet)
  const hex = all.map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('')
  const { attachments } = validate(
    roomy,
    withContents(`data:,${hex}`, `data:,${hex.toUpperCase()}`),
  )
  const expected = Buffer.from(all).toString('base64')
  assert.deepEqual(
    attachments?.map(({ content }) => content),
    [expected, expected],
  )
  for (const wrong of ['%', '%4', 'a%g1', '%1g', '%/1', '%1:', '%@1', '%1`', '% 1', '%\u00e91']) {
    assert.deepEqual(contentErrors(`data:,ab${wrong}`), ['attachments.0.content invalid_string'])
  }
})

test('each data URI is decoded once', (t) => {
  const uris = Array.from({ length: 25 }, (_, n) => `data:,%41${n}`)
  const from = t.mock.method(Buffer, 'from')
  validate(roomy, withContents(...uris))
  assert.equal(from.mock.callCount(), uris.length)
})

test('an invitation by its data URI is an alternative of the text', () => {
  const content = 'data:text/calendar;method=REQUEST;base64,aGk='
  const file = { filename: 'a.ics', content }
  const { attachments } = validate(schema, { ...valid, attachments: [file] })
  assert.equal(attachments?.[0]?.disposition, 'alternative')
})

test('addresses are returned in the form that is compared', () => {
  const request = validate(schema, { ...valid, to: ' Ann@EXAMPLE.net ' })
  assert.equal(request.to[0]?.address.address, 'ann@example.net')
})

test('a request with a thousand errors gets the first twenty', () => {
  const many = sendBody({ ...limits, recipientsPerRequest: 1000 })
  const body = { ...valid, to: Array(1000).fill('nobody') }
  assert.throws(
    () => validate(many, body),
    (error: AppError) => error.fields?.length === 20,
  )
})

test('no JSON makes validation fail with another error', () => {
  const fields = ['to', 'subject', 'body', 'template', 'from', 'name', 'subscribed', 'data']
  const anything = fc.jsonValue({ maxDepth: 3 })
  const mailbox = fc.record({ name: anything, email: anything }, { requiredKeys: [] })
  const request = fc.record(
    {
      ...Object.fromEntries(fields.map((field) => [field, anything])),
      to: fc.oneof(anything, mailbox, fc.array(mailbox)),
      from: fc.oneof(anything, mailbox),
      headers: fc.oneof(anything, fc.dictionary(fc.string(), fc.oneof(anything, fc.string()))),
      attachments: fc.array(
        fc.oneof(anything, fc.record({ content: anything, contentId: anything })),
      ),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.oneof(request, anything), (body) => {
      try {
        validate(schema, body)
      } catch (error) {
        assert.ok(error instanceof AppError && error.status === 422, String(error))
        assert.ok((error.fields ?? []).length > 0)
        for (const { field, message, code } of error.fields ?? []) {
          assert.deepEqual([typeof field, typeof message, typeof code], Array(3).fill('string'))
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('several addresses in one text are refused with how to write them', () => {
  const list = 'Several addresses are a list: ["ann@example.com", "bob@example.com"]'
  const one = 'One address is expected, not several'
  const cases: [change: object, field: string, message: string][] = [
    [{ to: 'a@b.example, c@d.example' }, 'to', list],
    [{ to: 'Ann <a@b.example>; c@d.example' }, 'to', list],
    [{ to: ['a@b.example,c@d.example'] }, 'to.0', one],
    [{ reply: 'a@b.example, c@d.example' }, 'reply', one],
    [{ from: 'a@b.example, c@d.example' }, 'from', one],
    [{ to: 'a@b.example, Ann' }, 'to', 'Not an email address'],
  ]
  for (const [change, field, message] of cases) {
    assert.throws(
      () => validate(schema, { ...valid, ...change }),
      ({ fields }: AppError) => {
        assert.deepEqual(
          fields?.map((fault) => [fault.field, fault.message]),
          [[field, message]],
        )
        return true
      },
    )
  }
})

test('a long text of many addresses is not cut into them', (t) => {
  const split = t.mock.method(String.prototype, 'split')
  const to = '@,'.repeat(10_000)
  assert.throws(
    () => validate(schema, { ...valid, to }),
    ({ fields }: AppError) => fields?.[0]?.message.startsWith('Several addresses') === true,
  )
  const parts = split.mock.calls.map(({ result }) => result?.length ?? 0)
  split.mock.restore()
  assert.ok(Math.max(0, ...parts) < 100, `${parts}`)
})
