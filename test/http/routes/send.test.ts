import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import supertest from 'supertest'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { contents, emails, templates } from '../../../src/store/schema/messages.ts'
import { idempotencyKeys } from '../../../src/store/schema/service.ts'
import { trustDomain } from '../../core.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService({}, async ({ service, mine, other }) => {
  await trustDomain(service.core, mine.id, 'example.test')
  await trustDomain(service.core, other.id, 'other.test')
})

beforeEach(() =>
  service.core.store.write(async (tx) => {
    for (const table of [events, emails, contents, contacts, idempotencyKeys])
      await tx.delete(table)
  }),
)

const valid = {
  to: 'Reader@Example.NET',
  from: 'hello@example.test',
  subject: 'Hello',
  body: '<p>Hello</p>',
}

const send = (body: object, secret = mine.secret) => call('post', '/v1/send', { secret }).send(body)

test('a message is accepted: a contact, an email, and their ids in the response', async () => {
  const { status, body, headers } = await send({ ...valid, to: { name: 'Ann', email: valid.to } })
  assert.equal(status, 200)
  assert.equal(headers['access-control-allow-origin'], '*')
  const [email, ...others] = await service.core.store.read.select().from(emails)
  const [contact] = await service.core.store.read.select().from(contacts)
  assert.deepEqual(others, [])
  const data = {
    emails: [{ contact: { id: contact?.id, email: 'reader@example.net' }, email: email?.id }],
    timestamp: new Date(email?.createdAt ?? 0).toISOString(),
  }
  // Older clients read both at the top level.
  assert.deepEqual(body, { success: true, data, ...data })
  assert.equal(contact?.subscribed, false)
  assert.deepEqual(contact?.data, { name: 'Ann' })
  assert.equal(email?.projectId, mine.id)
  assert.equal(email?.toName, 'Ann')
  assert.equal(email?.status, 'PENDING')
})

test('a request creates one email per recipient, including duplicates', async () => {
  const to = ['a@example.net', { email: 'b@example.net' }, 'a@example.net']
  const { body } = await send({ ...valid, to })
  const addresses = body.data.emails.map(
    (item: { contact: { email: string } }) => item.contact.email,
  )
  assert.deepEqual(addresses, ['a@example.net', 'b@example.net', 'a@example.net'])
  assert.equal(await countOf(emails), 3)
  assert.equal(await countOf(contacts), 2)
  assert.equal(await countOf(contents), 1)
})

test('attachments and headers are stored unchanged', async () => {
  const attachment = { filename: 'a.txt', content: 'bm90IGJhc2U2NA==', contentType: 'text/plain' }
  const { status } = await send({
    ...valid,
    attachments: [attachment],
    headers: { 'X-Order': '66' },
  })
  assert.equal(status, 200)
  const [content] = await service.core.store.read.select().from(contents)
  assert.deepEqual(content?.attachments, [
    { ...attachment, contentId: null, disposition: 'attachment' },
  ])
  const [email] = await service.core.store.read.select().from(emails)
  assert.deepEqual(email?.headers, { 'X-Order': '66' })
})

const refusals: [string, object, number, string][] = [
  ['a domain that nobody has', { from: 'a@nowhere.test' }, 403, 'FORBIDDEN'],
  ['a subdomain of a verified one', { from: 'a@sub.example.test' }, 403, 'FORBIDDEN'],
  ['an unknown template', { template: newId() }, 404, 'TEMPLATE_NOT_FOUND'],
  [
    'more data than a contact may have',
    { data: { x: 'x'.repeat(70_000) } },
    422,
    'VALIDATION_ERROR',
  ],
  ['no sender at all', { from: undefined }, 422, 'VALIDATION_ERROR'],
  ['a bad recipient behind good ones', { to: ['a@b.example', 'x'] }, 422, 'VALIDATION_ERROR'],
]

for (const [name, change, status, code] of refusals) {
  test(`${name} refuses the whole request and leaves nothing behind`, async () => {
    const response = await send({ ...valid, ...change })
    assert.equal(response.status, status)
    assert.equal(response.body.error.code, code)
    assert.equal(response.body.code, status)
    assert.equal(response.body.message, response.body.error.message)
    await nothingWritten()
  })
}

