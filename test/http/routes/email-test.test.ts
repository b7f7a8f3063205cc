import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import supertest from 'supertest'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { trustDomain } from '../../core.ts'
import { addRecipient } from '../../features/people/contacts/add-recipient.ts'
import { addMember, addUser, logIn } from '../../session.ts'
import { useService } from '../service.ts'

const started = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'shop.test')
})
const { service, mine, other, call } = started

const TEXT = { from: 'hello@shop.test', subject: 'Hi {{ name }}', body: '<p>Hello {{ name }}</p>' }

const send = (body: object) => call('post', '/emails/test').send(body)
const countEmails = () => service.core.store.read.$count(emails)

async function rowOf(id: string) {
  const row = await service.core.store.read.select().from(emails).where(eq(emails.id, id)).get()
  assert.ok(row !== undefined)
  return row
}

async function makeTemplate(fields: object = {}) {
  const template = { name: newId(), subject: 'News', body: '<p>{{ name }}</p>', ...fields }
  const made = await call('post', '/templates').send({ from: 'news@shop.test', ...template })
  assert.equal(made.status, 201, made.text)
  return made.body.id as string
}

describe('POST /emails/test', () => {
  it('answers as a send does, with emails that are marked and untracked', async () => {
    const { status, body } = await send({ ...TEXT, to: ['Ann <Ann@Example.org>'] })
    assert.equal(status, 200)
    const [sent] = body.data.emails
    assert.deepEqual(body, {
      ...{ success: true, data: { emails: [sent], timestamp: body.timestamp } },
      ...{ emails: [sent], timestamp: body.timestamp },
    })
    assert.equal(sent.contact.email, 'ann@example.org')
    const row = await rowOf(sent.email)
    const { isTest, isTracked, sourceType, queueClass, subject, fromAddress, contentClass } = row
    assert.deepEqual(
      { isTest, isTracked, sourceType, queueClass, subject, fromAddress, contentClass },
      {
        ...{ isTest: true, isTracked: false, sourceType: 'TRANSACTIONAL', queueClass: 1 },
        ...{ subject: '[TEST] Hi {{ name }}', fromAddress: 'hello@shop.test' },
        contentClass: 'TRANSACTIONAL',
      },
    )
    const shown = await call('get', `/emails/${sent.email}`)
    assert.equal(shown.body.isTest, true)
  })

  it('renders the data without giving it to a contact', async () => {
    const to = 'Bob Builder <bob@example.org>'
    const { body } = await send({ ...TEXT, to, data: { name: 'Bob', plan: 'free' } })
    const [{ email, contact }] = body.emails
    const shown = await call('get', `/emails/${email}`)
    assert.match(shown.body.body, /Hello Bob/)
    const stored = await service.core.store.read
      .select()
      .from(contacts)
      .where(eq(contacts.id, contact.id))
      .get()
    assert.equal(stored?.data, null)
  })

  it('renders as the given contact', async () => {
    const ada = await call('post', '/contacts').send({
      email: 'ada@people.test',
      data: { name: 'Ada' },
    })
    const { body } = await send({ ...TEXT, to: 'editor@example.org', contactId: ada.body.id })
    const shown = await call('get', `/emails/${body.emails[0].email}`)
    assert.match(shown.body.body, /Hello Ada/)
  })

  it('sends a template with its sender, to unsubscribed contacts too, and counts for no template', async () => {
    await call('post', '/contacts').send({ email: 'left@example.org', subscribed: false })
    const templateId = await makeTemplate({ type: 'MARKETING' })
    const { status, body } = await send({ to: 'left@example.org', templateId })
    assert.equal(status, 200)
    const row = await rowOf(body.emails[0].email)
    assert.deepEqual(
      [row.subject, row.fromAddress, row.contentClass, row.templateId],
      ['[TEST] News', 'news@shop.test', 'MARKETING', null],
    )
    const usage = await call('get', `/templates/${templateId}/usage`)
    assert.equal(usage.body.emailsSent, 0)
    const other = await send({ to: 'left@example.org', templateId, subject: 'Else' })
    assert.equal((await rowOf(other.body.emails[0].email)).subject, '[TEST] Else')
  })

  it('leaves the content of a template to its sends', async () => {
    const templateId = await makeTemplate({ type: 'TRANSACTIONAL' })
    await send({ to: 'ann@example.org', templateId }).expect(200)
    const sent = await call('post', '/v1/send').send({
      to: 'ann@example.org',
      template: templateId,
    })
    const [test, real] = await Promise.all(
      [await send({ to: 'ann@example.org', templateId }), sent].map(({ body }) =>
        rowOf(body.emails[0].email),
      ),
    )
    assert.notEqual(test?.contentId, real?.contentId)
    assert.deepEqual([real?.subject, real?.isTest], ['News', false])
  })

  it('is refused for a fault in its text, or warns, as a send', async () => {
    const faulty = { ...TEXT, to: 'ann@example.org', body: 'Hello {{ name' }
    const refused = await call('post', '/emails/test?onTemplateFault=refuse').send(faulty)
    assert.deepEqual([refused.status, refused.body.error.errors[0].field], [422, 'body'])
    const sent = await call('post', '/emails/test?onTemplateFault=send').send(faulty)
    assert.equal(sent.status, 200)
    assert.match(sent.body.data.warnings[0], /^body: /)
  })

  it('goes once to each address', async () => {
    const { body } = await send({ ...TEXT, to: ['bob@example.org', 'BOB@example.org'] })
    assert.equal(body.emails.length, 1)
  })

  it('may be sent by a session of a member', async () => {
    const { id: userId } = await addUser(service.core)
    await addMember(service.core, { projectId: mine.id, userId, role: 'MEMBER' })
    const { status } = await supertest(service.url)
      .post('/emails/test')
      .set({ cookie: await logIn(service.core, userId), 'x-project-id': mine.id })
      .send({ ...TEXT, to: 'ann@example.org' })
    assert.equal(status, 200)
  })

  const id = newId()
  const wrong: [string, object, string][] = [
    ['nothing', {}, 'to invalid_type'],
    ['neither body nor template', { to: 'a@b.test' }, 'body custom'],
    ['body and template', { ...TEXT, to: 'a@b.test', templateId: id }, 'body custom'],
    ['a body without subject', { to: 'a@b.test', body: 'x' }, 'subject required'],
    ['a text without sender', { ...TEXT, to: 'a@b.test', from: undefined }, 'from required'],
    ['an empty list', { ...TEXT, to: [] }, 'to too_small'],
    ['eleven addresses', { ...TEXT, to: Array(11).fill('a@b.test') }, 'to too_big'],
    ['a wrong address', { ...TEXT, to: ['a@b.test', 'nobody'] }, 'to.1 invalid_string'],
    ['a wrong template id', { to: 'a@b.test', templateId: 'x' }, 'templateId invalid_string'],
    ['a wrong contact id', { ...TEXT, to: 'a@b.test', contactId: 'x' }, 'contactId invalid_string'],
    ['a number as the body', { ...TEXT, to: 'a@b.test', body: 7 }, 'body invalid_type'],
    [
      'two lines of subject',
      { ...TEXT, to: 'a@b.test', subject: 'a\nb' },
      'subject invalid_string',
    ],
  ]
  for (const [name, request, expected] of wrong) {
    it(`refuses ${name} with 422, and sends nothing`, async () => {
      const before = await countEmails()
      const { status, body } = await send(request)
      assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'])
      const found = body.error.errors.map((one: { field: string; code: string }) => {
        return `${one.field} ${one.code}`
      })
      assert.deepEqual(found, [expected])
      assert.equal(await countEmails(), before)
    })
  }

  it('finds no templates and contacts of other projects', async () => {
    const theirs = await addRecipient(service.core, { projectId: other.id })
    for (const contactId of [theirs.contactId, newId()]) {
      const { status, body } = await send({ ...TEXT, to: 'a@b.test', contactId })
      assert.deepEqual([status, body.error.code], [404, 'CONTACT_NOT_FOUND'])
    }
    const { status, body } = await send({ to: 'a@b.test', templateId: newId() })
    assert.deepEqual([status, body.error.code], [404, 'TEMPLATE_NOT_FOUND'])
  })

  it('refuses a sender domain that is not verified', async () => {
    const { status, body } = await send({ ...TEXT, to: 'a@b.test', from: 'me@elsewhere.test' })
    assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
  })

  it('refuses a suppressed address by its field, and makes no contact', async () => {
    await call('post', '/suppressions').send({ email: 'bad@example.org' })
    const { status, body } = await send({ ...TEXT, to: ['good@example.org', 'bad@example.org'] })
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    const [fault] = body.error.errors
    assert.deepEqual([fault.field, fault.code], ['to.1', 'suppressed'])
    const added = eq(contacts.address, 'good@example.org')
    assert.equal(await service.core.store.read.$count(contacts, added), 0)
  })

  it('goes to members only, where the server says so', async (t) => {
    const { config } = service.core
    service.core.config = { ...config, accounts: { ...config.accounts, testsToMembersOnly: true } }
    t.after(() => {
      service.core.config = config
    })
    assert.equal((await send({ ...TEXT, to: mine.ownerAddress })).status, 200)
    const { status, body } = await send({ ...TEXT, to: 'ann@example.org' })
    assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
  })

  it('is sent by the sender of the sandbox, where the project has it', async (t) => {
    const { config } = service.core
    const delivery = { ...config.delivery, mode: 'sandbox' } as typeof config.delivery
    service.core.config = { ...config, delivery }
    t.after(() => {
      service.core.config = config
    })
    const request = { to: 'ann@example.org', subject: 'Hi', body: 'Hello' }
    assert.equal((await send(request)).status, 422)
    await trustDomain(service.core, mine.id, 'example.test')
    const { body } = await send(request)
    assert.equal((await rowOf(body.emails[0].email)).fromAddress, 'hello@example.test')
  })

  it('is at a path that is no id', async () => {
    for (const method of ['get', 'patch', 'put', 'delete'] as const) {
      const { status, headers } = await call(method, '/emails/test')
      assert.deepEqual([status, headers.allow], [405, 'POST'], method)
    }
    assert.equal((await call('get', '/emails/test/raw')).status, 422)
    assert.equal((await call('post', '/emails/test/cancel')).status, 422)
  })
})
