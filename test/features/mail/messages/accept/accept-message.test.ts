import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../../src/base/errors.ts'
import { suppress } from '../../../../../src/features/mail/messages/outcome/suppression.ts'
import { holdDomain } from '../../../../../src/features/mail/messages/queue/holds.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { contents, templates } from '../../../../../src/store/schema/messages.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { address, START } from '../../../../core.ts'
import { addSenderProject, openSender, type Sender } from '../sender.ts'

const noRows = { contacts: 0, contents: 0, emails: 0, events: 0 }

const fails = (code: string) => (error: unknown) => {
  assert.ok(error instanceof AppError)
  assert.equal(error.code, code)
  return true
}

async function addTemplate(sender: Sender, change: Partial<typeof templates.$inferInsert> = {}) {
  const id = newId()
  const row = {
    id,
    projectId: sender.project.id,
    name: 'Welcome',
    subject: 'Welcome {{ name }}',
    body: '<p>Welcome</p>',
    fromAddress: 'team@example.test',
    fromDomain: 'example.test',
    type: 'TRANSACTIONAL' as const,
    createdAt: START,
    updatedAt: START,
    ...change,
  }
  await sender.core.store.write(async (tx) => void (await tx.insert(templates).values(row)))
  return id
}

async function contactOf(sender: Sender, email = 'ada@dest.test') {
  return sender.core.store.read.select().from(contacts).where(eq(contacts.address, email)).get()
}

test('an accepted email is a queued row with its snapshot, due at once', async (t) => {
  const sender = await openSender(t)
  const { emails, timestamp } = await sender.send({ data: { plan: 'pro' } })
  assert.equal(timestamp, '2026-11-21T12:00:00.000Z')
  const email = await sender.email(emails[0]?.email as string)
  assert.equal(email.state, 'queued')
  assert.equal(email.status, 'PENDING')
  assert.equal(email.dueAt, START)
  assert.equal(email.giveUpAt, START + 86_400_000)
  assert.equal(email.messageId, `${email.id}@example.test`)
  assert.deepEqual(email.variables, { stored: {}, request: { plan: 'pro' } })
  assert.deepEqual(await sender.eventNames(), [])
})

test('a new contact is unsubscribed, has the data of the request and is counted', async (t) => {
  const sender = await openSender(t)
  await sender.send({ data: { plan: 'pro', once: { value: 1, persistent: false }, email: 'x' } })
  const contact = await contactOf(sender)
  assert.equal(contact?.subscribed, false)
  assert.deepEqual(contact?.data, { plan: 'pro' })
  const project = await sender.core.store.read.select().from(projects).get()
  assert.equal(project?.contactCount, 1)
})

test('a one-shot value is rendered in the email and not stored with the contact', async (t) => {
  const sender = await openSender(t)
  const { emails } = await sender.send({ data: { code: { value: '4711', persistent: false } } })
  const { variables } = await sender.email(emails[0]?.email as string)
  assert.deepEqual(variables?.request, { code: '4711' })
  assert.equal((await contactOf(sender))?.data, null)
})

test('null deletes a key, an empty string changes nothing', async (t) => {
  const sender = await openSender(t)
  await sender.send({ data: { a: 1, b: 2 } })
  const { emails } = await sender.send({ data: { a: null, b: '' } })
  assert.deepEqual((await contactOf(sender))?.data, { b: 2 })
  const { variables } = await sender.email(emails[0]?.email as string)
  assert.deepEqual(variables, { stored: { b: 2 }, request: {} })
})

test('a change of `subscribed` makes one event, and a repetition none', async (t) => {
  const sender = await openSender(t)
  await sender.send({ subscribed: true })
  assert.deepEqual(await sender.eventNames(), [])
  await sender.send({ subscribed: false })
  await sender.send({ subscribed: false })
  await sender.send({})
  assert.deepEqual(await sender.eventNames(), ['contact.unsubscribed'])
})

test('the recipient\u2019s name goes to the To field and into the contact', async (t) => {
  const sender = await openSender(t)
  const to = [{ address: address('ada@dest.test'), name: 'Ada' }]
  const { emails } = await sender.send({ to })
  assert.equal((await sender.email(emails[0]?.email as string)).toName, 'Ada')
  assert.deepEqual((await contactOf(sender))?.data, { name: 'Ada' })
})