test('without a sender in request or template, `from` is required', async () => {
  const { body } = await send({ ...valid, from: undefined })
  assert.deepEqual(
    body.error.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [['from', 'required']],
  )
})

test('a domain of another project is refused like an unknown one', async () => {
  const { status, text } = await send({ ...valid, from: 'a@other.test' })
  assert.equal(status, 403)
  assert.ok(!text.includes(other.id))
  const unknown = await send({ ...valid, from: 'a@nowhere.test' })
  assert.equal(
    JSON.parse(text).message.replace('other.test', ''),
    unknown.body.message.replace('nowhere.test', ''),
  )
  const told = `Verified here: example.test. To add one: pillarbox domain add --project ${mine.id} nowhere.test (or POST /domains).`
  assert.equal(unknown.body.error.suggestion, told)
  await nothingWritten()
})

test('S20: the template of another project is 404 and nothing is sent', async () => {
  const id = await templateOf(other.id)
  const { status, body } = await send({ ...valid, template: id })
  assert.equal(status, 404)
  assert.equal(body.error.code, 'TEMPLATE_NOT_FOUND')
  await nothingWritten()
})

test('a public key sends nothing', async () => {
  const { status, body } = await send(valid, mine.public)
  assert.equal(status, 401)
  assert.equal(body.error.code, 'INVALID_API_KEY')
  await nothingWritten()
})

test('an idempotency key takes effect once, for any second body', async () => {
  const first = await send(valid).set('Idempotency-Key', 'order-66')
  assert.equal(first.status, 200)
  const second = await send({ ...valid, subject: 'Other' }).set('Idempotency-Key', 'order-66')
  assert.equal(second.status, 409)
  assert.equal(second.body.error.code, 'IDEMPOTENCY_KEY_REUSED')
  assert.match(second.body.error.suggestion, /the earlier one took effect/)
  const { originalRequestAt, ...details } = second.body.error.details
  assert.match(originalRequestAt, /^\d{4}-.*Z$/)
  assert.deepEqual(details, {
    key: 'order-66',
    originalRequest: 'POST /v1/send',
    originalStatusCode: 200,
    data: first.body.data,
  })
  assert.equal(await countOf(emails), 1)
})

test('a public key cannot discover a send by its idempotency key', async () => {
  assert.equal((await send(valid).set('Idempotency-Key', 'order-67')).status, 200)
  const tried = await supertest(service.url)
    .post('/v1/track')
    .set('Authorization', `Bearer ${mine.public}`)
    .set('Idempotency-Key', 'order-67')
    .send({ event: 'signup', email: 'stranger@example.net' })
  assert.deepEqual([tried.status, tried.body.error.code], [409, 'IDEMPOTENCY_KEY_REUSED'])
  assert.equal(tried.body.error.details.originalRequest, 'POST /v1/send')
  assert.equal('data' in tried.body.error.details, false)
  assert.doesNotMatch(tried.text, /reader@example\.net/i)
})

test('unknown fields are named in warnings, with suggestions', async () => {
  const aliens = { html: '<b>Hi</b>', subjct: 'Hi', tags: ['a'], ['x'.repeat(90)]: 1 }
  const { status, body } = await send({ ...valid, ...aliens })
  assert.equal(status, 200)
  assert.deepEqual(body.data.warnings, [
    '"html": unknown field, ignored; did you mean "body"?',
    '"subjct": unknown field, ignored; did you mean "subject"?',
    '"tags": unknown field, ignored',
    `"${'x'.repeat(60)}…": unknown field, ignored`,
  ])
  const message = 'There is no such field, so it was ignored'
  assert.deepEqual(body.warnings.slice(1, 3), [
    { field: 'subjct', message: `${message}; did you mean subject?`, suggestion: 'subject' },
    { field: 'tags', message, suggestion: null },
  ])
  const known = await send(valid)
  assert.equal('warnings' in known.body.data, false)
  assert.equal('warnings' in known.body, false)
})

