import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { trustDomain } from '../../../core.ts'
import { addCampaign } from '../../../features/outreach/campaigns/sending/campaign.ts'
import { addRecipient } from '../../../features/people/contacts/add-recipient.ts'
import { useService } from '../../service.ts'

const { service, mine, other, call } = useService({}, async ({ service, mine }) => {
  await trustDomain(service.core, mine.id, 'shop.test')
})

const makeCampaign = (projectId = mine.id) => addCampaign(service.core, projectId)

async function sendTest(body: object, campaignId?: string) {
  const id = campaignId ?? (await makeCampaign())
  return call('post', `/campaigns/${id}/test`).send(body)
}

const countEmails = () => service.core.store.read.$count(emails)

test('a test answers with the emails, which can be looked up', async () => {
  const { status, body } = await sendTest({ email: ' Ann@Example.org ' })
  assert.equal(status, 200)
  assert.equal(body.success, true)
  assert.equal(body.message, 'The test was sent to ann@example.org.')
  const [sent, ...others] = body.data.emails
  assert.deepEqual(others, [])
  assert.equal(sent.contact.email, 'ann@example.org')
  const { read } = service.core.store
  const row = await read.select().from(emails).where(eq(emails.id, sent.email)).get()
  assert.deepEqual([row?.isTest, row?.contactId], [true, sent.contact.id])
})

test('a test goes to ten addresses at most, once to each', async () => {
  const ten = Array.from({ length: 10 }, (_, index) => `t${index}@example.org`)
  const { status, body } = await sendTest({ emails: ten })
  assert.deepEqual([status, body.message], [200, 'The test was sent to 10 addresses.'])
  const twice = await sendTest({ emails: ['bob@example.org', 'BOB@example.org'] })
  assert.deepEqual([twice.status, twice.body.data.emails.length], [200, 1])
})

const wrong: [string, object, string][] = [
  ['nothing', {}, 'email custom'],
  ['an address and a list', { email: 'a@b.test', emails: ['a@b.test'] }, 'email custom'],
  ['no address', { email: 'nobody' }, 'email invalid_string'],
  ['a display name', { email: 'Ann <ann@example.org>' }, 'email invalid_string'],
  ['a line break', { email: 'a@b.test\r\nBcc: c@d.test' }, 'email invalid_string'],
  ['an empty list', { emails: [] }, 'emails too_small'],
  ['a wrong address in a list', { emails: ['a@b.test', 'nobody'] }, 'emails.1 invalid_string'],
  ['eleven addresses', { emails: Array(11).fill('a@b.test') }, 'emails too_big'],
  ['a text in place of a list', { emails: 'a@b.test' }, 'emails invalid_type'],
  ['a contact id that is none', { email: 'a@b.test', contactId: 'x' }, 'contactId invalid_string'],
]

for (const [name, request, expected] of wrong) {
  test(`${name} is refused with 422, and nothing is sent`, async () => {
    const before = await countEmails()
    const { status, body } = await sendTest(request)
    assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'])
    const found = body.error.errors.map((one: { field: string; code: string }) => {
      return `${one.field} ${one.code}`
    })
    assert.deepEqual(found, [expected])
    assert.equal(await countEmails(), before)
  })
}

test('campaigns and contacts of another project, and unknown ones, are not found', async () => {
  const theirs = await addRecipient(service.core, { projectId: other.id })
  const theirCampaign = await makeCampaign(other.id)
  const before = await countEmails()
  const email = 'ann@example.org'
  for (const id of [theirCampaign, newId()]) {
    const { status, body } = await sendTest({ email }, id)
    assert.deepEqual([status, body.error.code], [404, 'CAMPAIGN_NOT_FOUND'])
  }
  for (const contactId of [theirs.contactId, newId()]) {
    const { status, body } = await sendTest({ email, contactId })
    assert.deepEqual([status, body.error.code], [404, 'CONTACT_NOT_FOUND'])
  }
  assert.equal(await countEmails(), before)
})

test('a suppressed address is refused with 400, and becomes no contact', async () => {
  await call('post', '/suppressions').send({ email: 'bad@example.org' })
  const { status, body } = await sendTest({ emails: ['good@example.org', 'bad@example.org'] })
  assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
  const { read } = service.core.store
  const added = await read.$count(contacts, eq(contacts.address, 'good@example.org'))
  assert.equal(added, 0)
})

test('tests may be restricted to the members of the project', async (t) => {
  const { config } = service.core
  service.core.config = { ...config, accounts: { ...config.accounts, testsToMembersOnly: true } }
  t.after(() => {
    service.core.config = config
  })
  const member = await sendTest({ email: mine.ownerAddress.toUpperCase() })
  assert.equal(member.status, 200)
  const before = await countEmails()
  for (const stranger of ['ann@example.org', other.ownerAddress]) {
    const { status, body } = await sendTest({ emails: [mine.ownerAddress, stranger] })
    assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
    assert.ok(body.error.message.startsWith(stranger))
  }
  assert.equal(await countEmails(), before)
})

test('a disabled project sends no tests', async (t) => {
  const disabled = await service.makeProject('disabled')
  const id = await makeCampaign(disabled.id)
  await updateProject(service.core, disabled.id, { disable: 'MANUAL' })
  t.after(() => updateProject(service.core, disabled.id, { enable: true }))
  const request = call('post', `/campaigns/${id}/test`, disabled)
  const { status, body } = await request.send({ email: 'ann@example.org' })
  assert.deepEqual([status, body.error.code], [403, 'PROJECT_DISABLED'])
})
