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
  const aliens = { html: '<b>Hi</b>', subjct: 'Hi', cc: 'c@example.net', ['x'.repeat(90)]: 1 }
  const { status, body } = await send({ ...valid, ...aliens })
  assert.equal(status, 200)
  assert.deepEqual(body.data.warnings, [
    '"html": unknown field, ignored; did you mean "body"?',
    '"subjct": unknown field, ignored; did you mean "subject"?',
    '"cc": unknown field, ignored',
    `"${'x'.repeat(60)}…": unknown field, ignored`,
  ])
  const known = await send(valid)
  assert.equal('warnings' in known.body.data, false)
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
  const statuses = await Promise.all(
    [1, 2, 3].map(async () => (await send(valid).set('Idempotency-Key', 'race')).status),
  )
  assert.deepEqual(statuses.sort(), [200, 409, 409])
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