/** The names of send requests of other services, each with the field that it becomes; null: there is none. */
const OTHER_SERVICES: Record<string, Record<string, string | null>> = {
  Postal: {
    ...{ html_body: 'body', plain_body: 'text', sender: 'from', reply_to: 'reply', tag: null },
    ...{ mail_from: 'from', rcpt_to: 'to', bounce: null },
  },
  Resend: { html: 'body', replyTo: 'reply', template_id: 'template', tags: null, react: null },
  SendGrid: {
    ...{ personalizations: 'to', content: 'body', reply_to_list: 'reply', categories: null },
    ...{ dynamic_template_data: 'data', tracking_settings: 'tracking', batch_id: null, asm: null },
  },
  Mailgun: {
    ...{ 'o:tracking': 'tracking', 'recipient-variables': null, attachment: 'attachments' },
    ...{ 't:variables': 'data', 'o:tag': null, inline: null },
  },
  Postmark: {
    ...{ From: 'from', To: 'to', Subject: 'subject', HtmlBody: 'body', TextBody: 'text' },
    ...{ ReplyTo: 'reply', TemplateId: 'template', TemplateAlias: 'template', Tag: null },
    ...{
      TemplateModel: 'data',
      TrackOpens: 'tracking',
      TrackLinks: 'tracking',
      Headers: 'headers',
    },
    ...{ Attachments: 'attachments', MessageStream: null },
  },
  Mandrill: { global_merge_vars: 'data', merge_vars: 'data', substitutions: 'data' },
  others: { templateData: 'data', template_data: 'data', template_variables: 'data' },
  Brevo: { htmlContent: 'body', textContent: 'text', templateId: 'template', params: 'data' },
}

for (const [service, names] of Object.entries(OTHER_SERVICES)) {
  test(`each name of a send request of ${service} has the suggestion that helps`, async () => {
    const aliens = Object.fromEntries(Object.keys(names).map((name) => [name, 'x']))
    const { status, body } = await send({ ...valid, ...aliens })
    assert.equal(status, 200, JSON.stringify(body))
    const found = body.warnings.map(({ field, suggestion }: Record<string, string>) => [
      field,
      suggestion,
    ])
    assert.deepEqual(Object.fromEntries(found), names)
  })
}

for (const name of [
  ...['cc', 'bcc', 'scheduledAt', 'scheduled_at', 'send_at', 'sendAt', 'Cc', 'Bcc'],
  ...['o:deliverytime', 'scheduledFor', 'scheduled_for', 'schedule_at', 'scheduled', 'schedule'],
  ...['deliver_at', 'deliverAt', 'send_time', 'sendTime', 'deliveryTime', 'delivery_time'],
  ...['sendAfter', 'DeliverAfter', 'delay', 'ccs', 'bccs', 'cc_emails', 'carbonCopy', 'to_cc'],
]) {
  test(`${name} is refused: the email would go to others, or at another time`, async () => {
    const { status, body } = await send({ ...valid, [name]: 'x@example.net' })
    assert.equal(status, 422)
    assert.deepEqual(
      [body.error.errors[0].field, body.error.errors[0].code],
      [name, 'unrecognized'],
    )
    assert.match(
      body.message,
      new RegExp(`^${name}: (copies are|a send time is) not possible here`),
    )
    assert.match(body.message, /name each recipient in `to`|a workflow with a DELAY/)
    assert.equal((await service.core.store.read.select().from(emails)).length, 0)
  })
}

test('a name in place of a required field is named first', async () => {
  const { body: html, ...rest } = valid
  const { status, body } = await send({ ...rest, html })
  assert.equal(status, 422)
  assert.equal(body.message, 'html: there is no such field; did you mean body?')
  const other = await send({ ...valid, from: 'bad', reply_to: 'a@example.net' })
  assert.equal(other.body.message, 'from: not an email address')
  assert.equal(other.body.error.errors.length, 1)
})

test('HTML under another name is refused where a text would go alone', async () => {
  const { body: html, ...rest } = valid
  const { status, body } = await send({ ...rest, html, text: 'plain' })
  assert.deepEqual(
    [status, body.message],
    [422, 'html: there is no such field; did you mean body?'],
  )
  assert.equal((await service.core.store.read.select().from(emails)).length, 0)
})

test('a name beside a missing field is named, and the only missing one is what was meant', async () => {
  const attachments = [{ path: 'a.pdf', content: 'aGk=' }]
  const { body } = await send({ ...valid, attachments })
  assert.equal(body.message, 'attachments.0.path: there is no such field; did you mean filename?')
  const to = { address: 'a@example.net' }
  const other = await send({ ...valid, to })
  assert.equal(other.body.message, 'to.address: there is no such field; did you mean email?')
})