test('recipients of one request share its content and keep their order, duplicates included', async (t) => {
  const sender = await openSender(t)
  const to = ['b@dest.test', 'a@dest.test', 'b@dest.test'].map((each) => ({
    address: address(each),
    name: null,
  }))
  const { emails } = await sender.send({ to })
  assert.deepEqual(
    emails.map(({ contact }) => contact.email),
    ['b@dest.test', 'a@dest.test', 'b@dest.test'],
  )
  assert.deepEqual(await sender.counts(), { contacts: 2, contents: 1, emails: 3, events: 0 })
})

test('a template is stored once for each version, however often it is sent', async (t) => {
  const sender = await openSender(t)
  const template = await addTemplate(sender)
  const plain = { subject: undefined, body: undefined, from: undefined, template }
  await sender.send(plain)
  const { emails } = await sender.send(plain)
  assert.equal((await sender.counts()).contents, 1)
  const email = await sender.email(emails[0]?.email as string)
  assert.equal(email.fromAddress, 'team@example.test')
  assert.equal(email.subject, 'Welcome {{ name }}')
  await sender.send({ ...plain, subject: 'Another' })
  assert.equal((await sender.counts()).contents, 2)
})

test('a content with its own text part is not shared with the template', async (t) => {
  const sender = await openSender(t)
  const template = await addTemplate(sender)
  const plain = { subject: undefined, body: undefined, from: undefined, template }
  const textOf = async (request: Parameters<Sender['send']>[0]) => {
    const { emails } = await sender.send(request)
    const { contentId } = await sender.email(emails[0]?.email as string)
    const isIt = eq(contents.id, contentId)
    const [row] = await sender.core.store.read.select().from(contents).where(isIt)
    return [row?.text, row?.shareKey === null]
  }
  assert.deepEqual(await textOf({ text: 'Hi {{ name }}' }), ['Hi {{ name }}', true])
  assert.deepEqual(await textOf(plain), [null, false])
  assert.deepEqual(await textOf({ ...plain, text: 'By hand' }), ['By hand', true])
  assert.deepEqual(await textOf(plain), [null, false])
})

test('a template with too many characters or tags is refused', async (t) => {
  const sender = await openSender(t)
  const long = 'x'.repeat(2_000_001)
  const refused: [request: Parameters<Sender['send']>[0], fields: string[]][] = [
    [{ body: '{{ a }}'.repeat(20_001) }, ['body']],
    [{ body: '{%'.repeat(20_001) }, ['body']],
    [{ body: `{{ a }}${long}` }, ['body']],
    [{ body: `${long}{% if a %}`, isText: true }, ['body']],
    [{ text: '{{ a }}'.repeat(20_001), subject: '{{ a }}' }, ['text']],
    [{ body: `{{ a }}${long}`, text: `{{ a }}${long}` }, ['body', 'text']],
  ]
  for (const [request, fields] of refused) {
    await assert.rejects(sender.send(request), (error) => {
      assert.ok(error instanceof AppError && error.code === 'VALIDATION_ERROR')
      const found = error.fields?.map(({ field, code }) => `${field} ${code}`)
      assert.deepEqual(
        found,
        fields.map((field) => `${field} too_big`),
      )
      return true
    })
  }
  assert.equal((await sender.counts()).emails, 0)
  await sender.send({ body: '{{ a }}'.repeat(20_000) })
  await sender.send({ body: `${long}{ { } }`, text: long })
  assert.equal((await sender.counts()).emails, 2)
})

test('the display name is from.name, then name, then the template\u2019s, then the project\u2019s', async (t) => {
  const sender = await openSender(t)
  const template = await addTemplate(sender, { fromName: 'Team' })
  const from = address('shop@example.test')
  const nameOf = async (request: Parameters<Sender['send']>[0]) => {
    const { emails } = await sender.send({ template, ...request })
    return (await sender.email(emails[0]?.email as string)).fromName
  }
  assert.equal(await nameOf({ from: { address: from, name: 'Given' }, name: 'Old' }), 'Given')
  assert.equal(await nameOf({ name: 'Old' }), 'Old')
  assert.equal(await nameOf({}), 'Team')
  assert.equal(await nameOf({ template: undefined }), 'Shop')
})

test('a Message-ID given by the caller becomes the Message-ID of the email', async (t) => {
  const sender = await openSender(t)
  const { emails } = await sender.send({ headers: { 'message-id': '<mine@example.test>' } })
  assert.equal((await sender.email(emails[0]?.email as string)).messageId, 'mine@example.test')
})