test('a file that another service would fetch is refused with the reason', async () => {
  for (const attachment of [
    { filename: 'a.pdf', path: 'https://x.test/a.pdf' },
    { path: 'https://x.test/a.pdf' },
    { name: 'a.pdf', url: 'https://x.test/a.pdf' },
  ]) {
    const { status, body } = await send({ ...valid, attachments: [attachment] })
    const errors: { field: string; message: string }[] = body.error.errors
    const field = `attachments.0.${'url' in attachment ? 'url' : 'path'}`
    const found = errors.find((each) => each.field === field)
    const message = 'Files are not fetched: give their content as base64'
    assert.deepEqual([status, found?.message], [422, message])
  }
})

test('a field of other services that means nothing here stands for no missing field', async () => {
  const { body: _, ...rest } = valid
  for (const option of [{ tags: ['a'] }, { Tag: 'a' }, { metadata: { a: 1 } }]) {
    const { body } = await send({ ...rest, ...option })
    const fields = body.error.errors.map(({ field }: { field: string }) => field)
    assert.deepEqual(fields, ['body'])
    const { warnings } = (await send({ ...valid, ...option })).body
    assert.deepEqual([warnings[0].field, warnings[0].suggestion], [Object.keys(option)[0], null])
  }
})

test('an option of another service that asks for nothing is named, and not refused', async () => {
  const options = { cc: null, bcc: [], scheduledAt: '', scheduled: false, delay: 0 }
  const { status, body } = await send({ ...valid, ...options })
  assert.equal(status, 200)
  const fields = body.warnings.map(({ field }: { field: string }) => field)
  assert.deepEqual(fields, ['cc', 'bcc', 'scheduledAt', 'scheduled', 'delay'])
})

test('Markdown under its name is refused where a text would go alone, with the type that helps', async () => {
  const { body: _, ...rest } = valid
  const { status, body } = await send({ ...rest, markdown: '# Hi', text: 'Hi' })
  const message = 'markdown: there is no such field; did you mean body with type: "markdown"?'
  assert.deepEqual([status, body.message], [422, message])
  const alone = await send({ ...rest, markdown: '# Hi' })
  assert.deepEqual([alone.status, alone.body.message], [422, message])
})

test('each name of what is missing is in the errors', async () => {
  const fieldsOf = async (body: object) =>
    (await send(body)).body.error.errors.map(({ field }: { field: string }) => field)
  assert.deepEqual(await fieldsOf({}), ['to', 'subject', 'body'])
  assert.deepEqual(await fieldsOf({ to: valid.to, body: 'Hi' }), ['subject'])
  assert.deepEqual(await fieldsOf({ to: 5, subject: 'Hi' }), ['to', 'body'])
})

const weakData: [string, unknown, [string, string][]][] = [
  ...(['{"name":"Ann"}', ['Ann'], 7, true] as const).map(
    (data): [string, unknown, [string, string][]] => {
      const received = Array.isArray(data) ? 'array' : typeof data
      const text = `Expected an object, received ${received}: it sets no variables`
      return [`data that is ${received}`, data, [['data', text]]]
    },
  ),
  [
    'data with names of the service',
    { email: 'x', name: 'Ann', id: { value: 7, persistent: false } },
    ['id', 'email'].map((name) => [
      `data.${name}`,
      "In templates the service's own value wins, so this one is not shown",
    ]),
  ],
]

for (const [name, data, expected] of weakData) {
  test(`${name} is taken, with a warning`, async () => {
    const { status, body } = await send({ ...valid, data })
    assert.equal(status, 200)
    const found = body.warnings.map((each: Record<string, string>) => [each.field, each.message])
    assert.deepEqual(found, expected)
    assert.deepEqual(
      body.data.warnings,
      expected.map(([field, message]) => `${field}: ${message}`),
    )
  })
}

test('data without such names and absent data cause no warning', async () => {
  const shown = { name: 'Ann', contact: { id: 7 }, postalAddress: '1 Main Street' }
  for (const data of [undefined, null, {}, [], '', shown]) {
    const { status, body } = await send({ ...valid, data })
    assert.deepEqual([status, body.warnings, body.data.warnings], [200, undefined, undefined])
  }
})