test('a refused request writes nothing', async (t) => {
  const sender = await openSender(t)
  const foreign = { address: address('shop@elsewhere.test'), name: null }
  await assert.rejects(sender.send({ from: foreign }), fails('FORBIDDEN'))
  await assert.rejects(sender.send({ from: undefined }), fails('VALIDATION_ERROR'))
  await assert.rejects(sender.send({ template: newId() }), fails('TEMPLATE_NOT_FOUND'))
  await assert.rejects(sender.send({ data: { locale: 7 } }), fails('VALIDATION_ERROR'))
  assert.deepEqual(await sender.counts(), noRows)
})

test('a domain and a template of another project are refused without details of them', async (t) => {
  const sender = await openSender(t)
  const template = await addTemplate(sender)
  const other = await addSenderProject(sender.core, 'Other', 'other.test')
  const from = { address: address('a@other.test'), name: null }
  await assert.rejects(sender.send({}, { project: other }), fails('FORBIDDEN'))
  await assert.rejects(
    sender.send({ template, from }, { project: other }),
    fails('TEMPLATE_NOT_FOUND'),
  )
  assert.deepEqual(await sender.counts(), noRows)
})

test('marketing to one unsubscribed recipient refuses the whole request', async (t) => {
  const sender = await openSender(t)
  const template = await addTemplate(sender, { type: 'MARKETING' })
  await sender.send({ subscribed: true })
  const before = await sender.counts()
  const to = ['ada@dest.test', 'new@dest.test'].map((each) => ({
    address: address(each),
    name: null,
  }))
  await assert.rejects(sender.send({ to, template }), fails('BAD_REQUEST'))
  assert.deepEqual(await sender.counts(), before)
  const { emails } = await sender.send({ to, template, subscribed: true })
  assert.equal(emails.length, 2)
})

test('HEADLESS to an unsubscribed recipient is accepted: the program that sends decides', async (t) => {
  const sender = await openSender(t)
  const template = await addTemplate(sender, { type: 'HEADLESS' })
  const { emails } = await sender.send({ template, subscribed: false })
  const email = await sender.email(emails[0]?.email as string)
  assert.deepEqual([email.contentClass, email.status], ['HEADLESS', 'PENDING'])
})

test('an address on the suppression list gets a row that is never queued', async (t) => {
  const sender = await openSender(t)
  await sender.core.store.write((tx) =>
    suppress(tx, {
      projectId: sender.project.id,
      address: 'ada@dest.test',
      reason: 'MANUAL',
      source: 'test',
      emailId: null,
      at: START,
    }),
  )
  const { emails } = await sender.send()
  const email = await sender.email(emails[0]?.email as string)
  assert.equal(email.status, 'SUPPRESSED')
  assert.equal(email.dueAt, null)
})

test('a repeated idempotency key is refused with the response to its first use', async (t) => {
  const sender = await openSender(t)
  const first = await sender.send({}, { key: 'k' })
  sender.clock.now += 1_000
  await assert.rejects(sender.send({}, { key: 'k' }), (error) => {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'IDEMPOTENCY_KEY_REUSED')
    assert.deepEqual(error.details, {
      key: 'k',
      originalRequest: 'POST /v1/send',
      originalRequestAt: '2026-11-21T12:00:00.000Z',
      originalStatusCode: 200,
      data: first,
    })
    return true
  })
  assert.equal((await sender.counts()).emails, 1)
})

test('only one of two simultaneous requests with one key takes effect', async (t) => {
  const sender = await openSender(t)
  const both = await Promise.allSettled([
    sender.send({}, { key: 'k' }),
    sender.send({}, { key: 'k' }),
  ])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal((await sender.counts()).emails, 1)
})

test('the key of a refused request is free, and so is an expired key', async (t) => {
  const sender = await openSender(t)
  await assert.rejects(sender.send({ template: newId() }, { key: 'k' }))
  await sender.send({}, { key: 'k' })
  sender.clock.now += 24 * 3_600_000
  await sender.send({}, { key: 'k' })
  assert.equal((await sender.counts()).emails, 2)
})