test('an address that stands in `to` again gets two emails, and a warning says so', async () => {
  const { status, body } = await send({
    ...valid,
    to: ['a@example.net', 'b@example.net', 'A@Example.net'],
  })
  assert.equal(status, 200)
  const message = 'The same address as to.0: each entry gets an email of its own'
  assert.deepEqual(body.warnings, [
    { field: 'to.2', message, suggestion: 'Name each address once' },
  ])
  assert.deepEqual(body.data.warnings, [`to.2: ${message}`])
  assert.equal(body.data.emails.length, 3)
})

test('a thousand unknown fields make twenty warnings', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 1])
  const { body } = await send({ ...valid, ...Object.fromEntries(names) })
  assert.equal(body.data.warnings.length, 20)
})

test('a name before the address works like {name, email}', async () => {
  const { status } = await send({
    ...valid,
    to: ['Ann <reader@example.net>', '"B, C" <bc@example.net>'],
    from: 'Shop <hello@example.test>',
  })
  assert.equal(status, 200)
  const rows = await service.core.store.read.select().from(emails)
  assert.deepEqual(
    rows.map(({ recipient, toName, fromAddress, fromName }) => [
      ...[recipient, toName],
      ...[fromAddress, fromName],
    ]),
    [
      ['reader@example.net', 'Ann', 'hello@example.test', 'Shop'],
      ['bc@example.net', 'B, C', 'hello@example.test', 'Shop'],
    ],
  )
  const people = await service.core.store.read.select().from(contacts)
  assert.deepEqual(
    people.map(({ data }) => data),
    [{ name: 'Ann' }, { name: 'B, C' }],
  )
})

const names: [data: object | undefined, stored: object | null, subject: string][] = [
  [undefined, { name: 'Full Name' }, 'Hi Full Name'],
  [{ name: 'Short' }, { name: 'Short' }, 'Hi Short'],
  [{ name: null }, null, 'Hi '],
  [{ name: '' }, { name: 'Full Name' }, 'Hi Full Name'],
  [{ name: { value: 'Once', persistent: false } }, { name: 'Full Name' }, 'Hi Once'],
]

for (const [data, stored, subject] of names) {
  test(`a display name beside the data ${JSON.stringify(data)} stores ${JSON.stringify(stored)}`, async () => {
    const to = 'Full Name <reader@example.net>'
    const sent = await send({ ...valid, to, subject: 'Hi {{ name }}', data })
    assert.equal(sent.status, 200)
    const [contact] = await service.core.store.read.select().from(contacts)
    assert.deepEqual(contact?.data, stored)
    const [email] = await service.core.store.read.select().from(emails)
    assert.equal(email?.toName, 'Full Name')
    const shown = await call('get', `/emails/${sent.body.data.emails[0].email}`)
    assert.equal(shown.body.subject.trim(), subject.trim())
  })
}

test('an address as its own name overwrites nothing', async () => {
  const email = 'reader@example.net'
  await send({ ...valid, to: { name: 'Ann', email } })
  const texts = [`${email} <${email}>`, `"Reader@example.net" <${email}>`]
  for (const to of [...texts, { name: email, email }]) {
    await send({ ...valid, to, from: `${valid.from} <${valid.from}>` })
  }
  const [contact] = await service.core.store.read.select().from(contacts)
  assert.deepEqual(contact?.data, { name: 'Ann' })
  const rows = await service.core.store.read.select().from(emails)
  assert.deepEqual(
    rows.map(({ toName, fromName }) => [toName, fromName]),
    [['Ann', 'mine'], ...Array(3).fill([null, 'mine'])],
  )
})

test('blank names overwrite nothing and fall through to the next name', async () => {
  const named = { name: 'Ann', email: 'reader@example.net' }
  await send({ ...valid, to: named })
  await send({
    ...valid,
    to: { ...named, name: ' ' },
    from: { name: '', email: valid.from },
    name: 'Old',
  })
  await send({ ...valid, to: { ...named, name: '' }, name: ' ' })
  const [contact] = await service.core.store.read.select().from(contacts)
  assert.deepEqual(contact?.data, { name: 'Ann' })
  const rows = await service.core.store.read.select().from(emails)
  assert.deepEqual(
    rows.map(({ toName, fromName }) => [toName, fromName]),
    [
      ['Ann', 'mine'],
      [null, 'Old'],
      [null, 'mine'],
    ],
  )
})

test('the key of a refused request is free again, and projects do not share keys', async () => {
  const refused = await send({ ...valid, from: 'a@nowhere.test' }).set('Idempotency-Key', 'k')
  assert.equal(refused.status, 403)
  assert.equal((await send(valid).set('Idempotency-Key', 'k')).status, 200)
  const theirs = await send({ ...valid, from: 'a@other.test' }, other.secret).set(
    'Idempotency-Key',
    'k',
  )
  assert.equal(theirs.status, 200)
})

test('one of two simultaneous requests with one key is accepted', async () => {
  const responses = await Promise.all(
    [1, 2, 3].map(async () => await send(valid).set('Idempotency-Key', 'race')),
  )
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409, 409])
  for (const { error } of responses.flatMap(({ status, body }) => (status === 409 ? body : []))) {
    const isKnown = error.details.originalStatusCode !== null
    assert.match(error.suggestion, isKnown ? /took effect/ : /^Send the same request again/)
  }
  assert.equal(await countOf(emails), 1)
})

async function templateOf(projectId: string): Promise<string> {
  const id = newId()
  await service.core.store.write(async (tx) => {
    await tx.insert(templates).values({
      id,
      projectId,
      name: 'T',
      subject: 'S',
      body: 'B',
      fromAddress: 'a@other.test',
      fromDomain: 'other.test',
      type: 'TRANSACTIONAL',
      createdAt: 1,
      updatedAt: 1,
    })
  })
  return id
}

type Countable = typeof emails | typeof contacts | typeof contents | typeof events

async function countOf(table: Countable): Promise<number> {
  return service.core.store.read.$count(table)
}

async function nothingWritten(): Promise<void> {
  for (const table of [emails, contacts, contents, events]) assert.equal(await countOf(table), 0)
}

test('a key for idempotency in another place has a warning that names its header', async () => {
  const inBody = await send({ ...valid, idempotencyKey: 'k', idempotency_key: 'k' })
  assert.equal(inBody.status, 200)
  const suggestion = 'the header Idempotency-Key'
  const message = `There is no such field, so it was ignored; did you mean ${suggestion}?`
  assert.deepEqual(
    inBody.body.warnings,
    ['idempotencyKey', 'idempotency_key'].map((field) => ({ field, message, suggestion })),
  )
  const other = await send(valid).set('X-Idempotency-Key', 'k')
  assert.deepEqual(other.body.warnings, [
    {
      field: 'X-Idempotency-Key',
      message: 'There is no such header, so it was ignored; did you mean Idempotency-Key?',
      suggestion: 'Idempotency-Key',
    },
  ])
  assert.deepEqual(other.body.data.warnings, [
    'X-Idempotency-Key: There is no such header, so it was ignored; did you mean Idempotency-Key?',
  ])
  const both = await send(valid).set('X-Idempotency-Key', 'k').set('Idempotency-Key', 'k')
  assert.deepEqual([both.status, both.body.warnings], [200, undefined])
  const wrong = await send({ ...valid, subject: undefined, idempotencyKey: 'k' })
  assert.equal(wrong.body.message, 'subject: required, unless template is given')
})

test('a name with a comma and no quotes has a fault that says how it is written', async () => {
  const how =
    'write a name with such marks in quotes, as in "Shop, Inc." <shop@example.com>, or as {name, email}'
  for (const field of ['from', 'to']) {
    const { status, body } = await send({ ...valid, [field]: 'Shop, Inc. <hello@example.test>' })
    assert.deepEqual([status, body.message], [422, `${field}: not an email address: ${how}`])
  }
  for (const name of [
    'Shop\x07',
    'Shop, Inc.\n',
    'x'.repeat(2_000),
    `${'x'.repeat(2_000)}, Inc.`,
  ]) {
    const { status, body } = await send({ ...valid, from: `${name} <hello@example.test>` })
    assert.deepEqual([status, body.message], [422, 'from: not an email address'])
  }
  const two = await send({ ...valid, to: 'a@example.net, b@example.net' })
  assert.match(two.body.message, /^to: several addresses are a list/)
})