test('contact data may have keys such as __proto__', async (t) => {
  const sender = await openSender(t)
  await sender.send({ data: JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') })
  const data = (await contactOf(sender))?.data as Record<string, unknown>
  assert.deepEqual(Object.keys(data).sort(), ['__proto__', 'constructor'])
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('new contacts are counted once per request; duplicates and known contacts are not counted', async (t) => {
  const sender = await openSender(t)
  const list = (...names: string[]) =>
    names.map((name) => ({ address: address(`${name}@dest.test`), name: null }))
  const countOf = async () =>
    (await sender.core.store.read.select().from(projects).get())?.contactCount
  await sender.send({ to: list('a', 'b', 'a') })
  assert.equal(await countOf(), 2)
  await sender.send({ to: list('a', 'b') })
  await sender.send({ to: list('b', 'c') })
  assert.equal(await countOf(), 3)
})

test('data that is too large, or makes the contact too large, is refused and nothing is stored', async (t) => {
  const sender = await openSender(t)
  const refusal = { code: 'VALIDATION_ERROR', fields: [{ field: 'data', code: 'too_big' }] }
  const isRefused = (error: unknown) => {
    const { code, fields } = error as { code: string; fields: { field: string; code: string }[] }
    assert.deepEqual({ code, fields: fields.map(({ field, code }) => ({ field, code })) }, refusal)
    return true
  }
  await assert.rejects(sender.send({ data: { a: 'x'.repeat(70_000) } }), isRefused)
  await sender.send({ data: { a: 'x'.repeat(40_000) } })
  await assert.rejects(sender.send({ data: { b: 'x'.repeat(40_000) } }), isRefused)
  assert.equal((await sender.counts()).emails, 1)
})

test('the product of data keys and recipients is bounded; a request above the bound stores nothing', async (t) => {
  const sender = await openSender(t)
  const to = Array.from({ length: 101 }, (_, at) => ({
    address: address(`user${at}@dest.test`),
    name: null,
  }))
  const data = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key${at}`, at]))
  await assert.rejects(sender.send({ to, data }), fails('VALIDATION_ERROR'))
  assert.deepEqual(await sender.counts(), noRows)
  await sender.send({ to: to.slice(1), data })
  assert.equal((await sender.counts()).emails, 100)
})

test('suppressed and held recipients of one request get their own states', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  await core.store.write(async (tx) => {
    await suppress(tx, {
      projectId: project.id,
      address: 'b@dest.test',
      reason: 'MANUAL',
      source: 'a test',
      emailId: null,
      at: START,
    })
  })
  await holdDomain(core, 'held.test')
  const to = ['a@dest.test', 'b@dest.test', 'c@held.test'].map((each) => ({
    address: address(each),
    name: null,
  }))
  const { emails } = await sender.send({ to })
  const rows = await Promise.all(emails.map(({ email }) => sender.email(email)))
  assert.deepEqual(
    rows.map(({ state }) => state),
    ['queued', 'suppressed', 'held'],
  )
})

test('data that would be copied to very many recipients is refused', async (t) => {
  const sender = await openSender(t)
  const to = Array.from({ length: 300 }, (_, index) => ({
    address: address(`u${index}@dest.test`),
    name: null,
  }))
  const data = { text: 'x'.repeat(60_000) }
  await assert.rejects(sender.send({ to, data }), fails('VALIDATION_ERROR'))
  assert.deepEqual(await sender.counts(), noRows)
})

test('many requests with many recipients do not delay a single email of another project', async (t) => {
  const sender = await openSender(t)
  const other = await addSenderProject(sender.core, 'Other', 'other.test')
  const many = (name: string) =>
    Array.from({ length: 60 }, (_, index) => ({
      address: address(`${name}${index}@dest.test`),
      name: null,
    }))
  const ended: string[] = []
  const note = (name: string) => () => void ended.push(name)
  const floods = ['a', 'b', 'c', 'd'].map((name) =>
    sender.send({ to: many(name) }).then(note(name)),
  )
  const from = { address: address('shop@other.test'), name: null }
  const one = sender.send({ from }, { project: other }).then(note('one'))
  await Promise.all([...floods, one])
  assert.ok(ended.indexOf('one') <= 1, `${ended}`)
  assert.deepEqual(
    ended.filter((name) => name !== 'one'),
    ['a', 'b', 'c', 'd'],
  )
})

test('data that is copied for many recipients makes a request heavy', async (t) => {
  const sender = await openSender(t)
  const { write } = sender.core.store
  const seen: (string | undefined)[] = []
  const noting: Store['write'] = (fn, options) => {
    seen.push(options?.heavyFor)
    return write(fn, options)
  }
  Object.assign(sender.core.store, { write: noting })
  const to = Array.from({ length: 20 }, (_, at) => ({
    address: address(`a${at}@b.test`),
    name: null,
  }))
  await sender.send({ to, data: { note: 'x'.repeat(1_000) } })
  await sender.send({ to, data: { note: 'x'.repeat(60_000) } })
  assert.deepEqual(
    seen.map((heavyFor) => heavyFor !== undefined),
    [false, true],
  )
})
